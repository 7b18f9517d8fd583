#include "fs/hadoop_crc.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tidemill::fs {
namespace {

std::string Hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

std::string CrcFileOf(std::string_view bytes) {
  HadoopCrc crc;
  crc.Append(bytes);
  return crc.Finish();
}

TEST(HadoopCrcTest, Crc32HasTheStandardCheckValue) {
  EXPECT_EQ(Crc32(0, "123456789"), 0xcbf43926u);
  EXPECT_EQ(Crc32(Crc32(0, "1234"), "56789"), 0xcbf43926u);
}

TEST(HadoopCrcTest, FilesEqualThoseThatHadoopWrote) {
  EXPECT_EQ(Hex(CrcFileOf("v1\n{\"nextBatchWatermarkMs\":0}")), "6372630000000200f32abfdd");
  EXPECT_EQ(Hex(CrcFileOf("v1\n{\"nextBatchWatermarkMs\":0,\"stateUniqueIds\":{}}")), "6372630000000200998ff587");
  EXPECT_EQ(Hex(CrcFileOf("")), "6372630000000200");
}

TEST(HadoopCrcTest, PiecesDoNotDependOnHowTheBytesArrive) {
  const std::string bytes(1300, 'x');
  HadoopCrc crc;
  for (size_t i = 0; i < bytes.size(); i += 7) crc.Append(std::string_view(bytes).substr(i, 7));
  const std::string file = crc.Finish();
  EXPECT_EQ(file, CrcFileOf(bytes));
  EXPECT_EQ(file.size(), 8u + 3 * 4);
}

TEST(HadoopCrcTest, AnyChangeIsNoticed) {
  std::string bytes(1300, 'x');
  const std::string file = CrcFileOf(bytes);
  EXPECT_TRUE(HadoopCrcMatches(file, bytes));
  EXPECT_FALSE(HadoopCrcMatches(file, bytes + "x"));
  EXPECT_FALSE(HadoopCrcMatches(file.substr(0, file.size() - 1), bytes));
  EXPECT_FALSE(HadoopCrcMatches("", bytes));
  bytes[700] = 'y';
  EXPECT_FALSE(HadoopCrcMatches(file, bytes));
}

TEST(HadoopCrcTest, CompanionsAreNamedAfterTheirFile) {
  EXPECT_EQ(HadoopCrcPath("/a/b"), "/a/.b.crc");
  EXPECT_EQ(SparkCrcPath("/a/1.delta"), "/a/1.delta.crc");
}

}  // namespace
}  // namespace tidemill::fs
