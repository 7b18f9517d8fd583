// + - * / % div, unary minus, pmod, abs. Plain numbers here; decimals in decimal_arithmetic.cc, times in time_arithmetic.cc.

#include <arrow/type.h>

#include <cmath>
#include <limits>

#include "expr/function/arithmetic_internal.h"
#include "expr/function/coercion_internal.h"
#include "expr/function/registry_internal.h"

namespace tidemill::expr {

namespace {

using type::Kind;

constexpr char kAnsiConfig[] = "\"spark.sql.ansi.enabled\"";

struct Add {
  static constexpr char kName[] = "try_add";
  template <typename T>
  static bool Overflows(T a, T b, T* out) {
    return __builtin_add_overflow(a, b, out);
  }
  template <typename T>
  static T Float(T a, T b) {
    return a + b;
  }
};
struct Subtract {
  static constexpr char kName[] = "try_subtract";
  template <typename T>
  static bool Overflows(T a, T b, T* out) {
    return __builtin_sub_overflow(a, b, out);
  }
  template <typename T>
  static T Float(T a, T b) {
    return a - b;
  }
};
struct Multiply {
  static constexpr char kName[] = "try_multiply";
  template <typename T>
  static bool Overflows(T a, T b, T* out) {
    return __builtin_mul_overflow(a, b, out);
  }
  template <typename T>
  static T Float(T a, T b) {
    return a * b;
  }
};

Error Overflow(const std::string& try_function) {
  const std::string alternative = try_function.empty() ? "" : "Use '" + try_function + "' to tolerate overflow and return NULL instead.";
  return UserError("ARITHMETIC_OVERFLOW",
                   "The result does not fit its type (overflow). {} With spark.sql.ansi.enabled=false it wraps around.", alternative)
      .Param("message", "overflow")
      .Param("alternative", alternative)
      .Param("config", kAnsiConfig);
}

// The sum of narrow integers has an error of its own, which shows the operands.
template <typename T>
Error NarrowOverflow(T a, T b, const std::string& symbol, const std::string& try_function) {
  const std::string suffix = sizeof(T) == 1 ? "Y" : "S";
  const std::string left = std::to_string(a) + suffix, right = std::to_string(b) + suffix;
  return UserError("BINARY_ARITHMETIC_OVERFLOW", "{} {} {} caused overflow. Use '{}' to get NULL instead.", left, symbol, right,
                   try_function)
      .Param("value1", left)
      .Param("symbol", symbol)
      .Param("value2", right)
      .Param("functionName", "`" + try_function + "`");
}

// Wraps in every row first; only when some row overflowed does a second pass look whether it was one that counts.
template <typename T, typename Op>
Result<ArrayPtr> IntegerLoop(std::span<const Column> arguments, int64_t rows, const std::shared_ptr<arrow::DataType>& type, bool ansi,
                             const std::string& symbol) {
  ARROW_ASSIGN_OR_RAISE(const Validity validity, IntersectValidity(arguments, rows));
  ARROW_ASSIGN_OR_RAISE(auto buffer, AllocateValues(rows * static_cast<int64_t>(sizeof(T))));
  bool overflow = false;
  BinaryLoop<T, T>(arguments[0], arguments[1], rows, reinterpret_cast<T*>(buffer->mutable_data()), [&overflow](T a, T b) {
    T out;
    overflow |= Op::Overflows(a, b, &out);
    return out;
  });
  if (overflow && ansi) {
    for (int64_t row = 0; row < rows; ++row) {
      const T a = RawValues<T>(*arguments[0].array)[arguments[0].Index(row)];
      const T b = RawValues<T>(*arguments[1].array)[arguments[1].Index(row)];
      T out;
      if (!validity.IsValid(row) || !Op::Overflows(a, b, &out)) continue;
      if constexpr (sizeof(T) <= 2) return NarrowOverflow(a, b, symbol, Op::kName);
      return Overflow(Op::kName);
    }
  }
  return MakeFixed(type, rows, std::move(buffer), validity);
}

template <typename T, typename Op>
Result<ArrayPtr> FloatLoop(std::span<const Column> arguments, int64_t rows, const std::shared_ptr<arrow::DataType>& type) {
  ARROW_ASSIGN_OR_RAISE(const Validity validity, IntersectValidity(arguments, rows));
  ARROW_ASSIGN_OR_RAISE(auto buffer, AllocateValues(rows * static_cast<int64_t>(sizeof(T))));
  BinaryLoop<T, T>(arguments[0], arguments[1], rows, reinterpret_cast<T*>(buffer->mutable_data()),
                   [](T a, T b) { return Op::Float(a, b); });
  return MakeFixed(type, rows, std::move(buffer), validity);
}

template <typename Op>
Result<Kernel> CompileLoop(const Expression& call) {
  const auto type = call.type->ToArrow();
  const bool ansi = call.context.ansi;
  const std::string symbol = call.name;
  switch (call.type->kind()) {
    case Kind::kByte:
      return Kernel([=](auto arguments, int64_t rows) { return IntegerLoop<int8_t, Op>(arguments, rows, type, ansi, symbol); });
    case Kind::kShort:
      return Kernel([=](auto arguments, int64_t rows) { return IntegerLoop<int16_t, Op>(arguments, rows, type, ansi, symbol); });
    case Kind::kInt:
      return Kernel([=](auto arguments, int64_t rows) { return IntegerLoop<int32_t, Op>(arguments, rows, type, ansi, symbol); });
    case Kind::kLong:
      return Kernel([=](auto arguments, int64_t rows) { return IntegerLoop<int64_t, Op>(arguments, rows, type, ansi, symbol); });
    case Kind::kFloat:
      return Kernel([=](auto arguments, int64_t rows) { return FloatLoop<float, Op>(arguments, rows, type); });
    case Kind::kDouble:
      return Kernel([=](auto arguments, int64_t rows) { return FloatLoop<double, Op>(arguments, rows, type); });
    case Kind::kDecimal:
      return CompileDecimalArithmetic(call);
    default:
      return CompileTimeArithmetic(call);
  }
}

// Division and remainder: a zero divisor is an error in ANSI mode and null otherwise, for floats too.
template <typename T, typename Out, typename Op>
Result<ArrayPtr> DivisionLoop(std::span<const Column> arguments, int64_t rows, const std::shared_ptr<arrow::DataType>& type, bool ansi,
                              bool remainder, Op op) {
  const T* a = RawValues<T>(*arguments[0].array);
  const T* b = RawValues<T>(*arguments[1].array);
  ARROW_ASSIGN_OR_RAISE(Validity validity, IntersectValidity(arguments, rows));
  ARROW_ASSIGN_OR_RAISE(auto buffer, AllocateValues(rows * static_cast<int64_t>(sizeof(Out))));
  Out* out = reinterpret_cast<Out*>(buffer->mutable_data());
  std::vector<uint64_t> keep = LoadWords(validity.bitmap == nullptr ? nullptr : validity.bitmap->data(), 0, rows);
  bool lost = false;
  for (int64_t row = 0; row < rows; ++row) {
    const T divisor = b[arguments[1].Index(row)];
    out[row] = Out{};
    if (!validity.IsValid(row)) continue;
    if (divisor == 0) {
      if (ansi) return DivisionByZero(remainder);
      keep[static_cast<size_t>(row / 64)] &= ~(uint64_t{1} << (row % 64));
      lost = true;
    } else if (!op(a[arguments[0].Index(row)], divisor, &out[row]) && ansi) {
      return Overflow("try_divide");
    }
  }
  if (lost) {
    ARROW_ASSIGN_OR_RAISE(validity, ValidityOf(keep, rows));
  }
  return MakeFixed(type, rows, std::move(buffer), validity);
}

// What the hardware traps on: the smallest number divided by -1 is one too large.
template <typename T>
bool DivideWhole(T a, T b, int64_t* out) {
  if (b == -1) return !__builtin_sub_overflow(int64_t{0}, static_cast<int64_t>(a), out);
  *out = a / b;
  return true;
}
template <typename T>
bool Remainder(T a, T b, T* out) {
  if constexpr (std::is_floating_point_v<T>) {
    *out = std::fmod(a, b);
  } else {
    *out = b == -1 ? T{0} : static_cast<T>(a % b);
  }
  return true;
}
template <typename T>
bool PositiveRemainder(T a, T b, T* out) {
  T rest;
  Remainder(a, b, &rest);
  if (rest < 0) Remainder(static_cast<T>(rest + b), b, &rest);
  *out = rest;
  return true;
}

Result<Kernel> CompileDivide(const Expression& call) {
  if (call.type->kind() == Kind::kDecimal) return CompileDecimalArithmetic(call);
  const auto type = call.type->ToArrow();
  const bool ansi = call.context.ansi;
  return Kernel([=](auto arguments, int64_t rows) {
    return DivisionLoop<double, double>(arguments, rows, type, ansi, false, [](double a, double b, double* out) {
      *out = a / b;
      return true;
    });
  });
}

template <bool kPositive>
Result<Kernel> CompileRemainder(const Expression& call) {
  if (call.type->kind() == Kind::kDecimal) return CompileDecimalArithmetic(call);
  const auto type = call.type->ToArrow();
  const bool ansi = call.context.ansi;
  const auto loop = [=]<typename T>(T) {
    return Kernel([=](auto arguments, int64_t rows) {
      return DivisionLoop<T, T>(arguments, rows, type, ansi, true,
                                [](T a, T b, T* out) { return kPositive ? PositiveRemainder(a, b, out) : Remainder(a, b, out); });
    });
  };
  switch (call.type->kind()) {
    case Kind::kByte:
      return loop(int8_t{});
    case Kind::kShort:
      return loop(int16_t{});
    case Kind::kInt:
      return loop(int32_t{});
    case Kind::kLong:
      return loop(int64_t{});
    case Kind::kFloat:
      return loop(float{});
    default:
      return loop(double{});
  }
}

Result<Kernel> CompileWholeDivide(const Expression& call) {
  if (call.children[0]->type->kind() == Kind::kDecimal) return CompileDecimalArithmetic(call);
  const auto type = call.type->ToArrow();
  const bool ansi = call.context.ansi;
  return Kernel([=](auto arguments, int64_t rows) {
    return DivisionLoop<int64_t, int64_t>(arguments, rows, type, ansi, false, DivideWhole<int64_t>);
  });
}

template <typename T, bool kAbsolute>
Kernel NegateIntegers(std::shared_ptr<arrow::DataType> type, bool ansi) {
  return [=](std::span<const Column> arguments, int64_t rows) {
    const T* in = RawValues<T>(*arguments[0].array);
    bool overflow = false;
    return ConvertFixed<T>(
        arguments[0], rows, type,
        [=, &overflow](int64_t row, T* out) {
          *out = in[row];
          if (kAbsolute && in[row] >= 0) return true;
          overflow = __builtin_sub_overflow(T{0}, in[row], out);
          return !(overflow && ansi);
        },
        [](int64_t) -> Status { return Overflow(""); });
  };
}

template <typename T, bool kAbsolute>
Kernel NegateFloats(std::shared_ptr<arrow::DataType> type) {
  return [=](std::span<const Column> arguments, int64_t rows) {
    const T* in = RawValues<T>(*arguments[0].array);
    return ConvertFixed<T>(
        arguments[0], rows, type,
        [in](int64_t row, T* out) {
          *out = kAbsolute ? std::fabs(in[row]) : -in[row];
          return true;
        },
        [](int64_t) { return Status::OK(); });
  };
}

template <bool kAbsolute>
Result<Kernel> CompileNegate(const Expression& call) {
  const auto type = call.type->ToArrow();
  switch (call.type->kind()) {
    case Kind::kByte:
      return NegateIntegers<int8_t, kAbsolute>(type, call.context.ansi);
    case Kind::kShort:
      return NegateIntegers<int16_t, kAbsolute>(type, call.context.ansi);
    case Kind::kInt:
    case Kind::kYearMonthInterval:
      return NegateIntegers<int32_t, kAbsolute>(type, call.context.ansi);
    case Kind::kFloat:
      return NegateFloats<float, kAbsolute>(type);
    case Kind::kDouble:
      return NegateFloats<double, kAbsolute>(type);
    case Kind::kDecimal:
      return CompileDecimalNegate(call, kAbsolute);
    default:
      return NegateIntegers<int64_t, kAbsolute>(type, call.context.ansi);
  }
}

Result<Kernel> CompileSame(const Expression&) {
  return Kernel([](std::span<const Column> arguments, int64_t) -> Result<ArrayPtr> { return arguments[0].array; });
}

bool IsTimeKind(Kind kind) {
  return kind == Kind::kDate || kind == Kind::kTimestamp || kind == Kind::kTimestampNtz || kind == Kind::kDayTimeInterval ||
         kind == Kind::kYearMonthInterval;
}

// Both operands to their common numeric type; decimals keep their own precision, the result's follows from both.
Status UnifyNumbers(CallSite& call) {
  for (size_t i = 0; i < 2; ++i) {
    if (call.TypeOf(i).kind() == Kind::kVoid) call.Cast(i, call.TypeOf(1 - i).IsNumeric() ? call.children[1 - i]->type : type::Double());
    // A string beside a number: whole numbers when the other side is whole (ANSI), else double.
    if (call.TypeOf(i).kind() == Kind::kString && (call.TypeOf(1 - i).IsNumeric() || call.TypeOf(1 - i).kind() == Kind::kString)) {
      call.Cast(i, call.context.ansi && call.TypeOf(1 - i).IsIntegral() ? type::Long() : type::Double());
    }
  }
  if (!call.TypeOf(0).IsNumeric() || !call.TypeOf(1).IsNumeric()) {
    if (call.TypeOf(0).Equals(call.TypeOf(1))) return BinaryWrongType(call, "\"NUMERIC\"");
    return BinaryDiffTypes(call);
  }
  const bool decimal = call.TypeOf(0).kind() == Kind::kDecimal || call.TypeOf(1).kind() == Kind::kDecimal;
  const type::TypePtr common = CommonType(call.children[0]->type, call.children[1]->type, call.context.ansi);
  for (size_t i = 0; i < 2; ++i) call.Cast(i, decimal && common->kind() == Kind::kDecimal ? DecimalOf(*call.children[i]) : common);
  return Status::OK();
}

Result<Bound> BindArithmetic(CallSite& call) {
  if (IsTimeKind(call.TypeOf(0).kind()) || IsTimeKind(call.TypeOf(1).kind())) return BindTimeArithmetic(call);
  ARROW_RETURN_NOT_OK(UnifyNumbers(call));
  if (call.TypeOf(0).kind() == Kind::kDecimal) return BindDecimalArithmetic(call);
  return Bound{call.children[0]->type, call.AnyNullable()};
}

Result<Bound> BindRemainder(CallSite& call) {
  ARROW_RETURN_NOT_OK(UnifyNumbers(call));
  if (call.TypeOf(0).kind() == Kind::kDecimal) return BindDecimalArithmetic(call);
  return Bound{call.children[0]->type, !call.context.ansi || call.AnyNullable()};
}

Result<Bound> BindDivide(CallSite& call) {
  ARROW_RETURN_NOT_OK(UnifyNumbers(call));
  if (call.TypeOf(0).kind() == Kind::kDecimal) return BindDecimalArithmetic(call);
  call.Cast(0, type::Double());
  call.Cast(1, type::Double());
  return Bound{type::Double(), !call.context.ansi || call.AnyNullable()};
}

Result<Bound> BindWholeDivide(CallSite& call) {
  ARROW_RETURN_NOT_OK(UnifyNumbers(call));
  if (call.TypeOf(0).kind() == Kind::kDecimal) return BindDecimalArithmetic(call);
  if (!call.TypeOf(0).IsIntegral())
    return BinaryWrongType(call, "(\"BIGINT\" or \"INTERVAL DAY TO SECOND\" or \"INTERVAL YEAR TO MONTH\")");
  call.Cast(0, type::Long());
  call.Cast(1, type::Long());
  return Bound{type::Long(), !call.context.ansi || call.AnyNullable()};
}

Result<Bound> BindUnary(CallSite& call) {
  const Kind kind = call.TypeOf(0).kind();
  const bool interval = kind == Kind::kDayTimeInterval || kind == Kind::kYearMonthInterval;
  if (!interval) {
    if (kind == Kind::kVoid) call.Cast(0, type::Double());
    ARROW_RETURN_NOT_OK(ExpectNumeric(call, 0));
  }
  return Bound{call.children[0]->type, call.children[0]->nullable};
}

constexpr Function kFunctions[] = {
    {"+", 2, 2, BindArithmetic, CompileLoop<Add>, Failing::kAnsi},
    {"-", 2, 2, BindArithmetic, CompileLoop<Subtract>, Failing::kAnsi},
    {"*", 2, 2, BindArithmetic, CompileLoop<Multiply>, Failing::kAnsi},
    {"/", 2, 2, BindDivide, CompileDivide, Failing::kAnsi},
    {"%", 2, 2, BindRemainder, CompileRemainder<false>, Failing::kAnsi},
    {"mod", 2, 2, BindRemainder, CompileRemainder<false>, Failing::kAnsi},
    {"pmod", 2, 2, BindRemainder, CompileRemainder<true>, Failing::kAnsi},
    {"div", 2, 2, BindWholeDivide, CompileWholeDivide, Failing::kAnsi},
    {"negative", 1, 1, BindUnary, CompileNegate<false>, Failing::kAnsi},
    {"positive", 1, 1, BindUnary, CompileSame},
    {"abs", 1, 1, BindUnary, CompileNegate<true>, Failing::kAnsi},
};

}  // namespace

Result<Validity> ValidityOf(const std::vector<uint64_t>& keep, int64_t rows) {
  Validity validity;
  ARROW_ASSIGN_OR_RAISE(validity.bitmap, AllocateBits(rows));
  auto* words = reinterpret_cast<uint64_t*>(validity.bitmap->mutable_data());
  validity.null_count = rows;
  for (size_t i = 0; i < keep.size(); ++i) {
    words[i] = keep[i];
    validity.null_count -= __builtin_popcountll(keep[i]);
  }
  return validity;
}

Error DivisionByZero(bool remainder) {
  return UserError(remainder ? "REMAINDER_BY_ZERO" : "DIVIDE_BY_ZERO",
                   "{} by zero. Use `try_divide` or nullif to get NULL instead, or set spark.sql.ansi.enabled=false.",
                   remainder ? "Remainder" : "Division")
      .Param("config", kAnsiConfig);
}

std::span<const Function> ArithmeticFunctions() { return kFunctions; }

}  // namespace tidemill::expr
