#pragma once

// The writer behind FileSystem::OpenStaged: buffers, computes Hadoop's checksum on the way, and removes what was not finished.

#include <memory>
#include <string>

#include "fs/file_system.h"
#include "fs/hadoop_crc.h"
#include "fs/system_calls.h"

namespace tidemill::fs {

class LocalStagedWriter final : public StagedWriter {
 public:
  /// `fd` is open for writing on the new, empty file `temporary_path`; the writer closes it.
  LocalStagedWriter(SystemCalls& calls, int fd, std::string path, std::string temporary_path, bool hadoop_crc);
  ~LocalStagedWriter() override;

  Status Append(std::string_view bytes) override;
  Result<StagedFile> Finish() override;

 private:
  Status Flush();
  /// Close, remove what was written, and refuse further calls.
  void Abandon();

  SystemCalls& calls_;
  int fd_;
  const std::string path_;
  const std::string temporary_path_;
  std::unique_ptr<HadoopCrc> crc_;  // null: no checksum file
  std::string buffer_;
  int64_t size_bytes_ = 0;
};

}  // namespace tidemill::fs
