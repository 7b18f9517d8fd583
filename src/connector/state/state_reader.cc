#include "connector/state/state_reader.h"

#include <arrow/array/array_base.h>
#include <arrow/memory_pool.h>

#include <algorithm>
#include <charconv>

#include "base/config.h"
#include "checkpoint/commit_log.h"
#include "checkpoint/offset_log.h"
#include "checkpoint/query_metadata.h"
#include "row/unsafe_row.h"
#include "state/operator_metadata.h"
#include "state/row_set.h"
#include "state/store_files.h"

namespace tidemill::connector::state {
namespace {

namespace engine = tidemill::state;

std::string Conf(const checkpoint::OffsetEntry& entry, const char* key, const char* otherwise) {
  const auto found = entry.conf.find(key);
  return found == entry.conf.end() ? otherwise : found->second;
}

Result<int64_t> LastCommitted(fs::FileSystem& file_system, const checkpoint::Layout& layout) {
  ARROW_ASSIGN_OR_RAISE(const std::vector<int64_t> ids, checkpoint::CommitLog(file_system, layout.commits()).ListIds());
  if (!ids.empty()) return ids.back();
  return UserError("STDS_COMMITTED_BATCH_UNAVAILABLE",
                   "No committed batch found, checkpoint location: {}. Ensure that the query has run and committed any microbatch before "
                   "stopping.",
                   layout.root)
      .Param("checkpointLocation", layout.root);
}

/// How batch `batch_id` wrote its state, by its log.
Result<engine::StateFileFormat> ReadFormat(fs::FileSystem& file_system, const checkpoint::Layout& layout, int64_t batch_id) {
  checkpoint::OffsetLog log(file_system, layout.offsets());
  ARROW_ASSIGN_OR_RAISE(const std::vector<int64_t> ids, log.ListIds());
  if (!std::binary_search(ids.begin(), ids.end(), batch_id)) {
    return UserError("STDS_OFFSET_LOG_UNAVAILABLE",
                     "The offset log for {} does not exist, checkpoint location: {}. Please specify the batch ID which is available for "
                     "querying - you "
                     "can query the available batch IDs via using state metadata data source.",
                     batch_id, layout.root)
        .Param("batchId", std::to_string(batch_id))
        .Param("checkpointLocation", layout.root);
  }
  ARROW_ASSIGN_OR_RAISE(const checkpoint::OffsetEntry entry, log.Get(batch_id));
  const std::string provider = Conf(entry, conf::kProviderClass, "");
  if (provider.ends_with("RocksDBStateStoreProvider")) {
    return UserError("TIDEMILL_UNSUPPORTED_STATE_PROVIDER", "The state of {} is kept by {}, whose files cannot be read yet.", layout.root,
                     provider)
        .Param("provider", provider);
  }
  if (!provider.empty() && !provider.ends_with("HDFSBackedStateStoreProvider")) {
    return UserError("TIDEMILL_UNSUPPORTED_STATE_PROVIDER", "The state of {} is kept by {}, which is not known.", layout.root, provider)
        .Param("provider", provider);
  }
  return engine::StateFileFormat{Conf(entry, conf::kCompressionCodec, "lz4"), Conf(entry, conf::kRowChecksum, "false") == "true"};
}

/// Folders of partitions below the operator, ascending.
Result<std::vector<int32_t>> ListPartitions(fs::FileSystem& file_system, const checkpoint::Layout& layout, const StateOptions& options) {
  const std::string directory = fs::Join(layout.state(), std::to_string(options.operator_id));
  ARROW_ASSIGN_OR_RAISE(const auto entries, file_system.List(directory));
  std::vector<int32_t> partitions;
  for (const fs::FileInfo& entry : entries.value_or(std::vector<fs::FileInfo>{})) {
    int32_t id = 0;
    const auto [end, error] = std::from_chars(entry.name.data(), entry.name.data() + entry.name.size(), id);
    if (entry.is_directory && error == std::errc() && end == entry.name.data() + entry.name.size() && id >= 0) partitions.push_back(id);
  }
  if (partitions.empty()) {
    return UserError(
               "STDS_NO_PARTITION_DISCOVERED_IN_STATE_STORE",
               "The state does not have any partition. Please double check that the query points to the valid state. options: [path={}, "
               "operatorId={}, storeName={}]",
               layout.root, options.operator_id, options.store_name)
        .Param("sourceOptions", fmt::format("{}/{}", directory, options.store_name));
  }
  std::sort(partitions.begin(), partitions.end());
  return partitions;
}

Result<engine::StateSchema> ReadSchema(fs::FileSystem& file_system, const checkpoint::Layout& layout, const StateOptions& options) {
  ARROW_ASSIGN_OR_RAISE(auto schema, engine::ReadStateSchema(file_system, layout.state(), options.operator_id, options.store_name));
  if (schema) return std::move(*schema);
  return UserError(
             "STDS_FAILED_TO_READ_STATE_SCHEMA",
             "Failed to read the state schema. Either the file does not exist, or the file is corrupted. options: [path={}, operatorId={}, "
             "storeName={}].",
             layout.root, options.operator_id, options.store_name)
      .Param("sourceOptions", fmt::format("path={}, operatorId={}, storeName={}", layout.root, options.operator_id, options.store_name));
}

/// Collects rows of keys and values until they become columns.
class TableBuilder {
 public:
  static Result<TableBuilder> Make(engine::StateSchema schema) {
    TableBuilder builder;
    ARROW_ASSIGN_OR_RAISE(builder.keys_, row::RowDecoder::Make(schema.key, arrow::default_memory_pool()));
    ARROW_ASSIGN_OR_RAISE(builder.values_, row::RowDecoder::Make(schema.value, arrow::default_memory_pool()));
    // A deleted row has no value: a row whose columns are all null stands in for it.
    const int fields = schema.value.size();
    builder.null_value_.assign(static_cast<size_t>(row::FixedBytes(fields)), '\0');
    for (int i = 0; i < fields; ++i) builder.null_value_[static_cast<size_t>(i / 8)] |= static_cast<char>(1 << (i % 8));
    builder.table_.key_schema = std::move(schema.key);
    builder.table_.value_schema = std::move(schema.value);
    return builder;
  }

  Status Append(std::string_view key, std::optional<std::string_view> value, int32_t partition) {
    ARROW_RETURN_NOT_OK(keys_->Append(key));
    ARROW_RETURN_NOT_OK(values_->Append(value.value_or(null_value_)));
    table_.partition_ids.push_back(partition);
    return Status::OK();
  }
  Status AppendChange(const engine::StateRecord& record, int32_t partition, int64_t batch_id) {
    table_.is_change_feed = true;
    table_.batch_ids.push_back(batch_id);
    table_.is_delete.push_back(!record.value.has_value());
    return Append(record.key, record.value, partition);
  }

  Result<StateTable> Finish() && {
    ARROW_ASSIGN_OR_RAISE(table_.keys, keys_->Finish());
    ARROW_ASSIGN_OR_RAISE(table_.values, values_->Finish());
    return std::move(table_);
  }

 private:
  StateTable table_;
  std::unique_ptr<row::RowDecoder> keys_;
  std::unique_ptr<row::RowDecoder> values_;
  std::string null_value_;
};

/// The files belong to another schema than the one beside them, or were damaged in a way that no checksum sees.
Status MisfitRow(const Status& status, const std::string& directory) {
  if (!status.IsInvalid() || ErrorDetail::Of(status) != nullptr) return status;
  return ExternalError("STATE_STORE_VALUE_ROW_FORMAT_VALIDATION_FAILURE", "A row in {} does not fit the state schema file: {}", directory,
                       status.message())
      .Param("errorMsg", status.message())
      .Path(directory);
}

class Reader {
 public:
  Reader(fs::FileSystem& file_system, checkpoint::Layout layout, StateOptions options)
      : file_system_(file_system), layout_(std::move(layout)), options_(std::move(options)) {}

  Result<StateTable> Read() {
    ARROW_ASSIGN_OR_RAISE(const int64_t batch_id, LastBatch());
    ARROW_ASSIGN_OR_RAISE(const engine::StateFileFormat format, ReadFormat(file_system_, layout_, batch_id));
    ARROW_ASSIGN_OR_RAISE(engine::StateSchema schema, ReadSchema(file_system_, layout_, options_));
    ARROW_ASSIGN_OR_RAISE(TableBuilder table, TableBuilder::Make(std::move(schema)));
    ARROW_ASSIGN_OR_RAISE(const std::vector<int32_t> partitions, Partitions());
    for (const int32_t partition : partitions) {
      const std::string directory = engine::StoreDirectory(layout_.state(), options_.operator_id, partition, options_.store_name);
      const Status read = options_.read_change_feed ? ReadChanges(directory, partition, batch_id, format, table)
                                                    : ReadRows(directory, partition, batch_id, format, table);
      ARROW_RETURN_NOT_OK(MisfitRow(read, directory));
    }
    ARROW_ASSIGN_OR_RAISE(StateTable finished, std::move(table).Finish());
    finished.is_change_feed = options_.read_change_feed;
    return finished;
  }

 private:
  Result<int64_t> LastBatch() {
    ARROW_ASSIGN_OR_RAISE(const int64_t last, LastCommitted(file_system_, layout_));
    const int64_t batch_id = options_.read_change_feed ? options_.change_end_batch_id.value_or(last) : options_.batch_id.value_or(last);
    if (options_.read_change_feed && *options_.change_start_batch_id > batch_id) {
      return InvalidStateOption("changeStartBatchId", fmt::format("it is after the last batch {}", batch_id));
    }
    if (options_.snapshot_start_batch_id && *options_.snapshot_start_batch_id > batch_id) {
      return InvalidStateOption("snapshotStartBatchId", fmt::format("value should be less than or equal to {}", batch_id));
    }
    return batch_id;
  }

  Result<std::vector<int32_t>> Partitions() {
    ARROW_ASSIGN_OR_RAISE(const std::vector<int32_t> all, ListPartitions(file_system_, layout_, options_));
    if (!options_.snapshot_partition_id) return all;
    const int64_t wanted = *options_.snapshot_partition_id;
    if (std::find(all.begin(), all.end(), wanted) == all.end()) {
      return UserError("CANNOT_LOAD_STATE_STORE.SNAPSHOT_PARTITION_ID_NOT_FOUND",
                       "Partition id {} not found for state of operator {} at {}.", wanted, options_.operator_id, layout_.root)
          .Param("snapshotPartitionId", std::to_string(wanted))
          .Param("operatorId", std::to_string(options_.operator_id))
          .Param("checkpointLocation", layout_.state());
    }
    return std::vector<int32_t>{static_cast<int32_t>(wanted)};
  }

  Status ReadRows(const std::string& directory, int32_t partition, int64_t batch_id, const engine::StateFileFormat& format,
                  TableBuilder& table) {
    engine::RowSet rows;
    const int64_t version = batch_id + 1;
    if (options_.snapshot_start_batch_id) {
      ARROW_RETURN_NOT_OK(engine::LoadFromSnapshot(file_system_, directory, *options_.snapshot_start_batch_id + 1, version, format, rows));
    } else {
      ARROW_RETURN_NOT_OK(engine::LoadVersion(file_system_, directory, version, format, rows));
    }
    return rows.Visit([&](std::string_view key, std::string_view value) { return table.Append(key, value, partition); });
  }

  Status ReadChanges(const std::string& directory, int32_t partition, int64_t last_batch, const engine::StateFileFormat& format,
                     TableBuilder& table) {
    for (int64_t batch = *options_.change_start_batch_id; batch <= last_batch; ++batch) {
      const std::string path = engine::DeltaPath(directory, batch + 1);
      const Status read =
          engine::ReadStateFile(file_system_, format, engine::StateFileKind::kDelta, path,
                                [&](const engine::StateRecord& record) { return table.AppendChange(record, partition, batch); });
      if (!fs::IsNotFound(read)) {
        ARROW_RETURN_NOT_OK(read);
        continue;
      }
      return ExternalError("CANNOT_LOAD_STATE_STORE.CANNOT_READ_DELTA_FILE_NOT_EXISTS",
                           "Error reading delta file {}: it does not exist. The changes of batch {} were wanted.", path, batch)
          .Param("fileToRead", path)
          .Path(path);
    }
    return Status::OK();
  }

  fs::FileSystem& file_system_;
  const checkpoint::Layout layout_;
  const StateOptions options_;
};

}  // namespace

Result<StateTable> ReadState(fs::FileSystem& file_system, const std::string& checkpoint,
                             const std::map<std::string, std::string>& options) {
  ARROW_ASSIGN_OR_RAISE(StateOptions parsed, ParseStateOptions(options));
  return Reader(file_system, {checkpoint}, std::move(parsed)).Read();
}

}  // namespace tidemill::connector::state
