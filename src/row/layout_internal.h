#pragma once

// The bytes of UnsafeRow in one place: widths, slots, null bits. Only little-endian machines are supported, as the format is.

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "type/data_type.h"

namespace tidemill::row {

static_assert(std::endian::native == std::endian::little, "UnsafeRow bytes are those of a little-endian machine");

/// Bytes that a decimal of more than 18 digits reserves in a row, null or not.
inline constexpr uint32_t kWideDecimalBytes = 16;
inline constexpr int kMaxLongDigits = 18;

/// A size that a hostile file may have chosen, so 64 bits: no sum of two of them wraps.
constexpr uint64_t PadTo8(uint64_t bytes) { return (bytes + 7) & ~uint64_t{7}; }

template <typename T>
T Load(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}
template <typename T>
void Store(uint8_t* at, T value) {
  std::memcpy(at, &value, sizeof(T));
}

inline bool IsNullBit(const uint8_t* null_words, int64_t i) { return (null_words[i >> 3] >> (i & 7)) & 1; }
inline void SetNullBit(uint8_t* null_words, int64_t i) { null_words[i >> 3] |= static_cast<uint8_t>(1 << (i & 7)); }

/// A slot of a field with a variable part: where it lies from the start of the row (or array), and its bytes without padding.
struct Extent {
  uint32_t offset = 0;
  uint32_t bytes = 0;
};
/// As a file integer the length comes first.
inline Extent LoadExtent(const uint8_t* slot) { return {Load<uint32_t>(slot + 4), Load<uint32_t>(slot)}; }
inline void StoreExtent(uint8_t* slot, Extent extent) {
  Store(slot, extent.bytes);
  Store(slot + 4, extent.offset);
}

inline bool IsWideDecimal(const type::DataType& type) { return type.kind() == type::Kind::kDecimal && type.precision() > kMaxLongDigits; }

/// Does a value of `type` have a variable part?
inline bool IsVariable(const type::DataType& type) {
  switch (type.kind()) {
    case type::Kind::kString:
    case type::Kind::kBinary:
    case type::Kind::kStruct:
    case type::Kind::kArray:
    case type::Kind::kMap:
      return true;
    default:
      return IsWideDecimal(type);
  }
}

/// Bytes of a value inside a slot, and of an element of an array: 1, 2, 4 or 8; 0 for void in a row.
inline int ValueWidth(const type::DataType& type) {
  switch (type.kind()) {
    case type::Kind::kVoid:
      return 0;
    case type::Kind::kBoolean:
    case type::Kind::kByte:
      return 1;
    case type::Kind::kShort:
      return 2;
    case type::Kind::kInt:
    case type::Kind::kDate:
    case type::Kind::kFloat:
    case type::Kind::kYearMonthInterval:
      return 4;
    default:
      return 8;
  }
}
/// The same for array elements, where a void takes a byte.
inline int ElementWidth(const type::DataType& type) { return type.kind() == type::Kind::kVoid ? 1 : ValueWidth(type); }

/// Bytes before the elements of an array of `n`: count and null words.
constexpr uint64_t ArrayHeaderBytes(uint64_t n) { return 8 + (n + 63) / 64 * 8; }

}  // namespace tidemill::row
