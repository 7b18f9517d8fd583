#pragma once

// Numbers as text, the way Java and with it Spark writes and reads them.

#include <arrow/util/decimal.h>

#include <optional>
#include <string>
#include <string_view>

namespace tidemill::expr {

/// As Double.toString: "1.0", "1.0E10", "NaN", "-Infinity".
void AppendDouble(double value, std::string* out);
void AppendFloat(float value, std::string* out);
/// As Double.parseDouble after trimming, and "inf", "infinity", "nan" in any case.
std::optional<double> ParseDouble(std::string_view text);
std::optional<float> ParseFloat(std::string_view text);
/// A whole number after trimming. `allow_fraction`: digits after a point are read and cut off. Nothing when malformed or out of range.
std::optional<int64_t> ParseLong(std::string_view text, bool allow_fraction);

enum class DecimalParse { kOk, kMalformed, kOutOfRange };
/// To decimal(precision, scale), rounded half up.
DecimalParse ParseDecimal(std::string_view text, int precision, int scale, arrow::Decimal128* value);
/// Every digit, no exponent.
std::string PlainDecimal(const arrow::Decimal128& value, int scale);
/// As BigDecimal.toString: an exponent for very small values.
std::string DecimalText(const arrow::Decimal128& value, int scale);

}  // namespace tidemill::expr
