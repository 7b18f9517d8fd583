#pragma once

// Decimals of more than 18 digits as Java's BigInteger writes them: minimal two's complement, big-endian.

#include <arrow/util/decimal.h>

#include <cstdint>

#include "row/layout_internal.h"

namespace tidemill::row {

/// Write `value` to `out` (room for 16 bytes) and return how many bytes it took: at least 1.
inline int MinimalBigEndian(const arrow::Decimal128& value, uint8_t* out) {
  const uint64_t halves[2] = {static_cast<uint64_t>(value.high_bits()), value.low_bits()};
  uint8_t all[kWideDecimalBytes];
  for (int i = 0; i < 16; ++i) all[i] = static_cast<uint8_t>(halves[i / 8] >> (56 - 8 * (i % 8)));
  const uint8_t sign = value.high_bits() < 0 ? 0xff : 0x00;
  int skip = 0;
  // A leading byte may go while it only repeats the sign of the byte after it.
  while (skip < 15 && all[skip] == sign && (all[skip + 1] & 0x80) == (sign & 0x80)) ++skip;
  std::memcpy(out, all + skip, 16 - skip);
  return 16 - skip;
}

/// The inverse; `length` is 0 to 16.
inline arrow::Decimal128 FromBigEndian(const uint8_t* bytes, int length) {
  const bool negative = length > 0 && (bytes[0] & 0x80) != 0;
  uint64_t halves[2] = {negative ? ~uint64_t{0} : 0, negative ? ~uint64_t{0} : 0};
  for (int i = 0; i < length; ++i) {
    halves[0] = (halves[0] << 8) | (halves[1] >> 56);
    halves[1] = (halves[1] << 8) | bytes[i];
  }
  return arrow::Decimal128(static_cast<int64_t>(halves[0]), halves[1]);
}

}  // namespace tidemill::row
