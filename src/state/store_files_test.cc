#include "state/store_files.h"

#include <gtest/gtest.h>

#include "state/row_set.h"
#include "state/test_store_internal.h"

namespace tidemill::state {
namespace {

TEST(StoreFilesTest, TakesOnlyNamesOfVersions) {
  const StoreFiles files = ParseStoreFiles({{"10.delta"},
                                            {"2.delta"},
                                            {"2.snapshot"},
                                            {".3.delta.crc"},
                                            {"3.delta.crc"},
                                            {".4.delta.1.tmp"},
                                            {"x.delta"},
                                            {"-1.delta"},
                                            {"_metadata", true},
                                            {"5.delta", true},
                                            {"6.zip"},
                                            {"99999999999999999999.delta"}});
  EXPECT_EQ(files.deltas, (std::vector<int64_t>{2, 10}));
  EXPECT_EQ(files.snapshots, (std::vector<int64_t>{2}));
  EXPECT_EQ(files.latest(), 10);
}

struct PlanCase {
  StoreFiles files;
  int64_t version;
  std::optional<int64_t> snapshot;
  std::optional<int64_t> missing;
};

TEST(StoreFilesTest, PlansFromTheNewestSnapshotThatIsOldEnough) {
  const PlanCase cases[] = {
      {{{1, 2, 3}, {}}, 3, std::nullopt, std::nullopt},
      {{{1, 2, 3, 4}, {2, 4}}, 3, 2, std::nullopt},
      {{{3, 4}, {2}}, 4, 2, std::nullopt},
      {{{}, {4}}, 4, 4, std::nullopt},  // a snapshot alone is enough
      {{{1, 3}, {}}, 3, std::nullopt, 2},
      {{{1, 2}, {}}, 3, std::nullopt, 3},
      {{{4}, {5}}, 4, std::nullopt, 1},  // a snapshot that is too new helps nobody
      {{{}, {}}, 2, std::nullopt, 1},
  };
  for (const PlanCase& c : cases) {
    const LoadPlan plan = PlanLoad(c.files, c.version, c.version);
    EXPECT_EQ(plan.snapshot, c.snapshot) << c.version;
    EXPECT_EQ(plan.missing_delta, c.missing) << c.version;
  }
}

TEST(StoreFilesTest, ASnapshotIsDueAfterMoreThanSoManyDeltas) {
  EXPECT_FALSE(SnapshotIsDue({{1, 2, 3}, {}}, 3, 3));
  EXPECT_TRUE(SnapshotIsDue({{1, 2, 3, 4}, {}}, 4, 3));
  EXPECT_FALSE(SnapshotIsDue({{1, 2, 3, 4}, {2}}, 4, 3));
  EXPECT_FALSE(SnapshotIsDue({{1, 2, 3, 4}, {}}, 3, 3));  // the fourth is not committed yet
}

TEST(StoreFilesTest, KeepsWhatTheRetainedVersionsNeed) {
  const StoreFiles files{{1, 2, 3, 4, 5, 6, 7, 8}, {3, 6}};
  EXPECT_EQ(OldestNeeded(files, 8, 100), 0);
  EXPECT_EQ(OldestNeeded(files, 8, 1), 6);
  EXPECT_EQ(OldestNeeded(files, 8, 4), 3);
  EXPECT_EQ(OldestNeeded(files, 8, 7), 1);             // no snapshot is old enough
  EXPECT_EQ(OldestNeeded({{5, 7, 8}, {4}}, 8, 1), 0);  // a hole: nothing is proved
}

class LoadTest : public ::testing::Test {
 protected:
  /// Write a file of records "k=1", "-k".
  void Write(const std::string& name, const std::vector<std::string>& records) {
    auto writer = StateFileWriter::Make({}, folder_.file_system().OpenStaged(folder_.path() + "/" + name, false).ValueOrDie()).ValueOrDie();
    for (const std::string& record : records) {
      const size_t equals = record.find('=');
      const Status written = equals == std::string::npos
                                 ? writer->Delete(KeyRow(record.substr(1)))
                                 : writer->Put(KeyRow(record.substr(0, equals)), LongRow(std::stoll(record.substr(equals + 1))));
      ASSERT_TRUE(written.ok());
    }
    const fs::StagedFile staged = writer->Finish().ValueOrDie();
    ASSERT_TRUE(folder_.file_system().Publish({&staged, 1}).ok());
  }
  Result<std::map<std::string, int64_t>> Load(int64_t version) {
    RowSet rows;
    ARROW_RETURN_NOT_OK(LoadVersion(folder_.file_system(), folder_.path(), version, {}, rows));
    std::map<std::string, int64_t> content;
    ARROW_RETURN_NOT_OK(rows.Visit([&](std::string_view key, std::string_view value) {
      content[TextOf(key)] = LongOf(value);
      return Status::OK();
    }));
    return content;
  }

  TemporaryFolder folder_;
};

using Rows = std::map<std::string, int64_t>;

TEST_F(LoadTest, AppliesRecordsInOrder) {
  Write("1.delta", {"a=1", "b=2"});
  Write("2.delta", {"a=3", "-b", "c=1", "c=2"});
  Write("3.delta", {"-a", "a=9", "-nothing"});
  EXPECT_EQ(Load(0).ValueOrDie(), Rows{});
  EXPECT_EQ(Load(1).ValueOrDie(), (Rows{{"a", 1}, {"b", 2}}));
  EXPECT_EQ(Load(2).ValueOrDie(), (Rows{{"a", 3}, {"c", 2}}));
  EXPECT_EQ(Load(3).ValueOrDie(), (Rows{{"a", 9}, {"c", 2}}));
}

/// A snapshot cut at any byte is passed over for what is older, and the rows are right all the same.
TEST_F(LoadTest, PassesOverADamagedSnapshot) {
  Write("1.delta", {"a=1"});
  Write("2.delta", {"b=2"});
  Write("2.snapshot", {"a=1", "b=2"});
  Write("3.delta", {"c=3"});
  Write("3.snapshot", {"a=1", "b=2", "c=3"});
  const std::string good = folder_.ReadFile("3.snapshot");
  for (size_t bytes = 0; bytes < good.size() - 21; bytes += 7) {
    folder_.WriteFile("3.snapshot", good.substr(0, bytes));
    EXPECT_EQ(Load(3).ValueOrDie(), (Rows{{"a", 1}, {"b", 2}, {"c", 3}})) << bytes;
  }
  folder_.WriteFile("2.snapshot", "garbage");
  EXPECT_EQ(Load(3).ValueOrDie(), (Rows{{"a", 1}, {"b", 2}, {"c", 3}}));
}

TEST_F(LoadTest, NamesTheDamagedSnapshotWhenItsDeltasAreGone) {
  Write("3.snapshot", {"a=1"});
  Write("4.delta", {"b=1"});
  folder_.WriteFile("3.snapshot", "garbage");
  const Status lost = Load(4).status();
  ASSERT_NE(ErrorDetail::Of(lost), nullptr);
  EXPECT_EQ(ErrorDetail::Of(lost)->condition, "CANNOT_LOAD_STATE_STORE.CANNOT_READ_DELTA_FILE_NOT_EXISTS");
  EXPECT_EQ(ErrorDetail::Of(lost)->path, folder_.path() + "/3.snapshot");
  EXPECT_NE(lost.message().find("3.snapshot is damaged"), std::string::npos) << lost.message();
}

TEST_F(LoadTest, NamesTheMissingDeltaTheVersionAndTheRemedy) {
  Write("1.delta", {"a=1"});
  Write("3.delta", {"a=3"});
  const Status lost = Load(3).status();
  EXPECT_EQ(ErrorDetail::Of(lost)->path, folder_.path() + "/2.delta");
  EXPECT_NE(lost.message().find("Version 3"), std::string::npos);
  EXPECT_NE(lost.message().find("backup"), std::string::npos);
}

TEST_F(LoadTest, NamesTheFolderThatIsMissing) {
  RowSet rows;
  const Status lost = LoadVersion(folder_.file_system(), folder_.path() + "/gone", 2, {}, rows);
  EXPECT_EQ(ErrorDetail::Of(lost)->path, folder_.path() + "/gone");
  EXPECT_EQ(ErrorDetail::Of(lost)->parameters.at("fileToRead"), folder_.path() + "/gone/1.delta");
}

TEST_F(LoadTest, ADamagedDeltaIsAnError) {
  Write("1.delta", {"a=1"});
  folder_.WriteFile("1.delta", folder_.ReadFile("1.delta").substr(0, 30));
  const Status damaged = Load(1).status();
  EXPECT_EQ(ErrorDetail::Of(damaged)->path, folder_.path() + "/1.delta");
  EXPECT_FALSE(IsRetryable(damaged));
}

}  // namespace
}  // namespace tidemill::state
