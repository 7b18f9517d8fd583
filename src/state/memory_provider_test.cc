#include <gtest/gtest.h>

#include <thread>

#include "state/state_store.h"
#include "state/store_files.h"
#include "state/test_store_internal.h"

namespace tidemill::state {
namespace {

class MemoryProviderTest : public ::testing::Test {
 protected:
  std::unique_ptr<StateProvider> Make() {
    return MakeMemoryProvider(folder_.file_system(), folder_.path(), /*maintenance_interval_ms=*/1000);
  }
  StateStore* Open(StateProvider& provider, int64_t version, int32_t partition = 0) {
    const auto store = provider.Open({0, partition, "default"}, options_, version);
    EXPECT_TRUE(store.ok()) << store.status().ToString();
    return store.ok() ? *store : nullptr;
  }
  /// Run batches `from` to `to` (exclusive), one row each.
  void RunBatches(StateProvider& provider, int64_t from, int64_t to) {
    for (int64_t batch = from; batch < to; ++batch) {
      StateStore* store = Open(provider, batch);
      ASSERT_NE(store, nullptr);
      Add(*store, std::to_string(batch % 7), batch);
      ASSERT_TRUE(Commit(folder_.file_system(), *store).ok());
    }
  }
  StoreFiles Files() { return *ListStoreFiles(folder_.file_system(), folder_.path() + "/0/0").ValueOrDie(); }

  TemporaryFolder folder_;
  StoreOptions options_ = CountOptions();
};

TEST_F(MemoryProviderTest, KeepsTheStoreBetweenBatches) {
  auto provider = Make();
  StateStore* first = Open(*provider, 0);
  Add(*first, "a", 1);
  ASSERT_TRUE(Commit(folder_.file_system(), *first).ok());
  EXPECT_EQ(Open(*provider, 1), first);
  // As Spark counts: nothing for version 0, two hits for a store that was there.
  EXPECT_EQ(first->metrics().cache_hits, 2);
  EXPECT_EQ(first->metrics().cache_misses, 0);
  auto restarted = Make();
  StateStore* loaded = Open(*restarted, 1);
  EXPECT_EQ(Content(*loaded), (std::map<std::string, int64_t>{{"a", 1}}));
  EXPECT_EQ(loaded->metrics().cache_hits, 1);
  EXPECT_EQ(loaded->metrics().cache_misses, 1);
}

TEST_F(MemoryProviderTest, RemovesFilesOfBatchesThatWereNeverCommitted) {
  auto provider = Make();
  RunBatches(*provider, 0, 4);
  std::filesystem::copy(DeltaPath(folder_.path() + "/0/0", 4), SnapshotPath(folder_.path() + "/0/0", 4));
  StateStore* store = Open(*Make(), 2);
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(Files().deltas, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(Files().snapshots, (std::vector<int64_t>{}));
}

TEST_F(MemoryProviderTest, NeverStartsEmptyInSilence) {
  const auto opened = Make()->Open({3, 7, "default"}, options_, 5);
  ASSERT_FALSE(opened.ok());
  const ErrorDetail* detail = ErrorDetail::Of(opened.status());
  EXPECT_EQ(detail->condition, "CANNOT_LOAD_STATE_STORE.CANNOT_READ_DELTA_FILE_NOT_EXISTS");
  EXPECT_EQ(detail->operator_id, 3);
  EXPECT_EQ(detail->partition, 7);
  EXPECT_EQ(detail->path, folder_.path() + "/3/7");
}

TEST_F(MemoryProviderTest, WritesSnapshotsOfCommittedVersionsAndCleansUp) {
  options_.min_deltas_for_snapshot = 3;
  options_.min_batches_to_retain = 2;
  auto provider = Make();
  RunBatches(*provider, 0, 5);
  provider->Maintain(10'000);
  provider->Drain();
  // Version 5 is the newest and perhaps not committed; version 4 is.
  EXPECT_EQ(Files().snapshots, (std::vector<int64_t>{4}));
  EXPECT_EQ(Files().deltas, (std::vector<int64_t>{1, 2, 3, 4, 5}));
  const auto now = Content(*Open(*provider, 5));
  RunBatches(*provider, 5, 9);
  provider->Maintain(10'500);  // too soon
  provider->Drain();
  EXPECT_EQ(Files().snapshots, (std::vector<int64_t>{4}));
  provider->Maintain(11'000);
  provider->Drain();
  EXPECT_EQ(Files().snapshots, (std::vector<int64_t>{4, 8}));
  EXPECT_EQ(Files().deltas, (std::vector<int64_t>{4, 5, 6, 7, 8, 9}));
  RunBatches(*provider, 9, 12);
  provider->Maintain(20'000);
  provider->Drain();
  EXPECT_EQ(Files().snapshots, (std::vector<int64_t>{8}));
  const auto content = Content(*Open(*provider, 12));
  provider.reset();
  EXPECT_EQ(Content(*Open(*Make(), 12)), content);
}

TEST_F(MemoryProviderTest, SnapshotsRunBesideBatches) {
  options_.min_deltas_for_snapshot = 1;
  options_.min_batches_to_retain = 3;
  auto provider = Make();
  int64_t now_ms = 0;
  for (int64_t batch = 0; batch < 60; ++batch) {
    RunBatches(*provider, batch, batch + 1);
    provider->Maintain(now_ms += 1000);  // not waited for
  }
  provider->Drain();
  // However late the thread was so far, this round sees all batches.
  provider->Maintain(now_ms += 1000);
  provider->Drain();
  const auto content = Content(*Open(*provider, 60));
  EXPECT_FALSE(Files().snapshots.empty());
  provider.reset();
  EXPECT_EQ(Content(*Open(*Make(), 60)), content);
}

TEST_F(MemoryProviderTest, PartitionsOpenAndRunInParallel) {
  auto provider = Make();
  std::vector<std::thread> tasks;
  for (int32_t partition = 0; partition < 8; ++partition) {
    tasks.emplace_back([&, partition] {
      for (int64_t version = 0; version < 5; ++version) {
        StateStore* store = *provider->Open({0, partition, "default"}, options_, version);
        Add(*store, std::to_string(partition), 1);
        ASSERT_TRUE(Commit(folder_.file_system(), *store).ok());
      }
    });
  }
  for (std::thread& task : tasks) task.join();
  for (int32_t partition = 0; partition < 8; ++partition) {
    EXPECT_EQ(Content(*Open(*provider, 5, partition)), (std::map<std::string, int64_t>{{std::to_string(partition), 5}}));
  }
}

}  // namespace
}  // namespace tidemill::state
