// Time windows: the window of a time at a given index, and the time that stands for a window.

#include <arrow/array/array_nested.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include "expr/civil_time.h"
#include "expr/function/coercion_internal.h"
#include "expr/function/registry_internal.h"

namespace tidemill::expr {

namespace {

using type::Kind;

bool IsTime(const type::DataType& t) { return t.kind() == Kind::kTimestamp || t.kind() == Kind::kTimestampNtz; }

bool IsWindow(const type::DataType& t) {
  return t.kind() == Kind::kStruct && t.fields().size() == 2 && t.fields()[0].name == "start" && t.fields()[1].name == "end" &&
         IsTime(*t.fields()[0].type) && t.fields()[0].type->Equals(*t.fields()[1].type);
}

Result<Bound> BindTimeWindow(CallSite& call) {
  if (!IsTime(call.TypeOf(0))) ARROW_RETURN_NOT_OK(ExpectType(call, 0, type::Timestamp()));
  for (size_t i = 1; i < 5; ++i) {
    if (call.children[i]->kind != ExprKind::kLiteral || call.TypeOf(i).kind() != Kind::kLong)
      return InternalError("time_window takes whole microseconds");
  }
  return Bound{type::WindowStruct(call.children[0]->type), call.children[0]->nullable};
}

struct WindowShape {
  int64_t length, slide, start, index;
};

int64_t LongLiteral(const Expression& literal) { return static_cast<const arrow::Int64Scalar&>(*literal.value).value; }

// Start of the window of `time`: aligned down to the slide, then `index` slides back. Unsigned: an event at the end of time wraps, as in
// Spark, and is no undefined step.
int64_t LastStart(int64_t time, const WindowShape& shape) {
  const auto since = static_cast<int64_t>(static_cast<uint64_t>(time) - static_cast<uint64_t>(shape.start));
  int64_t remainder = since % shape.slide;
  if (remainder < 0) remainder += shape.slide;
  return static_cast<int64_t>(static_cast<uint64_t>(time) - static_cast<uint64_t>(remainder));
}

void FillWindows(const int64_t* times, int64_t rows, const WindowShape& shape, int64_t* starts, int64_t* ends) {
  const uint64_t back = static_cast<uint64_t>(shape.index) * static_cast<uint64_t>(shape.slide);
  // Events come roughly in order of time: most fall into the slide of their predecessor, which saves the division.
  int64_t last = LastStart(0, shape);
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t time = times[row];
    if (static_cast<uint64_t>(time) - static_cast<uint64_t>(last) >= static_cast<uint64_t>(shape.slide)) last = LastStart(time, shape);
    const uint64_t start = static_cast<uint64_t>(last) - back;
    starts[row] = static_cast<int64_t>(start);
    ends[row] = static_cast<int64_t>(start + static_cast<uint64_t>(shape.length));
  }
}

Result<Kernel> CompileTimeWindow(const Expression& call) {
  const WindowShape shape{LongLiteral(*call.children[1]), LongLiteral(*call.children[2]), LongLiteral(*call.children[3]),
                          LongLiteral(*call.children[4])};
  if (shape.slide <= 0) return InternalError("time_window with a slide of {} microseconds", shape.slide);
  const auto type = call.type->ToArrow();
  const auto time_type = call.children[0]->type->ToArrow();
  return Kernel([=](std::span<const Column> arguments, int64_t rows) -> Result<ArrayPtr> {
    ARROW_ASSIGN_OR_RAISE(Validity validity, IntersectValidity(arguments.first(1), rows));
    ARROW_ASSIGN_OR_RAISE(auto starts, AllocateValues(rows * 8));
    ARROW_ASSIGN_OR_RAISE(auto ends, AllocateValues(rows * 8));
    FillWindows(RawValues<int64_t>(*arguments[0].array), rows, shape, reinterpret_cast<int64_t*>(starts->mutable_data()),
                reinterpret_cast<int64_t*>(ends->mutable_data()));
    // The fields are null with their struct, so that who reads them alone reads no window of a time that is not there.
    const arrow::ArrayVector fields = {MakeFixed(time_type, rows, std::move(starts), validity),
                                       MakeFixed(time_type, rows, std::move(ends), validity)};
    return std::make_shared<arrow::StructArray>(type, rows, fields, validity.null_count == 0 ? nullptr : validity.bitmap,
                                                validity.null_count);
  });
}

Result<Bound> BindWindowTime(CallSite& call) {
  if (!IsWindow(call.TypeOf(0))) return UnexpectedInputType(call, 0, Quoted("STRUCT<start: TIMESTAMP, end: TIMESTAMP>"));
  return Bound{call.TypeOf(0).fields()[0].type, call.children[0]->nullable};
}

// The last microsecond that the window holds.
Result<Kernel> CompileWindowTime(const Expression& call) {
  const auto type = call.type->ToArrow();
  return Kernel([type](std::span<const Column> arguments, int64_t rows) -> Result<ArrayPtr> {
    ARROW_ASSIGN_OR_RAISE(ArrayPtr ends, static_cast<const arrow::StructArray&>(*arguments[0].array).GetFlattenedField(1));
    const int64_t* end = RawValues<int64_t>(*ends);
    return ConvertFixed<int64_t>(
        {ends, false}, rows, type,
        [end](int64_t row, int64_t* out) {
          *out = end[row] - 1;
          return true;
        },
        [](int64_t) { return Status::OK(); });
  });
}

constexpr Function kFunctions[] = {
    {"time_window", 5, 5, BindTimeWindow, CompileTimeWindow},
    {"window_time", 1, 1, BindWindowTime, CompileWindowTime},
};

}  // namespace

std::span<const Function> WindowFunctions() { return kFunctions; }

}  // namespace tidemill::expr
