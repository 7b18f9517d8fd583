#include "state/memory_store.h"

#include <gtest/gtest.h>

#include <random>

#include "state/test_store_internal.h"

namespace tidemill::state {
namespace {

class MemoryStoreTest : public testing::Test {
 protected:
  std::unique_ptr<MemoryStore> Make(int64_t version = 0) {
    auto store = std::make_unique<MemoryStore>(folder_.file_system(), folder_.path(), options_);
    const Status loaded = store->Load(version);
    EXPECT_TRUE(loaded.ok()) << loaded.ToString();
    return store;
  }
  /// The records of a delta as text: "a=1", "-b".
  std::vector<std::string> Delta(int64_t version) {
    std::vector<std::string> records;
    EXPECT_TRUE(
        ReadStateFile(folder_.file_system(), {}, StateFileKind::kDelta, DeltaPath(folder_.path(), version), [&](const StateRecord& record) {
          records.push_back(record.value ? fmt::format("{}={}", TextOf(record.key), LongOf(*record.value)) : "-" + TextOf(record.key));
          return Status::OK();
        }).ok());
    return records;
  }

  TemporaryFolder folder_;
  StoreOptions options_ = CountOptions();
};

TEST_F(MemoryStoreTest, WritesWhatTheBatchTouchedAndNothingElse) {
  auto store = Make();
  Add(*store, "a", 1);
  Add(*store, "b", 2);
  ASSERT_TRUE(Commit(folder_.file_system(), *store).ok());
  EXPECT_EQ(store->version(), 1);
  Add(*store, "b", 1);
  ASSERT_TRUE(Commit(folder_.file_system(), *store).ok());
  EXPECT_EQ(Delta(1), (std::vector<std::string>{"a=1", "b=2"}));
  EXPECT_EQ(Delta(2), (std::vector<std::string>{"b=3"}));
  EXPECT_EQ(Content(*Make(2)), (std::map<std::string, int64_t>{{"a", 1}, {"b", 3}}));
  EXPECT_EQ(Content(*Make(1)), (std::map<std::string, int64_t>{{"a", 1}, {"b", 2}}));
}

TEST_F(MemoryStoreTest, AnEmptyBatchStillWritesItsVersion) {
  auto store = Make();
  ASSERT_TRUE(Commit(folder_.file_system(), *store).ok());
  EXPECT_EQ(folder_.ReadFile("1.delta").size(), 46u);
  EXPECT_EQ(Make(1)->metrics().rows_total, 0);
}

TEST_F(MemoryStoreTest, OneKeyHasOneSlot) {
  auto store = Make();
  bool created = false;
  const RowSlot first = TouchOne(*store, "a", &created);
  EXPECT_TRUE(created);
  EXPECT_EQ(TouchOne(*store, "a", &created), first);
  EXPECT_FALSE(created);
  EXPECT_NE(TouchOne(*store, "b"), first);
  EXPECT_EQ(TextOf(store->Key(first)), "a");
}

TEST_F(MemoryStoreTest, AbortGivesBackTheVersion) {
  auto store = Make();
  Add(*store, "kept", 1);
  Add(*store, "removed", 2);
  ASSERT_TRUE(Commit(folder_.file_system(), *store).ok());
  const auto before = Content(*store);

  Add(*store, "kept", 10);
  Add(*store, "new", 5);
  ASSERT_TRUE(store->Remove(TouchOne(*store, "removed")).ok());
  Add(*store, "removed", 7);  // made again in the same batch
  ASSERT_TRUE(store->Remove(TouchOne(*store, "short-lived")).ok());
  const auto staged = store->StageCommit().ValueOrDie();
  store->Abort();
  EXPECT_EQ(Content(*store), before);
  EXPECT_EQ(store->version(), 1);
  EXPECT_EQ(store->metrics().rows_total, 2);
  EXPECT_FALSE(std::filesystem::exists(staged[0].temporary_path));

  Add(*store, "kept", 1);
  ASSERT_TRUE(Commit(folder_.file_system(), *store).ok());
  EXPECT_EQ(Delta(2), (std::vector<std::string>{"kept=2"}));
}

TEST_F(MemoryStoreTest, DeletesOnlyWhatExisted) {
  auto store = Make();
  Add(*store, "a", 1);
  ASSERT_TRUE(Commit(folder_.file_system(), *store).ok());
  ASSERT_TRUE(store->Remove(TouchOne(*store, "never")).ok());
  ASSERT_TRUE(store->Remove(TouchOne(*store, "a")).ok());
  ASSERT_TRUE(Commit(folder_.file_system(), *store).ok());
  EXPECT_EQ(Delta(2), (std::vector<std::string>{"-a"}));
  // Removed and made again: the delete comes first, so the last record wins.
  Add(*store, "b", 1);
  ASSERT_TRUE(Commit(folder_.file_system(), *store).ok());
  ASSERT_TRUE(store->Remove(TouchOne(*store, "b")).ok());
  Add(*store, "b", 9);
  ASSERT_TRUE(Commit(folder_.file_system(), *store).ok());
  EXPECT_EQ(Delta(4), (std::vector<std::string>{"-b", "b=9"}));
  EXPECT_EQ(Content(*Make(4)), (std::map<std::string, int64_t>{{"b", 9}}));
}

TEST_F(MemoryStoreTest, ValuesGrowAndAreTakenBack) {
  options_.value_schema.fields = {{"text", type::String()}};
  auto store = Make();
  const RowSlot slot = TouchOne(*store, "a");
  ASSERT_TRUE(store->Replace(slot, KeyRow("short")).ok());
  ASSERT_TRUE(Commit(folder_.file_system(), *store).ok());
  const RowSlot again = TouchOne(*store, "a");
  for (int length = 10; length < 3'000'000; length *= 3) {
    ASSERT_TRUE(store->Replace(again, KeyRow(std::string(static_cast<size_t>(length), 'x'))).ok());
    ASSERT_EQ(TextOf(store->ValueView(again)).size(), static_cast<size_t>(length));
  }
  store->Abort();
  EXPECT_EQ(TextOf(store->ValueView(TouchOne(*store, "a"))), "short");
  ASSERT_TRUE(Commit(folder_.file_system(), *store).ok());
}

TEST_F(MemoryStoreTest, EvictsWhatFallsDueAndNothingElse) {
  options_.due_us = [](std::string_view key) -> std::optional<int64_t> {
    if (TextOf(key) == "never") return std::nullopt;
    return std::stoll(TextOf(key));
  };
  auto store = Make();
  for (const char* due : {"-1500000", "-500000", "0", "1499999", "1500000", "1500001", "99000000", "never"}) Add(*store, due, 1);
  ASSERT_TRUE(Commit(folder_.file_system(), *store).ok());

  // The same from memory and from the files.
  std::unique_ptr<MemoryStore> loaded = Make(1);
  for (MemoryStore* each : {store.get(), loaded.get()}) {
    std::vector<std::string> shown;
    const auto show = [&](std::string_view key, std::string_view) {
      shown.push_back(TextOf(key));
      return Status::OK();
    };
    EXPECT_EQ(each->EvictDue(-1'000'000, show).ValueOrDie(), 1);
    EXPECT_EQ(shown, (std::vector<std::string>{"-1500000"}));
    Add(*each, "1500000", 1);  // touched in this very batch
    EXPECT_EQ(each->EvictDue(1'500'000, show).ValueOrDie(), 4);
    EXPECT_EQ(each->EvictDue(1'500'000, nullptr).ValueOrDie(), 0);
    EXPECT_EQ(each->metrics().rows_total, 3);
    each->Abort();
    EXPECT_EQ(each->metrics().rows_total, 8);
    EXPECT_EQ(LongOf(each->ValueView(TouchOne(*each, "1500000"))), 1);
    EXPECT_EQ(each->EvictDue(2'000'000, nullptr).ValueOrDie(), 6);
    each->Abort();
  }
}

TEST_F(MemoryStoreTest, AKeyThatFellDueCanBeMadeAgainInTheSameBatch) {
  options_.due_us = [](std::string_view key) -> std::optional<int64_t> { return std::stoll(TextOf(key)); };
  auto store = Make();
  Add(*store, "5", 1);
  ASSERT_TRUE(Commit(folder_.file_system(), *store).ok());
  const auto evict_and_make = [&] {
    EXPECT_EQ(store->EvictDue(5, nullptr).ValueOrDie(), 1);
    Add(*store, "5", 7);
  };
  evict_and_make();
  store->Abort();
  EXPECT_EQ(Content(*store), (std::map<std::string, int64_t>{{"5", 1}}));
  evict_and_make();
  ASSERT_TRUE(Commit(folder_.file_system(), *store).ok());
  EXPECT_EQ(Delta(2), (std::vector<std::string>{"-5", "5=7"}));
  EXPECT_EQ(store->EvictDue(5, nullptr).ValueOrDie(), 1);
}

/// Random batches against a plain map: commits, aborts, evictions, growing values, reloads; enough churn to rewrite chunks.
TEST_F(MemoryStoreTest, AgreesWithAPlainMapUnderRandomBatches) {
  options_.value_schema.fields = {{"text", type::String()}};
  options_.due_us = [](std::string_view key) -> std::optional<int64_t> { return std::stoll(TextOf(key)) * 1'000; };
  std::mt19937_64 random(20261201);
  auto store = Make();
  std::map<std::string, std::string> model;
  for (int batch = 0; batch < 30; ++batch) {
    std::map<std::string, std::string> next = model;
    for (int i = 0; i < 1500; ++i) {
      const std::string key = std::to_string(random() % 8'000 + static_cast<uint64_t>(batch) * 500);
      const RowSlot slot = TouchOne(*store, key);
      if (random() % 5 == 0) {
        ASSERT_TRUE(store->Remove(slot).ok());
        next.erase(key);
      } else {
        const std::string text(random() % 200, static_cast<char>('a' + random() % 26));
        ASSERT_TRUE(store->Replace(slot, KeyRow(text)).ok());
        next[key] = text;
      }
    }
    const int64_t watermark_ms = batch * 500;
    ASSERT_TRUE(store->EvictDue(watermark_ms * 1'000, nullptr).ok());
    std::erase_if(next, [&](const auto& row) { return std::stoll(row.first) <= watermark_ms; });
    if (random() % 4 == 0) {
      store->Abort();
    } else {
      ASSERT_TRUE(Commit(folder_.file_system(), *store).ok());
      model = std::move(next);
    }
    if (random() % 6 == 0) store = Make(store->version());
    std::map<std::string, std::string> content;
    ASSERT_TRUE(store
                    ->Scan([&](std::string_view key, std::string_view value) {
                      content[TextOf(key)] = TextOf(value);
                      return Status::OK();
                    })
                    .ok());
    ASSERT_EQ(content, model) << "batch " << batch;
    ASSERT_EQ(store->metrics().rows_total, static_cast<int64_t>(model.size()));
  }
}

TEST_F(MemoryStoreTest, MemoryDoesNotGrowWithTurnover) {
  options_.due_us = [](std::string_view key) -> std::optional<int64_t> { return std::stoll(TextOf(key)); };
  auto store = Make();
  int64_t largest = 0;
  for (int64_t batch = 0; batch < 60; ++batch) {
    for (int64_t i = 0; i < 5000; ++i) Add(*store, std::to_string(batch * 5000 + i), 1);
    ASSERT_TRUE(store->EvictDue((batch - 2) * 5000, nullptr).ok());
    ASSERT_TRUE(Commit(folder_.file_system(), *store).ok());
    if (batch == 10) largest = store->metrics().memory_bytes;
  }
  EXPECT_LT(store->metrics().memory_bytes, 2 * largest);
}

TEST_F(MemoryStoreTest, AStoreWithoutKeyColumnsHasOneRow) {
  options_.key_schema.fields.clear();
  auto store = Make();
  const uint32_t offsets[3] = {0, 0, 0};
  const uint64_t hash = XXH3_64bits(nullptr, 0);
  const uint64_t hashes[2] = {hash, hash};
  RowSlot slots[2] = {7, 8};
  ASSERT_TRUE(store->Touch({nullptr, offsets, hashes}, LongRow(4), slots, {}).ok());
  EXPECT_EQ(slots[0], slots[1]);
  ASSERT_TRUE(Commit(folder_.file_system(), *store).ok());
  auto loaded = Make(1);
  EXPECT_EQ(loaded->metrics().rows_total, 1);
  ASSERT_TRUE(loaded->Touch({nullptr, offsets, hashes}, LongRow(0), slots, {}).ok());
  EXPECT_EQ(LongOf(loaded->ValueView(slots[0])), 4);
}

TEST_F(MemoryStoreTest, RowsOfAnotherSchemaAreRefused) {
  auto store = Make();
  Add(*store, "a", 1);
  ASSERT_TRUE(Commit(folder_.file_system(), *store).ok());
  options_.value_schema.fields.push_back({"sum", type::Long()});
  MemoryStore changed(folder_.file_system(), folder_.path(), options_);
  const Status status = changed.Load(1);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(ErrorDetail::Of(status)->condition, "STATE_STORE_VALUE_ROW_FORMAT_VALIDATION_FAILURE");
}

}  // namespace
}  // namespace tidemill::state
