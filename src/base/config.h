#pragma once

// Configuration: Spark's keys with Spark's meaning and defaults, ours below `tidemill.`.
//
// A Config is an immutable snapshot; `With` makes a new one. Every key the engine reads is registered in config.cc with its default; an
// unknown key is reported with its nearest known neighbour, the popular ones that do nothing are named as such.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tidemill {

class Config {
 public:
  /// All defaults.
  Config() = default;
  /// A copy with `key` set. Fails with the key's own error when the value does not parse; an unknown key is no error (see Unknown()).
  Result<Config> With(std::string_view key, std::string_view value) const;
  /// The value as text: the one set, else the default of the registry, else "".
  std::string Get(std::string_view key) const;
  bool IsSet(std::string_view key) const;
  /// Typed reads of registered keys. With() has checked the text, so these cannot fail.
  int64_t GetInt(std::string_view key) const;
  bool GetBool(std::string_view key) const;
  /// A duration such as "10s", "1m", "200ms"; a bare number is milliseconds.
  int64_t GetDurationMs(std::string_view key) const;
  /// Bytes such as "512m", "2g".
  int64_t GetBytes(std::string_view key) const;
  /// Keys set by hand, in key order.
  const std::map<std::string, std::string, std::less<>>& set() const { return values_; }
  /// For each set key that the engine does not know: one line for the user that names its nearest known neighbour, or says that the key does
  /// nothing here and why.
  std::vector<std::string> Unknown() const;

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

/// Keys spelled once.
namespace conf {
inline constexpr char kShufflePartitions[] = "spark.sql.shuffle.partitions";  // default 16 here, 200 in Spark
inline constexpr char kSessionTimeZone[] = "spark.sql.session.timeZone";
inline constexpr char kAnsiEnabled[] = "spark.sql.ansi.enabled";  // default true, as in Spark 4
inline constexpr char kCaseSensitive[] = "spark.sql.caseSensitive";
inline constexpr char kProviderClass[] = "spark.sql.streaming.stateStore.providerClass";
inline constexpr char kMultipleWatermarkPolicy[] = "spark.sql.streaming.multipleWatermarkPolicy";
inline constexpr char kFlatMapGroupsStateFormat[] = "spark.sql.streaming.flatMapGroupsWithState.stateFormatVersion";
inline constexpr char kAggregationStateFormat[] = "spark.sql.streaming.aggregation.stateFormatVersion";
inline constexpr char kJoinStateFormat[] = "spark.sql.streaming.join.stateFormatVersion";
inline constexpr char kCompressionCodec[] = "spark.sql.streaming.stateStore.compression.codec";
inline constexpr char kRocksDbFormatVersion[] = "spark.sql.streaming.stateStore.rocksdb.formatVersion";
inline constexpr char kUseStrictDistribution[] = "spark.sql.streaming.statefulOperator.useStrictDistribution";
inline constexpr char kPruneFilters[] = "spark.sql.optimizer.pruneFiltersCanPruneStreamingSubplan";
inline constexpr char kEncodingFormat[] = "spark.sql.streaming.stateStore.encodingFormat";
inline constexpr char kRowChecksum[] = "spark.sql.streaming.stateStore.rowChecksum.enabled";
inline constexpr char kNoDataBatches[] = "spark.sql.streaming.noDataMicroBatches.enabled";
inline constexpr char kMinBatchesToRetain[] = "spark.sql.streaming.minBatchesToRetain";
inline constexpr char kMinDeltasForSnapshot[] = "spark.sql.streaming.stateStore.minDeltasForSnapshot";
inline constexpr char kMaintenanceInterval[] = "spark.sql.streaming.stateStore.maintenanceInterval";
inline constexpr char kPollingDelay[] = "spark.sql.streaming.pollingDelay";
inline constexpr char kNoDataProgressInterval[] = "spark.sql.streaming.noDataProgressEventInterval";
inline constexpr char kUnsupportedOperationCheck[] = "spark.sql.streaming.unsupportedOperationCheck";
inline constexpr char kStateSchemaCheck[] = "spark.sql.streaming.stateStore.stateSchemaCheck";
inline constexpr char kOffsetLogFormat[] = "spark.sql.streaming.offsetLog.formatVersion";
inline constexpr char kFileSourceCompactInterval[] = "spark.sql.streaming.fileSource.log.compactInterval";
inline constexpr char kFileSourceCleanupDelay[] = "spark.sql.streaming.fileSource.log.cleanupDelay";
inline constexpr char kFileSourceLogDeletion[] = "spark.sql.streaming.fileSource.log.deletion";
inline constexpr char kFileSinkCompactInterval[] = "spark.sql.streaming.fileSink.log.compactInterval";
inline constexpr char kFileSinkCleanupDelay[] = "spark.sql.streaming.fileSink.log.cleanupDelay";
inline constexpr char kFileSinkLogDeletion[] = "spark.sql.streaming.fileSink.log.deletion";
inline constexpr char kTaskMaxFailures[] = "spark.task.maxFailures";
inline constexpr char kIgnoreMissingFiles[] = "spark.sql.files.ignoreMissingFiles";
inline constexpr char kIgnoreCorruptFiles[] = "spark.sql.files.ignoreCorruptFiles";
inline constexpr char kColumnNameOfCorruptRecord[] = "spark.sql.columnNameOfCorruptRecord";
inline constexpr char kAlwaysNullableOutput[] = "spark.sql.streaming.statefulOperator.alwaysNullableOutput.enabled";
inline constexpr char kHadoopCrc[] = "tidemill.checkpoint.hadoopCrc";       // default false
inline constexpr char kSync[] = "tidemill.checkpoint.sync";                 // default true; false trades durability for comparison with Spark
inline constexpr char kCheckpointLocation[] = "spark.sql.streaming.checkpointLocation";
inline constexpr char kWarehouseDir[] = "spark.sql.warehouse.dir";  // tables without a path
inline constexpr char kCompatSparkVersion[] = "tidemill.compat.sparkVersion";  // default 3.5
}  // namespace conf

/// A duration such as "10s", "1m", "200ms", "7d"; a bare number is milliseconds. nullopt when it does not parse.
std::optional<int64_t> ParseDurationMs(std::string_view text);
/// Bytes such as "512m", "2g"; a bare number is bytes. nullopt when it does not parse.
std::optional<int64_t> ParseBytes(std::string_view text);

/// The known name nearest to `name` by edit distance, or "" when none is near enough to be worth a hint.
std::string NearestName(std::string_view name, const std::vector<std::string>& known);

}  // namespace tidemill
