// Timestamps from and to numbers and text, cut to a unit, and the time of the batch.

#include <arrow/array/array_binary.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include <algorithm>
#include <optional>

#include "expr/function/cast_internal.h"
#include "expr/civil_time.h"
#include "expr/function/coercion_internal.h"
#include "expr/function/registry_internal.h"
#include "expr/function/resolve.h"

namespace tidemill::expr {

namespace {

using type::Kind;

Result<Bound> BindNow(CallSite& call) {
  if (call.name == "current_date") return Bound{type::Date(), false};
  return Bound{call.name == "localtimestamp" ? type::TimestampNtz() : type::Timestamp(), false};
}

Result<Bound> BindToTimestamp(CallSite& call) {
  const Kind kind = call.TypeOf(0).kind();
  const bool takes = kind == Kind::kString || kind == Kind::kDate || kind == Kind::kTimestamp || kind == Kind::kTimestampNtz ||
                     kind == Kind::kVoid || (call.name == "to_timestamp" && call.TypeOf(0).IsNumeric());
  if (!takes) return UnexpectedInputType(call, 0, "(\"STRING\" or \"DATE\" or \"TIMESTAMP\" or \"TIMESTAMP WITHOUT TIME ZONE\")");
  const type::TypePtr to = call.name == "to_date" ? type::Date() : type::Timestamp();
  // The cast that this call is tells whether a value may get lost.
  ARROW_ASSIGN_OR_RAISE(const ExprPtr cast, ResolveCast(call.children[0], to, false, call.context));
  return Bound{to, cast->nullable};
}

// Without a format they are casts.
Result<Kernel> CompileToTimestamp(const Expression& call) {
  auto cast = std::make_shared<Expression>(*UnresolvedCast(call.children[0], call.type, false));
  cast->context = call.context;
  return CompileCast(*cast);
}

Result<Bound> BindFromNumber(CallSite& call) {
  ARROW_RETURN_NOT_OK(ExpectNumeric(call, 0));
  if (call.name != "timestamp_seconds" && !call.TypeOf(0).IsIntegral()) return UnexpectedInputType(call, 0, "\"INTEGRAL\"");
  if (call.TypeOf(0).IsIntegral()) {
    call.Cast(0, type::Long());
  } else {
    call.Cast(0, type::Double());
  }
  return Bound{type::Timestamp(), call.children[0]->nullable};
}

template <int64_t kUnit>
Result<Kernel> CompileFromNumber(const Expression& call) {
  const auto type = call.type->ToArrow();
  const bool whole = call.children[0]->type->kind() == Kind::kLong;
  return Kernel([=](std::span<const Column> arguments, int64_t rows) {
    const arrow::Array& array = *arguments[0].array;
    return ConvertFixed<int64_t>(
        arguments[0], rows, type,
        [&](int64_t row, int64_t* out) {
          if (whole) return !__builtin_mul_overflow(RawValues<int64_t>(array)[row], kUnit, out);
          const double micros = RawValues<double>(array)[row] * static_cast<double>(kUnit);
          if (!(micros > -9.2e18 && micros < 9.2e18)) return false;
          *out = static_cast<int64_t>(micros);
          return true;
        },
        [&](int64_t row) -> Status {
          // NaN and infinity are no time and become null; a whole number out of range is an error in any mode.
          if (!whole) return Status::OK();
          return UserError("ARITHMETIC_OVERFLOW", "long overflow: {} is outside the range of timestamps.", RawValues<int64_t>(array)[row])
              .Param("message", "long overflow")
              .Param("alternative", "")
              .Param("config", "\"spark.sql.ansi.enabled\"");
        });
  });
}

Result<Bound> BindToNumber(CallSite& call) {
  ARROW_RETURN_NOT_OK(ExpectType(call, 0, type::Timestamp()));
  return Bound{type::Long(), call.children[0]->nullable};
}

template <int64_t kUnit>
Result<Kernel> CompileToNumber(const Expression&) {
  return Kernel([](std::span<const Column> arguments, int64_t rows) {
    const int64_t* micros = RawValues<int64_t>(*arguments[0].array);
    return ConvertFixed<int64_t>(
        arguments[0], rows, arrow::int64(),
        [micros](int64_t row, int64_t* out) {
          *out = FloorDiv(micros[row], kUnit);
          return true;
        },
        [](int64_t) { return Status::OK(); });
  });
}

enum class Unit { kYear, kQuarter, kMonth, kWeek, kDay, kHour, kMinute, kSecond, kMillisecond, kMicrosecond };

std::optional<Unit> ParseUnit(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  const std::pair<std::string_view, Unit> names[] = {{"YEAR", Unit::kYear},
                                                     {"YYYY", Unit::kYear},
                                                     {"YY", Unit::kYear},
                                                     {"QUARTER", Unit::kQuarter},
                                                     {"MONTH", Unit::kMonth},
                                                     {"MM", Unit::kMonth},
                                                     {"MON", Unit::kMonth},
                                                     {"WEEK", Unit::kWeek},
                                                     {"DAY", Unit::kDay},
                                                     {"DD", Unit::kDay},
                                                     {"HOUR", Unit::kHour},
                                                     {"MINUTE", Unit::kMinute},
                                                     {"SECOND", Unit::kSecond},
                                                     {"MILLISECOND", Unit::kMillisecond},
                                                     {"MICROSECOND", Unit::kMicrosecond}};
  for (const auto& [name, unit] : names) {
    if (text == name) return unit;
  }
  return std::nullopt;
}

int64_t TruncateDays(int64_t days, Unit unit) {
  const CivilDate civil = CivilFromDays(days);
  switch (unit) {
    case Unit::kYear:
      return DaysFromCivil(civil.year, 1, 1);
    case Unit::kQuarter:
      return DaysFromCivil(civil.year, (civil.month - 1) / 3 * 3 + 1, 1);
    case Unit::kMonth:
      return DaysFromCivil(civil.year, civil.month, 1);
    case Unit::kWeek:
      return days - FloorMod(days + 3, 7);  // back to Monday
    default:
      return days;
  }
}

int64_t Truncate(int64_t micros, Unit unit, ZoneRules& zone) {
  const auto floor_to = [](int64_t value, int64_t step) { return FloorDiv(value, step) * step; };
  switch (unit) {
    case Unit::kMicrosecond:
      return micros;
    case Unit::kMillisecond:
      return floor_to(micros, 1000);
    case Unit::kSecond:
      return floor_to(micros, kMicrosPerSecond);
    case Unit::kMinute:
    case Unit::kHour: {
      // Of the local clock, but staying on the same side of a change of clocks.
      const int64_t offset = zone.OffsetAt(micros);
      return floor_to(micros + offset, unit == Unit::kHour ? kMicrosPerHour : kMicrosPerMinute) - offset;
    }
    default:
      return zone.ToUtc(TruncateDays(FloorDiv(zone.ToLocal(micros), kMicrosPerDay), unit) * kMicrosPerDay);
  }
}

Result<Bound> BindDateTrunc(CallSite& call) {
  ARROW_RETURN_NOT_OK(ExpectType(call, 0, type::String()));
  ARROW_RETURN_NOT_OK(ExpectType(call, 1, type::Timestamp()));
  return Bound{type::Timestamp(), true};
}

Result<Kernel> CompileDateTrunc(const Expression& call) {
  ARROW_ASSIGN_OR_RAISE(const ZoneRules bound, ZoneRules::Find(call.context.time_zone));
  const auto type = call.type->ToArrow();
  return Kernel([zone = bound, type](std::span<const Column> arguments, int64_t rows) mutable -> Result<ArrayPtr> {
    const auto& units = static_cast<const arrow::StringArray&>(*arguments[0].array);
    std::optional<Unit> unit;
    if (arguments[0].constant) {
      if (units.IsValid(0)) unit = ParseUnit(units.GetString(0));
      if (!unit) return AllNull(type, rows);  // An unknown unit gives null.
    }
    const Column& times = arguments[1];
    const int64_t* micros = RawValues<int64_t>(*times.array);
    if (arguments[0].constant && !times.constant) {
      return ConvertFixed<int64_t>(
          times, rows, type,
          [&](int64_t row, int64_t* out) {
            *out = Truncate(micros[row], *unit, zone);
            return true;
          },
          [](int64_t) { return Status::OK(); });
    }
    ARROW_ASSIGN_OR_RAISE(auto buffer, AllocateValues(rows * 8));
    int64_t* out = reinterpret_cast<int64_t*>(buffer->mutable_data());
    Validity validity;
    ARROW_ASSIGN_OR_RAISE(validity.bitmap, AllocateBits(rows));
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t at = arguments[0].Index(row);
      const auto own = units.IsValid(at) ? ParseUnit(units.GetString(at)) : std::nullopt;
      const bool valid = own && !times.IsNull(row);
      out[row] = valid ? Truncate(micros[times.Index(row)], *own, zone) : 0;
      if (valid) validity.bitmap->mutable_data()[row >> 3] |= static_cast<uint8_t>(1 << (row & 7));
      validity.null_count += valid ? 0 : 1;
    }
    return MakeFixed(type, rows, std::move(buffer), validity);
  });
}

constexpr Function kFunctions[] = {
    {"current_timestamp", 0, 0, BindNow},
    {"now", 0, 0, BindNow},
    {"current_date", 0, 0, BindNow},
    {"localtimestamp", 0, 0, BindNow},
    {"to_timestamp", 1, 1, BindToTimestamp, CompileToTimestamp, Failing::kAnsi},
    {"to_date", 1, 1, BindToTimestamp, CompileToTimestamp, Failing::kAnsi},
    {"timestamp_seconds", 1, 1, BindFromNumber, CompileFromNumber<kMicrosPerSecond>, Failing::kAlways},
    {"timestamp_millis", 1, 1, BindFromNumber, CompileFromNumber<1000>, Failing::kAlways},
    {"timestamp_micros", 1, 1, BindFromNumber, CompileFromNumber<1>},
    {"unix_seconds", 1, 1, BindToNumber, CompileToNumber<kMicrosPerSecond>},
    {"unix_millis", 1, 1, BindToNumber, CompileToNumber<1000>},
    {"unix_micros", 1, 1, BindToNumber, CompileToNumber<1>},
    {"unix_timestamp", 1, 1, BindToNumber, CompileToNumber<kMicrosPerSecond>},
    {"date_trunc", 2, 2, BindDateTrunc, CompileDateTrunc},
};

}  // namespace

std::span<const Function> TimestampFunctions() { return kFunctions; }

}  // namespace tidemill::expr
