#include "stream/scripted_query.h"

#include <arrow/array/array_primitive.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <algorithm>
#include <sstream>

#include "base/uuid.h"

namespace tidemill::stream {

namespace {

struct Block final : connector::InputPartition {
  std::vector<int64_t> numbers;
};

std::shared_ptr<arrow::RecordBatch> BatchOf(const std::vector<int64_t>& numbers) {
  arrow::Int64Builder builder;
  if (!builder.AppendValues(numbers).ok()) std::abort();
  const std::shared_ptr<arrow::Array> array = builder.Finish().ValueOrDie();
  return arrow::RecordBatch::Make(arrow::schema({arrow::field("n", arrow::int64())}), array->length(), {array});
}

const int64_t* NumbersOf(const arrow::RecordBatch& batch) { return static_cast<const arrow::Int64Array&>(*batch.column(0)).raw_values(); }

std::string EntryOf(const connector::Offset& offset) { return "v1\nblock " + offset; }

class BlockReader final : public connector::PartitionReader {
 public:
  explicit BlockReader(const std::vector<int64_t>& numbers) : batch_(BatchOf(numbers)) {}
  Result<std::shared_ptr<arrow::RecordBatch>> Next() override { return std::exchange(batch_, nullptr); }

 private:
  std::shared_ptr<arrow::RecordBatch> batch_;
};

class TextWriter final : public connector::SinkWriter {
 public:
  TextWriter(fs::FileSystem& file_system, std::string path) : file_system_(file_system), path_(std::move(path)) {}

  Status Write(const arrow::RecordBatch& batch) override {
    for (int64_t i = 0; i < batch.num_rows(); ++i) text_ += std::to_string(NumbersOf(batch)[i]) + "\n";
    result_.row_count += batch.num_rows();
    return Status::OK();
  }
  Result<connector::WriterResult> Finish() override {
    if (result_.row_count == 0) return result_;
    ARROW_ASSIGN_OR_RAISE(auto writer, file_system_.OpenStaged(path_, /*unique=*/true));
    ARROW_RETURN_NOT_OK(writer->Append(text_));
    ARROW_ASSIGN_OR_RAISE(fs::StagedFile file, writer->Finish());
    result_.files.push_back(std::move(file));
    return result_;
  }

 private:
  fs::FileSystem& file_system_;
  const std::string path_;
  std::string text_;
  connector::WriterResult result_;
};

Result<std::vector<int64_t>> ReadNumbers(fs::FileSystem& file_system, const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(const std::string text, file_system.Read(path));
  std::istringstream lines(text);
  std::vector<int64_t> numbers;
  for (int64_t number = 0; lines >> number;) numbers.push_back(number);
  return numbers;
}

}  // namespace

Result<std::optional<connector::Offset>> NumberSource::LatestOffset(const std::optional<connector::Offset>& start, bool ignore_limits) {
  ARROW_RETURN_NOT_OK(Before("LatestOffset"));
  const size_t from = start ? std::stoul(*start) + 1 : 0;
  if (from >= blocks_.size()) return start;
  return std::to_string(ignore_limits ? blocks_.size() - 1 : from);
}

Status NumberSource::LogUpTo(const connector::Offset& end) {
  ARROW_RETURN_NOT_OK(Before("LogUpTo"));
  if (!has_log) return Status::OK();
  // An entry that is there already is made durable: it may be the leftover of a process that died before its offset.
  return file_system_.CreateIfAbsent(fs::Join(log_directory_, end), EntryOf(end)).status();
}

Result<std::vector<std::shared_ptr<connector::InputPartition>>> NumberSource::PlanPartitions(const std::optional<connector::Offset>& start,
                                                                                             const connector::Offset& end) {
  ARROW_RETURN_NOT_OK(Before("PlanPartitions"));
  auto block = std::make_shared<Block>();
  for (size_t k = start ? std::stoul(*start) + 1 : 0; k <= std::stoul(end); ++k) {
    block->numbers.insert(block->numbers.end(), blocks_[k].begin(), blocks_[k].end());
  }
  return std::vector<std::shared_ptr<connector::InputPartition>>{block};
}

Result<std::unique_ptr<connector::PartitionReader>> NumberSource::OpenReader(const connector::InputPartition& partition, const std::vector<int>&, std::stop_token) {
  return std::make_unique<BlockReader>(static_cast<const Block&>(partition).numbers);
}

Status NumberSource::Commit(const connector::Offset& end) {
  ARROW_RETURN_NOT_OK(Before("Commit"));
  // What is told to be done must be found again by a restart: the log keeps its promise.
  if (has_log) {
    ARROW_ASSIGN_OR_RAISE(const std::string entry, file_system_.Read(fs::Join(log_directory_, end)));
    if (entry != EntryOf(end)) return ExternalError("", "entry {} of the source log is damaged", end);
  }
  committed.push_back(end);
  return Status::OK();
}

Result<bool> ManifestSink::HasBatch(int64_t batch_id) {
  if (!std::exchange(listed_, true)) {
    ARROW_ASSIGN_OR_RAISE(const auto entries, file_system_.List(directory_ + "/_spark_metadata"));
    for (const fs::FileInfo& entry : entries.value_or(std::vector<fs::FileInfo>{})) {
      if (entry.name.starts_with('.')) continue;
      latest_ = std::max<int64_t>(latest_.value_or(-1), std::stoll(entry.name));
    }
    if (latest_) {
      const std::string path = manifest(*latest_);
      ARROW_RETURN_NOT_OK(file_system_.MakeDurable(std::span(&path, 1)));
    }
  }
  return latest_ && batch_id <= *latest_;
}

Result<std::unique_ptr<connector::SinkWriter>> ManifestSink::OpenWriter(int64_t, int32_t partition) {
  return std::make_unique<TextWriter>(file_system_, fmt::format("{}/part-{:05}-{}.txt", directory_, partition, NewUuid()));
}

Status ManifestSink::Commit(int64_t batch_id, std::vector<connector::WriterResult> results) {
  if (before_commit) ARROW_RETURN_NOT_OK(before_commit(batch_id));
  std::string text = "v1";
  for (const connector::WriterResult& result : results) {
    for (const fs::StagedFile& file : result.files) text += "\n" + fs::BaseName(file.path);
  }
  ARROW_ASSIGN_OR_RAISE(const fs::CreateOutcome outcome, file_system_.CreateIfAbsent(manifest(batch_id), text));
  if (outcome == fs::CreateOutcome::kTaken) return InternalError("batch {} was committed by somebody else", batch_id);
  latest_ = batch_id;
  return after_commit ? after_commit(batch_id) : Status::OK();
}

void ManifestSink::Discard(const std::vector<connector::WriterResult>& results) {
  for (const connector::WriterResult& result : results) file_system_.Discard(result.files);
}

Result<std::vector<int64_t>> ManifestSink::ReadRows(fs::FileSystem& file_system, const std::string& directory) {
  std::vector<int64_t> rows;
  ARROW_ASSIGN_OR_RAISE(const auto entries, file_system.List(directory + "/_spark_metadata"));
  for (const fs::FileInfo& entry : entries.value_or(std::vector<fs::FileInfo>{})) {
    if (entry.name.starts_with('.')) continue;
    ARROW_ASSIGN_OR_RAISE(const std::string text, file_system.Read(directory + "/_spark_metadata/" + entry.name));
    std::istringstream lines(text);
    std::string line;
    if (!std::getline(lines, line) || line != "v1") return ExternalError("", "manifest {} is damaged", entry.name);
    while (std::getline(lines, line)) {
      ARROW_ASSIGN_OR_RAISE(const std::vector<int64_t> part, ReadNumbers(file_system, fs::Join(directory, line)));
      rows.insert(rows.end(), part.begin(), part.end());
    }
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

PendingPlan::PendingPlan(fs::FileSystem& file_system, std::string state_root, int partitions)
    : file_system_(file_system), state_root_(std::move(state_root)), partitions_(partitions) {
  exec::StatefulOperatorInfo info;
  info.metadata.operator_id = 0;
  info.metadata.operator_name = "stateStoreSave";
  info.metadata.stores.push_back({"default", 0, partitions});
  operators.push_back(std::move(info));
}

std::string PendingPlan::state_file(int partition, int64_t version) const {
  return fmt::format("{}/0/{}/{}.delta", state_root_, partition, version);
}

Status PendingPlan::Load(int64_t version) {
  if (version_ == version) return Status::OK();
  version_.reset();
  state_.assign(partitions_, {});
  for (int partition = 0; partition < partitions_ && version > 0; ++partition) {
    ARROW_ASSIGN_OR_RAISE(const std::string text, file_system_.Read(state_file(partition, version)));
    if (!text.ends_with("end\n")) return ExternalError("", "state file {} is cut short", state_file(partition, version));
    std::istringstream lines(text);
    for (int64_t number = 0, count = 0; lines >> number >> count;) state_[partition][number] = count;
  }
  version_ = version;
  return Status::OK();
}

Result<exec::BatchOutput> PendingPlan::RunBatch(const exec::BatchInput& input, const std::vector<connector::Source*>& sources, connector::Sink& sink,
                                                ThreadPool&, std::stop_token stop) {
  ran.push_back(input);
  if (on_run) ARROW_RETURN_NOT_OK(on_run(input));
  ARROW_RETURN_NOT_OK(Load(input.state_version));
  exec::BatchOutput output;
  output.metrics.event_time.resize(1);
  output.metrics.source_rows.resize(sources.size());
  output.metrics.operators.push_back({.name = "stateStoreSave", .partitions = partitions_, .stores = partitions_});
  next_ = state_;
  for (size_t i = 0; i < sources.size(); ++i) {
    for (const auto& partition : input.partitions[i]) {
      ARROW_ASSIGN_OR_RAISE(auto reader, sources[i]->OpenReader(*partition, {0}, stop));
      ARROW_ASSIGN_OR_RAISE(const auto batch, reader->Next());
      for (int64_t row = 0; row < batch->num_rows(); ++row) {
        const int64_t number = NumbersOf(*batch)[row];
        exec::EventTimeStats& seen = output.metrics.event_time[0];
        seen.max_ms = ++seen.count == 1 ? number : std::max(seen.max_ms, number);
        ++output.metrics.source_rows[i];
        if (number > input.late_watermark_ms) ++next_[number % partitions_][number];
      }
    }
  }
  for (int partition = 0; partition < partitions_; ++partition) {
    Numbers& pending = next_[partition];
    std::vector<int64_t> passed;
    for (auto it = pending.begin(); it != pending.end() && it->first <= input.evict_watermark_ms; it = pending.erase(it)) {
      passed.insert(passed.end(), it->second, it->first);
    }
    ARROW_ASSIGN_OR_RAISE(auto writer, sink.OpenWriter(input.batch_id, partition));
    ARROW_RETURN_NOT_OK(writer->Write(*BatchOf(passed)));
    ARROW_ASSIGN_OR_RAISE(auto result, writer->Finish());
    output.metrics.output_rows += result.row_count;
    output.sink_results.push_back(std::move(result));
    ARROW_ASSIGN_OR_RAISE(auto state, file_system_.OpenStaged(state_file(partition, input.state_version + 1), /*unique=*/false));
    for (const auto& [number, count] : pending) ARROW_RETURN_NOT_OK(state->Append(fmt::format("{} {}\n", number, count)));
    ARROW_RETURN_NOT_OK(state->Append("end\n"));
    ARROW_ASSIGN_OR_RAISE(auto file, state->Finish());
    output.state_files.push_back(std::move(file));
  }
  return output;
}

void PendingPlan::CommitDone() {
  ++commits;
  state_ = std::move(next_);
  ++*version_;
}

void PendingPlan::Abort() { ++aborts; }

std::vector<int64_t> ExpectedRows(const Blocks& blocks) {
  std::vector<int64_t> rows;
  for (const std::vector<int64_t>& block : blocks) rows.insert(rows.end(), block.begin(), block.end());
  std::sort(rows.begin(), rows.end());
  return rows;
}

}  // namespace tidemill::stream
