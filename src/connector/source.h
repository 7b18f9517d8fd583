#pragma once

// A source: how far can be read, what a range of offsets holds, and the rows of it. Interfaces only; each outside system has a folder below.

#include <arrow/type_fwd.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/config.h"
#include "base/status.h"
#include "fs/file_system.h"
#include "type/data_type.h"

namespace tidemill::connector {

/// Offset JSON text as the offset log stores it.
using Offset = std::string;

/// What a source is made from.
struct SourceContext {
  fs::FileSystem& file_system;
  Clock& clock;
  const Config& config;
  std::string metadata_path;  ///< R/sources/<k>
  type::Schema schema;        ///< as declared
  std::map<std::string, std::string> options;  ///< keys in lower case
  std::string base_directory; ///< relative paths start here
};

/// Work for one task: a split of a batch. Opaque to the engine.
class InputPartition {
 public:
  virtual ~InputPartition() = default;
};

/// Rows of one partition, batch by batch (8 Ki rows or so).
class PartitionReader {
 public:
  virtual ~PartitionReader() = default;
  /// The next batch, or nullptr at the end. Columns as asked for in OpenReader.
  virtual Result<std::shared_ptr<arrow::RecordBatch>> Next() = 0;
};

class Source {
 public:
  virtual ~Source() = default;
  /// As progress reports it: "FileStreamSource[file:/data/in]".
  virtual std::string Description() const = 0;
  virtual const type::Schema& schema() const = 0;
  /// How far may a batch that starts at `start` (nullopt: the beginning) read? nullopt: nothing yet. `ignore_limits`: trigger Once. Must not write.
  virtual Result<std::optional<Offset>> LatestOffset(const std::optional<Offset>& start, bool ignore_limits) = 0;
  /// Freeze the end: from now on LatestOffset never goes past what is there now.
  virtual Status PrepareForAvailableNow() = 0;
  /// Make the source's private log durable up to `end` (what LatestOffset answered). Called by the log thread before offsets/N is written.
  virtual Status LogUpTo(const Offset& end) = 0;
  /// The splits of (start, end].
  virtual Result<std::vector<std::shared_ptr<InputPartition>>> PlanPartitions(const std::optional<Offset>& start, const Offset& end) = 0;
  /// Read one split; `columns` are indices into schema(), in the order wanted. Safe to call from several threads. A reader looks at `stop` between batches.
  virtual Result<std::unique_ptr<PartitionReader>> OpenReader(const InputPartition& partition, const std::vector<int>& columns, std::stop_token stop) = 0;
  /// offsets/N+1 is durable, so everything up to `end` (of batch N) may be forgotten or cleaned up.
  virtual Status Commit(const Offset& end) = 0;
};

}  // namespace tidemill::connector
