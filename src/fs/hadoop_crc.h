#pragma once

// Hadoop's hidden checksum files: `.name.crc` beside `name`. Layout: docs/formats/logs.md. Source: Hadoop ChecksumFileSystem.
//
//   "crc\0" | bytes per piece, i32 BE (512) | for each piece of the file its CRC-32, i32 BE

#include <cstdint>
#include <string>
#include <string_view>

namespace tidemill::fs {

inline constexpr uint32_t kHadoopBytesPerCrc = 512;

/// `/a/.b.crc` of `/a/b`.
std::string HadoopCrcPath(const std::string& path);
/// `/a/b.crc` of `/a/b`: the side file that Spark's state stores write.
std::string SparkCrcPath(const std::string& path);

/// CRC-32 with zlib's polynomial, continued from `crc` (0 at the start).
uint32_t Crc32(uint32_t crc, std::string_view bytes);

/// Computes the content of a `.crc` file while the file goes by.
class HadoopCrc {
 public:
  HadoopCrc();
  void Append(std::string_view bytes);
  /// The content of the `.crc` file for all that was appended.
  std::string Finish();

 private:
  std::string content_;
  uint32_t crc_ = 0;
  uint32_t piece_bytes_ = 0;
};

/// Whether `crc_file` fits `bytes`. A file that is no Hadoop checksum file fits nothing.
bool HadoopCrcMatches(std::string_view crc_file, std::string_view bytes);

}  // namespace tidemill::fs
