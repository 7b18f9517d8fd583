#pragma once

// Rows (timestamp, value) that count up: value first, first + step, …, each with its own time.

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "connector/source.h"

namespace tidemill::connector {

/// One of `stride` partitions that share the values [begin, end): begin + number, begin + number + stride, …
struct CountingPartition final : InputPartition {
  CountingPartition(int64_t begin, int64_t end, int64_t number, int64_t stride) : begin(begin), end(end), number(number), stride(stride) {}
  const int64_t begin;
  const int64_t end;
  const int64_t number;
  const int64_t stride;
};

/// The columns `timestamp TIMESTAMP, value BIGINT`.
type::Schema CountingSchema();
/// The values [begin, end), dealt out to `partitions` in turn.
std::vector<std::shared_ptr<InputPartition>> DealOut(int64_t begin, int64_t end, int64_t partitions);
/// Column 0 is `time_ms(value)`, column 1 the value.
std::unique_ptr<PartitionReader> MakeCountingReader(const InputPartition& partition, const std::vector<int>& columns,
                                                    std::function<int64_t(int64_t value)> time_ms, std::stop_token stop);

}  // namespace tidemill::connector
