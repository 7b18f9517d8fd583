#include "format/json_writer.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/util/base64.h>

#include <charconv>
#include <cmath>

#include "expr/timestamp.h"
#include "expr/value_text.h"

namespace tidemill::format {

using type::DataType;
using type::Kind;

void AppendJsonString(std::string_view text, std::string* out) {
  constexpr char kHex[] = "0123456789ABCDEF";
  out->push_back('"');
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte >= 0x20 && c != '"' && c != '\\') {
      out->push_back(c);
      continue;
    }
    out->push_back('\\');
    switch (c) {
      case '"':
      case '\\': out->push_back(c); break;
      case '\b': out->push_back('b'); break;
      case '\f': out->push_back('f'); break;
      case '\n': out->push_back('n'); break;
      case '\r': out->push_back('r'); break;
      case '\t': out->push_back('t'); break;
      default: *out += {'u', '0', '0', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  out->push_back('"');
}

namespace {

void AppendInteger(int64_t value, std::string* out) {
  char buffer[24];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value);
  out->append(buffer, end);
}

/// "+05:30", with seconds where a zone had them ("-07:52:58", local mean time), "Z" for none.
void AppendOffset(int64_t offset_seconds, std::string* out) {
  if (offset_seconds == 0) {
    out->push_back('Z');
    return;
  }
  const int64_t magnitude = std::abs(offset_seconds);
  *out += fmt::format("{}{:02}:{:02}", offset_seconds < 0 ? '-' : '+', magnitude / 3600, magnitude / 60 % 60);
  if (magnitude % 60 != 0) *out += fmt::format(":{:02}", magnitude % 60);
}

/// The local date and time with exactly three digits of fraction, and the zone's offset.
void AppendTimestamp(int64_t micros, const std::string& time_zone, bool with_zone, std::string* out) {
  const auto floor_div = [](int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); };
  const int64_t seconds = floor_div(micros, 1'000'000);
  const int64_t millis = (micros - seconds * 1'000'000) / 1000;
  // Whole seconds have no fraction in FormatTimestamp, so ours can be put behind.
  std::string text = expr::FormatTimestamp(seconds * 1'000'000, with_zone ? time_zone : "UTC");
  text[text.rfind(' ')] = 'T';
  *out += text;
  *out += fmt::format(".{:03}", millis);
  if (!with_zone) return;
  int64_t local = 0;
  text[text.rfind('T')] = ' ';
  // What the local text would be in UTC tells the offset.
  const bool parsed = expr::ParseTimestamp(text, "UTC", &local);
  AppendOffset(parsed ? local / 1'000'000 - seconds : 0, out);
}

/// Spark prints the value of a key as it has it in memory: times and spans as their number. Of nested values and bytes that is an address or a hash.
bool IsJsonKey(const DataType& type) {
  return type.kind() != Kind::kBinary && type.kind() != Kind::kStruct && type.kind() != Kind::kArray && type.kind() != Kind::kMap;
}

Status CheckJsonType(const std::string& column, const DataType& type) {
  for (const type::Field& field : type.fields()) ARROW_RETURN_NOT_OK(CheckJsonType(column, *field.type));
  if (type.key() != nullptr && !IsJsonKey(*type.key())) {
    return UserError("TIDEMILL_UNSUPPORTED_FEATURE",
                     "Column {} cannot be written as JSON: it has a map with keys of type {}, and JSON has strings for keys. Make the keys strings, or "
                     "the map an array of key and value.",
                     column, type.key()->ToSql());
  }
  return type.element() == nullptr ? Status::OK() : CheckJsonType(column, *type.element());
}

class Writer {
 public:
  Writer(const JsonWriterOptions& options, std::string* out) : options_(options), out_(*out) {}

  Status Object(const std::vector<type::Field>& fields, const arrow::ArrayVector& columns, int64_t row) {
    out_.push_back('{');
    bool first = true;
    for (size_t i = 0; i < fields.size(); ++i) {
      const bool is_null = columns[i]->IsNull(row);
      if (is_null && options_.ignore_null_fields) continue;
      if (!first) out_.push_back(',');
      first = false;
      AppendJsonString(fields[i].name, &out_);
      out_.push_back(':');
      if (is_null) {
        out_ += "null";
      } else {
        ARROW_RETURN_NOT_OK(Value(*fields[i].type, *columns[i], row));
      }
    }
    out_.push_back('}');
    return Status::OK();
  }

 private:
  Status Value(const DataType& type, const arrow::Array& array, int64_t row) {
    switch (type.kind()) {
      case Kind::kBoolean: out_ += static_cast<const arrow::BooleanArray&>(array).Value(row) ? "true" : "false"; break;
      case Kind::kByte: AppendInteger(static_cast<const arrow::Int8Array&>(array).Value(row), &out_); break;
      case Kind::kShort: AppendInteger(static_cast<const arrow::Int16Array&>(array).Value(row), &out_); break;
      case Kind::kInt: AppendInteger(static_cast<const arrow::Int32Array&>(array).Value(row), &out_); break;
      case Kind::kLong: AppendInteger(static_cast<const arrow::Int64Array&>(array).Value(row), &out_); break;
      case Kind::kFloat: return Real(type, array, row, static_cast<const arrow::FloatArray&>(array).Value(row));
      case Kind::kDouble: return Real(type, array, row, static_cast<const arrow::DoubleArray&>(array).Value(row));
      case Kind::kDecimal: out_ += static_cast<const arrow::Decimal128Array&>(array).FormatValue(row); break;
      case Kind::kString: AppendJsonString(static_cast<const arrow::StringArray&>(array).GetView(row), &out_); break;
      case Kind::kBinary: AppendJsonString(arrow::util::base64_encode(static_cast<const arrow::BinaryArray&>(array).GetView(row)), &out_); break;
      case Kind::kDate: AppendJsonString(expr::FormatDate(static_cast<const arrow::Date32Array&>(array).Value(row)), &out_); break;
      case Kind::kTimestamp:
      case Kind::kTimestampNtz:
        out_.push_back('"');
        AppendTimestamp(static_cast<const arrow::TimestampArray&>(array).Value(row), options_.time_zone, type.kind() == Kind::kTimestamp, &out_);
        out_.push_back('"');
        break;
      case Kind::kDayTimeInterval:
      case Kind::kYearMonthInterval: {
        ARROW_ASSIGN_OR_RAISE(const std::string text, expr::FormatValue(array, row, type, options_.time_zone));
        AppendJsonString(text, &out_);
        break;
      }
      case Kind::kStruct: {
        const auto& columns = static_cast<const arrow::StructArray&>(array);
        arrow::ArrayVector children;
        for (int i = 0; i < columns.num_fields(); ++i) children.push_back(columns.field(i));
        return Object(type.fields(), children, row);
      }
      case Kind::kArray: return List(type, static_cast<const arrow::ListArray&>(array), row);
      case Kind::kMap: return Map(type, static_cast<const arrow::MapArray&>(array), row);
      case Kind::kVoid: out_ += "null"; break;
    }
    return Status::OK();
  }

  /// As Java prints it; what JSON has no number for goes in quotes.
  Status Real(const DataType& type, const arrow::Array& array, int64_t row, double value) {
    ARROW_ASSIGN_OR_RAISE(const std::string text, expr::FormatValue(array, row, type, options_.time_zone));
    if (std::isfinite(value)) {
      out_ += text;
    } else {
      AppendJsonString(text, &out_);
    }
    return Status::OK();
  }

  Status List(const DataType& type, const arrow::ListArray& lists, int64_t row) {
    out_.push_back('[');
    const arrow::Array& values = *lists.values();
    for (int64_t i = lists.value_offset(row); i < lists.value_offset(row + 1); ++i) {
      if (i > lists.value_offset(row)) out_.push_back(',');
      ARROW_RETURN_NOT_OK(ValueOrNull(*type.element(), values, i));
    }
    out_.push_back(']');
    return Status::OK();
  }

  Status Map(const DataType& type, const arrow::MapArray& maps, int64_t row) {
    out_.push_back('{');
    for (int64_t i = maps.value_offset(row); i < maps.value_offset(row + 1); ++i) {
      if (i > maps.value_offset(row)) out_.push_back(',');
      ARROW_RETURN_NOT_OK(Key(*type.key(), *maps.keys(), i));
      out_.push_back(':');
      ARROW_RETURN_NOT_OK(ValueOrNull(*type.element(), *maps.items(), i));
    }
    out_.push_back('}');
    return Status::OK();
  }

  Status Key(const DataType& type, const arrow::Array& keys, int64_t row) {
    const auto number = [&](int64_t value) {
      AppendJsonString(std::to_string(value), &out_);
      return Status::OK();
    };
    switch (type.kind()) {
      case Kind::kDate: return number(static_cast<const arrow::Date32Array&>(keys).Value(row));
      case Kind::kTimestamp:
      case Kind::kTimestampNtz: return number(static_cast<const arrow::TimestampArray&>(keys).Value(row));
      case Kind::kDayTimeInterval: return number(static_cast<const arrow::DurationArray&>(keys).Value(row));
      case Kind::kYearMonthInterval: return number(static_cast<const arrow::Int32Array&>(keys).Value(row));
      default: break;
    }
    ARROW_ASSIGN_OR_RAISE(const std::string text, expr::FormatValue(keys, row, type, options_.time_zone));
    AppendJsonString(text, &out_);
    return Status::OK();
  }

  Status ValueOrNull(const DataType& type, const arrow::Array& array, int64_t row) {
    if (!array.IsNull(row)) return Value(type, array, row);
    out_ += "null";
    return Status::OK();
  }

  const JsonWriterOptions& options_;
  std::string& out_;
};

}  // namespace

Status CheckJsonColumns(const type::Schema& schema) {
  for (const type::Field& field : schema.fields) ARROW_RETURN_NOT_OK(CheckJsonType(field.name, *field.type));
  return Status::OK();
}

Status AppendJsonLines(const type::Schema& schema, const arrow::RecordBatch& batch, const JsonWriterOptions& options, std::string* out) {
  Writer writer(options, out);
  for (int64_t row = 0; row < batch.num_rows(); ++row) {
    ARROW_RETURN_NOT_OK(writer.Object(schema.fields, batch.columns(), row));
    out->push_back('\n');
  }
  return Status::OK();
}

}  // namespace tidemill::format
