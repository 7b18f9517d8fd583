#include "connector/console/console_sink.h"

#include <arrow/record_batch.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <ostream>

#include "connector/console/table_text.h"

namespace tidemill::connector {

namespace {

constexpr char kRule[] = "-------------------------------------------";  // 43 dashes, as Spark prints

std::string LowerCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

Result<int64_t> ParseCount(const std::string& option, const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    return UserError("TIDEMILL_INVALID_OPTION", "Invalid value '{}' for option '{}' of the console: a whole number of 0 or more is needed.", text, option);
  }
  return value;
}

Result<TableOptions> ParseTableOptions(const SinkContext& context) {
  TableOptions options;
  options.time_zone = context.config.Get(conf::kSessionTimeZone);
  if (const auto rows = context.options.find("numrows"); rows != context.options.end()) {
    ARROW_ASSIGN_OR_RAISE(options.max_rows, ParseCount("numRows", rows->second));
  }
  if (const auto truncate = context.options.find("truncate"); truncate != context.options.end()) {
    const std::string text = LowerCase(truncate->second);
    if (text == "false") {
      options.truncate = 0;
    } else if (text != "true") {
      return UserError("TIDEMILL_INVALID_OPTION", "Invalid value '{}' for option 'truncate' of the console: true or false is needed.", truncate->second);
    }
  }
  return options;
}

/// Keeps what one task hands on: rows for the driver to print, or only their number.
class CollectingWriter final : public SinkWriter {
 public:
  explicit CollectingWriter(bool keep_rows) : keep_rows_(keep_rows) {}

  Status Write(const arrow::RecordBatch& batch) override {
    result_.row_count += batch.num_rows();
    if (keep_rows_) result_.rows.push_back(batch.Slice(0));
    return Status::OK();
  }
  Result<WriterResult> Finish() override { return std::move(result_); }

 private:
  const bool keep_rows_;
  WriterResult result_;
};

class ConsoleSink final : public Sink {
 public:
  ConsoleSink(type::Schema schema, TableOptions options, std::ostream& out) : schema_(std::move(schema)), options_(std::move(options)), out_(out) {}

  std::string Description() const override { return "ConsoleTable"; }
  bool ReportsOutputRows() const override { return true; }
  Result<bool> HasBatch(int64_t) override { return false; }
  Result<std::unique_ptr<SinkWriter>> OpenWriter(int64_t, int32_t) override { return std::make_unique<CollectingWriter>(/*keep_rows=*/true); }

  Status Commit(int64_t batch_id, std::vector<WriterResult> results) override {
    std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
    for (WriterResult& result : results) std::move(result.rows.begin(), result.rows.end(), std::back_inserter(batches));
    ARROW_ASSIGN_OR_RAISE(const std::string table, FormatTable(schema_, batches, options_));
    out_ << kRule << "\nBatch: " << batch_id << '\n' << kRule << '\n' << table << std::flush;
    if (out_.good()) return Status::OK();
    out_.clear();
    return ExternalError("TIDEMILL_OUTPUT_FAILED", "Cannot write batch {} to the standard output: is its reader gone, or the disk behind it full?", batch_id);
  }

 private:
  const type::Schema schema_;
  const TableOptions options_;
  std::ostream& out_;
};

class NoopSink final : public Sink {
 public:
  std::string Description() const override { return "NoopTable"; }
  bool ReportsOutputRows() const override { return true; }
  Result<bool> HasBatch(int64_t) override { return false; }
  Result<std::unique_ptr<SinkWriter>> OpenWriter(int64_t, int32_t) override { return std::make_unique<CollectingWriter>(/*keep_rows=*/false); }
  Status Commit(int64_t, std::vector<WriterResult>) override { return Status::OK(); }
};

}  // namespace

void RegisterConsoleFormats(Registry& registry) {
  Format console;
  console.make_sink = [](const SinkContext& context) -> Result<std::unique_ptr<Sink>> {
    ARROW_ASSIGN_OR_RAISE(TableOptions options, ParseTableOptions(context));
    return std::make_unique<ConsoleSink>(context.schema, std::move(options), context.out);
  };
  console.known_options = {"numrows", "truncate"};
  console.needs_checkpoint = false;
  registry.Add("console", std::move(console));

  Format noop;
  noop.make_sink = [](const SinkContext&) -> Result<std::unique_ptr<Sink>> { return std::make_unique<NoopSink>(); };
  noop.needs_checkpoint = false;
  registry.Add("noop", std::move(noop));
}

}  // namespace tidemill::connector
