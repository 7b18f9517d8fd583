#include "fs/hadoop_crc.h"

#include <algorithm>
#include <array>

#include "fs/file_system.h"

namespace tidemill::fs {

namespace {

constexpr std::string_view kMagic{"crc\0", 4};
constexpr size_t kHeaderBytes = 8;

using CrcTable = std::array<std::array<uint32_t, 256>, 8>;

// Eight tables, so that eight bytes cost eight independent look-ups instead of eight dependent ones.
constexpr CrcTable MakeTable() {
  CrcTable table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320u : 0u);
    table[0][byte] = crc;
  }
  for (size_t step = 1; step < table.size(); ++step) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t before = table[step - 1][byte];
      table[step][byte] = (before >> 8) ^ table[0][before & 0xff];
    }
  }
  return table;
}

constexpr CrcTable kTable = MakeTable();

void AppendBigEndian(std::string* out, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) *out += static_cast<char>((value >> shift) & 0xff);
}

uint32_t LoadBigEndian(std::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

}  // namespace

std::string HadoopCrcPath(const std::string& path) { return Join(Parent(path), "." + BaseName(path) + ".crc"); }

std::string SparkCrcPath(const std::string& path) { return path + ".crc"; }

uint32_t Crc32(uint32_t crc, std::string_view bytes) {
  crc = ~crc;
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  size_t left = bytes.size();
  for (; left >= 8; left -= 8, data += 8) {
    const uint32_t low = crc ^ (static_cast<uint32_t>(data[0]) | static_cast<uint32_t>(data[1]) << 8 | static_cast<uint32_t>(data[2]) << 16 |
                                static_cast<uint32_t>(data[3]) << 24);
    crc = kTable[7][low & 0xff] ^ kTable[6][(low >> 8) & 0xff] ^ kTable[5][(low >> 16) & 0xff] ^ kTable[4][low >> 24] ^ kTable[3][data[4]] ^
          kTable[2][data[5]] ^ kTable[1][data[6]] ^ kTable[0][data[7]];
  }
  for (; left > 0; --left, ++data) crc = (crc >> 8) ^ kTable[0][(crc ^ *data) & 0xff];
  return ~crc;
}

HadoopCrc::HadoopCrc() : content_(kMagic) { AppendBigEndian(&content_, kHadoopBytesPerCrc); }

void HadoopCrc::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t taken = std::min<size_t>(bytes.size(), kHadoopBytesPerCrc - piece_bytes_);
    crc_ = Crc32(crc_, bytes.substr(0, taken));
    piece_bytes_ += static_cast<uint32_t>(taken);
    bytes.remove_prefix(taken);
    if (piece_bytes_ == kHadoopBytesPerCrc) {
      AppendBigEndian(&content_, crc_);
      crc_ = 0;
      piece_bytes_ = 0;
    }
  }
}

std::string HadoopCrc::Finish() {
  if (piece_bytes_ > 0) AppendBigEndian(&content_, crc_);
  piece_bytes_ = 0;
  return content_;
}

bool HadoopCrcMatches(std::string_view crc_file, std::string_view bytes) {
  if (crc_file.size() < kHeaderBytes || crc_file.substr(0, kMagic.size()) != kMagic) return false;
  const size_t piece = LoadBigEndian(crc_file.substr(4));
  if (piece == 0) return false;
  std::string_view crcs = crc_file.substr(kHeaderBytes);
  const size_t pieces = (bytes.size() + piece - 1) / piece;
  if (crcs.size() != pieces * 4) return false;
  for (; !bytes.empty(); crcs.remove_prefix(4)) {
    const size_t taken = std::min(piece, bytes.size());
    if (Crc32(0, bytes.substr(0, taken)) != LoadBigEndian(crcs)) return false;
    bytes.remove_prefix(taken);
  }
  return true;
}

}  // namespace tidemill::fs
