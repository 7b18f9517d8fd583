#include "stream/pinned_config.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace tidemill::stream {

namespace {

// Under this name release 3.5.4 wrote the key of pruned filters.
constexpr char kVendorPruneFilters[] = "spark.databricks.sql.optimizer.pruneFiltersCanPruneStreamingSubplan";

// The releases that made the list longer; a query written for a release has the keys up to its own.
enum class Since { k34, k40, k42, k43 };

struct PinnedKey {
  std::string_view name;
  Since since;
  std::string_view fallback;  // of a new query, when our configuration does not know the key
  /// The value meant when an entry lacks the key; "": the session's.
  std::string_view absent;
};

constexpr std::array<PinnedKey, 17> kPinnedKeys = {{
    {conf::kShufflePartitions, Since::k34, "", ""},
    {conf::kProviderClass, Since::k34, "", ""},
    {conf::kMultipleWatermarkPolicy, Since::k34, "min", "min"},
    {conf::kFlatMapGroupsStateFormat, Since::k34, "2", "1"},
    {conf::kAggregationStateFormat, Since::k34, "2", "1"},
    {conf::kJoinStateFormat, Since::k34, "2", "1"},
    {conf::kCompressionCodec, Since::k34, "lz4", "lz4"},
    {conf::kRocksDbFormatVersion, Since::k34, "5", ""},
    {conf::kUseStrictDistribution, Since::k34, "true", "false"},
    {conf::kPruneFilters, Since::k40, "false", "true"},
    {conf::kEncodingFormat, Since::k40, "unsaferow", "unsaferow"},
    {conf::kRowChecksum, Since::k42, "false", "false"},
    {"spark.sql.streaming.stateStore.rocksdb.mergeOperatorVersion", Since::k42, "2", "1"},
    {"spark.sql.function.protobufExtensions.enabled", Since::k42, "false", "false"},
    {"spark.sql.streaming.queryEvolution.enableSourceEvolution", Since::k42, "false", "false"},
    {"spark.sql.dropDuplicates.deterministicKeyOrder.enabled", Since::k43, "true", "false"},
    {conf::kAlwaysNullableOutput, Since::k43, "true", "false"},
}};

// The configuration has checked that `version` is one of these.
Since ReleaseOf(std::string_view version) {
  if (version == "4.3") return Since::k43;
  if (version == "4.2") return Since::k42;
  return version == "4.0" || version == "4.1" ? Since::k40 : Since::k34;
}

// Features of the state files that an older reader would misread: recorded when they are on, whatever the release.
bool ShapesFiles(std::string_view name) { return name == conf::kRowChecksum || name == conf::kEncodingFormat; }

std::string SessionValue(const Config& session, const PinnedKey& key) {
  std::string value = session.Get(key.name);
  return value.empty() ? std::string(key.fallback) : value;
}

std::optional<std::string> RecordedValue(const RecordedConf& recorded, std::string_view name) {
  auto found = recorded.find(std::string(name));
  if (found == recorded.end() && name == conf::kPruneFilters) found = recorded.find(kVendorPruneFilters);
  if (found == recorded.end()) return std::nullopt;
  return found->second;
}

}  // namespace

RecordedConf RecordConf(const Config& session) {
  const Since release = ReleaseOf(session.Get(conf::kCompatSparkVersion));
  RecordedConf recorded;
  for (const PinnedKey& key : kPinnedKeys) {
    std::string value = SessionValue(session, key);
    if (key.since <= release || (ShapesFiles(key.name) && value != key.absent)) recorded[std::string(key.name)] = std::move(value);
  }
  return recorded;
}

Result<PinnedConfig> PinConf(const Config& session, const RecordedConf& recorded) {
  PinnedConfig pinned{session, recorded, {}};
  for (const PinnedKey& key : kPinnedKeys) {
    const std::optional<std::string> found = RecordedValue(recorded, key.name);
    const std::string mine = SessionValue(session, key);
    const std::string value = found ? *found : key.absent.empty() ? mine : std::string(key.absent);
    if (value.empty()) continue;
    if (value != mine && session.IsSet(key.name)) {
      pinned.warnings.push_back(fmt::format("{} is '{}' for this checkpoint; the session's '{}' has no effect on it", key.name, value, mine));
    }
    Result<Config> with = pinned.config.With(key.name, value);
    if (!with.ok()) return WithContext(with.status(), fmt::format("the checkpoint's offset log records {}", key.name));
    pinned.config = std::move(*with);
    if (!found && key.since == Since::k34) pinned.recorded[std::string(key.name)] = value;
  }
  return pinned;
}

}  // namespace tidemill::stream
