// & | ^ ~ over whole numbers.

#include <arrow/type.h>

#include "expr/function/coercion_internal.h"
#include "expr/function/registry_internal.h"

namespace tidemill::expr {

namespace {

using type::Kind;

Result<Bound> BindBinary(CallSite& call) {
  type::TypePtr common = CommonType(call.children[0]->type, call.children[1]->type, call.context.ansi);
  if (common != nullptr && common->kind() == Kind::kVoid) common = type::Int();
  if (common == nullptr || !common->IsIntegral()) {
    if (!call.TypeOf(0).Equals(call.TypeOf(1))) return BinaryDiffTypes(call);
    return BinaryWrongType(call, "\"INTEGRAL\"");
  }
  call.Cast(0, common);
  call.Cast(1, common);
  return Bound{common, call.AnyNullable()};
}

Result<Bound> BindNot(CallSite& call) {
  if (call.TypeOf(0).kind() == Kind::kVoid) call.Cast(0, type::Int());
  if (!call.TypeOf(0).IsIntegral()) return UnexpectedInputType(call, 0, "\"INTEGRAL\"");
  return Bound{call.children[0]->type, call.AnyNullable()};
}

struct And {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};

template <typename T, typename Op>
Kernel BinaryKernel(std::shared_ptr<arrow::DataType> type) {
  return [type = std::move(type)](std::span<const Column> arguments, int64_t rows) -> Result<ArrayPtr> {
    ARROW_ASSIGN_OR_RAISE(const Validity validity, IntersectValidity(arguments, rows));
    ARROW_ASSIGN_OR_RAISE(auto buffer, AllocateValues(rows * static_cast<int64_t>(sizeof(T))));
    BinaryLoop<T, T>(arguments[0], arguments[1], rows, reinterpret_cast<T*>(buffer->mutable_data()), Op());
    return MakeFixed(type, rows, std::move(buffer), validity);
  };
}

template <typename Op>
Result<Kernel> CompileBinary(const Expression& call) {
  const auto type = call.type->ToArrow();
  switch (call.type->kind()) {
    case Kind::kByte:
      return BinaryKernel<int8_t, Op>(type);
    case Kind::kShort:
      return BinaryKernel<int16_t, Op>(type);
    case Kind::kInt:
      return BinaryKernel<int32_t, Op>(type);
    default:
      return BinaryKernel<int64_t, Op>(type);
  }
}

template <typename T>
Kernel NotKernel(std::shared_ptr<arrow::DataType> type) {
  return [type = std::move(type)](std::span<const Column> arguments, int64_t rows) {
    const T* in = RawValues<T>(*arguments[0].array);
    return ConvertFixed<T>(
        arguments[0], rows, type,
        [in](int64_t row, T* out) {
          *out = static_cast<T>(~in[row]);
          return true;
        },
        [](int64_t) { return Status::OK(); });
  };
}

Result<Kernel> CompileNot(const Expression& call) {
  const auto type = call.type->ToArrow();
  switch (call.type->kind()) {
    case Kind::kByte:
      return NotKernel<int8_t>(type);
    case Kind::kShort:
      return NotKernel<int16_t>(type);
    case Kind::kInt:
      return NotKernel<int32_t>(type);
    default:
      return NotKernel<int64_t>(type);
  }
}

constexpr Function kFunctions[] = {
    {"&", 2, 2, BindBinary, CompileBinary<And>},
    {"|", 2, 2, BindBinary, CompileBinary<Or>},
    {"^", 2, 2, BindBinary, CompileBinary<Xor>},
    {"~", 1, 1, BindNot, CompileNot},
};

}  // namespace

std::span<const Function> BitwiseFunctions() { return kFunctions; }

}  // namespace tidemill::expr
