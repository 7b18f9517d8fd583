#include "state/delta_file.h"

#include <gtest/gtest.h>

#include "state/test_store_internal.h"

namespace tidemill::state {
namespace {

using Records = std::vector<std::pair<std::string, std::optional<std::string>>>;

/// Write `records`, and give back the file's decompressed bytes in hex.
std::string Written(TemporaryFolder& folder, const StateFileFormat& format, const Records& records) {
  auto file = folder.file_system().OpenStaged(folder.path() + "/1.delta", false).ValueOrDie();
  auto writer = StateFileWriter::Make(format, std::move(file)).ValueOrDie();
  for (const auto& [key, value] : records) EXPECT_TRUE((value ? writer->Put(key, *value) : writer->Delete(key)).ok());
  const fs::StagedFile staged = writer->Finish().ValueOrDie();
  EXPECT_TRUE(folder.file_system().Publish({&staged, 1}).ok());
  std::string hex;
  for (const char c : Decompress(format.codec, folder.ReadFile("1.delta"), 1 << 20).ValueOrDie())
    hex += fmt::format("{:02x}", static_cast<uint8_t>(c));
  return hex;
}

Result<Records> ReadBytes(std::string_view raw, bool row_checksum = false, StateFileKind kind = StateFileKind::kDelta) {
  ARROW_ASSIGN_OR_RAISE(const std::string compressed, Compress("lz4", raw));
  ARROW_ASSIGN_OR_RAISE(auto reader, StateFileReader::Make({"lz4", row_checksum}, kind, "/state/0/0/1.delta", compressed));
  Records records;
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto record, reader->Next());
    if (!record) return records;
    records.emplace_back(record->key, record->value ? std::optional<std::string>(*record->value) : std::nullopt);
  }
}

std::string Int3() { return std::string("\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0", 16); }
std::string Big(int32_t value) {
  const uint32_t swapped = __builtin_bswap32(static_cast<uint32_t>(value));
  return {reinterpret_cast<const char*>(&swapped), 4};
}
std::string Condition(const Status& status) { return ErrorDetail::Of(status) == nullptr ? "" : ErrorDetail::Of(status)->condition; }

TEST(DeltaFileTest, WritesPutsAndDeletesAsSparkDoes) {
  TemporaryFolder folder;
  EXPECT_EQ(Written(folder, {}, {{Int3(), LongRow(1)}}),
            "0000001000000000000000000300000000000000"
            "0000001000000000000000000100000000000000"
            "ffffffff");
  EXPECT_EQ(Written(folder, {}, {{Int3(), std::nullopt}}),
            "0000001000000000000000000300000000000000"
            "ffffffff"
            "ffffffff");
  EXPECT_EQ(Written(folder, {}, {}), "ffffffff");
}

TEST(DeltaFileTest, PutsRowChecksumsWhereSparkDoes) {
  TemporaryFolder folder;
  const StateFileFormat format{"zstd", true};
  EXPECT_EQ(Written(folder, format, {{Int3(), LongRow(1)}}),
            "0000001000000000000000000300000000000000"
            "00000014ee7a910800000000000000000100000000000000"
            "ffffffff");
  EXPECT_EQ(Written(folder, format, {{Int3(), std::nullopt}}),
            "00000014831d349900000000000000000300000000000000"
            "ffffffff"
            "ffffffff");
}

TEST(DeltaFileTest, ReadsBackWhatItWrote) {
  TemporaryFolder folder;
  Records records;
  for (int i = 0; i < 20'000; ++i) {
    records.emplace_back(KeyRow(std::to_string(i)), i % 7 == 0 ? std::nullopt : std::optional<std::string>(LongRow(i)));
  }
  for (const char* codec : {"lz4", "zstd", "snappy", "lzf"}) {
    for (const bool row_checksum : {false, true}) {
      const StateFileFormat format{codec, row_checksum};
      Written(folder, format, {});
      auto writer =
          StateFileWriter::Make(format, folder.file_system().OpenStaged(folder.path() + "/1.delta", false).ValueOrDie()).ValueOrDie();
      for (const auto& [key, value] : records) ASSERT_TRUE((value ? writer->Put(key, *value) : writer->Delete(key)).ok());
      const fs::StagedFile staged = writer->Finish().ValueOrDie();
      ASSERT_TRUE(folder.file_system().Publish({&staged, 1}).ok());
      size_t i = 0;
      ASSERT_TRUE(
          ReadStateFile(folder.file_system(), format, StateFileKind::kDelta, folder.path() + "/1.delta", [&](const StateRecord& record) {
            EXPECT_EQ(record.key, records[i].first);
            EXPECT_EQ(record.value.has_value(), records[i].second.has_value());
            if (record.value) {
              EXPECT_EQ(*record.value, *records[i].second);
            }
            ++i;
            return Status::OK();
          }).ok());
      EXPECT_EQ(i, records.size());
    }
  }
}

TEST(DeltaFileTest, StopsAtTheEndMark) { EXPECT_EQ(ReadBytes(Big(-1) + "whatever follows").ValueOrDie().size(), 0u); }

TEST(DeltaFileTest, FloorsTheLengthOfOldValues) {
  const Records records = ReadBytes(Big(16) + Int3() + Big(20) + LongRow(1) + "tail" + Big(-1)).ValueOrDie();
  EXPECT_EQ(records[0].second, LongRow(1));
}

TEST(DeltaFileTest, RefusesLengthsThatCannotBe) {
  EXPECT_EQ(Condition(ReadBytes(Big(-2)).status()), "CANNOT_LOAD_STATE_STORE.CANNOT_READ_DELTA_FILE_KEY_SIZE");
  EXPECT_EQ(Condition(ReadBytes(Big(-2), false, StateFileKind::kSnapshot).status()),
            "CANNOT_LOAD_STATE_STORE.CANNOT_READ_SNAPSHOT_FILE_KEY_SIZE");
  EXPECT_EQ(Condition(ReadBytes(Big(16) + Int3() + Big(-1) + Big(-1), false, StateFileKind::kSnapshot).status()),
            "CANNOT_LOAD_STATE_STORE.CANNOT_READ_SNAPSHOT_FILE_VALUE_SIZE");
}

TEST(DeltaFileTest, EveryTruncationIsAnError) {
  const std::string raw = Big(16) + Int3() + Big(16) + LongRow(1) + Big(16) + Int3() + Big(-1) + Big(-1);
  ASSERT_TRUE(ReadBytes(raw).ok());
  for (size_t bytes = 0; bytes < raw.size(); ++bytes) {
    const Status status = ReadBytes(raw.substr(0, bytes)).status();
    ASSERT_FALSE(status.ok()) << bytes;
    EXPECT_EQ(ErrorDetail::Of(status)->path, "/state/0/0/1.delta");
  }
  // Two gigabytes are announced, none are there.
  EXPECT_FALSE(ReadBytes(Big(0x7fffffff) + Int3()).ok());
}

TEST(DeltaFileTest, NoticesAFlippedBitByTheRowChecksum) {
  std::string value("\xee\x7a\x91\x08", 4);
  value += LongRow(1);
  ASSERT_TRUE(ReadBytes(Big(16) + Int3() + Big(20) + value + Big(-1), true).ok());
  value[12] ^= 1;
  EXPECT_FALSE(ReadBytes(Big(16) + Int3() + Big(20) + value + Big(-1), true).ok());
}

TEST(DeltaFileTest, Crc32cIsCastagnoli) {
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(Crc32c("1234", "56789"), 0xe3069283u);
}

}  // namespace
}  // namespace tidemill::state
