// Touches of a store with a million keys, a batch of 8 Ki at a time, as an aggregation makes them; and the encoding of its keys.

#include <arrow/array/array_base.h>
#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>
#include <benchmark/benchmark.h>

#include <random>

#include "row/unsafe_row.h"
#include "state/memory_store.h"
#include "state/test_store_internal.h"

namespace tidemill::state {
namespace {

constexpr int64_t kBatchRows = 8192;

/// Encoded one-column keys with their hashes.
struct Keys {
  std::string bytes;
  std::vector<uint32_t> offsets = {0};
  std::vector<uint64_t> hashes;

  void Add(const std::string& text) {
    const std::string row = KeyRow(text);
    bytes += row;
    offsets.push_back(static_cast<uint32_t>(bytes.size()));
    hashes.push_back(XXH3_64bits(row.data(), row.size()));
  }
  KeyBatch batch() const { return {reinterpret_cast<const uint8_t*>(bytes.data()), offsets, hashes}; }
};

void BM_Touch(benchmark::State& state) {
  const int64_t keys = state.range(0);
  TemporaryFolder folder;
  MemoryStore store(folder.file_system(), folder.path(), CountOptions());
  const std::string initial = LongRow(0);
  std::vector<RowSlot> slots(kBatchRows);
  for (int64_t begin = 0; begin < keys; begin += kBatchRows) {
    Keys batch;
    for (int64_t i = begin; i < begin + kBatchRows; ++i) batch.Add("key-" + std::to_string(i));
    if (!store.Touch(batch.batch(), initial, slots, {}).ok()) state.SkipWithError("touch failed");
  }
  store.CommitDone();
  std::mt19937_64 random(1);
  std::vector<Keys> batches(64);
  for (Keys& batch : batches) {
    for (int64_t i = 0; i < kBatchRows; ++i) batch.Add("key-" + std::to_string(random() % static_cast<uint64_t>(keys)));
  }
  size_t next = 0;
  for (auto _ : state) {
    if (!store.Touch(batches[next].batch(), initial, slots, {}).ok()) state.SkipWithError("touch failed");
    for (const RowSlot slot : slots) {
      uint8_t* count = store.Value(slot) + 8;
      int64_t value = 0;
      std::memcpy(&value, count, 8);
      ++value;
      std::memcpy(count, &value, 8);
    }
    // A micro-batch ends now and then; what it touched becomes version N.
    if (++next == batches.size()) {
      next = 0;
      store.CommitDone();
    }
  }
  state.SetItemsProcessed(state.iterations() * kBatchRows);
}
BENCHMARK(BM_Touch)->Arg(1 << 13)->Arg(1 << 17)->Arg(1 << 20);

void BM_EncodeStringAndTimestamp(benchmark::State& state) {
  const type::Schema schema{{{"k", type::String()}, {"ts", type::Timestamp()}}};
  arrow::StringBuilder text;
  arrow::TimestampBuilder time(type::Timestamp()->ToArrow(), arrow::default_memory_pool());
  for (int64_t i = 0; i < kBatchRows; ++i) {
    if (!text.Append("key-" + std::to_string(i)).ok() || !time.Append(i).ok()) state.SkipWithError("no columns");
  }
  const std::vector<std::shared_ptr<arrow::Array>> columns = {*text.Finish(), *time.Finish()};
  auto encoder = row::RowEncoder::Make(schema, true).ValueOrDie();
  row::RowBatch rows;
  for (auto _ : state) {
    if (!encoder->Encode(columns, kBatchRows, &rows).ok()) state.SkipWithError("encode failed");
    benchmark::DoNotOptimize(rows.bytes.data());
  }
  state.SetItemsProcessed(state.iterations() * kBatchRows);
}
BENCHMARK(BM_EncodeStringAndTimestamp);

}  // namespace
}  // namespace tidemill::state
