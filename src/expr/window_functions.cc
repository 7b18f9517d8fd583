// Event-time windows: which window a time falls into, and the last moment of a window. No time zone, no calendar: windows align to the epoch.

#include <arrow/array.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include "expr/coercion_internal.h"
#include "expr/registry_internal.h"

namespace tidemill::expr {

using type::Kind;

namespace {

/// time_window(ts, window, slide, start, index): durations in microseconds, literals put there by the analyser.
Result<Bound> BindTimeWindow(CallSite& call) {
  const Kind kind = call.TypeOf(0).kind();
  if (kind != Kind::kTimestamp && kind != Kind::kTimestampNtz) return InternalError("time_window over {}", call.TypeOf(0).ToSql());
  for (size_t i = 1; i < 5; ++i) {
    if (call.children[i]->kind != ExprKind::kLiteral || call.TypeOf(i).kind() != Kind::kLong) return InternalError("time_window needs literal durations");
  }
  return Bound{type::WindowStruct(call.children[0]->type), call.children[0]->nullable};
}

int64_t LongOf(const Expression& literal) { return static_cast<const arrow::Int64Scalar&>(*literal.value).value; }

Result<Kernel> CompileTimeWindow(const Expression& call) {
  const int64_t window = LongOf(*call.children[1]);
  const int64_t slide = LongOf(*call.children[2]);
  const int64_t start = LongOf(*call.children[3]);
  const int64_t shift = LongOf(*call.children[4]) * slide;
  const auto time_type = call.children[0]->type->ToArrow();
  const auto struct_type = call.type->ToArrow();
  return Kernel([=](std::span<const Column> arguments, int64_t rows) -> Result<ArrayPtr> {
    const Column& times = arguments[0];
    ARROW_ASSIGN_OR_RAISE(Validity validity, IntersectValidity(arguments.subspan(0, 1), rows));
    ARROW_ASSIGN_OR_RAISE(auto starts, AllocateValues(rows * 8));
    ARROW_ASSIGN_OR_RAISE(auto ends, AllocateValues(rows * 8));
    auto* start_of = reinterpret_cast<int64_t*>(starts->mutable_data());
    auto* end_of = reinterpret_cast<int64_t*>(ends->mutable_data());
    const auto* micros = RawValues<int64_t>(*times.array);
    const int64_t step = times.constant ? 0 : 1;
    for (int64_t row = 0; row < rows; ++row) {
      // Unsigned, because the value behind a null may be anything and must not overflow.
      const uint64_t time = static_cast<uint64_t>(micros[row * step]);
      int64_t remainder = static_cast<int64_t>(time - static_cast<uint64_t>(start)) % slide;
      remainder += remainder < 0 ? slide : 0;
      const uint64_t first = time - static_cast<uint64_t>(remainder) - static_cast<uint64_t>(shift);
      start_of[row] = static_cast<int64_t>(first);
      end_of[row] = static_cast<int64_t>(first + static_cast<uint64_t>(window));
    }
    const ArrayPtr start_array = MakeFixed(time_type, rows, std::move(starts), validity);
    const ArrayPtr end_array = MakeFixed(time_type, rows, std::move(ends), validity);
    return std::make_shared<arrow::StructArray>(struct_type, rows, arrow::ArrayVector{start_array, end_array}, validity.bitmap, validity.null_count);
  });
}

/// window_time(window): the window's end less one microsecond.
Result<Bound> BindWindowTime(CallSite& call) {
  const type::DataType& window = call.TypeOf(0);
  const bool is_window = window.kind() == Kind::kStruct && window.fields().size() == 2 && window.fields()[1].name == "end" &&
                         (window.fields()[1].type->kind() == Kind::kTimestamp || window.fields()[1].type->kind() == Kind::kTimestampNtz);
  if (!is_window) return UnexpectedInputType(call, 0, "\"STRUCT<start: TIMESTAMP, end: TIMESTAMP>\"");
  return Bound{window.fields()[1].type, call.children[0]->nullable};
}

Result<Kernel> CompileWindowTime(const Expression& call) {
  const auto time_type = call.type->ToArrow();
  return Kernel([time_type](std::span<const Column> arguments, int64_t rows) -> Result<ArrayPtr> {
    const auto& windows = static_cast<const arrow::StructArray&>(*arguments[0].array);
    ARROW_ASSIGN_OR_RAISE(const ArrayPtr ends, windows.GetFlattenedField(1));  // null where the window is
    const Column end{ends, arguments[0].constant};
    ARROW_ASSIGN_OR_RAISE(Validity validity, IntersectValidity({&end, 1}, rows));
    ARROW_ASSIGN_OR_RAISE(auto values, AllocateValues(rows * 8));
    auto* out = reinterpret_cast<uint64_t*>(values->mutable_data());
    const auto* micros = RawValues<int64_t>(*ends);
    for (int64_t row = 0; row < rows; ++row) out[row] = static_cast<uint64_t>(micros[end.Index(row)]) - 1;
    return MakeFixed(time_type, rows, std::move(values), validity);
  });
}

constexpr Function kFunctions[] = {
    {"time_window", 5, 5, BindTimeWindow, CompileTimeWindow},
    {"window_time", 1, 1, BindWindowTime, CompileWindowTime},
};

}  // namespace

std::span<const Function> WindowFunctions() { return kFunctions; }

}  // namespace tidemill::expr
