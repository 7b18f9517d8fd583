#include "format/json_decoder.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <simdjson.h>

#include <cstring>

#include "expr/timestamp.h"
#include "expr/value_text.h"

namespace tidemill::format {

namespace {

const char* LineEnd(const char* p) {
  while (*p != '\n' && *p != '\r') ++p;
  return p;
}

/// Behind the line end at `p`; `\r\n` is one.
const char* SkipLineEnd(const char* p) { return p[0] == '\r' && p[1] == '\n' ? p + 2 : p + 1; }

/// Behind the byte order mark that a line may begin with. Spark's parser looks for one in each record of four bytes and more, and takes a second one for text.
const char* SkipByteOrderMark(const char* line) {
  if (std::memcmp(line, "\xef\xbb\xbf", 3) != 0 || line[3] == '\n' || line[3] == '\r') return line;
  return line + 3;
}

std::vector<std::string> NamesWithout(const std::vector<type::Field>& fields, const std::string& name) {
  std::vector<std::string> names;
  for (const type::Field& field : fields) {
    if (field.name != name) names.push_back(field.name);
  }
  return names;
}

/// `line` as text that is UTF-8: a malformed line may hold any bytes, and a string column may not. Each bad byte becomes U+FFFD.
std::string ReplaceInvalidUtf8(std::string_view line) {
  std::string text;
  for (size_t i = 0; i < line.size();) {
    size_t size = 1;
    while (size <= 4 && i + size <= line.size() && !simdjson::validate_utf8(line.data() + i, size)) ++size;
    if (size <= 4 && i + size <= line.size()) {
      text += line.substr(i, size);
      i += size;
    } else {
      text += "\xef\xbf\xbd";
      ++i;
    }
  }
  return text;
}

}  // namespace

JsonDecoder::JsonDecoder(std::vector<type::Field> columns, JsonOptions options, arrow::MemoryPool* pool)
    : fields_(std::move(columns)),
      options_(std::move(options)),
      schema_(type::Schema{fields_}.ToArrow()),
      scanner_(NamesWithout(fields_, options_.corrupt_column), options_.syntax) {
  builders_.reserve(fields_.size());  // decoded_ points into it
  for (size_t i = 0; i < fields_.size(); ++i) {
    builders_.emplace_back(fields_[i].type, pool);
    if (fields_[i].name == options_.corrupt_column) corrupt_ = static_cast<int>(i);
    else decoded_.push_back(&builders_.back());
  }
}

Result<std::unique_ptr<JsonDecoder>> JsonDecoder::Make(std::vector<type::Field> columns, JsonOptions options, arrow::MemoryPool* pool) {
  std::unique_ptr<JsonDecoder> decoder(new JsonDecoder(std::move(columns), std::move(options), pool));
  if (decoder->corrupt_ >= 0) {
    if (decoder->fields_[decoder->corrupt_].type->kind() != type::Kind::kString) {
      return UserError("_LEGACY_ERROR_TEMP_1097", "The field for corrupt records must be string type and nullable");
    }
    if (decoder->decoded_.empty()) {
      return UserError("UNSUPPORTED_FEATURE.QUERY_ONLY_CORRUPT_RECORD_COLUMN",
                       "The feature is not supported: Queries from raw JSON/CSV/XML files that read nothing but the column for corrupt records {}",
                       decoder->options_.corrupt_column);
    }
  }
  for (size_t i = 0; i < decoder->fields_.size(); ++i) {
    if (static_cast<int>(i) == decoder->corrupt_) continue;
    ARROW_ASSIGN_OR_RAISE(ValueDecoder value, ValueDecoder::Make(decoder->fields_[i].type, decoder->options_));
    decoder->decoders_.push_back(std::move(value));
  }
  return decoder;
}

Result<const char*> JsonDecoder::Decode(const char* begin, const char* end, int64_t rows_max) {
  for (ColumnBuilder& builder : builders_) ARROW_RETURN_NOT_OK(builder.Reserve(rows_max - row_count_));
  const char* p = begin;
  while (p < end && row_count_ < rows_max) {
    ARROW_ASSIGN_OR_RAISE(p, DecodeLine(p));
  }
  return p;
}

Result<const char*> JsonDecoder::DecodeLine(const char* line) {
  const char* p = SkipJsonBlanks(SkipByteOrderMark(line));
  if (*p == '\n' || *p == '\r') return SkipLineEnd(p);  // an empty line is no row
  if (*p == '[') return DecodeArrayLine(line, p);
  bool non_ascii = false;
  const int64_t first_row = row_count_;
  if (*p != '{' || !scanner_.Scan(p, &non_ascii)) {
    const char* end = LineEnd(line);
    ARROW_RETURN_NOT_OK(Malformed({line, static_cast<size_t>(end - line)}, first_row));
    return SkipLineEnd(end);
  }
  // What stands behind the object is not looked at, as in Spark.
  const char* end = LineEnd(p);
  if (non_ascii && !simdjson::validate_utf8(line, static_cast<size_t>(end - line))) {
    ARROW_RETURN_NOT_OK(Malformed({line, static_cast<size_t>(end - line)}, first_row));
    return SkipLineEnd(end);
  }
  DecodeOutcome outcome = DecodeOutcome::kOk;
  ARROW_RETURN_NOT_OK(AppendRow(&outcome));
  if (outcome != DecodeOutcome::kOk) ARROW_RETURN_NOT_OK(Malformed({line, static_cast<size_t>(end - line)}, first_row));
  return SkipLineEnd(end);
}

/// The values that the scanner holds, as one row.
Status JsonDecoder::AppendRow(DecodeOutcome* outcome) {
  ARROW_RETURN_NOT_OK(DecodeFields(scanner_.slots(), decoders_, decoded_, outcome));
  if (corrupt_ >= 0) ARROW_RETURN_NOT_OK(builders_[corrupt_].AppendNull());
  ++row_count_;
  return Status::OK();
}

/// A line that holds an array: each of its objects is a row. Unless all elements are objects the line is malformed as a whole.
Result<const char*> JsonDecoder::DecodeArrayLine(const char* line, const char* bracket) {
  const char* line_end = LineEnd(bracket);
  const std::string_view text(line, static_cast<size_t>(line_end - line));
  const int64_t first_row = row_count_;
  JsonSlice array;
  bool non_ascii = false;
  bool good = ScanJsonValue(bracket, options_.syntax, 0, &array, &non_ascii) != nullptr && (!non_ascii || simdjson::validate_utf8(text.data(), text.size()));
  DecodeOutcome outcome = DecodeOutcome::kOk;
  for (const char* p = good ? SkipJsonBlanks(bracket + 1) : nullptr; good && *p != ']';) {
    good = *p == '{' && scanner_.Scan(p, &non_ascii);
    if (!good) break;
    ARROW_RETURN_NOT_OK(AppendRow(&outcome));
    p = SkipJsonBlanks(p);
    if (*p == ',') p = SkipJsonBlanks(p + 1);
  }
  if (!good) {
    ARROW_RETURN_NOT_OK(Undo(first_row));
    ARROW_RETURN_NOT_OK(Malformed(text, first_row));
  } else if (outcome != DecodeOutcome::kOk) {
    ARROW_RETURN_NOT_OK(Malformed(text, first_row));
  }
  return SkipLineEnd(line_end);
}

/// Deal with a malformed line, of which the rows from `first_row` on were read in part; none: nothing of it could be read.
Status JsonDecoder::Malformed(std::string_view line, int64_t first_row) {
  switch (options_.mode) {
    case ParseMode::kDropMalformed:
      return Undo(first_row);
    case ParseMode::kPermissive: {
      if (row_count_ == first_row) ARROW_RETURN_NOT_OK(AppendNullRow());
      if (corrupt_ < 0) return Status::OK();
      ColumnBuilder& column = builders_[corrupt_];
      column.Truncate(first_row);
      const std::string repaired = simdjson::validate_utf8(line.data(), line.size()) ? std::string() : ReplaceInvalidUtf8(line);
      for (int64_t row = first_row; row < row_count_; ++row) ARROW_RETURN_NOT_OK(column.AppendBytes(repaired.empty() ? line : repaired));
      return Status::OK();
    }
    case ParseMode::kFailFast:
      break;
  }
  if (row_count_ == first_row) ARROW_RETURN_NOT_OK(AppendNullRow());
  std::string record;
  for (size_t i = 0; i < builders_.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Array> array, builders_[i].Finish());
    record += record.empty() ? "" : ",";
    if (array->IsNull(first_row)) {
      record += "null";
    } else {
      ARROW_ASSIGN_OR_RAISE(std::string text, expr::FormatValue(*array, first_row, *fields_[i].type, options_.time_zone));
      record += text;
    }
  }
  return UserError("MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION",
                   "Malformed records are detected in record parsing: [{}]. Parse Mode: FAILFAST. To process malformed records as null result, try "
                   "setting the option 'mode' as 'PERMISSIVE'. The line is: {}",
                   record, line)
      .Param("badRecord", "[" + record + "]")
      .Param("failFastMode", "FAILFAST");
}

Status JsonDecoder::AppendNullRow() {
  for (ColumnBuilder& builder : builders_) ARROW_RETURN_NOT_OK(builder.AppendNull());
  ++row_count_;
  return Status::OK();
}

Status JsonDecoder::Undo(int64_t row) {
  for (ColumnBuilder& builder : builders_) builder.Truncate(row);
  row_count_ = row;
  return Status::OK();
}

Result<std::shared_ptr<arrow::RecordBatch>> JsonDecoder::Finish() {
  std::vector<std::shared_ptr<arrow::Array>> arrays;
  for (ColumnBuilder& builder : builders_) {
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Array> array, builder.Finish());
    arrays.push_back(std::move(array));
  }
  auto batch = arrow::RecordBatch::Make(schema_, row_count_, std::move(arrays));
  row_count_ = 0;
  return batch;
}

}  // namespace tidemill::format
