#include "state/compression.h"

#include <gtest/gtest.h>

#include <random>

namespace tidemill::state {
namespace {

constexpr uint64_t kLimit = 64 << 20;

std::string FromHex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) bytes.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  return bytes;
}

const std::string& OneCount() {
  static const std::string raw = FromHex(
      "0000001000000000000000000300000000000000000000100000000000000000"
      "0100000000000000ffffffff");
  return raw;
}
const std::string& KeyK0() {
  static const std::string raw = FromHex(
      "00000018000000000000000002000000100000006b30000000000000000000100000000000000000"
      "0100000000000000ffffffff");
  return raw;
}

class CodecTest : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Codecs, CodecTest, testing::Values("lz4", "zstd", "snappy", "lzf"));

/// Runs, noise and words: every kind of block, also stored ones.
std::vector<std::string> Samples() {
  std::mt19937_64 random(7);
  std::string noise;
  for (int i = 0; i < 200'000; ++i) noise.push_back(static_cast<char>(random()));
  std::string words;
  while (words.size() < 150'000) words += std::to_string(random() % 1000) + " rows of ";
  return {"",        "a",           std::string(100'000, 'x'),   noise,
          words,     noise + words, std::string(32 * 1024, 'y'), std::string(65535, 'z') + "!",
          OneCount()};
}

TEST_P(CodecTest, GivesBackWhatItTook) {
  for (const std::string& sample : Samples()) {
    const std::string compressed = Compress(GetParam(), sample).ValueOrDie();
    EXPECT_EQ(Decompress(GetParam(), compressed, kLimit).ValueOrDie(), sample);
  }
}

TEST_P(CodecTest, TakesPiecesOfAnySize) {
  const std::string sample = Samples()[5];
  auto compressor = MakeCompressor(GetParam()).ValueOrDie();
  std::string compressed;
  for (size_t at = 0, step = 1; at < sample.size(); at += step, step = step * 3 + 1) {
    ASSERT_TRUE(compressor->Write(std::string_view(sample).substr(at, step), &compressed).ok());
  }
  ASSERT_TRUE(compressor->Finish(&compressed).ok());
  EXPECT_EQ(Decompress(GetParam(), compressed, kLimit).ValueOrDie(), sample);
}

TEST_P(CodecTest, ReadsConcatenatedStreams) {
  const std::string twice = Compress(GetParam(), "one ").ValueOrDie() + Compress(GetParam(), "two").ValueOrDie();
  EXPECT_EQ(Decompress(GetParam(), twice, kLimit).ValueOrDie(), "one two");
}

TEST_P(CodecTest, StopsAtTheLimit) {
  const std::string compressed = Compress(GetParam(), std::string(1'000'000, 'x')).ValueOrDie();
  EXPECT_TRUE(Decompress(GetParam(), compressed, 999'999).status().IsInvalid());
}

TEST_P(CodecTest, DamageNeverReadsOutside) {
  const std::string good = Compress(GetParam(), Samples()[4].substr(0, 3000)).ValueOrDie();
  std::mt19937_64 random(11);
  for (int round = 0; round < 3000; ++round) {
    std::string bad = good;
    bad[random() % bad.size()] = static_cast<char>(random());
    if (round % 3 == 0) bad.resize(random() % bad.size());
    const std::vector<char> exact(bad.begin(), bad.end());
    (void)Decompress(GetParam(), {exact.data(), exact.size()}, kLimit);  // the sanitizers judge
  }
}

TEST(CompressionTest, ReadsFilesOfSpark) {
  EXPECT_EQ(Decompress(
                "lz4",
                FromHex("4c5a34426c6f636b251c0000002c00000061f28100530000001000010013030800081400c00100000000000000ffffffff4c5a34426c6f636b"
                        "15000000000000000000000000"),
                kLimit)
                .ValueOrDie(),
            OneCount());
  EXPECT_EQ(
      Decompress("snappy", FromHex("82534e415050590000000001000000010000001e2c1000000010000d0100030d0800001d142c0100000000000000ffffffff"),
                 kLimit)
          .ValueOrDie(),
      OneCount());
  EXPECT_EQ(Decompress("zstd", FromHex("28b52ffd0048cc0000780000001000030010000100ffffffff04100003675c70a605010000"), kLimit).ValueOrDie(),
            OneCount());
  EXPECT_EQ(
      Decompress("lzf", FromHex("5a5601002700340300000018200360000002200500102003016b3020048000400e600000016005050000ffffffff"), kLimit)
          .ValueOrDie(),
      KeyK0());
  EXPECT_EQ(
      Decompress("zstd", FromHex("28b52ffd0048140100c0000000180002000000100000006b300010000100ffffffff04100003674c7ca605010000"), kLimit)
          .ValueOrDie(),
      KeyK0());
}

TEST(CompressionTest, WritesTheEmptyDeltaOfSpark) {
  const std::string empty = FromHex("ffffffff");
  EXPECT_EQ(Compress("lz4", empty).ValueOrDie(),
            FromHex("4c5a34426c6f636b150400000004000000db804d08ffffffff4c5a34426c6f636b15000000000000000000000000"));
  EXPECT_EQ(Compress("lzf", empty).ValueOrDie(), FromHex("5a56000004ffffffff"));
}

TEST(CompressionTest, RefusesLz4ChecksumsThatAreWrong) {
  std::string bytes = Compress("lz4", OneCount()).ValueOrDie();
  bytes[17] = static_cast<char>(bytes[17] ^ 1);
  EXPECT_TRUE(Decompress("lz4", bytes, kLimit).status().IsInvalid());
}

TEST(CompressionTest, KnowsClassNamesAndRefusesOthers) {
  EXPECT_TRUE(MakeCompressor("org.apache.spark.io.LZ4CompressionCodec").ok());
  EXPECT_TRUE(MakeCompressor("ZSTD").ok());
  for (const char* name : {"none", "gzip", ""}) {
    const Status refused = MakeCompressor(name).status();
    ASSERT_NE(ErrorDetail::Of(refused), nullptr);
    EXPECT_EQ(ErrorDetail::Of(refused)->fault, Fault::kUser);
  }
}

}  // namespace
}  // namespace tidemill::state
