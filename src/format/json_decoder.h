#pragma once

// JSON lines to record batches, by Spark's rules for malformed lines.

#include <arrow/type_fwd.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "format/column_builder.h"
#include "format/json_options.h"
#include "format/json_scanner.h"
#include "format/json_value.h"
#include "type/data_type.h"

namespace tidemill::format {

/// Decodes the columns that are wanted of one line after another. Not thread-safe.
class JsonDecoder {
 public:
  /// `columns`: what to decode, in the order of the batches; a string column named options.corrupt_column takes malformed lines.
  /// Errors: a type that JSON cannot be read as, a corrupt-record column that is no string, nothing but that column.
  static Result<std::unique_ptr<JsonDecoder>> Make(std::vector<type::Field> columns, JsonOptions options, arrow::MemoryPool* pool);

  /// Decode lines from `begin` until `rows_max` rows are there or `end` is reached. The text ends with a line end at end[-1] and has kJsonPadding readable bytes
  /// behind it. Returns the place behind the last line taken.
  /// Errors: FAILFAST and a malformed line (condition MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION).
  Result<const char*> Decode(const char* begin, const char* end, int64_t rows_max);
  int64_t row_count() const { return row_count_; }
  /// The rows so far; the decoder is empty afterwards.
  Result<std::shared_ptr<arrow::RecordBatch>> Finish();

 private:
  JsonDecoder(std::vector<type::Field> columns, JsonOptions options, arrow::MemoryPool* pool);

  Result<const char*> DecodeLine(const char* line);
  Status AppendRow(DecodeOutcome* outcome);
  Result<const char*> DecodeArrayLine(const char* line, const char* bracket);
  Status Malformed(std::string_view line, int64_t first_row);
  Status AppendNullRow();
  Status Undo(int64_t row);

  std::vector<type::Field> fields_;
  JsonOptions options_;
  std::shared_ptr<arrow::Schema> schema_;
  int corrupt_ = -1;                       // index of the corrupt-record column among fields_
  std::vector<ColumnBuilder> builders_;    // by field
  std::vector<ColumnBuilder*> decoded_;    // builders of the fields that come from the text, in the scanner's order
  std::vector<ValueDecoder> decoders_;
  ObjectScanner scanner_;
  int64_t row_count_ = 0;
};

}  // namespace tidemill::format
