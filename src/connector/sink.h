#pragma once

// A sink: takes the rows of a batch, once. Interfaces only.

#include <arrow/type_fwd.h>

#include <cstdint>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/config.h"
#include "base/status.h"
#include "fs/file_system.h"
#include "type/data_type.h"

namespace tidemill::connector {

struct SinkContext {
  fs::FileSystem& file_system;
  Clock& clock;
  const Config& config;
  type::Schema schema;
  std::map<std::string, std::string> options;  ///< keys in lower case
  std::string base_directory;
  std::ostream& out;  ///< where the console sink prints rows
};

/// What one task hands to the sink's commit.
struct WriterResult {
  std::vector<fs::StagedFile> files;  ///< made durable by the batch's barrier, before Commit()
  std::vector<std::shared_ptr<arrow::RecordBatch>> rows;  ///< for sinks that work on the driver (console, memory)
  int64_t row_count = 0;
};

/// Takes the output of one task of one attempt.
class SinkWriter {
 public:
  virtual ~SinkWriter() = default;  // without Finish(): what was staged is dropped
  virtual Status Write(const arrow::RecordBatch& batch) = 0;
  virtual Result<WriterResult> Finish() = 0;
};

class Sink {
 public:
  virtual ~Sink() = default;
  /// As progress reports it: "FileSink[file:/out]".
  virtual std::string Description() const = 0;
  /// Does progress count output rows? (Spark: -1 for files and foreachBatch.)
  virtual bool ReportsOutputRows() const { return false; }
  /// Is batch `batch_id` known to be taken already? Then it is skipped.
  virtual Result<bool> HasBatch(int64_t batch_id) = 0;
  /// A writer for partition `partition` of batch `batch_id`; its files have attempt-unique names. Safe to call from several threads. Rows become visible by Commit() alone.
  virtual Result<std::unique_ptr<SinkWriter>> OpenWriter(int64_t batch_id, int32_t partition) = 0;
  /// Take batch `batch_id`, once: all staged files are durable, offsets/N is durable. Repeating a batch that HasBatch() is harmless.
  virtual Status Commit(int64_t batch_id, std::vector<WriterResult> results) = 0;
  /// The attempt that made `results` failed: drop what it staged. Best effort.
  virtual void Discard(const std::vector<WriterResult>& results) {}
  /// Upkeep off the path (expired log files).
  virtual Status Maintain() { return Status::OK(); }
};

}  // namespace tidemill::connector
