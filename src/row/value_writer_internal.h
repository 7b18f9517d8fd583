#pragma once

// One nested value after another: what the column-wise encoder uses for arrays, maps and structs with variable parts.

#include <arrow/type_fwd.h>

#include <cstdint>

#include "type/data_type.h"

namespace tidemill::row {

/// `normalize_floats` as in RowEncoder::Make. Buffers are zeroed by the caller and large enough by VariableBytes().
class ValueWriter {
 public:
  explicit ValueWriter(bool normalize_floats) : normalize_floats_(normalize_floats) {}

  /// Padded bytes of the variable part that value `i` takes in a row.
  static uint64_t VariableBytes(const type::DataType& type, const arrow::Array& array, int64_t i);
  /// Write the variable part of the valid value `i` at `at`; returns its length without padding.
  uint32_t WriteVariable(const type::DataType& type, const arrow::Array& array, int64_t i, uint8_t* at) const;
  /// Write the bits of the valid value `i` of a type without variable part.
  void WriteFixed(const type::DataType& type, const arrow::Array& array, int64_t i, uint8_t* slot) const;

 private:
  uint32_t WriteRow(const type::DataType& type, const arrow::StructArray& array, int64_t i, uint8_t* at) const;
  uint32_t WriteElements(const type::DataType& element, const arrow::Array& values, int64_t begin, int64_t end, uint8_t* at) const;

  bool normalize_floats_;
};

/// −0.0 becomes 0.0, every NaN the one that Java writes.
float NormalFloat(float value);
double NormalDouble(double value);

}  // namespace tidemill::row
