// Fields of dates and times, and dates moved by days and months.

#include <arrow/scalar.h>
#include <arrow/type.h>

#include <limits>

#include "expr/civil_time.h"
#include "expr/function/coercion_internal.h"
#include "expr/function/registry_internal.h"

namespace tidemill::expr {

namespace {

using type::Kind;

Result<Bound> BindDateField(CallSite& call) {
  ARROW_RETURN_NOT_OK(ExpectType(call, 0, type::Date()));
  return Bound{type::Int(), call.children[0]->nullable};
}

Result<Bound> BindClockField(CallSite& call) {
  if (call.TypeOf(0).kind() != Kind::kTimestampNtz) ARROW_RETURN_NOT_OK(ExpectType(call, 0, type::Timestamp()));
  return Bound{type::Int(), call.children[0]->nullable};
}

template <int32_t (*kField)(int64_t days)>
Result<Kernel> CompileDateField(const Expression&) {
  return Kernel([](std::span<const Column> arguments, int64_t rows) {
    const int32_t* days = RawValues<int32_t>(*arguments[0].array);
    return ConvertFixed<int32_t>(
        arguments[0], rows, arrow::int32(),
        [days](int64_t row, int32_t* out) {
          *out = kField(days[row]);
          return true;
        },
        [](int64_t) { return Status::OK(); });
  });
}

// Units of the local clock, `kModulus` of them in the next larger one.
template <int64_t kUnit, int64_t kModulus>
Result<Kernel> CompileClockField(const Expression& call) {
  ZoneRules zone;
  if (call.children[0]->type->kind() == Kind::kTimestamp) {
    ARROW_ASSIGN_OR_RAISE(zone, ZoneRules::Find(call.context.time_zone));
  }
  return Kernel([zone](std::span<const Column> arguments, int64_t rows) mutable {
    const int64_t* micros = RawValues<int64_t>(*arguments[0].array);
    return ConvertFixed<int32_t>(
        arguments[0], rows, arrow::int32(),
        [&](int64_t row, int32_t* out) {
          *out = static_cast<int32_t>(FloorMod(FloorDiv(zone.ToLocal(micros[row]), kUnit), kModulus));
          return true;
        },
        [](int64_t) { return Status::OK(); });
  });
}

int32_t Year(int64_t days) { return CivilFromDays(days).year; }
int32_t Month(int64_t days) { return CivilFromDays(days).month; }
int32_t Day(int64_t days) { return CivilFromDays(days).day; }
int32_t Quarter(int64_t days) { return (CivilFromDays(days).month + 2) / 3; }
int32_t DayOfYear(int64_t days) { return static_cast<int32_t>(days - DaysFromCivil(CivilFromDays(days).year, 1, 1) + 1); }
int32_t WeekdayFromMonday(int64_t days) { return static_cast<int32_t>(FloorMod(days + 3, 7)); }  // 1970-01-01 was a Thursday.
int32_t DayOfWeek(int64_t days) { return static_cast<int32_t>(FloorMod(days + 4, 7) + 1); }      // Sunday is 1.

// ISO week: that of the Thursday of the same week.
int32_t WeekOfYear(int64_t days) { return (DayOfYear(days - WeekdayFromMonday(days) + 3) - 1) / 7 + 1; }

Result<Bound> BindDateShift(CallSite& call) {
  ARROW_RETURN_NOT_OK(ExpectType(call, 0, type::Date()));
  const Kind kind = call.TypeOf(1).kind();
  if (kind == Kind::kLong || (!call.TypeOf(1).IsIntegral() && kind != Kind::kString && kind != Kind::kVoid)) {
    return UnexpectedInputType(call, 1, "(\"INT\" or \"SMALLINT\" or \"TINYINT\")");
  }
  call.Cast(1, type::Int());
  return Bound{type::Date(), call.AnyNullable()};
}

int64_t PlusDays(int64_t days, int64_t count) { return days + count; }
int64_t MinusDays(int64_t days, int64_t count) { return days - count; }

template <int64_t (*kShift)(int64_t, int64_t)>
Result<Kernel> CompileDateShift(const Expression&) {
  return Kernel([](std::span<const Column> arguments, int64_t rows) -> Result<ArrayPtr> {
    ARROW_ASSIGN_OR_RAISE(const Validity validity, IntersectValidity(arguments, rows));
    ARROW_ASSIGN_OR_RAISE(auto buffer, AllocateValues(rows * 4));
    BinaryLoop<int32_t, int32_t>(arguments[0], arguments[1], rows, reinterpret_cast<int32_t*>(buffer->mutable_data()),
                                 [](int32_t days, int32_t count) { return static_cast<int32_t>(kShift(days, count)); });
    return MakeFixed(arrow::date32(), rows, std::move(buffer), validity);
  });
}

Result<Bound> BindDateDiff(CallSite& call) {
  ARROW_RETURN_NOT_OK(ExpectType(call, 0, type::Date()));
  ARROW_RETURN_NOT_OK(ExpectType(call, 1, type::Date()));
  return Bound{type::Int(), call.AnyNullable()};
}

Result<Kernel> CompileDateDiff(const Expression&) {
  return Kernel([](std::span<const Column> arguments, int64_t rows) -> Result<ArrayPtr> {
    ARROW_ASSIGN_OR_RAISE(const Validity validity, IntersectValidity(arguments, rows));
    ARROW_ASSIGN_OR_RAISE(auto buffer, AllocateValues(rows * 4));
    BinaryLoop<int32_t, int32_t>(arguments[0], arguments[1], rows, reinterpret_cast<int32_t*>(buffer->mutable_data()),
                                 [](int32_t a, int32_t b) { return static_cast<int32_t>(static_cast<int64_t>(a) - b); });
    return MakeFixed(arrow::int32(), rows, std::move(buffer), validity);
  });
}

constexpr Function kFunctions[] = {
    {"year", 1, 1, BindDateField, CompileDateField<Year>},
    {"quarter", 1, 1, BindDateField, CompileDateField<Quarter>},
    {"month", 1, 1, BindDateField, CompileDateField<Month>},
    {"day", 1, 1, BindDateField, CompileDateField<Day>},
    {"dayofmonth", 1, 1, BindDateField, CompileDateField<Day>},
    {"dayofyear", 1, 1, BindDateField, CompileDateField<DayOfYear>},
    {"dayofweek", 1, 1, BindDateField, CompileDateField<DayOfWeek>},
    {"weekday", 1, 1, BindDateField, CompileDateField<WeekdayFromMonday>},
    {"weekofyear", 1, 1, BindDateField, CompileDateField<WeekOfYear>},
    {"hour", 1, 1, BindClockField, CompileClockField<kMicrosPerHour, 24>},
    {"minute", 1, 1, BindClockField, CompileClockField<kMicrosPerMinute, 60>},
    {"second", 1, 1, BindClockField, CompileClockField<kMicrosPerSecond, 60>},
    {"date_add", 2, 2, BindDateShift, CompileDateShift<PlusDays>},
    {"date_sub", 2, 2, BindDateShift, CompileDateShift<MinusDays>},
    {"datediff", 2, 2, BindDateDiff, CompileDateDiff},
    {"date_diff", 2, 2, BindDateDiff, CompileDateDiff},
};

}  // namespace

std::span<const Function> DateFunctions() { return kFunctions; }

}  // namespace tidemill::expr
