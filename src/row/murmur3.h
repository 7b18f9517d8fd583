#pragma once

// Spark's Murmur3 (x86, 32 bit, seed 42) over typed columns, and the state partition of a key. Source: Spark Murmur3Hash, HashPartitioning.

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "type/data_type.h"

namespace tidemill::row {

int32_t HashInt(int32_t value, int32_t seed);
int32_t HashLong(int64_t value, int32_t seed);
int32_t HashBytes(std::string_view bytes, int32_t seed);
/// ((h mod P) + P) mod P.
constexpr int32_t PartitionOf(int32_t hash, int32_t partitions) {
  const int32_t r = hash % partitions;
  return r < 0 ? r + partitions : r;
}
/// Chained over `columns` in order, seed 42; null leaves the hash unchanged. Replaces the content of `out`.
Status HashColumns(const type::Schema& schema, std::span<const std::shared_ptr<arrow::Array>> columns, int64_t rows,
                   std::vector<int32_t>* out);
/// The same over an encoded row, which must be valid (ValidateRow): its offsets are followed as they are.
int32_t HashRow(const type::Schema& schema, std::string_view row);

}  // namespace tidemill::row
