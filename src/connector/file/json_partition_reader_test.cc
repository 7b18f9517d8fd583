#include "connector/file/json_partition_reader.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <gtest/gtest.h>

#include "fs/local_file_system.h"
#include "testing/simulated_disk.h"

namespace tidemill::connector {
namespace {

constexpr char kPath[] = "/in/a.json";

class JsonPartitionReaderTest : public ::testing::Test {
 protected:
  /// The values of column `i` of all rows, in order; an error as its text.
  std::vector<std::string> Read(std::vector<FileSplit> splits, ReadTolerance tolerance = {}) {
    const FilePartition partition(std::move(splits));
    auto reader =
        MakeJsonPartitionReader(*files_, partition, type::ParseDdl("i STRING").ValueOrDie().fields, {}, tolerance, {}).ValueOrDie();
    std::vector<std::string> values;
    for (;;) {
      const auto batch = reader->Next();
      if (!batch.ok()) return {batch.status().ToString()};
      if (*batch == nullptr) return values;
      const auto& column = static_cast<const arrow::StringArray&>(*(*batch)->column(0));
      for (int64_t row = 0; row < column.length(); ++row) values.push_back(column.IsNull(row) ? "null" : column.GetString(row));
    }
  }
  std::vector<std::string> ReadWhole(const std::string& text) {
    disk_.Put(kPath, text);
    return Read({{kPath, 0, static_cast<int64_t>(text.size())}});
  }

  testing::SimulatedDisk disk_;
  std::unique_ptr<fs::FileSystem> files_ = fs::MakeLocalFileSystem(disk_);
};

using Values = std::vector<std::string>;

TEST_F(JsonPartitionReaderTest, LinesEndWithFeedCarriageReturnOrBoth) {
  EXPECT_EQ(ReadWhole("{\"i\":1}\r{\"i\":2}\r\n{\"i\":3}\n\r{\"i\":4}\r"), (Values{"1", "2", "3", "4"}));  // compared with Spark 4.3.0
  EXPECT_EQ(ReadWhole("{\"i\":1}"), Values{"1"});
  EXPECT_EQ(ReadWhole("\xef\xbb\xbf{\"i\":1}\n\xef\xbb\xbf{\"i\":2}\n")[0], "1");
  EXPECT_EQ(ReadWhole("\n\n\r\n"), Values{});
  EXPECT_EQ(ReadWhole(""), Values{});
}

TEST_F(JsonPartitionReaderTest, WhereverAFileIsCutEachLineIsReadOnce) {
  const std::string text = "{\"i\":1}\n{\"i\":22}\r\n{\"i\":3}\r\r{\"i\":4}\n\n{\"i\":555}";
  const auto size = static_cast<int64_t>(text.size());
  const Values all = ReadWhole(text);
  ASSERT_EQ(all, (Values{"1", "22", "3", "4", "555"}));
  for (int64_t first = 0; first <= size; ++first) {
    for (int64_t second = first; second <= size; ++second) {
      Values together = Read({{kPath, 0, first}});
      for (const FileSplit& split : {FileSplit{kPath, first, second}, FileSplit{kPath, second, size}}) {
        const Values part = Read({split});
        together.insert(together.end(), part.begin(), part.end());
      }
      EXPECT_EQ(together, all) << "cut at " << first << " and " << second;
    }
  }
}

TEST_F(JsonPartitionReaderTest, LinesLongerThanABufferAndManyShortOnes) {
  const std::string longest(3'000'000, 'x');
  EXPECT_EQ(ReadWhole("{\"i\":\"a\"}\n{\"i\":\"" + longest + "\"}\n{\"i\":\"b\"}"), (Values{"a", longest, "b"}));
  for (const char* end : {"\n", "\r", "\r\n"}) {
    std::string text;
    Values expected;
    for (int i = 0; i < 200'000; ++i) {
      expected.push_back(std::to_string(i));
      text += "{\"i\":" + expected.back() + "}" + end;
    }
    EXPECT_EQ(ReadWhole(text), expected);
  }
}

TEST_F(JsonPartitionReaderTest, AFileThatVanishedIsAnErrorUnlessItMayBeMissing) {
  disk_.Put("/in/b.json", "{\"i\":2}\n");
  const std::vector<FileSplit> splits = {{"/in/gone.json", 0, 8}, {"/in/b.json", 0, 8}};
  const Values refused = Read(splits);
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_NE(refused[0].find("/in/gone.json"), std::string::npos) << refused[0];
  EXPECT_NE(refused[0].find("ignoreMissingFiles"), std::string::npos) << refused[0];
  EXPECT_EQ(Read(splits, {.ignore_missing = true}), Values{"2"});
}

TEST_F(JsonPartitionReaderTest, AFileThatCannotBeReadIsAnErrorUnlessItMayBeDamaged) {
  disk_.Put("/in/a.json", "{\"i\":1}\n");
  disk_.Put("/in/b.json", "{\"i\":2}\n");
  const std::vector<FileSplit> splits = {{"/in/a.json", 0, 8}, {"/in/b.json", 0, 8}};
  for (const bool ignored : {false, true}) {
    disk_.Inject({.fault = testing::Fault::kFailOnce, .kind = "pread", .path = "/in/a.json"});
    const Values values = Read(splits, {.ignore_corrupt = ignored});
    if (ignored) {
      EXPECT_EQ(values, Values{"2"});
    } else {
      ASSERT_EQ(values.size(), 1u);
      EXPECT_NE(values[0].find("/in/a.json"), std::string::npos) << values[0];
    }
    disk_.ClearFaults();
  }
}

}  // namespace
}  // namespace tidemill::connector
