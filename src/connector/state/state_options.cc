#include "connector/state/state_options.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <vector>

#include "base/config.h"

namespace tidemill::connector::state {
namespace {

// In Spark's spelling, which errors show.
constexpr char kPath[] = "path";
constexpr char kOperatorId[] = "operatorId";
constexpr char kBatchId[] = "batchId";
constexpr char kStoreName[] = "storeName";
constexpr char kJoinSide[] = "joinSide";
constexpr char kSnapshotStartBatchId[] = "snapshotStartBatchId";
constexpr char kSnapshotPartitionId[] = "snapshotPartitionId";
constexpr char kReadChangeFeed[] = "readChangeFeed";
constexpr char kChangeStartBatchId[] = "changeStartBatchId";
constexpr char kChangeEndBatchId[] = "changeEndBatchId";

const std::vector<std::string>& KnownOptions() {
  static const std::vector<std::string> known = {
      kPath,           kOperatorId,         kBatchId,         kStoreName, kJoinSide, kSnapshotStartBatchId, kSnapshotPartitionId,
      kReadChangeFeed, kChangeStartBatchId, kChangeEndBatchId};
  return known;
}
/// Options of Spark for operators whose state cannot be read yet.
const std::vector<std::string>& LaterOptions() {
  static const std::vector<std::string> later = {"stateVarName", "readRegisteredTimers", "flattenCollectionTypes",
                                                 "internalOnlyReadAllColumnFamilies"};
  return later;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

Error Conflict(const char* one, const char* other) {
  return UserError("STDS_CONFLICT_OPTIONS", "The options '{}' and '{}' cannot be specified together. Please specify one of them.", one,
                   other)
      .Param("options", fmt::format("'[{}, {}]'", one, other));
}
Error Required(const char* name) {
  return UserError("STDS_REQUIRED_OPTION_UNSPECIFIED", "'{}' must be specified.", name).Param("optionName", name);
}

/// Options by lower-case name.
class OptionMap {
 public:
  static Result<OptionMap> Make(const std::map<std::string, std::string>& options) {
    OptionMap map;
    for (const auto& [name, value] : options) {
      const std::string lower = Lower(name);
      const auto is_it = [&](const std::string& known) { return Lower(known) == lower; };
      if (std::any_of(LaterOptions().begin(), LaterOptions().end(), is_it)) {
        return UserError("TIDEMILL_UNSUPPORTED_OPTION", "The state reader does not support the option '{}' yet.", name)
            .Param("optionName", name);
      }
      if (std::none_of(KnownOptions().begin(), KnownOptions().end(), is_it)) {
        const std::string nearest = NearestName(name, KnownOptions());
        return UserError("TIDEMILL_UNKNOWN_OPTION", "The state reader has no option '{}'.{}", name,
                         nearest.empty() ? std::string() : fmt::format(" Did you mean '{}'?", nearest))
            .Param("optionName", name);
      }
      map.values_[lower] = value;
    }
    return map;
  }

  std::optional<std::string> Text(const char* name) const {
    const auto found = values_.find(Lower(name));
    return found == values_.end() ? std::nullopt : std::optional<std::string>(found->second);
  }
  bool Has(const char* name) const { return values_.contains(Lower(name)); }

  Result<std::optional<int64_t>> Number(const char* name) const {
    const std::optional<std::string> text = Text(name);
    if (!text) return std::nullopt;
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (error != std::errc() || end != text->data() + text->size()) {
      return InvalidStateOption(name, fmt::format("'{}' is not a whole number", *text));
    }
    if (value < 0) {
      return UserError("STDS_INVALID_OPTION_VALUE.IS_NEGATIVE", "Invalid value for source option '{}': cannot be negative.", name)
          .Param("optionName", name);
    }
    return value;
  }

  Result<bool> Flag(const char* name) const {
    const std::string text = Lower(Text(name).value_or("false"));
    if (text != "true" && text != "false") return InvalidStateOption(name, fmt::format("'{}' is neither true nor false", text));
    return text == "true";
  }

 private:
  std::map<std::string, std::string> values_;
};

Status CheckJoinSide(const OptionMap& options) {
  const std::string side = Lower(options.Text(kJoinSide).value_or("none"));
  if (side != "none" && side != "left" && side != "right") {
    return InvalidStateOption(kJoinSide, "Valid values are left,right,none");
  }
  if (side == "none") return Status::OK();
  if (Lower(options.Text(kStoreName).value_or("default")) != "default") return Conflict(kJoinSide, kStoreName);
  return UserError("TIDEMILL_UNSUPPORTED_OPTION",
                   "The state reader does not put the tables of a join together yet (joinSide). Read them one by one: "
                   "storeName={}-keyWithIndexToValue, "
                   "storeName={}-keyToNumValues.",
                   side, side)
      .Param("optionName", kJoinSide);
}

Status ReadChangeFeedOptions(const OptionMap& map, StateOptions* options) {
  ARROW_ASSIGN_OR_RAISE(options->change_start_batch_id, map.Number(kChangeStartBatchId));
  ARROW_ASSIGN_OR_RAISE(options->change_end_batch_id, map.Number(kChangeEndBatchId));
  if (!options->read_change_feed) {
    for (const char* name : {kChangeStartBatchId, kChangeEndBatchId}) {
      if (map.Has(name)) return InvalidStateOption(name, fmt::format("Only specify this option when {} is set to true.", kReadChangeFeed));
    }
    return Status::OK();
  }
  for (const char* name : {kBatchId, kSnapshotStartBatchId, kSnapshotPartitionId}) {
    if (map.Has(name)) return Conflict(name, kReadChangeFeed);
  }
  if (!options->change_start_batch_id) return Required(kChangeStartBatchId);
  if (options->change_end_batch_id && *options->change_start_batch_id > *options->change_end_batch_id) {
    return InvalidStateOption(kChangeStartBatchId, fmt::format("{} cannot be smaller than {}. Please check the input to {}",
                                                               kChangeEndBatchId, kChangeStartBatchId, kChangeEndBatchId));
  }
  return Status::OK();
}

}  // namespace

Error InvalidStateOption(const std::string& name, const std::string& why) {
  return UserError("STDS_INVALID_OPTION_VALUE.WITH_MESSAGE", "Invalid value for source option '{}': {}.", name, why)
      .Param("optionName", name)
      .Param("message", why);
}

Result<StateOptions> ParseStateOptions(const std::map<std::string, std::string>& options) {
  ARROW_ASSIGN_OR_RAISE(const OptionMap map, OptionMap::Make(options));
  StateOptions parsed;
  ARROW_ASSIGN_OR_RAISE(const auto operator_id, map.Number(kOperatorId));
  parsed.operator_id = operator_id.value_or(0);
  ARROW_ASSIGN_OR_RAISE(parsed.batch_id, map.Number(kBatchId));
  parsed.store_name = map.Text(kStoreName).value_or("default");
  if (parsed.store_name.find_first_not_of(" \t") == std::string::npos) {
    return UserError("STDS_INVALID_OPTION_VALUE.IS_EMPTY", "Invalid value for source option '{}': cannot be empty.", kStoreName)
        .Param("optionName", kStoreName);
  }
  if (parsed.store_name.find('/') != std::string::npos) return InvalidStateOption(kStoreName, "a store name has no '/'");
  ARROW_RETURN_NOT_OK(CheckJoinSide(map));
  ARROW_ASSIGN_OR_RAISE(parsed.read_change_feed, map.Flag(kReadChangeFeed));
  ARROW_RETURN_NOT_OK(ReadChangeFeedOptions(map, &parsed));
  ARROW_ASSIGN_OR_RAISE(parsed.snapshot_start_batch_id, map.Number(kSnapshotStartBatchId));
  ARROW_ASSIGN_OR_RAISE(parsed.snapshot_partition_id, map.Number(kSnapshotPartitionId));
  if (parsed.snapshot_start_batch_id && !parsed.snapshot_partition_id) return Required(kSnapshotPartitionId);
  if (parsed.snapshot_partition_id && !parsed.snapshot_start_batch_id) return Required(kSnapshotStartBatchId);
  return parsed;
}

}  // namespace tidemill::connector::state
