#pragma once

// JSON values to SQL values, by Spark's rules for each type (JacksonParser of 4.3).

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "format/column_builder.h"
#include "format/json_options.h"
#include "format/json_scanner.h"
#include "type/data_type.h"

namespace tidemill::format {

/// How the decoding of one value ended.
enum class DecodeOutcome {
  kOk,
  kPartial,  ///< a value was appended, but a part of it was unreadable and is null: the record counts as malformed
  kFailed    ///< nothing was appended: the value does not fit the type
};

/// Decodes values of one type. Not thread-safe.
class ValueDecoder {
 public:
  /// Errors: a type that JSON cannot be read as.
  static Result<ValueDecoder> Make(const type::TypePtr& type, const JsonOptions& options);

  /// Append the value in `slice` to `column`. Errors: memory only; data that do not fit are an outcome.
  Status Decode(const JsonSlice& slice, ColumnBuilder& column, DecodeOutcome* outcome);

 private:
  explicit ValueDecoder(const JsonOptions& options) : syntax_(options.syntax), time_zone_(options.time_zone) {}

  template <typename T>
  Status DecodeInteger(const JsonSlice& slice, int64_t low, int64_t high, ColumnBuilder& column, DecodeOutcome* outcome);
  template <typename T>
  Status DecodeFloating(const JsonSlice& slice, ColumnBuilder& column, DecodeOutcome* outcome);
  Status DecodeString(const JsonSlice& slice, ColumnBuilder& column);
  Status DecodeTime(const JsonSlice& slice, ColumnBuilder& column, DecodeOutcome* outcome);
  Status DecodeDecimal(const JsonSlice& slice, ColumnBuilder& column, DecodeOutcome* outcome);
  Status DecodeBinary(const JsonSlice& slice, ColumnBuilder& column, DecodeOutcome* outcome);
  Status DecodeStruct(const JsonSlice& slice, ColumnBuilder& column, DecodeOutcome* outcome);
  Status DecodeArray(const JsonSlice& slice, ColumnBuilder& column, DecodeOutcome* outcome);
  Status DecodeMap(const JsonSlice& slice, ColumnBuilder& column, DecodeOutcome* outcome);

  JsonSyntax syntax_;
  std::string time_zone_;
  std::vector<ValueDecoder> children_;    // struct: fields; array and map: the element
  std::optional<ObjectScanner> scanner_;  // struct
};

/// `slots` of an object as the fields of a row: appends one value to each column. Returns kPartial when one of them does not fit.
Status DecodeFields(const std::vector<JsonSlice>& slots, std::vector<ValueDecoder>& decoders, const std::vector<ColumnBuilder*>& columns,
                    DecodeOutcome* outcome);

}  // namespace tidemill::format
