#include "cli/progress_printer.h"

#include <gtest/gtest.h>

#include <sstream>

namespace tidemill::cli {
namespace {

stream::Progress SomeProgress() {
  stream::Progress progress;
  progress.batch_id = 3;
  progress.batch_duration_ms = 50;
  progress.sources.resize(2);
  progress.sources[0].input_rows = 100;
  progress.sources[1].input_rows = 50;
  progress.event_time["watermark"] = "2026-01-01T00:00:00.000Z";
  progress.operators.resize(1);
  progress.operators[0].rows_total = 7;
  return progress;
}

TEST(ProgressPrinterTest, ALineHasTheFiguresOfABatch) {
  EXPECT_EQ(ProgressLine("t", SomeProgress()), "t  batch 3: 150 rows in 50 ms, 3000 rows/s, watermark 2026-01-01T00:00:00.000Z, 7 keys in state");
  stream::Progress late = SomeProgress();
  late.operators[0].rows_dropped_by_watermark = 2;
  EXPECT_NE(ProgressLine("t", late).find("2 late rows dropped"), std::string::npos);
}

TEST(ProgressPrinterTest, SumsUpWhatPeopleSaw) {
  std::ostringstream out;
  ProgressPrinter printer(ProgressMode::kPlain, out);
  const stream::QueryObserver observer = printer.Observe("t");
  observer.on_progress(SomeProgress());
  observer.on_progress(SomeProgress());
  EXPECT_FALSE(observer.on_idle);
  out.str("");
  printer.PrintSummary(1000);
  EXPECT_EQ(out.str(), "2 batches, 300 rows in 1.0 s, 300 rows/s\n");
}

TEST(ProgressPrinterTest, JsonIsOneObjectALineAndNothingElse) {
  std::ostringstream out;
  ProgressPrinter printer(ProgressMode::kJson, out);
  const stream::QueryObserver observer = printer.Observe("t");
  observer.on_progress(SomeProgress());
  observer.on_idle(SomeProgress());
  printer.PrintSummary(1000);
  EXPECT_EQ(out.str(), SomeProgress().ToJson() + "\n" + SomeProgress().ToJson() + "\n");
}

TEST(ProgressPrinterTest, NoneIsSilent) {
  std::ostringstream out;
  ProgressPrinter printer(ProgressMode::kNone, out);
  EXPECT_FALSE(printer.Observe("t").on_progress);
  printer.PrintSummary(1000);
  EXPECT_EQ(out.str(), "");
}

}  // namespace
}  // namespace tidemill::cli
