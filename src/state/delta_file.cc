#include "state/delta_file.h"

#include <array>
#include <utility>

#include "state/codecs_internal.h"

#if defined(__SSE4_2__)
#include <nmmintrin.h>
#endif

namespace tidemill::state {
namespace {

constexpr size_t kFlushBytes = 256 * 1024;
constexpr int32_t kEnd = -1;
constexpr size_t kChecksumBytes = 4;
constexpr char kProvider[] = "HDFSBackedStateStoreProvider";

#if !defined(__SSE4_2__)
constexpr uint32_t kCastagnoliReversed = 0x82f63b78;

constexpr std::array<uint32_t, 256> MakeTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? kCastagnoliReversed : 0);
    table[i] = crc;
  }
  return table;
}
#endif

uint32_t Extend(uint32_t crc, std::string_view bytes) {
#if defined(__SSE4_2__)
  uint64_t wide = crc;
  while (bytes.size() >= 8) {
    wide = _mm_crc32_u64(wide, LoadLittle<uint64_t>(bytes.data()));
    bytes.remove_prefix(8);
  }
  crc = static_cast<uint32_t>(wide);
  for (const char c : bytes) crc = _mm_crc32_u8(crc, static_cast<uint8_t>(c));
#else
  static constexpr std::array<uint32_t, 256> kTable = MakeTable();
  for (const char c : bytes) crc = (crc >> 8) ^ kTable[(crc ^ static_cast<uint8_t>(c)) & 0xff];
#endif
  return crc;
}

}  // namespace

uint32_t Crc32c(std::string_view first, std::string_view second) { return ~Extend(Extend(~uint32_t{0}, first), second); }

StateFileWriter::StateFileWriter(bool row_checksum, std::unique_ptr<Compressor> compressor, std::unique_ptr<fs::StagedWriter> file)
    : row_checksum_(row_checksum), compressor_(std::move(compressor)), file_(std::move(file)) {}

Result<std::unique_ptr<StateFileWriter>> StateFileWriter::Make(const StateFileFormat& format, std::unique_ptr<fs::StagedWriter> file) {
  ARROW_ASSIGN_OR_RAISE(auto compressor, MakeCompressor(format.codec));
  return std::unique_ptr<StateFileWriter>(new StateFileWriter(format.row_checksum, std::move(compressor), std::move(file)));
}

void StateFileWriter::AppendField(uint32_t checksum, bool with_checksum, std::string_view row) {
  AppendBig32(static_cast<uint32_t>(row.size() + (with_checksum ? kChecksumBytes : 0)), &records_);
  if (with_checksum) AppendLittle(checksum, &records_);
  records_.append(row);
}

Status StateFileWriter::Put(std::string_view key, std::string_view value) {
  const uint32_t checksum = row_checksum_ ? Crc32c(key, value) : 0;
  AppendField(0, false, key);
  AppendField(checksum, row_checksum_, value);
  return FlushIfLarge();
}

Status StateFileWriter::Delete(std::string_view key) {
  AppendField(row_checksum_ ? Crc32c(key) : 0, row_checksum_, key);
  AppendBig32(static_cast<uint32_t>(kEnd), &records_);
  return FlushIfLarge();
}

Status StateFileWriter::FlushIfLarge() { return records_.size() < kFlushBytes ? Status::OK() : Flush(); }

Status StateFileWriter::Flush() {
  ARROW_RETURN_NOT_OK(compressor_->Write(records_, &compressed_));
  records_.clear();
  ARROW_RETURN_NOT_OK(file_->Append(compressed_));
  compressed_.clear();
  return Status::OK();
}

Result<fs::StagedFile> StateFileWriter::Finish() {
  AppendBig32(static_cast<uint32_t>(kEnd), &records_);
  ARROW_RETURN_NOT_OK(compressor_->Write(records_, &compressed_));
  ARROW_RETURN_NOT_OK(compressor_->Finish(&compressed_));
  ARROW_RETURN_NOT_OK(file_->Append(compressed_));
  return file_->Finish();
}

StateFileReader::StateFileReader(bool row_checksum, StateFileKind kind, std::string path, std::unique_ptr<Decompressor> decompressor)
    : row_checksum_(row_checksum), kind_(kind), path_(std::move(path)), decompressor_(std::move(decompressor)) {}

Result<std::unique_ptr<StateFileReader>> StateFileReader::Make(const StateFileFormat& format, StateFileKind kind, std::string path,
                                                               std::string_view bytes) {
  ARROW_ASSIGN_OR_RAISE(auto decompressor, MakeDecompressor(format.codec, bytes));
  return std::unique_ptr<StateFileReader>(new StateFileReader(format.row_checksum, kind, std::move(path), std::move(decompressor)));
}

Status StateFileReader::Damaged(const std::string& why) const {
  return ExternalError("CANNOT_LOAD_STATE_STORE.UNCATEGORIZED", "The state file {} is damaged: {}. Restore it from a backup.", path_, why)
      .Param("fileToRead", path_)
      .Path(path_);
}

Status StateFileReader::Ensure(uint64_t count) {
  while (window_.size() - position_ < count) {
    // Drop what is used up before growing, so that the window stays as small as the largest record.
    if (position_ > 0) {
      window_.erase(0, position_);
      position_ = 0;
    }
    const Result<bool> more = decompressor_->Read(&window_);
    if (!more.ok()) return Damaged(more.status().message());
    if (!*more) return Damaged("it ends before its end mark");
  }
  return Status::OK();
}

Result<int32_t> StateFileReader::ReadLength() {
  ARROW_RETURN_NOT_OK(Ensure(4));
  const auto length = static_cast<int32_t>(LoadBig32(window_.data() + position_));
  position_ += 4;
  return length;
}

Result<std::optional<StateRecord>> StateFileReader::Next() {
  ARROW_ASSIGN_OR_RAISE(const int32_t key_bytes, ReadLength());
  if (key_bytes == kEnd) return std::nullopt;
  if (key_bytes < 0) {
    const bool delta = kind_ == StateFileKind::kDelta;
    return ExternalError(delta ? "CANNOT_LOAD_STATE_STORE.CANNOT_READ_DELTA_FILE_KEY_SIZE"
                               : "CANNOT_LOAD_STATE_STORE.CANNOT_READ_SNAPSHOT_FILE_KEY_SIZE",
                         "Error reading {} file {} of {}: key size cannot be {}. Restore the file from a backup.",
                         delta ? "delta" : "snapshot", path_, kProvider, key_bytes)
        .Param("fileToRead", path_)
        .Param("clazz", kProvider)
        .Param("keySize", std::to_string(key_bytes))
        .Path(path_);
  }
  // The key and the length after it stay in the window together: views into it are made only when the whole record is there.
  ARROW_RETURN_NOT_OK(Ensure(static_cast<uint64_t>(key_bytes) + 4));
  const auto value_bytes = static_cast<int32_t>(LoadBig32(window_.data() + position_ + key_bytes));
  if (value_bytes < 0) {
    if (kind_ == StateFileKind::kSnapshot) {
      return ExternalError("CANNOT_LOAD_STATE_STORE.CANNOT_READ_SNAPSHOT_FILE_VALUE_SIZE",
                           "Error reading snapshot file {} of {}: value size cannot be {}. Restore the file from a backup.", path_,
                           kProvider, value_bytes)
          .Param("fileToRead", path_)
          .Param("clazz", kProvider)
          .Param("valueSize", std::to_string(value_bytes))
          .Path(path_);
    }
    const std::string_view key_field = std::string_view(window_).substr(position_, static_cast<size_t>(key_bytes));
    position_ += static_cast<size_t>(key_bytes) + 4;
    return DeleteOf(key_field);
  }
  ARROW_RETURN_NOT_OK(Ensure(static_cast<uint64_t>(key_bytes) + 4 + static_cast<uint64_t>(value_bytes)));
  StateRecord record;
  record.key = std::string_view(window_).substr(position_, static_cast<size_t>(key_bytes));
  std::string_view value =
      std::string_view(window_).substr(position_ + static_cast<size_t>(key_bytes) + 4, static_cast<size_t>(value_bytes));
  position_ += static_cast<size_t>(key_bytes) + 4 + static_cast<size_t>(value_bytes);
  uint32_t checksum = 0;
  if (row_checksum_) {
    if (value.size() < kChecksumBytes) return Damaged("a value shorter than its checksum");
    checksum = LoadLittle<uint32_t>(value.data());
    value.remove_prefix(kChecksumBytes);
  }
  // Spark before 2.3 left up to seven bytes behind a value; a row's length is a multiple of 8.
  value = value.substr(0, value.size() & ~size_t{7});
  if (row_checksum_) ARROW_RETURN_NOT_OK(CheckRow(record.key, value, checksum));
  record.value = value;
  return record;
}

Result<StateRecord> StateFileReader::DeleteOf(std::string_view key_field) {
  if (!row_checksum_) return StateRecord{key_field, std::nullopt};
  if (key_field.size() < kChecksumBytes) return Damaged("a deleted key shorter than its checksum");
  const auto checksum = LoadLittle<uint32_t>(key_field.data());
  key_field.remove_prefix(kChecksumBytes);
  ARROW_RETURN_NOT_OK(CheckRow(key_field, {}, checksum));
  return StateRecord{key_field, std::nullopt};
}

Status StateFileReader::CheckRow(std::string_view key, std::string_view value, uint32_t expected) {
  const uint32_t computed = Crc32c(key, value);
  if (computed == expected) return Status::OK();
  return Damaged(fmt::format("a row has checksum {:08x}, {:08x} was recorded", computed, expected));
}

Status ReadStateFile(fs::FileSystem& file_system, const StateFileFormat& format, StateFileKind kind, const std::string& path,
                     const std::function<Status(const StateRecord&)>& visit) {
  ARROW_ASSIGN_OR_RAISE(const std::string bytes, file_system.Read(path));
  ARROW_ASSIGN_OR_RAISE(auto reader, StateFileReader::Make(format, kind, path, bytes));
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const std::optional<StateRecord> record, reader->Next());
    if (!record) return Status::OK();
    ARROW_RETURN_NOT_OK(visit(*record));
  }
}

}  // namespace tidemill::state
