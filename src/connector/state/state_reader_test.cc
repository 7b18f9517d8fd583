#include "connector/state/state_reader.h"

#include <arrow/array/array_base.h>
#include <arrow/memory_pool.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/config.h"
#include "checkpoint/offset_log.h"
#include "fs/local_file_system.h"
#include "row/murmur3.h"
#include "row/unsafe_row.h"
#include "state/operator_metadata.h"
#include "state/row_set.h"
#include "state/store_files.h"
#include "testing/golden.h"

namespace tidemill::connector::state {
namespace {

using nlohmann::json;
namespace engine = tidemill::state;
using tidemill::testing::GoldenCase;

std::string Condition(const Status& status) { return ErrorDetail::Of(status) == nullptr ? "" : ErrorDetail::Of(status)->condition; }

/// Rows in an order of their own: neither side promises one.
std::vector<std::string> Sorted(const std::vector<json>& rows) {
  std::vector<std::string> lines;
  for (const json& row : rows) lines.push_back(row.dump());
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::vector<json> Parsed(const std::vector<std::string>& lines) {
  std::vector<json> rows;
  for (const std::string& line : lines) rows.push_back(json::parse(line));
  return rows;
}

class StateReaderTest : public ::testing::Test {
 protected:
  Result<StateTable> Read(const GoldenCase& golden, const std::map<std::string, std::string>& options) {
    return ReadState(*file_system_, golden.checkpoint(), options);
  }
  std::vector<json> Rows(const GoldenCase& golden, const std::map<std::string, std::string>& options) {
    const Result<StateTable> table = Read(golden, options);
    EXPECT_TRUE(table.ok()) << table.status().ToString();
    return table.ok() ? Parsed(RowsToJson(*table).ValueOrDie()) : std::vector<json>{};
  }

  std::unique_ptr<fs::SystemCalls> calls_ = fs::MakePosixCalls();
  std::unique_ptr<fs::FileSystem> file_system_ = fs::MakeLocalFileSystem(*calls_);
};

class GoldenStateTest : public StateReaderTest, public ::testing::WithParamInterface<std::string> {};

std::vector<std::string> CasesWithState() {
  std::vector<std::string> cases = tidemill::testing::ListGoldenCases();
  std::erase_if(cases, [](const std::string& name) { return !name.ends_with("_hdfs"); });
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Cases, GoldenStateTest, ::testing::ValuesIn(CasesWithState()), [](const auto& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
});

/// Every row is decoded and encoded again: keys are equal to Spark's by their bytes or not at all.
void CheckBytes(fs::FileSystem& file_system, const GoldenCase& golden, const json& store, const StateTable& table) {
  row::RowBatch keys;
  row::RowBatch values;
  ASSERT_TRUE(row::RowEncoder::Make(table.key_schema, true).ValueOrDie()->Encode(table.keys, table.rows(), &keys).ok());
  ASSERT_TRUE(row::RowEncoder::Make(table.value_schema, false).ValueOrDie()->Encode(table.values, table.rows(), &values).ok());
  const int64_t batch_id = store.at("batchId");
  const auto log = checkpoint::OffsetLog(file_system, golden.checkpoint() + "/offsets").Get(batch_id).ValueOrDie();
  engine::StateFileFormat format;
  if (const auto codec = log.conf.find(conf::kCompressionCodec); codec != log.conf.end()) format.codec = codec->second;
  if (const auto checksum = log.conf.find(conf::kRowChecksum); checksum != log.conf.end()) format.row_checksum = checksum->second == "true";
  int64_t i = 0;
  while (i < table.rows()) {
    const std::string directory =
        engine::StoreDirectory(golden.checkpoint() + "/state", store.at("operatorId"), table.partition_ids[i], store.at("storeName"));
    engine::RowSet rows;
    ASSERT_TRUE(engine::LoadVersion(file_system, directory, batch_id + 1, format, rows).ok());
    ASSERT_TRUE(rows.Visit([&](std::string_view key, std::string_view value) {
                      EXPECT_EQ(key, keys.row(i));
                      EXPECT_EQ(value, values.row(i));
                      ++i;
                      return Status::OK();
                    })
                    .ok());
  }
}

/// Each key lies where its hash puts it.
void CheckPlaces(const json& expected, const StateTable& table) {
  const int32_t partitions = std::stoi(expected.at("conf").value(conf::kShufflePartitions, "3"));
  std::vector<int32_t> hashes;
  ASSERT_TRUE(row::HashColumns(table.key_schema, table.keys, table.rows(), &hashes).ok());
  for (int64_t i = 0; i < table.rows(); ++i) EXPECT_EQ(row::PartitionOf(hashes[i], partitions), table.partition_ids[i]);
}

TEST_P(GoldenStateTest, HoldsWhatSparkSaysAndAsSparkWouldWriteIt) {
  const GoldenCase golden = GoldenCase::Unpack(GetParam()).ValueOrDie();
  const json expected = json::parse(golden.expected_json());
  for (const json& store : expected.at("state")) {
    const auto options = store.at("options").get<std::map<std::string, std::string>>();
    if (options.contains("joinSide")) continue;
    const Result<StateTable> read = Read(golden, options);
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    EXPECT_EQ(Sorted(Parsed(RowsToJson(*read).ValueOrDie())), Sorted(store.at("rows").get<std::vector<json>>())) << store.at("options");
    CheckBytes(*file_system_, golden, store, *read);
    // Other operators are partitioned by a part of the key, or not at all.
    const std::string operator_name = store.at("operatorName");
    const bool by_whole_key = operator_name == "stateStoreSave" || operator_name.starts_with("dedupe");
    if (by_whole_key && read->key_schema.size() > 0) CheckPlaces(expected, *read);
  }
}

TEST_F(StateReaderTest, ReadsAnOlderBatch) {
  const GoldenCase golden = GoldenCase::Unpack("4.3.0_agg_basic_hdfs").ValueOrDie();
  EXPECT_EQ(Rows(golden, {{"batchId", "0"}}).size(), 2u);
  EXPECT_EQ(Rows(golden, {{"BATCHID", "1"}}).size(), 4u);
  EXPECT_EQ(Rows(golden, {}).size(), 6u);
}

TEST_F(StateReaderTest, ReadsTheChangeFeed) {
  const GoldenCase golden = GoldenCase::Unpack("4.3.0_agg_basic_hdfs").ValueOrDie();
  const std::vector<json> changes = Rows(golden, {{"readChangeFeed", "true"}, {"changeStartBatchId", "1"}});
  EXPECT_EQ(changes.size(), 7u);  // 3 + 3 + 1 updates
  for (const json& change : changes) {
    EXPECT_EQ(change.at("change_type"), "update");
    EXPECT_GE(change.at("batch_id"), 1);
  }
  const GoldenCase windows = GoldenCase::Unpack("4.3.0_window_tumbling_hdfs").ValueOrDie();
  int deletes = 0;
  for (const json& change : Rows(windows, {{"readChangeFeed", "true"}, {"changeStartBatchId", "0"}})) {
    if (change.at("change_type") != "delete") continue;
    EXPECT_TRUE(change.at("value").is_null());
    ++deletes;
  }
  EXPECT_GT(deletes, 0);
}

TEST_F(StateReaderTest, ReadsFromASnapshotThatIsNamed) {
  const GoldenCase golden = GoldenCase::Unpack("4.3.0_maintained_hdfs").ValueOrDie();
  int64_t snapshot = 0;
  for (const auto& entry : std::filesystem::directory_iterator(golden.checkpoint() + "/state/0/0")) {
    if (entry.path().extension() == ".snapshot") snapshot = std::max<int64_t>(snapshot, std::stoll(entry.path().stem()));
  }
  ASSERT_GT(snapshot, 0);
  std::vector<json> all = Rows(golden, {});
  std::erase_if(all, [](const json& row) { return row.at("partition_id") != 0; });
  const auto from_snapshot = Rows(golden, {{"snapshotStartBatchId", std::to_string(snapshot - 1)}, {"snapshotPartitionId", "0"}});
  EXPECT_EQ(Sorted(from_snapshot), Sorted(all));
  EXPECT_EQ(Condition(Read(golden, {{"snapshotStartBatchId", "0"}, {"snapshotPartitionId", "0"}}).status()),
            "CANNOT_LOAD_STATE_STORE.CANNOT_READ_MISSING_SNAPSHOT_FILE");
}

TEST_F(StateReaderTest, RefusesWhatSparkRefuses) {
  const GoldenCase golden = GoldenCase::Unpack("4.3.0_agg_basic_hdfs").ValueOrDie();
  const auto condition = [&](const std::map<std::string, std::string>& options) { return Condition(Read(golden, options).status()); };
  EXPECT_EQ(condition({{"batchId", "-1"}}), "STDS_INVALID_OPTION_VALUE.IS_NEGATIVE");
  EXPECT_EQ(condition({{"operatorId", "x"}}), "STDS_INVALID_OPTION_VALUE.WITH_MESSAGE");
  EXPECT_EQ(condition({{"storeName", " "}}), "STDS_INVALID_OPTION_VALUE.IS_EMPTY");
  EXPECT_EQ(condition({{"joinSide", "both"}}), "STDS_INVALID_OPTION_VALUE.WITH_MESSAGE");
  EXPECT_EQ(condition({{"joinSide", "left"}, {"storeName", "right-keyToNumValues"}}), "STDS_CONFLICT_OPTIONS");
  EXPECT_EQ(condition({{"joinSide", "left"}}), "TIDEMILL_UNSUPPORTED_OPTION");
  EXPECT_EQ(condition({{"snapshotStartBatchId", "0"}}), "STDS_REQUIRED_OPTION_UNSPECIFIED");
  EXPECT_EQ(condition({{"readChangeFeed", "true"}}), "STDS_REQUIRED_OPTION_UNSPECIFIED");
  EXPECT_EQ(condition({{"readChangeFeed", "true"}, {"changeStartBatchId", "0"}, {"batchId", "1"}}), "STDS_CONFLICT_OPTIONS");
  EXPECT_EQ(condition({{"changeStartBatchId", "0"}}), "STDS_INVALID_OPTION_VALUE.WITH_MESSAGE");
  EXPECT_EQ(condition({{"readChangeFeed", "true"}, {"changeStartBatchId", "3"}, {"changeEndBatchId", "2"}}),
            "STDS_INVALID_OPTION_VALUE.WITH_MESSAGE");
  EXPECT_EQ(condition({{"batchId", "99"}}), "STDS_OFFSET_LOG_UNAVAILABLE");
  EXPECT_EQ(condition({{"storeName", "other"}}), "STDS_FAILED_TO_READ_STATE_SCHEMA");
  EXPECT_EQ(condition({{"operatorId", "7"}}), "STDS_FAILED_TO_READ_STATE_SCHEMA");
  EXPECT_EQ(condition({{"operatorIdd", "0"}}), "TIDEMILL_UNKNOWN_OPTION");
  EXPECT_EQ(Condition(ReadState(*file_system_, golden.path() + "/nowhere", {}).status()), "STDS_COMMITTED_BATCH_UNAVAILABLE");
}

TEST_F(StateReaderTest, RefusesRocksDbByName) {
  const GoldenCase golden = GoldenCase::Unpack("4.3.0_agg_basic_hdfs").ValueOrDie();
  const std::string path = golden.checkpoint() + "/offsets/3";
  std::string text = file_system_->Read(path).ValueOrDie();
  const std::string provider = "HDFSBackedStateStoreProvider";
  text.replace(text.find(provider), provider.size(), "RocksDBStateStoreProvider");
  std::filesystem::remove(path);
  std::filesystem::remove(golden.checkpoint() + "/offsets/.3.crc");
  std::ofstream(path) << text;
  const Status refused = Read(golden, {}).status();
  EXPECT_EQ(Condition(refused), "TIDEMILL_UNSUPPORTED_STATE_PROVIDER");
  EXPECT_NE(refused.message().find("RocksDBStateStoreProvider"), std::string::npos);
}

TEST_F(StateReaderTest, NamesTheFileThatIsLost) {
  const GoldenCase golden = GoldenCase::Unpack("4.3.0_agg_basic_hdfs").ValueOrDie();
  std::filesystem::remove(golden.checkpoint() + "/state/0/1/2.delta");
  const Status lost = Read(golden, {}).status();
  EXPECT_EQ(Condition(lost), "CANNOT_LOAD_STATE_STORE.CANNOT_READ_DELTA_FILE_NOT_EXISTS");
  EXPECT_EQ(ErrorDetail::Of(lost)->path, golden.checkpoint() + "/state/0/1/2.delta");
  EXPECT_NE(lost.message().find("Version 4"), std::string::npos);
}

}  // namespace
}  // namespace tidemill::connector::state
