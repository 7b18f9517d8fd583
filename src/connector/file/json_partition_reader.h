#pragma once

// The rows of the files of one input partition: text in chunks that end at line ends, decoded a batch at a time.

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "format/json_options.h"
#include "connector/source.h"

namespace tidemill::connector {

/// A stretch of a file: the lines that begin in [begin, end).
struct FileSplit {
  std::string path;
  int64_t begin = 0;
  int64_t end = 0;
};

class FilePartition final : public InputPartition {
 public:
  explicit FilePartition(std::vector<FileSplit> splits) : splits_(std::move(splits)) {}
  const std::vector<FileSplit>& splits() const { return splits_; }

 private:
  std::vector<FileSplit> splits_;
};

struct ReadTolerance {
  bool ignore_missing = false;  ///< a file that vanished since it was listed is left out
  bool ignore_corrupt = false;  ///< a file that cannot be read to its end gives what it gave until then
};

/// `columns`: what to decode, in order. `file_system` and `partition` outlive the reader.
/// Errors of Next(): FAILED_READ_FILE.FILE_NOT_EXIST for a file that vanished; MALFORMED_RECORD_IN_PARSING in FAILFAST mode; I/O.
Result<std::unique_ptr<PartitionReader>> MakeJsonPartitionReader(fs::FileSystem& file_system, const FilePartition& partition, std::vector<type::Field> columns,
                                                                 format::JsonOptions options, ReadTolerance tolerance, std::stop_token stop);

}  // namespace tidemill::connector
