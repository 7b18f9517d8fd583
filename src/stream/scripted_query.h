#pragma once

// For tests: the parts of a query as small scripts over a FileSystem, so that the loop and its protocol are proven without any real operator or connector.
//
//   NumberSource ── blocks of numbers ──▶ PendingPlan ── numbers that the watermark has passed ──▶ ManifestSink
//
// A number is its own event time in ms. PendingPlan keeps what has not been passed in R/state/0/<p>/<V>.delta, drops what is late and emits on eviction, as an
// aggregation in append mode does; so a lost or doubled batch, state version or watermark shows in the rows.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "connector/sink.h"
#include "connector/source.h"
#include "exec/query_plan.h"
#include "fs/file_system.h"

namespace tidemill::stream {

using Blocks = std::vector<std::vector<int64_t>>;

/// Reads `blocks`, one a batch; offset k is "up to block k". Has a private log as the file source has: block k is entry k of R/sources/0, which has to be there
/// before an offset names it.
class NumberSource final : public connector::Source {
 public:
  NumberSource(fs::FileSystem& file_system, std::string log_directory, const Blocks& blocks)
      : file_system_(file_system), log_directory_(std::move(log_directory)), blocks_(blocks) {}

  std::string Description() const override { return "NumberSource"; }
  const type::Schema& schema() const override { return schema_; }
  Result<std::optional<connector::Offset>> LatestOffset(const std::optional<connector::Offset>& start, bool ignore_limits) override;
  Status PrepareForAvailableNow() override { return Status::OK(); }
  Status LogUpTo(const connector::Offset& end) override;
  Result<std::vector<std::shared_ptr<connector::InputPartition>>> PlanPartitions(const std::optional<connector::Offset>& start,
                                                                                 const connector::Offset& end) override;
  Result<std::unique_ptr<connector::PartitionReader>> OpenReader(const connector::InputPartition& partition, const std::vector<int>& columns,
                                                                 std::stop_token stop) override;
  Status Commit(const connector::Offset& end) override;

  bool has_log = true;  ///< false: like a source that needs none
  std::vector<connector::Offset> committed;
  std::function<Status(std::string_view call)> on_call;  ///< before each call of that name; unset: nothing

 private:
  Status Before(std::string_view call) { return on_call ? on_call(call) : Status::OK(); }

  fs::FileSystem& file_system_;
  const std::string log_directory_;
  const Blocks& blocks_;
  const type::Schema schema_;
};

/// Keeps its rows in part files that a manifest <directory>/_spark_metadata/<N> names.
class ManifestSink final : public connector::Sink {
 public:
  ManifestSink(fs::FileSystem& file_system, std::string directory) : file_system_(file_system), directory_(std::move(directory)) {}

  std::string Description() const override { return "ManifestSink"; }
  Result<bool> HasBatch(int64_t batch_id) override;
  Result<std::unique_ptr<connector::SinkWriter>> OpenWriter(int64_t batch_id, int32_t partition) override;
  Status Commit(int64_t batch_id, std::vector<connector::WriterResult> results) override;
  void Discard(const std::vector<connector::WriterResult>& results) override;

  /// All rows that a reader of the manifests sees.
  static Result<std::vector<int64_t>> ReadRows(fs::FileSystem& file_system, const std::string& directory);

  std::function<Status(int64_t batch_id)> before_commit, after_commit;  ///< unset: nothing

 private:
  std::string manifest(int64_t batch_id) const { return directory_ + "/_spark_metadata/" + std::to_string(batch_id); }

  fs::FileSystem& file_system_;
  const std::string directory_;
  std::optional<int64_t> latest_;  // known to be durable
  bool listed_ = false;
};

class PendingPlan final : public exec::QueryPlan {
 public:
  PendingPlan(fs::FileSystem& file_system, std::string state_root, int partitions = 2);

  const std::vector<std::shared_ptr<const plan::TableDescription>>& sources() const override { return sources_; }
  const std::vector<exec::StatefulOperatorInfo>& stateful_operators() const override { return operators; }
  bool has_watermark() const override { return true; }
  const std::vector<int64_t>& watermark_delays_ms() const override { return delays_; }
  bool WantsNoDataBatch(int64_t old_ms, int64_t new_ms) const override { return new_ms > old_ms; }
  Result<exec::BatchOutput> RunBatch(const exec::BatchInput& input, const std::vector<connector::Source*>& sources, connector::Sink& sink, ThreadPool& pool,
                                     std::stop_token stop) override;
  void CommitDone() override;
  void Abort() override;
  std::string Explain() const override { return "Pending"; }

  std::vector<exec::StatefulOperatorInfo> operators;
  std::vector<exec::BatchInput> ran;                              ///< every attempt
  std::function<Status(const exec::BatchInput& input)> on_run;    ///< unset: nothing
  int commits = 0, aborts = 0;

 private:
  using Numbers = std::map<int64_t, int64_t>;  // number to how many
  std::string state_file(int partition, int64_t version) const;
  Status Load(int64_t version);

  fs::FileSystem& file_system_;
  const std::string state_root_;
  const int partitions_;
  const std::vector<std::shared_ptr<const plan::TableDescription>> sources_;
  const std::vector<int64_t> delays_ = {0};
  std::optional<int64_t> version_;
  std::vector<Numbers> state_, next_;  // by partition
};

/// What PendingPlan over `blocks` must have emitted in the end, by a plain recount: nothing late in `blocks`.
std::vector<int64_t> ExpectedRows(const Blocks& blocks);

}  // namespace tidemill::stream
