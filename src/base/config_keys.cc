#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/config.h"
#include "base/config_internal.h"

namespace tidemill::internal {

namespace {

constexpr auto kBool = ConfigType::kBool;
constexpr auto kInt = ConfigType::kInt;
constexpr auto kDuration = ConfigType::kDuration;
constexpr auto kChoice = ConfigType::kChoice;
constexpr auto kText = ConfigType::kText;
constexpr int64_t kIntMax = INT32_MAX;

constexpr std::string_view kHdfsProvider = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider";

// Keys that the engine reads, with the defaults of Spark 4.3 but for the number of shuffle partitions.
constexpr ConfigKey kKeys[] = {
    {conf::kShufflePartitions, kInt, "16", 1, kIntMax},
    {conf::kSessionTimeZone, ConfigType::kTimeZone, ""},
    {conf::kAnsiEnabled, kBool, "true"},
    {conf::kCaseSensitive, kBool, "false"},
    {conf::kColumnNameOfCorruptRecord, kText, "_corrupt_record"},
    {conf::kIgnoreMissingFiles, kBool, "false"},
    {conf::kIgnoreCorruptFiles, kBool, "false"},
    {conf::kCheckpointLocation, kText, ""},
    {conf::kWarehouseDir, kText, "spark-warehouse"},
    {conf::kTaskMaxFailures, kInt, "4", 1, kIntMax},
    {conf::kPruneFilters, kBool, "false"},
    // State and what is pinned by the offset log.
    {conf::kProviderClass, kText, kHdfsProvider},
    {conf::kMultipleWatermarkPolicy, kChoice, "min", 0, 0, "min|max"},
    {conf::kFlatMapGroupsStateFormat, kInt, "2", 1, 2},
    {conf::kAggregationStateFormat, kInt, "2", 1, 2},
    {conf::kJoinStateFormat, kInt, "2", 1, 4},
    {conf::kCompressionCodec, kText, "lz4"},
    {conf::kRocksDbFormatVersion, kInt, "5", 0, kIntMax},
    {conf::kUseStrictDistribution, kBool, "true"},
    {conf::kEncodingFormat, kChoice, "unsaferow", 0, 0, "unsaferow|avro"},
    {conf::kRowChecksum, kBool, "false"},
    {conf::kAlwaysNullableOutput, kBool, "true"},
    {conf::kStateSchemaCheck, kBool, "true"},
    {conf::kMinDeltasForSnapshot, kInt, "10", 1, kIntMax},
    {conf::kMaintenanceInterval, kDuration, "1m", 1},
    {"spark.sql.streaming.stateStore.rocksdb.mergeOperatorVersion", kInt, "2", 1, 2},
    {"spark.sql.dropDuplicates.deterministicKeyOrder.enabled", kBool, "true"},
    {"spark.sql.function.protobufExtensions.enabled", kBool, "false"},
    {"spark.sql.streaming.queryEvolution.enableSourceEvolution", kBool, "false"},
    // The loop and its logs.
    {conf::kNoDataBatches, kBool, "true"},
    {conf::kMinBatchesToRetain, kInt, "100", 1, kIntMax},
    {conf::kPollingDelay, kDuration, "10ms", 0},
    {conf::kNoDataProgressInterval, kDuration, "10s", 0},
    {conf::kUnsupportedOperationCheck, kBool, "true"},
    {"spark.sql.streaming.statefulOperator.checkCorrectness.enabled", kBool, "true"},
    {"spark.sql.streaming.statefulOperator.allowMultiple", kBool, "true"},
    {conf::kOffsetLogFormat, kInt, "1", 1, 2},
    {conf::kFileSourceCompactInterval, kInt, "10", 1, kIntMax},
    {conf::kFileSourceCleanupDelay, kDuration, "10m", 0},
    {conf::kFileSourceLogDeletion, kBool, "true"},
    {conf::kFileSinkCompactInterval, kInt, "10", 1, kIntMax},
    {conf::kFileSinkCleanupDelay, kDuration, "10m", 0},
    {conf::kFileSinkLogDeletion, kBool, "true"},
    // Ours.
    {conf::kHadoopCrc, kBool, "false"},
    {conf::kSync, kBool, "true"},
    {conf::kCompatSparkVersion, kChoice, "3.5", 0, 0, "3.4|3.5|4.0|4.1|4.2|4.3"},
};

// Keys that people set and that change nothing here: settings that never existed, settings of another machine room, and settings of Spark
// whose subject Tidemill does not have. The first that fits explains.
constexpr InertKey kInert[] = {
    {"spark.sql.streaming.stateStore.retryCount",
     "no release of Spark has such a setting, and repeating a read cannot bring a missing state file back; spark.task.maxFailures repeats a failed batch"},
    {"fs.s3a.consistent*", "no such setting; S3 has been strongly consistent since December 2020, there is nothing to switch on"},
    {"spark.hadoop.fs.s3a.consistent*", "no such setting; S3 has been strongly consistent since December 2020, there is nothing to switch on"},
    {"fs.s3a.committer.*", "a committer writes the output of jobs and never touches the files of a checkpoint"},
    {"spark.hadoop.fs.s3a.committer.*", "a committer writes the output of jobs and never touches the files of a checkpoint"},
    {"spark.sql.monitoring.enabled", "no release of Spark has such a setting; progress is reported without one (--progress)"},
    {"spark.streaming.receiver.writeAheadLog.rollingInterval",
     "no such setting; the one that exists ends in rollingIntervalSecs, counts seconds, and belongs to DStream programs"},
    {"spark.streaming.receiver.writeAheadLog.dir", "no such setting; that log lives below the checkpoint folder"},
    {"checkpoint.cleaner.enabled", "no such setting; how many batches are kept is spark.sql.streaming.minBatchesToRetain"},
    {"spark.cleaner.referenceTracking.cleanCheckpoints", "it is about checkpoints of RDDs, not of streams"},
    {"statefulOperator.state.ttl", "no such option; state expires by a watermark on a column of the key"},
    {"spark.streaming.*", "it is a setting of DStream programs, a SQL job does not read it"},
    {"spark.network.timeout", "it times messages between driver and executors; here all runs in one process"},
    {"spark.executor.*", "there are no executors, all runs in one process: see --threads and --memory"},
    {"spark.driver.*", "there is no JVM to size: see --memory"},
    {"spark.dynamicAllocation.*", "there are no executors, all runs in one process: see --threads"},
    {"spark.memory.*", "there is no JVM heap to divide: see --memory"},
    {"spark.serializer", "rows are never Java objects here"},
    {"spark.kryo*", "rows are never Java objects here"},
    {"spark.master", "Tidemill runs on this machine; the number of task threads is --threads"},
    {"spark.sql.adaptive.*", "a streaming plan is fixed for the life of its checkpoint; adaptive planning does not apply"},
    {"spark.sql.streaming.stateStore.checkpointFormatVersion", "state is written in checkpoint format 1 only"},
    {"spark.sql.streaming.maxBatchesToRetainInMemory", "one version of the state is kept in memory; going back one batch needs no second one"},
    {"spark.sql.streaming.ratioExtraSpaceAllowedInCheckpoint", "expired state files are removed as soon as they are not referenced"},
    {"spark.sql.streaming.asyncLogPurge.enabled", "old log entries are always removed off the path of a batch"},
    {"spark.sql.streaming.metadataCache.enabled", "the latest log entries are always kept in memory"},
    {"spark.sql.streaming.checkpointFileManagerClass", "there is one way to write a checkpoint file here, and it is atomic and durable"},
    {"spark.sql.streaming.stateStore.numStateStoreMaintenanceThreads", "snapshots are written by one background thread"},
    {"spark.sql.streaming.stateStore.maintenance*", "background work on state is ended at a batch border, no time-out is needed"},
    {"spark.sql.streaming.stateStore.formatValidation.*", "every row that is read back is checked"},
    {"spark.sql.streaming.checkpoint.fileChecksum.*", "side files with checksums belong to state checkpoint format 2, which is not written"},
    {"spark.sql.streaming.metricsEnabled", "there is no JVM metrics registry; progress is reported by --progress"},
    {"spark.sql.streaming.ui.*", "a job on the command line has no web UI; progress is reported by --progress"},
    {"spark.ui.*", "a job on the command line has no web UI; progress is reported by --progress"},
    {"spark.sql.streaming.stopTimeout", "a job stops at the end of the running batch, a second signal ends it at once"},
    {"spark.sql.streaming.numRecentProgressUpdates", "progress is printed as it arises, none is kept"},
    {"spark.eventLog.*", "no event log is written; progress is reported by --progress"},
};

bool StartsWith(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

/// `+HH`, `+HH:MM`, `-H`, `+HHMM`, `+HH:MM:SS` with at most 18 hours, as Java's ZoneOffset has it.
bool IsOffset(std::string_view text) {
  if (text.size() < 2 || (text[0] != '+' && text[0] != '-')) return false;
  std::string digits;
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == ':') {
      if (i + 2 >= text.size() || i < 2) return false;
      continue;
    }
    if (!IsDigit(text[i])) return false;
    digits += text[i];
  }
  if (digits.size() == 1 || digits.size() == 3 || digits.size() == 5) digits.insert(0, 1, '0');
  if (digits.size() != 2 && digits.size() != 4 && digits.size() != 6) return false;
  const int hours = std::atoi(digits.substr(0, 2).c_str());
  const int minutes = digits.size() >= 4 ? std::atoi(digits.substr(2, 2).c_str()) : 0;
  const int seconds = digits.size() == 6 ? std::atoi(digits.substr(4, 2).c_str()) : 0;
  return minutes < 60 && seconds < 60 && hours * 3600 + minutes * 60 + seconds <= 18 * 3600;
}

}  // namespace

std::span<const ConfigKey> ConfigKeys() { return kKeys; }

std::span<const InertKey> InertKeys() { return kInert; }

const ConfigKey* FindConfigKey(std::string_view name) {
  for (const ConfigKey& key : kKeys) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

const InertKey* FindInertKey(std::string_view name) {
  for (const InertKey& key : kInert) {
    const bool prefix = key.name.back() == '*';
    if (prefix ? StartsWith(name, key.name.substr(0, key.name.size() - 1)) : name == key.name) return &key;
  }
  return nullptr;
}

std::string DefaultOf(const ConfigKey& key) {
  if (key.type != ConfigType::kTimeZone) return std::string(key.default_value);
  // Once a process: a zone that changes under a running query would change its results.
  static const std::string zone = SystemTimeZone();
  return zone;
}

std::string SystemTimeZone() {
  if (const char* variable = std::getenv("TZ"); variable != nullptr && *variable != '\0') {
    std::string_view name = variable;
    if (name.front() == ':') name.remove_prefix(1);
    constexpr std::string_view kFolder = "/usr/share/zoneinfo/";
    if (StartsWith(name, kFolder)) name.remove_prefix(kFolder.size());
    if (IsTimeZone(name)) return std::string(name);
  }
  std::error_code error;
  const std::string target = std::filesystem::read_symlink("/etc/localtime", error).string();
  constexpr std::string_view kMark = "zoneinfo/";
  if (const size_t at = target.find(kMark); !error && at != std::string::npos) {
    std::string name = target.substr(at + kMark.size());
    if (IsTimeZone(name)) return name;
  }
  return "UTC";
}

bool IsTimeZone(std::string_view name) {
  if (name == "Z" || name == "UTC" || name == "GMT" || name == "UT" || IsOffset(name)) return true;
  for (const std::string_view prefix : {"UTC", "GMT", "UT"}) {
    if (StartsWith(name, prefix) && IsOffset(name.substr(prefix.size()))) return true;
  }
  if (name.empty() || name.front() == '/' || name.find("..") != std::string_view::npos) return false;
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter && !IsDigit(c) && c != '/' && c != '_' && c != '-' && c != '+') return false;
  }
  std::error_code error;
  return std::filesystem::is_regular_file(std::filesystem::path("/usr/share/zoneinfo") / name, error);
}

}  // namespace tidemill::internal
