#include "connector/rate/rate_micro_batch_source.h"

#include <nlohmann/json.hpp>

#include "connector/rate/counting_reader.h"
#include "connector/rate/rate_options.h"

namespace tidemill::connector {

namespace {

/// The next row and the time of the next batch.
struct Position {
  int64_t value = 0;
  int64_t timestamp_ms = 0;
};

Offset Print(const Position& position) { return fmt::format("{{\"offset\":{},\"timestamp\":{}}}", position.value, position.timestamp_ms); }

Result<Position> Parse(const Offset& text) {
  const auto offset = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto is_number = [&](const char* key) { return offset.is_object() && offset.contains(key) && offset[key].is_number_integer(); };
  if (is_number("offset") && is_number("timestamp")) return Position{offset["offset"].get<int64_t>(), offset["timestamp"].get<int64_t>()};
  return ExternalError("TIDEMILL_MALFORMED_LOG",
                       "\"{}\" is no offset of a rate-micro-batch source: was the source of this query replaced by another one?",
                       text.substr(0, 80));
}

/// The rows of one batch, which share a time.
class OneTime final : public InputPartition {
 public:
  OneTime(int64_t timestamp_ms, std::shared_ptr<InputPartition> values) : timestamp_ms(timestamp_ms), values(std::move(values)) {}
  const int64_t timestamp_ms;
  const std::shared_ptr<InputPartition> values;
};

class RateMicroBatchSource final : public Source {
 public:
  explicit RateMicroBatchSource(RateMicroBatchOptions options) : schema_(CountingSchema()), options_(options) {}

  std::string Description() const override {
    return fmt::format("RatePerBatchStream[rowsPerBatch={}, numPartitions={}, startTimestamp={}, advanceMsPerBatch={}]",
                       options_.rows_per_batch, Partitions(), options_.start_timestamp_ms, options_.advance_ms_per_batch);
  }
  const type::Schema& schema() const override { return schema_; }

  Result<std::optional<Offset>> LatestOffset(const std::optional<Offset>& start, bool) override {
    if (frozen_ && last_) return last_;
    ARROW_ASSIGN_OR_RAISE(const Position from, PositionOf(start));
    last_ = Print({from.value + options_.rows_per_batch, from.timestamp_ms + options_.advance_ms_per_batch});
    return last_;
  }
  Status PrepareForAvailableNow() override {
    frozen_ = true;
    return Status::OK();
  }
  Status LogUpTo(const Offset&) override { return Status::OK(); }
  Result<std::vector<std::shared_ptr<InputPartition>>> PlanPartitions(const std::optional<Offset>& start, const Offset& end) override {
    ARROW_ASSIGN_OR_RAISE(const Position from, PositionOf(start));
    ARROW_ASSIGN_OR_RAISE(const Position to, Parse(end));
    std::vector<std::shared_ptr<InputPartition>> partitions;
    for (auto& values : DealOut(from.value, to.value, Partitions()))
      partitions.push_back(std::make_shared<OneTime>(from.timestamp_ms, std::move(values)));
    return partitions;
  }
  Result<std::unique_ptr<PartitionReader>> OpenReader(const InputPartition& partition, const std::vector<int>& columns,
                                                      std::stop_token stop) override {
    const auto& rows = static_cast<const OneTime&>(partition);
    return MakeCountingReader(
        *rows.values, columns, [time_ms = rows.timestamp_ms](int64_t) { return time_ms; }, std::move(stop));
  }
  Status Commit(const Offset&) override { return Status::OK(); }

 private:
  Result<Position> PositionOf(const std::optional<Offset>& start) const {
    return start ? Parse(*start) : Position{0, options_.start_timestamp_ms};
  }
  int64_t Partitions() const { return options_.partitions.value_or(kDefaultRatePartitions); }

  const type::Schema schema_;
  const RateMicroBatchOptions options_;
  bool frozen_ = false;         // AvailableNow: one batch
  std::optional<Offset> last_;  // what LatestOffset() answered last
};

}  // namespace

Result<std::unique_ptr<Source>> MakeRateMicroBatchSource(const SourceContext& context) {
  ARROW_ASSIGN_OR_RAISE(const RateMicroBatchOptions options, RateMicroBatchOptions::Make(context.options));
  return std::make_unique<RateMicroBatchSource>(options);
}

}  // namespace tidemill::connector
