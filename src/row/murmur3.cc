#include "row/murmur3.h"

#include <arrow/array/array_binary.h>
#include <arrow/array/array_decimal.h>
#include <arrow/array/array_nested.h>
#include <arrow/array/array_primitive.h>
#include <arrow/util/decimal.h>

#include <bit>
#include <cmath>
#include <limits>

#include "row/decimal_internal.h"
#include "row/layout_internal.h"
#include "row/unsafe_row.h"

namespace tidemill::row {
namespace {

using type::DataType;
using type::Kind;

constexpr int32_t kSeed = 42;

constexpr uint32_t MixKey(uint32_t key) { return std::rotl(key * 0xcc9e2d51u, 15) * 0x1b873593u; }
constexpr uint32_t MixHash(uint32_t hash, uint32_t mixed) { return std::rotl(hash ^ mixed, 13) * 5u + 0xe6546b64u; }
constexpr uint32_t Finish(uint32_t hash, uint32_t length) {
  hash ^= length;
  hash ^= hash >> 16;
  hash *= 0x85ebca6bu;
  hash ^= hash >> 13;
  hash *= 0xc2b2ae35u;
  return hash ^ (hash >> 16);
}

/// Zero of either sign hashes alike, and so does every NaN.
int32_t HashFloat(float value, int32_t seed) {
  if (value == 0.0f) return HashInt(0, seed);
  return HashInt(std::isnan(value) ? 0x7fc00000 : std::bit_cast<int32_t>(value), seed);
}
int32_t HashDouble(double value, int32_t seed) {
  if (value == 0.0) return HashLong(0, seed);
  return HashLong(std::isnan(value) ? 0x7ff8000000000000LL : std::bit_cast<int64_t>(value), seed);
}

int32_t HashDecimal(const DataType& type, const uint8_t* little_endian, int32_t seed) {
  const arrow::Decimal128 value(little_endian);
  if (!IsWideDecimal(type)) return HashLong(static_cast<int64_t>(value.low_bits()), seed);
  uint8_t bytes[kWideDecimalBytes];
  const int length = MinimalBigEndian(value, bytes);
  return HashBytes({reinterpret_cast<const char*>(bytes), static_cast<size_t>(length)}, seed);
}

/// One hash per row, chained; rows that are null keep theirs.
template <typename HashOne>
void ForEachValid(const arrow::Array& array, std::span<int32_t> hashes, HashOne hash_one) {
  const int64_t rows = static_cast<int64_t>(hashes.size());
  if (array.null_count() == 0) {
    for (int64_t i = 0; i < rows; ++i) hashes[i] = hash_one(i, hashes[i]);
    return;
  }
  for (int64_t i = 0; i < rows; ++i) {
    if (array.IsValid(i)) hashes[i] = hash_one(i, hashes[i]);
  }
}

template <typename ArrayType, typename Hash>
void HashPrimitive(const arrow::Array& array, std::span<int32_t> hashes, Hash hash) {
  const auto* values = static_cast<const ArrayType&>(array).raw_values();
  ForEachValid(array, hashes, [&](int64_t i, int32_t seed) { return hash(values[i], seed); });
}

Status HashColumn(const DataType& type, const arrow::Array& array, std::span<int32_t> hashes);

/// Fields chained in order; where the struct itself is null nothing is hashed.
Status HashStruct(const DataType& type, const arrow::StructArray& array, std::span<int32_t> hashes) {
  std::vector<int32_t> before;
  if (array.null_count() > 0) before.assign(hashes.begin(), hashes.end());
  for (int i = 0; i < static_cast<int>(type.fields().size()); ++i) {
    ARROW_RETURN_NOT_OK(HashColumn(*type.fields()[i].type, *array.field(i), hashes));
  }
  for (size_t i = 0; i < before.size(); ++i) {
    if (array.IsNull(static_cast<int64_t>(i))) hashes[i] = before[i];
  }
  return Status::OK();
}

Status HashElements(const DataType& type, const arrow::Array& elements, int64_t begin, int64_t end, int32_t* hash) {
  for (int64_t i = begin; i < end; ++i) {
    ARROW_RETURN_NOT_OK(HashColumn(type, *elements.Slice(i, 1), std::span<int32_t>(hash, 1)));
  }
  return Status::OK();
}

Status HashList(const DataType& type, const arrow::ListArray& array, std::span<int32_t> hashes) {
  for (size_t i = 0; i < hashes.size(); ++i) {
    const int64_t row = static_cast<int64_t>(i);
    if (array.IsNull(row)) continue;
    ARROW_RETURN_NOT_OK(HashElements(*type.element(), *array.values(), array.value_offset(row), array.value_offset(row + 1), &hashes[i]));
  }
  return Status::OK();
}

Status HashMap(const DataType& type, const arrow::MapArray& array, std::span<int32_t> hashes) {
  for (size_t i = 0; i < hashes.size(); ++i) {
    const int64_t row = static_cast<int64_t>(i);
    if (array.IsNull(row)) continue;
    for (int64_t entry = array.value_offset(row); entry < array.value_offset(row + 1); ++entry) {
      ARROW_RETURN_NOT_OK(HashElements(*type.key(), *array.keys(), entry, entry + 1, &hashes[i]));
      ARROW_RETURN_NOT_OK(HashElements(*type.element(), *array.items(), entry, entry + 1, &hashes[i]));
    }
  }
  return Status::OK();
}

Status HashColumn(const DataType& type, const arrow::Array& array, std::span<int32_t> hashes) {
  switch (type.kind()) {
    case Kind::kVoid:
      return Status::OK();
    case Kind::kBoolean: {
      const auto& values = static_cast<const arrow::BooleanArray&>(array);
      ForEachValid(array, hashes, [&](int64_t i, int32_t seed) { return HashInt(values.Value(i) ? 1 : 0, seed); });
      return Status::OK();
    }
    case Kind::kByte:
      HashPrimitive<arrow::Int8Array>(array, hashes, HashInt);
      return Status::OK();
    case Kind::kShort:
      HashPrimitive<arrow::Int16Array>(array, hashes, HashInt);
      return Status::OK();
    case Kind::kInt:
    case Kind::kYearMonthInterval:
      HashPrimitive<arrow::Int32Array>(array, hashes, HashInt);
      return Status::OK();
    case Kind::kDate:
      HashPrimitive<arrow::Date32Array>(array, hashes, HashInt);
      return Status::OK();
    case Kind::kLong:
      HashPrimitive<arrow::Int64Array>(array, hashes, HashLong);
      return Status::OK();
    case Kind::kTimestamp:
    case Kind::kTimestampNtz:
      HashPrimitive<arrow::TimestampArray>(array, hashes, HashLong);
      return Status::OK();
    case Kind::kDayTimeInterval:
      HashPrimitive<arrow::DurationArray>(array, hashes, HashLong);
      return Status::OK();
    case Kind::kFloat:
      HashPrimitive<arrow::FloatArray>(array, hashes, HashFloat);
      return Status::OK();
    case Kind::kDouble:
      HashPrimitive<arrow::DoubleArray>(array, hashes, HashDouble);
      return Status::OK();
    case Kind::kDecimal: {
      const auto& values = static_cast<const arrow::Decimal128Array&>(array);
      ForEachValid(array, hashes, [&](int64_t i, int32_t seed) { return HashDecimal(type, values.GetValue(i), seed); });
      return Status::OK();
    }
    case Kind::kString:
    case Kind::kBinary: {
      const auto& values = static_cast<const arrow::BinaryArray&>(array);
      ForEachValid(array, hashes, [&](int64_t i, int32_t seed) { return HashBytes(values.GetView(i), seed); });
      return Status::OK();
    }
    case Kind::kStruct:
      return HashStruct(type, static_cast<const arrow::StructArray&>(array), hashes);
    case Kind::kArray:
      return HashList(type, static_cast<const arrow::ListArray&>(array), hashes);
    case Kind::kMap:
      return HashMap(type, static_cast<const arrow::MapArray&>(array), hashes);
  }
  return InternalError("no hash for type {}", type.ToString());
}

// --- The same over encoded rows, whose shape has been validated before. ---

int32_t HashFields(const std::vector<type::Field>& fields, const uint8_t* row, int32_t seed);

int32_t HashSlots(const DataType& element, const uint8_t* base, const uint8_t* null_words, const uint8_t* slots, int width, int64_t index,
                  int32_t seed);

int32_t HashArrayBytes(const DataType& element, const uint8_t* array, int32_t seed) {
  const int64_t n = Load<int64_t>(array);
  const uint8_t* slots = array + ArrayHeaderBytes(static_cast<uint64_t>(n));
  for (int64_t i = 0; i < n; ++i) seed = HashSlots(element, array, array + 8, slots, ElementWidth(element), i, seed);
  return seed;
}

int32_t HashMapBytes(const DataType& type, const uint8_t* map, int32_t seed) {
  const uint8_t* keys = map + 8;
  const uint8_t* items = keys + Load<int64_t>(map);
  const int64_t n = Load<int64_t>(keys);
  const uint8_t* key_slots = keys + ArrayHeaderBytes(static_cast<uint64_t>(n));
  const uint8_t* item_slots = items + ArrayHeaderBytes(static_cast<uint64_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    seed = HashSlots(*type.key(), keys, keys + 8, key_slots, ElementWidth(*type.key()), i, seed);
    seed = HashSlots(*type.element(), items, items + 8, item_slots, ElementWidth(*type.element()), i, seed);
  }
  return seed;
}

int32_t HashSlots(const DataType& type, const uint8_t* base, const uint8_t* null_words, const uint8_t* slots, int width, int64_t index,
                  int32_t seed) {
  if (IsNullBit(null_words, index)) return seed;
  const uint8_t* slot = slots + index * width;
  switch (type.kind()) {
    case Kind::kVoid:
      return seed;
    case Kind::kBoolean:
      return HashInt(*slot != 0, seed);
    case Kind::kByte:
      return HashInt(Load<int8_t>(slot), seed);
    case Kind::kShort:
      return HashInt(Load<int16_t>(slot), seed);
    case Kind::kInt:
    case Kind::kDate:
    case Kind::kYearMonthInterval:
      return HashInt(Load<int32_t>(slot), seed);
    case Kind::kFloat:
      return HashFloat(Load<float>(slot), seed);
    case Kind::kDouble:
      return HashDouble(Load<double>(slot), seed);
    case Kind::kLong:
    case Kind::kTimestamp:
    case Kind::kTimestampNtz:
    case Kind::kDayTimeInterval:
      return HashLong(Load<int64_t>(slot), seed);
    case Kind::kDecimal:
      if (!IsWideDecimal(type)) return HashLong(Load<int64_t>(slot), seed);
      break;
    default:
      break;
  }
  const Extent extent = LoadExtent(slot);
  const uint8_t* at = base + extent.offset;
  switch (type.kind()) {
    case Kind::kStruct:
      return HashFields(type.fields(), at, seed);
    case Kind::kArray:
      return HashArrayBytes(*type.element(), at, seed);
    case Kind::kMap:
      return HashMapBytes(type, at, seed);
    default:
      // Strings, binaries, and wide decimals, which are stored as the very bytes that are hashed.
      return HashBytes({reinterpret_cast<const char*>(at), extent.bytes}, seed);
  }
}

int32_t HashFields(const std::vector<type::Field>& fields, const uint8_t* row, int32_t seed) {
  const uint8_t* slots = row + NullBytes(static_cast<int>(fields.size()));
  for (size_t i = 0; i < fields.size(); ++i) {
    seed = HashSlots(*fields[i].type, row, row, slots, 8, static_cast<int64_t>(i), seed);
  }
  return seed;
}

}  // namespace

int32_t HashInt(int32_t value, int32_t seed) {
  const uint32_t hash = MixHash(static_cast<uint32_t>(seed), MixKey(static_cast<uint32_t>(value)));
  return static_cast<int32_t>(Finish(hash, 4));
}

int32_t HashLong(int64_t value, int32_t seed) {
  const auto bits = static_cast<uint64_t>(value);
  uint32_t hash = MixHash(static_cast<uint32_t>(seed), MixKey(static_cast<uint32_t>(bits)));
  hash = MixHash(hash, MixKey(static_cast<uint32_t>(bits >> 32)));
  return static_cast<int32_t>(Finish(hash, 8));
}

int32_t HashBytes(std::string_view bytes, int32_t seed) {
  uint32_t hash = static_cast<uint32_t>(seed);
  const auto* at = reinterpret_cast<const uint8_t*>(bytes.data());
  const size_t whole = bytes.size() & ~size_t{3};
  for (size_t i = 0; i < whole; i += 4) hash = MixHash(hash, MixKey(Load<uint32_t>(at + i)));
  // Unlike the published Murmur3, each byte of the tail gets a round of its own, sign-extended.
  for (size_t i = whole; i < bytes.size(); ++i) {
    hash = MixHash(hash, MixKey(static_cast<uint32_t>(static_cast<int32_t>(static_cast<int8_t>(at[i])))));
  }
  return static_cast<int32_t>(Finish(hash, static_cast<uint32_t>(bytes.size())));
}

Status HashColumns(const type::Schema& schema, std::span<const std::shared_ptr<arrow::Array>> columns, int64_t rows,
                   std::vector<int32_t>* out) {
  if (static_cast<int>(columns.size()) != schema.size()) {
    return InternalError("hashing {} columns by a schema of {}", columns.size(), schema.size());
  }
  out->assign(static_cast<size_t>(rows), kSeed);
  for (int i = 0; i < schema.size(); ++i) {
    ARROW_RETURN_NOT_OK(HashColumn(*schema.fields[i].type, *columns[i], *out));
  }
  return Status::OK();
}

int32_t HashRow(const type::Schema& schema, std::string_view row) {
  return HashFields(schema.fields, reinterpret_cast<const uint8_t*>(row.data()), kSeed);
}

}  // namespace tidemill::row
