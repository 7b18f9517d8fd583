// + and - over timestamps, dates and intervals, and casts between times and numbers.

#include <arrow/array/array_decimal.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include <cmath>
#include <limits>

#include "expr/function/arithmetic_internal.h"
#include "expr/function/cast_internal.h"
#include "expr/civil_time.h"
#include "expr/function/coercion_internal.h"
#include "expr/value_text.h"

namespace tidemill::expr {

namespace {

using type::Kind;

bool IsTimestamp(Kind kind) { return kind == Kind::kTimestamp || kind == Kind::kTimestampNtz; }
bool IsInterval(Kind kind) { return kind == Kind::kDayTimeInterval || kind == Kind::kYearMonthInterval; }

Status TimeOverflow() {
  return UserError("DATETIME_OVERFLOW", "Datetime operation overflow: the result is outside the range of timestamps.")
      .Param("operation", "add");
}

bool IsWholeDays(const Expression& interval) {
  if (interval.kind != ExprKind::kLiteral || !interval.value->is_valid) return false;
  return static_cast<const arrow::DurationScalar&>(*interval.value).value % kMicrosPerDay == 0;
}

ZoneRules ZoneFor(const EvalContext& context, Kind kind, Status* status) {
  ZoneRules utc;
  if (kind != Kind::kTimestamp) return utc;
  auto zone = ZoneRules::Find(context.time_zone);
  *status = zone.status();
  return zone.ok() ? *zone : utc;
}

// Whole days move the local clock (a day across a change of clocks has 23 or 25 hours); the rest is elapsed time.
bool AddDayTime(int64_t micros, int64_t interval, ZoneRules& zone, int64_t* out) {
  if (zone.is_fixed()) return !__builtin_add_overflow(micros, interval, out);
  const int64_t days = interval / kMicrosPerDay;
  const int64_t moved = days == 0 ? micros : zone.ToUtc(zone.ToLocal(micros) + days * kMicrosPerDay);
  return !__builtin_add_overflow(moved, interval - days * kMicrosPerDay, out);
}

bool AddYearMonth(int64_t micros, int64_t months, ZoneRules& zone, int64_t* out) {
  const int64_t local = zone.ToLocal(micros);
  const int64_t days = FloorDiv(local, kMicrosPerDay);
  int64_t day_micros;
  if (__builtin_mul_overflow(AddMonths(days, months), kMicrosPerDay, &day_micros)) return false;
  int64_t moved;
  if (__builtin_add_overflow(day_micros, local - days * kMicrosPerDay, &moved)) return false;
  *out = zone.ToUtc(moved);
  return true;
}

// timestamp ± interval; `sign` is -1 for minus.
template <typename Interval>
Kernel ShiftTimestamp(std::shared_ptr<arrow::DataType> type, ZoneRules zone, int64_t sign,
                      bool (*add)(int64_t, int64_t, ZoneRules&, int64_t*)) {
  return [=](std::span<const Column> arguments, int64_t rows) mutable -> Result<ArrayPtr> {
    const int64_t* times = RawValues<int64_t>(*arguments[0].array);
    const Interval* intervals = RawValues<Interval>(*arguments[1].array);
    ARROW_ASSIGN_OR_RAISE(const Validity validity, IntersectValidity(arguments, rows));
    ARROW_ASSIGN_OR_RAISE(auto buffer, AllocateValues(rows * 8));
    int64_t* out = reinterpret_cast<int64_t*>(buffer->mutable_data());
    for (int64_t row = 0; row < rows; ++row) {
      out[row] = 0;
      if (!validity.IsValid(row)) continue;
      if (!add(times[arguments[0].Index(row)], sign * static_cast<int64_t>(intervals[arguments[1].Index(row)]), zone, &out[row]))
        return TimeOverflow();
    }
    return MakeFixed(type, rows, std::move(buffer), validity);
  };
}

// date ± whole days or months.
Kernel ShiftDate(const Expression& call, int64_t sign) {
  const bool months = call.children[1]->type->kind() == Kind::kYearMonthInterval;
  return [=](std::span<const Column> arguments, int64_t rows) -> Result<ArrayPtr> {
    const int32_t* dates = RawValues<int32_t>(*arguments[0].array);
    ARROW_ASSIGN_OR_RAISE(const Validity validity, IntersectValidity(arguments, rows));
    ARROW_ASSIGN_OR_RAISE(auto buffer, AllocateValues(rows * 4));
    int32_t* out = reinterpret_cast<int32_t*>(buffer->mutable_data());
    for (int64_t row = 0; row < rows; ++row) {
      out[row] = 0;
      if (!validity.IsValid(row)) continue;
      const int64_t date = dates[arguments[0].Index(row)];
      const int64_t at = arguments[1].Index(row);
      const int64_t moved = months ? AddMonths(date, sign * RawValues<int32_t>(*arguments[1].array)[at])
                                   : date + sign * (RawValues<int64_t>(*arguments[1].array)[at] / kMicrosPerDay);
      if (moved < std::numeric_limits<int32_t>::min() || moved > std::numeric_limits<int32_t>::max()) return TimeOverflow();
      out[row] = static_cast<int32_t>(moved);
    }
    return MakeFixed(arrow::date32(), rows, std::move(buffer), validity);
  };
}

template <typename T>
Kernel AddSigned(std::shared_ptr<arrow::DataType> type, T sign) {
  return [=](std::span<const Column> arguments, int64_t rows) -> Result<ArrayPtr> {
    ARROW_ASSIGN_OR_RAISE(const Validity validity, IntersectValidity(arguments, rows));
    ARROW_ASSIGN_OR_RAISE(auto buffer, AllocateValues(rows * static_cast<int64_t>(sizeof(T))));
    BinaryLoop<T, T>(arguments[0], arguments[1], rows, reinterpret_cast<T*>(buffer->mutable_data()), [sign](T a, T b) {
      // Unsigned, so that what lies beyond the range wraps, as Java's long does.
      using Unsigned = std::make_unsigned_t<T>;
      const auto left = static_cast<Unsigned>(a), right = static_cast<Unsigned>(b);
      return static_cast<T>(sign < 0 ? left - right : left + right);
    });
    return MakeFixed(type, rows, std::move(buffer), validity);
  };
}

// date - date, as an interval of whole days.
Kernel DateDifference() {
  return [](std::span<const Column> arguments, int64_t rows) -> Result<ArrayPtr> {
    ARROW_ASSIGN_OR_RAISE(const Validity validity, IntersectValidity(arguments, rows));
    ARROW_ASSIGN_OR_RAISE(auto buffer, AllocateValues(rows * 8));
    BinaryLoop<int32_t, int64_t>(arguments[0], arguments[1], rows, reinterpret_cast<int64_t*>(buffer->mutable_data()),
                                 [](int32_t a, int32_t b) { return (static_cast<int64_t>(a) - b) * kMicrosPerDay; });
    return MakeFixed(arrow::duration(arrow::TimeUnit::MICRO), rows, std::move(buffer), validity);
  };
}

Kernel NumberToTimestamp(const CastPlan& plan) {
  return [plan, type = plan.to->ToArrow()](std::span<const Column> arguments, int64_t rows) {
    const arrow::Array& array = *arguments[0].array;
    const Kind from = plan.from->kind();
    return ConvertFixed<int64_t>(
        arguments[0], rows, type,
        [&, from](int64_t row, int64_t* out) {
          if (from == Kind::kFloat || from == Kind::kDouble) {
            const double seconds = from == Kind::kFloat ? RawValues<float>(array)[row] : RawValues<double>(array)[row];
            const double micros = seconds * kMicrosPerSecond;
            if (!(std::fabs(micros) < 9.2e18)) return false;
            *out = static_cast<int64_t>(micros);
            return true;
          }
          if (from == Kind::kDecimal) {
            const arrow::Decimal128 value(static_cast<const arrow::Decimal128Array&>(array).GetValue(row));
            const int scale = plan.from->scale();
            const arrow::Decimal128 micros(scale <= 6 ? arrow::BasicDecimal128(value.IncreaseScaleBy(6 - scale))
                                                      : value.ReduceScaleBy(scale - 6, false));
            *out = static_cast<int64_t>(micros.low_bits());
            return true;
          }
          int64_t seconds = 0;
          if (from == Kind::kByte) seconds = RawValues<int8_t>(array)[row];
          if (from == Kind::kShort) seconds = RawValues<int16_t>(array)[row];
          if (from == Kind::kInt) seconds = RawValues<int32_t>(array)[row];
          if (from == Kind::kLong) seconds = RawValues<int64_t>(array)[row];
          // Seconds beyond the range stick to its end.
          if (__builtin_mul_overflow(seconds, kMicrosPerSecond, out))
            *out = seconds < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
          return true;
        },
        [&](int64_t row) -> Status {
          if (!plan.fails) return Status::OK();
          ZoneRules utc;
          std::string shown;
          ARROW_RETURN_NOT_OK(AppendValue(array, row, *plan.from, utc, &shown));
          return CastInvalidInput(plan, shown);
        });
  };
}

// Seconds since the epoch, rounded down.
template <typename Out>
Kernel TimestampToInteger(const CastPlan& plan) {
  return [plan, type = plan.to->ToArrow()](std::span<const Column> arguments, int64_t rows) {
    const int64_t* in = RawValues<int64_t>(*arguments[0].array);
    return ConvertFixed<Out>(
        arguments[0], rows, type,
        [=, checked = plan.fails || plan.nulls](int64_t row, Out* out) {
          const int64_t seconds = FloorDiv(in[row], kMicrosPerSecond);
          *out = static_cast<Out>(seconds);
          return !checked || *out == seconds;
        },
        [&](int64_t row) -> Status {
          if (!plan.fails) return Status::OK();
          ZoneRules utc;
          std::string text;
          ARROW_RETURN_NOT_OK(AppendValue(*arguments[0].array, row, *plan.from, utc, &text));
          return UserError("CAST_OVERFLOW", "The value TIMESTAMP '{}' of the type {} does not fit {}.", text, Quoted(plan.from->ToSql()),
                           Quoted(plan.to->ToSql()))
              .Param("value", "TIMESTAMP '" + text + "'")
              .Param("sourceType", Quoted(plan.from->ToSql()))
              .Param("targetType", Quoted(plan.to->ToSql()))
              .Param("ansiConfig", "\"spark.sql.ansi.enabled\"");
        });
  };
}

template <typename Out>
Kernel TimestampToFloat(const CastPlan& plan) {
  return [type = plan.to->ToArrow()](std::span<const Column> arguments, int64_t rows) {
    const int64_t* in = RawValues<int64_t>(*arguments[0].array);
    return ConvertFixed<Out>(
        arguments[0], rows, type,
        [in](int64_t row, Out* out) {
          *out = static_cast<Out>(static_cast<double>(in[row]) / kMicrosPerSecond);
          return true;
        },
        [](int64_t) { return Status::OK(); });
  };
}

// One time to another, row by row, through `convert(zone, value)`.
template <typename In, typename Out>
Kernel TimeToTime(const CastPlan& plan, ZoneRules zone, Out (*convert)(ZoneRules&, In)) {
  return [type = plan.to->ToArrow(), zone, convert](std::span<const Column> arguments, int64_t rows) mutable {
    const In* in = RawValues<In>(*arguments[0].array);
    return ConvertFixed<Out>(
        arguments[0], rows, type,
        [&](int64_t row, Out* out) {
          *out = convert(zone, in[row]);
          return true;
        },
        [](int64_t) { return Status::OK(); });
  };
}

int64_t DateToLocal(ZoneRules&, int32_t days) { return days * kMicrosPerDay; }
int64_t DateToUtc(ZoneRules& zone, int32_t days) { return zone.ToUtc(days * kMicrosPerDay); }
int32_t LocalToDate(ZoneRules&, int64_t micros) { return static_cast<int32_t>(FloorDiv(micros, kMicrosPerDay)); }
int32_t UtcToDate(ZoneRules& zone, int64_t micros) { return static_cast<int32_t>(FloorDiv(zone.ToLocal(micros), kMicrosPerDay)); }
int64_t UtcToLocal(ZoneRules& zone, int64_t micros) { return zone.ToLocal(micros); }
int64_t LocalToUtc(ZoneRules& zone, int64_t micros) { return zone.ToUtc(micros); }

Result<Kernel> TimestampToNumber(const CastPlan& plan) {
  switch (plan.to->kind()) {
    case Kind::kByte:
      return TimestampToInteger<int8_t>(plan);
    case Kind::kShort:
      return TimestampToInteger<int16_t>(plan);
    case Kind::kInt:
      return TimestampToInteger<int32_t>(plan);
    case Kind::kLong:
      return TimestampToInteger<int64_t>(plan);
    case Kind::kFloat:
      return TimestampToFloat<float>(plan);
    case Kind::kDouble:
      return TimestampToFloat<double>(plan);
    default:
      return UnsupportedCast(plan);
  }
}

}  // namespace

Result<Bound> BindTimeArithmetic(CallSite& call) {
  // With the types as the user sees them, before any cast.
  const Error mismatch = BinaryDiffTypes(call);
  // interval + time is time + interval.
  if (call.name == "+" && IsInterval(call.TypeOf(0).kind()) && !IsInterval(call.TypeOf(1).kind()))
    std::swap(call.children[0], call.children[1]);
  if (call.name == "*" || call.name == "/") return mismatch;
  for (size_t i = 0; i < 2; ++i) {
    // Beside an interval or a time a string is a timestamp.
    if (call.TypeOf(i).kind() == Kind::kString) call.Cast(i, type::Timestamp());
    if (call.TypeOf(i).kind() == Kind::kVoid) call.Cast(i, call.children[1 - i]->type);
  }
  const Kind left = call.TypeOf(0).kind();
  const Kind right = call.TypeOf(1).kind();
  const bool nullable = call.AnyNullable();
  if (IsInterval(left) && left == right) return Bound{call.children[0]->type, nullable};
  if (left == Kind::kDate && right == Kind::kDayTimeInterval && !IsWholeDays(*call.children[1])) {
    call.Cast(0, type::Timestamp());
    return Bound{type::Timestamp(), nullable};
  }
  if ((IsTimestamp(left) || left == Kind::kDate) && IsInterval(right)) return Bound{call.children[0]->type, nullable};
  if (call.name != "-") return mismatch;
  if (left == Kind::kDate && right == Kind::kDate) return Bound{type::DayTimeInterval(), nullable};
  const type::TypePtr common = CommonType(call.children[0]->type, call.children[1]->type, call.context.ansi);
  if (common == nullptr || !IsTimestamp(common->kind())) return mismatch;
  call.Cast(0, common);
  call.Cast(1, common);
  return Bound{type::DayTimeInterval(), nullable};
}

Result<Kernel> CompileTimeArithmetic(const Expression& call) {
  const Kind left = call.children[0]->type->kind();
  const Kind right = call.children[1]->type->kind();
  const int sign = call.name == "-" ? -1 : 1;
  const auto type = call.type->ToArrow();
  if (left == Kind::kDate) return right == Kind::kDate ? DateDifference() : ShiftDate(call, sign);
  if (IsInterval(left)) return left == Kind::kYearMonthInterval ? AddSigned<int32_t>(type, sign) : AddSigned<int64_t>(type, sign);
  if (IsTimestamp(right)) return AddSigned<int64_t>(type, -1);
  Status status;
  const ZoneRules zone = ZoneFor(call.context, left, &status);
  ARROW_RETURN_NOT_OK(status);
  return right == Kind::kYearMonthInterval ? ShiftTimestamp<int32_t>(type, zone, sign, AddYearMonth)
                                           : ShiftTimestamp<int64_t>(type, zone, sign, AddDayTime);
}

Result<Kernel> CompileTimeCast(const CastPlan& plan) {
  const Kind from = plan.from->kind();
  const Kind to = plan.to->kind();
  ARROW_ASSIGN_OR_RAISE(const ZoneRules zone, ZoneRules::Find(plan.time_zone));
  if (plan.from->IsNumeric()) return NumberToTimestamp(plan);
  if (from == Kind::kTimestamp && plan.to->IsNumeric()) return TimestampToNumber(plan);
  if (from == Kind::kDate && to == Kind::kTimestamp) return TimeToTime<int32_t, int64_t>(plan, zone, DateToUtc);
  if (from == Kind::kDate && to == Kind::kTimestampNtz) return TimeToTime<int32_t, int64_t>(plan, zone, DateToLocal);
  if (from == Kind::kTimestamp && to == Kind::kDate) return TimeToTime<int64_t, int32_t>(plan, zone, UtcToDate);
  if (from == Kind::kTimestampNtz && to == Kind::kDate) return TimeToTime<int64_t, int32_t>(plan, zone, LocalToDate);
  if (from == Kind::kTimestamp && to == Kind::kTimestampNtz) return TimeToTime<int64_t, int64_t>(plan, zone, UtcToLocal);
  if (from == Kind::kTimestampNtz && to == Kind::kTimestamp) return TimeToTime<int64_t, int64_t>(plan, zone, LocalToUtc);
  return UnsupportedCast(plan);
}

}  // namespace tidemill::expr
