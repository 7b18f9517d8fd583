#pragma once

// The options of Spark's state reader: names in any case, checked as Spark checks them.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/status.h"

namespace tidemill::connector::state {

struct StateOptions {
  int64_t operator_id = 0;
  std::string store_name = "default";
  std::optional<int64_t> batch_id;  ///< nullopt: the last committed batch
  /// Load from the snapshot of this batch, one partition alone: to judge a snapshot file. Both or none.
  std::optional<int64_t> snapshot_start_batch_id;
  std::optional<int64_t> snapshot_partition_id;
  bool read_change_feed = false;
  std::optional<int64_t> change_start_batch_id;
  std::optional<int64_t> change_end_batch_id;  ///< nullopt: the last committed batch
};

/// Errors: STDS_INVALID_OPTION_VALUE.*, STDS_CONFLICT_OPTIONS, STDS_REQUIRED_OPTION_UNSPECIFIED; an option that is not known is refused
/// with its nearest neighbour,
/// one that is known but not supported yet by name.
Result<StateOptions> ParseStateOptions(const std::map<std::string, std::string>& options);

/// STDS_INVALID_OPTION_VALUE.WITH_MESSAGE.
Error InvalidStateOption(const std::string& name, const std::string& why);

}  // namespace tidemill::connector::state
