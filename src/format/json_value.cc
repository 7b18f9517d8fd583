#include "format/json_value.h"

#include <arrow/util/base64.h>
#include <arrow/util/decimal.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "expr/timestamp.h"

namespace tidemill::format {

namespace {

using type::Kind;

/// Characters of a string slice, escapes undone into `buffer` when there are any.
std::string_view Characters(const JsonSlice& slice, std::string& buffer) {
  if (!slice.escaped) return slice.text();
  buffer = UnescapeJson(slice.text());
  return buffer;
}

template <typename T>
bool ParseNumber(std::string_view text, T* value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  if (error == std::errc::result_out_of_range) {
    // Beyond the range of the type: strtod tells infinity from zero as Java does.
    *value = static_cast<T>(std::strtod(std::string(text).c_str(), nullptr));
    return true;
  }
  return error == std::errc() && end == text.data() + text.size();
}

bool ParseLong(std::string_view text, int64_t* value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

template <typename T>
bool ParseNonNumeric(std::string_view text, T* value) {
  if (text == "NaN") *value = std::numeric_limits<T>::quiet_NaN();
  else if (text == "Infinity" || text == "+Infinity" || text == "+INF") *value = std::numeric_limits<T>::infinity();
  else if (text == "-Infinity" || text == "-INF") *value = -std::numeric_limits<T>::infinity();
  else return false;
  return true;
}

/// Does a timestamp text name a zone? Then it is no TIMESTAMP_NTZ.
bool NamesZone(std::string_view text) {
  size_t time = text.find_first_of("T :");
  if (time == std::string_view::npos) return false;
  return text.find_first_of("Zz+-/", time) != std::string_view::npos || text.find("UTC", time) != std::string_view::npos ||
         text.find("GMT", time) != std::string_view::npos;
}

/// Decimal text (exponent allowed) rounded half up to `scale`, as unscaled two's complement; false when it does not fit `precision` digits.
bool ParseDecimal(std::string_view text, int precision, int scale, arrow::Decimal128* value) {
  arrow::Decimal256 wide;
  int32_t have_precision = 0;
  int32_t have_scale = 0;
  if (!arrow::Decimal256::FromString(text, &wide, &have_precision, &have_scale).ok()) return false;
  int32_t delta = scale - have_scale;
  if (wide == arrow::Decimal256(0)) delta = 0;
  if (delta > 0) {
    if (have_precision + delta > arrow::Decimal256::kMaxPrecision) return false;
    wide = arrow::Decimal256(wide.IncreaseScaleBy(delta));
  } else if (delta < 0) {
    if (-delta > have_precision) wide = arrow::Decimal256(0);
    else wide = arrow::Decimal256(wide.ReduceScaleBy(-delta, /*round=*/true));
  }
  if (!wide.FitsInPrecision(precision)) return false;
  const auto& words = wide.little_endian_array();
  *value = arrow::Decimal128(static_cast<int64_t>(words[1]), words[0]);
  return true;
}

}  // namespace

Result<ValueDecoder> ValueDecoder::Make(const type::TypePtr& type, const JsonOptions& options) {
  ValueDecoder decoder(options);
  switch (type->kind()) {
    case Kind::kStruct: {
      std::vector<std::string> names;
      for (const type::Field& field : type->fields()) {
        ARROW_ASSIGN_OR_RAISE(ValueDecoder child, Make(field.type, options));
        decoder.children_.push_back(std::move(child));
        names.push_back(field.name);
      }
      decoder.scanner_.emplace(names, options.syntax);
      break;
    }
    case Kind::kMap:
      if (type->key()->kind() != Kind::kString) {
        return UserError("UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE", "The JSON datasource doesn't support a map with keys of type {}", type->key()->ToSql());
      }
      [[fallthrough]];
    case Kind::kArray: {
      ARROW_ASSIGN_OR_RAISE(ValueDecoder child, Make(type->element(), options));
      decoder.children_.push_back(std::move(child));
      break;
    }
    case Kind::kDayTimeInterval:
    case Kind::kYearMonthInterval:
      return UserError("UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE", "The JSON datasource doesn't support the type {} yet", type->ToSql());
    default:
      break;
  }
  return decoder;
}

Status ValueDecoder::Decode(const JsonSlice& slice, ColumnBuilder& column, DecodeOutcome* outcome) {
  *outcome = DecodeOutcome::kOk;
  if (slice.kind == JsonKind::kNull || slice.kind == JsonKind::kMissing) return column.AppendNull();
  switch (column.type().kind()) {
    case Kind::kString:
      return DecodeString(slice, column);
    case Kind::kTimestamp:
    case Kind::kTimestampNtz:
    case Kind::kDate:
      return DecodeTime(slice, column, outcome);
    case Kind::kLong:
      return DecodeInteger<int64_t>(slice, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(), column, outcome);
    case Kind::kInt:
      return DecodeInteger<int32_t>(slice, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max(), column, outcome);
    case Kind::kShort:
      return DecodeInteger<int16_t>(slice, std::numeric_limits<int16_t>::min(), std::numeric_limits<int16_t>::max(), column, outcome);
    case Kind::kByte:
      // Jackson takes 128 to 255 as a byte too, and lets them wrap.
      return DecodeInteger<int8_t>(slice, -128, 255, column, outcome);
    case Kind::kDouble:
      return DecodeFloating<double>(slice, column, outcome);
    case Kind::kFloat:
      return DecodeFloating<float>(slice, column, outcome);
    case Kind::kBoolean:
      if (slice.kind == JsonKind::kTrue) return column.AppendFixed<uint8_t>(1);
      if (slice.kind == JsonKind::kFalse) return column.AppendFixed<uint8_t>(0);
      break;
    case Kind::kDecimal:
      return DecodeDecimal(slice, column, outcome);
    case Kind::kBinary:
      return DecodeBinary(slice, column, outcome);
    case Kind::kStruct:
      return DecodeStruct(slice, column, outcome);
    case Kind::kArray:
      return DecodeArray(slice, column, outcome);
    case Kind::kMap:
      return DecodeMap(slice, column, outcome);
    default:
      break;
  }
  *outcome = DecodeOutcome::kFailed;
  return Status::OK();
}

Status ValueDecoder::DecodeString(const JsonSlice& slice, ColumnBuilder& column) {
  // Any other value is taken as it is written (spark.sql.json.enableExactStringParsing).
  if (slice.kind != JsonKind::kString || !slice.escaped) return column.AppendBytes(slice.text());
  return column.AppendBytes(UnescapeJson(slice.text()));
}

template <typename T>
Status ValueDecoder::DecodeInteger(const JsonSlice& slice, int64_t low, int64_t high, ColumnBuilder& column, DecodeOutcome* outcome) {
  int64_t value = 0;
  if (slice.kind != JsonKind::kInteger || !ParseLong(slice.text(), &value) || value < low || value > high) {
    *outcome = DecodeOutcome::kFailed;
    return Status::OK();
  }
  return column.AppendFixed(static_cast<T>(value));
}

template <typename T>
Status ValueDecoder::DecodeFloating(const JsonSlice& slice, ColumnBuilder& column, DecodeOutcome* outcome) {
  T value = 0;
  bool parsed = false;
  if (slice.kind == JsonKind::kInteger || slice.kind == JsonKind::kFraction) parsed = ParseNumber(slice.text(), &value);
  else if (slice.kind == JsonKind::kString || slice.kind == JsonKind::kNonNumeric) parsed = ParseNonNumeric(slice.text(), &value);
  if (parsed) return column.AppendFixed(value);
  *outcome = DecodeOutcome::kFailed;
  return Status::OK();
}

Status ValueDecoder::DecodeTime(const JsonSlice& slice, ColumnBuilder& column, DecodeOutcome* outcome) {
  static constexpr int64_t kMicrosPerSecond = 1'000'000;
  const Kind kind = column.type().kind();
  int64_t micros = 0;
  if (slice.kind == JsonKind::kString) {
    std::string buffer;
    std::string_view text = Characters(slice, buffer);
    if (kind == Kind::kDate) {
      int32_t days = 0;
      if (expr::ParseDate(text, &days)) return column.AppendFixed(days);
      // Spark 1.5 wrote dates as day numbers in strings.
      if (auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), days); error == std::errc() && end == text.data() + text.size()) {
        return column.AppendFixed(days);
      }
    } else if (kind == Kind::kTimestamp) {
      if (expr::ParseTimestamp(text, time_zone_, &micros)) return column.AppendFixed(micros);
    } else if (!NamesZone(text) && expr::ParseTimestamp(text, "UTC", &micros)) {
      return column.AppendFixed(micros);
    }
  } else if (slice.kind == JsonKind::kInteger && kind == Kind::kTimestamp) {
    // A number is seconds; the product wraps as Java's does.
    if (int64_t seconds = 0; ParseLong(slice.text(), &seconds)) {
      return column.AppendFixed(static_cast<int64_t>(static_cast<uint64_t>(seconds) * kMicrosPerSecond));
    }
  }
  *outcome = DecodeOutcome::kFailed;
  return Status::OK();
}

Status ValueDecoder::DecodeDecimal(const JsonSlice& slice, ColumnBuilder& column, DecodeOutcome* outcome) {
  std::string text;
  if (slice.kind == JsonKind::kInteger || slice.kind == JsonKind::kFraction) {
    text = slice.text();
  } else if (slice.kind == JsonKind::kString) {
    std::string buffer;
    text = Characters(slice, buffer);
    text.erase(std::remove(text.begin(), text.end(), ','), text.end());
  }
  arrow::Decimal128 value;
  if (text.empty() || !ParseDecimal(text, column.type().precision(), column.type().scale(), &value)) {
    *outcome = DecodeOutcome::kFailed;
    return Status::OK();
  }
  return column.AppendFixed(value.ToBytes());
}

Status ValueDecoder::DecodeBinary(const JsonSlice& slice, ColumnBuilder& column, DecodeOutcome* outcome) {
  if (slice.kind == JsonKind::kString) {
    std::string buffer;
    std::string_view text = Characters(slice, buffer);
    if (Result<std::string> bytes = arrow::util::base64_decode(text); bytes.ok()) return column.AppendBytes(*bytes);
  }
  *outcome = DecodeOutcome::kFailed;
  return Status::OK();
}

Status ValueDecoder::DecodeStruct(const JsonSlice& slice, ColumnBuilder& column, DecodeOutcome* outcome) {
  if (slice.kind != JsonKind::kObject) {
    *outcome = DecodeOutcome::kFailed;
    return Status::OK();
  }
  const char* cursor = slice.begin;
  bool non_ascii = false;
  if (!scanner_->Scan(cursor, &non_ascii)) return InternalError("an object that was scanned before is malformed: {}", slice.text());
  std::vector<ColumnBuilder*> columns;
  columns.reserve(children_.size());
  for (size_t i = 0; i < children_.size(); ++i) columns.push_back(&column.child(static_cast<int>(i)));
  ARROW_RETURN_NOT_OK(DecodeFields(scanner_->slots(), children_, columns, outcome));
  return column.AppendNested();
}

Status ValueDecoder::DecodeArray(const JsonSlice& slice, ColumnBuilder& column, DecodeOutcome* outcome) {
  if (slice.kind != JsonKind::kArray) {
    *outcome = DecodeOutcome::kFailed;
    return Status::OK();
  }
  bool non_ascii = false;
  for (const char* p = SkipJsonBlanks(slice.begin + 1); *p != ']';) {
    JsonSlice element;
    p = SkipJsonBlanks(ScanJsonValue(p, syntax_, 0, &element, &non_ascii));
    DecodeOutcome part = DecodeOutcome::kOk;
    ARROW_RETURN_NOT_OK(children_[0].Decode(element, column.child(0), &part));
    if (part == DecodeOutcome::kFailed) {
      // One element of a wrong type makes the whole array null; an element that is a struct with a bad field stays.
      column.Truncate(column.length());
      *outcome = DecodeOutcome::kFailed;
      return Status::OK();
    }
    if (part == DecodeOutcome::kPartial) *outcome = DecodeOutcome::kPartial;
    if (*p == ',') p = SkipJsonBlanks(p + 1);
  }
  return column.AppendNested();
}

Status ValueDecoder::DecodeMap(const JsonSlice& slice, ColumnBuilder& column, DecodeOutcome* outcome) {
  if (slice.kind != JsonKind::kObject) {
    *outcome = DecodeOutcome::kFailed;
    return Status::OK();
  }
  bool non_ascii = false;
  for (const char* p = SkipJsonBlanks(slice.begin + 1); *p != '}';) {
    JsonSlice key;
    JsonSlice value;
    p = SkipJsonBlanks(ScanJsonString(p + 1, *p, syntax_, &key, &non_ascii));
    p = SkipJsonBlanks(p + 1);  // the colon
    p = SkipJsonBlanks(ScanJsonValue(p, syntax_, 0, &value, &non_ascii));
    DecodeOutcome part = DecodeOutcome::kOk;
    ARROW_RETURN_NOT_OK(children_[0].Decode(value, column.child(1), &part));
    if (part == DecodeOutcome::kFailed) {
      column.Truncate(column.length());
      *outcome = DecodeOutcome::kFailed;
      return Status::OK();
    }
    std::string buffer;
    ARROW_RETURN_NOT_OK(column.child(0).AppendBytes(Characters(key, buffer)));
    if (part == DecodeOutcome::kPartial) *outcome = DecodeOutcome::kPartial;
    if (*p == ',') p = SkipJsonBlanks(p + 1);
  }
  return column.AppendNested();
}

Status DecodeFields(const std::vector<JsonSlice>& slots, std::vector<ValueDecoder>& decoders, const std::vector<ColumnBuilder*>& columns,
                    DecodeOutcome* outcome) {
  for (size_t i = 0; i < slots.size(); ++i) {
    DecodeOutcome field = DecodeOutcome::kOk;
    ARROW_RETURN_NOT_OK(decoders[i].Decode(slots[i], *columns[i], &field));
    if (field == DecodeOutcome::kFailed) ARROW_RETURN_NOT_OK(columns[i]->AppendNull());
    if (field != DecodeOutcome::kOk) *outcome = DecodeOutcome::kPartial;
  }
  return Status::OK();
}

}  // namespace tidemill::format
