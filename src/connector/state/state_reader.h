#pragma once

// The state of a checkpoint as rows, as Spark's `statestore` data source shows it. Reads any folder of the HDFS-backed provider of Spark
// 3.4 to 4.3, and ours.
//
//   ARROW_ASSIGN_OR_RAISE(auto table, ReadState(file_system, "/checkpoint", {{"operatorId", "0"}, {"batchId", "7"}}));
//   for (const std::string& line : RowsToJson(table).ValueOrDie()) std::cout << line << "\n";
//
// Source: Spark StateDataSource (4.3).

#include <arrow/type_fwd.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "connector/state/state_options.h"
#include "fs/file_system.h"
#include "type/data_type.h"

namespace tidemill::connector::state {

/// Rows of one store over all its partitions. All vectors and arrays have one length.
struct StateTable {
  type::Schema key_schema;
  type::Schema value_schema;
  std::vector<std::shared_ptr<arrow::Array>> keys;    ///< one a key column
  std::vector<std::shared_ptr<arrow::Array>> values;  ///< one a value column; all null where a change is a delete
  std::vector<int32_t> partition_ids;
  bool is_change_feed = false;
  std::vector<int64_t> batch_ids;  ///< change feed only
  std::vector<bool> is_delete;     ///< change feed only

  int64_t rows() const { return static_cast<int64_t>(partition_ids.size()); }
};

/// Read one store of the checkpoint at `checkpoint` (a local path). The rows are those after batch `batchId`, the last committed one by
/// default.
///
/// Errors: user errors with Spark's STDS_* conditions for options and for what is not in the checkpoint; CANNOT_LOAD_STATE_STORE.* with
/// the file that is lost;
/// stores of the RocksDB provider are refused by name.
Result<StateTable> ReadState(fs::FileSystem& file_system, const std::string& checkpoint, const std::map<std::string, std::string>& options);

/// One JSON object a row, without line ends: `{"key":{…},"value":{…},"partition_id":n}`; of a change feed `batch_id` and `change_type`
/// come first, as in Spark.
///
/// Values: timestamps as `YYYY-MM-DD HH:MM:SS.ffffff` UTC, decimals as text with full scale, binary as `0x…`, maps as lists of pairs,
/// NaN and infinities as "nan",
/// "inf", "-inf". Of two columns with one name the later is shown.
Result<std::vector<std::string>> RowsToJson(const StateTable& table);

}  // namespace tidemill::connector::state
