#include "connector/rate/rate_source.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "connector/rate/counting_reader.h"
#include "connector/rate/rate_options.h"

namespace tidemill::connector {

namespace {

constexpr char kVersion[] = "v1\n";

Result<int64_t> ParseNumber(std::string_view text, std::string_view what) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return ExternalError("TIDEMILL_MALFORMED_LOG",
                         "\"{}\" is no {} of a rate source: was the source of this query replaced by another one?", text.substr(0, 80),
                         what);
  }
  return value;
}

/// A share of the values of the seconds (start, end].
class Seconds final : public InputPartition {
 public:
  Seconds(int64_t start_s, int64_t end_s, std::shared_ptr<InputPartition> values)
      : start_s(start_s), end_s(end_s), values(std::move(values)) {}
  const int64_t start_s;
  const int64_t end_s;
  const std::shared_ptr<InputPartition> values;
};

class RateSource final : public Source {
 public:
  RateSource(const SourceContext& context, RateOptions options)
      : file_system_(context.file_system),
        clock_(context.clock),
        schema_(CountingSchema()),
        options_(options),
        creation_path_(fs::Join(context.metadata_path, "0")) {}

  std::string Description() const override {
    // Without the closing bracket, as Spark prints it.
    return fmt::format("RateStreamV2[rowsPerSecond={}, rampUpTimeSeconds={}, numPartitions={}", options_.rows_per_second,
                       options_.ramp_up_s, options_.partitions ? std::to_string(*options_.partitions) : "default");
  }
  const type::Schema& schema() const override { return schema_; }

  Result<std::optional<Offset>> LatestOffset(const std::optional<Offset>& start, bool) override {
    ARROW_RETURN_NOT_OK(EnsureCreated());
    if (start) {
      ARROW_ASSIGN_OR_RAISE(const int64_t reached, ParseNumber(*start, "offset"));
      last_s_ = std::max(last_s_, reached);  // a clock that goes back does not take seconds away
    }
    if (!frozen_s_) last_s_ = std::max(last_s_, (clock_.NowMs() - creation_ms_) / 1000);
    return std::optional(std::to_string(frozen_s_ ? std::max(last_s_, *frozen_s_) : last_s_));
  }
  Status PrepareForAvailableNow() override {
    ARROW_RETURN_NOT_OK(EnsureCreated());
    frozen_s_ = (clock_.NowMs() - creation_ms_) / 1000;
    return Status::OK();
  }
  Status LogUpTo(const Offset&) override {
    if (creation_logged_) return Status::OK();
    ARROW_ASSIGN_OR_RAISE(const fs::CreateOutcome outcome,
                          file_system_.CreateIfAbsent(creation_path_, kVersion + std::to_string(creation_ms_)));
    if (outcome == fs::CreateOutcome::kTaken) {
      return ExternalError("CONCURRENT_STREAM_LOG_UPDATE", "Multiple streaming jobs detected: another query has written {}.",
                           creation_path_)
          .Path(creation_path_);
    }
    creation_logged_ = true;
    return Status::OK();
  }
  Result<std::vector<std::shared_ptr<InputPartition>>> PlanPartitions(const std::optional<Offset>& start, const Offset& end) override {
    ARROW_RETURN_NOT_OK(EnsureCreated());
    ARROW_ASSIGN_OR_RAISE(const int64_t start_s, start ? ParseNumber(*start, "offset") : Result<int64_t>(0));
    ARROW_ASSIGN_OR_RAISE(const int64_t end_s, ParseNumber(end, "offset"));
    std::vector<std::shared_ptr<InputPartition>> partitions;
    if (start_s == end_s) return partitions;
    for (auto& values : DealOut(ValueAt(start_s), ValueAt(end_s), options_.partitions.value_or(kDefaultRatePartitions))) {
      partitions.push_back(std::make_shared<Seconds>(start_s, end_s, std::move(values)));
    }
    return partitions;
  }
  Result<std::unique_ptr<PartitionReader>> OpenReader(const InputPartition& partition, const std::vector<int>& columns,
                                                      std::stop_token stop) override {
    const auto& seconds = static_cast<const Seconds&>(partition);
    const int64_t begin_ms = creation_ms_ + seconds.start_s * 1000;
    const int64_t begin = ValueAt(seconds.start_s);
    const double ms_per_value = static_cast<double>(seconds.end_s - seconds.start_s) * 1000 /
                                static_cast<double>(std::max<int64_t>(1, ValueAt(seconds.end_s) - begin));
    return MakeCountingReader(
        *seconds.values, columns,
        [=](int64_t value) { return begin_ms + static_cast<int64_t>(std::floor(static_cast<double>(value - begin) * ms_per_value + 0.5)); },
        std::move(stop));
  }
  Status Commit(const Offset&) override { return Status::OK(); }

 private:
  int64_t ValueAt(int64_t second) const { return RateValueAt(second, options_.rows_per_second, options_.ramp_up_s); }

  /// The time of the first start, from the checkpoint or now.
  Status EnsureCreated() {
    if (created_) return Status::OK();
    ARROW_ASSIGN_OR_RAISE(const auto info, file_system_.Stat(creation_path_));
    if (info) {
      // A killed process may have left it visible but not on disk.
      const std::vector<std::string> paths = {creation_path_};
      ARROW_RETURN_NOT_OK(file_system_.MakeDurable(paths));
      ARROW_ASSIGN_OR_RAISE(const std::string text, file_system_.Read(creation_path_));
      if (!text.starts_with(kVersion)) {
        return ExternalError("TIDEMILL_MALFORMED_LOG", "{} does not begin with v1. Restore it from a copy of the checkpoint.",
                             creation_path_)
            .Path(creation_path_);
      }
      ARROW_ASSIGN_OR_RAISE(creation_ms_, ParseNumber(std::string_view(text).substr(sizeof(kVersion) - 1), "creation time"));
      creation_logged_ = true;
    } else {
      creation_ms_ = clock_.NowMs();
    }
    created_ = true;
    return Status::OK();
  }

  fs::FileSystem& file_system_;
  Clock& clock_;
  const type::Schema schema_;
  const RateOptions options_;
  const std::string creation_path_;
  bool created_ = false;
  int64_t creation_ms_ = 0;
  bool creation_logged_ = false;  // after EnsureCreated() the log thread's
  int64_t last_s_ = 0;
  std::optional<int64_t> frozen_s_;
};

}  // namespace

int64_t RateValueAt(int64_t second, int64_t rows_per_second, int64_t ramp_up_s) {
  const int64_t step = rows_per_second / (ramp_up_s + 1);
  const int64_t ramped = std::min(second, ramp_up_s);
  return step * ramped * (ramped + 1) / 2 + (second - ramped) * rows_per_second;
}

Result<std::unique_ptr<Source>> MakeRateSource(const SourceContext& context) {
  ARROW_ASSIGN_OR_RAISE(const RateOptions options, RateOptions::Make(context.options));
  return std::make_unique<RateSource>(context, options);
}

}  // namespace tidemill::connector
