#include "connector/rate/rate_source.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "connector/rate/rate_micro_batch_source.h"
#include "fs/local_file_system.h"
#include "testing/fake_clock.h"
#include "testing/simulated_disk.h"

namespace tidemill::connector {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class RateSourceTest : public ::testing::Test {
 protected:
  using Options = std::map<std::string, std::string>;

  std::unique_ptr<Source> Make(Options options = {}) {
    return MakeRateSource({*files_, clock_, config_, "/ckpt/sources/0", {}, std::move(options), "/"}).ValueOrDie();
  }
  std::unique_ptr<Source> MakeMicroBatch(Options options) {
    return MakeRateMicroBatchSource({*files_, clock_, config_, "/ckpt/sources/0", {}, std::move(options), "/"}).ValueOrDie();
  }
  /// Value → time in ms.
  std::map<int64_t, int64_t> Rows(Source& source, const std::optional<Offset>& start, const Offset& end) {
    std::map<int64_t, int64_t> rows;
    for (const auto& partition : source.PlanPartitions(start, end).ValueOrDie()) {
      auto reader = source.OpenReader(*partition, {1, 0}, {}).ValueOrDie();
      while (auto batch = reader->Next().ValueOrDie()) {
        const auto& values = static_cast<const arrow::Int64Array&>(*batch->column(0));
        const auto& times = static_cast<const arrow::TimestampArray&>(*batch->column(1));
        for (int64_t i = 0; i < batch->num_rows(); ++i) EXPECT_TRUE(rows.emplace(values.Value(i), times.Value(i) / 1000).second);
      }
    }
    return rows;
  }

  testing::SimulatedDisk disk_;
  std::unique_ptr<fs::FileSystem> files_ = fs::MakeLocalFileSystem(disk_);
  testing::FakeClock clock_{1'000'000};
  Config config_;
};

TEST_F(RateSourceTest, TheFirstBatchIsEmptyAndEachSecondHasItsRows) {
  auto source = Make({{"rowspersecond", "4"}, {"numpartitions", "3"}});
  EXPECT_EQ(source->LatestOffset(std::nullopt, false).ValueOrDie(), "0");
  EXPECT_THAT(Rows(*source, std::nullopt, "0"), IsEmpty());
  clock_.AdvanceMs(2'999);
  EXPECT_EQ(source->LatestOffset("0", false).ValueOrDie(), "2");
  EXPECT_THAT(Rows(*source, "0", "1"), ElementsAre(Pair(0, 1'000'000), Pair(1, 1'000'250), Pair(2, 1'000'500), Pair(3, 1'000'750)));
  EXPECT_THAT(Rows(*source, "1", "2"), ElementsAre(Pair(4, 1'001'000), Pair(5, 1'001'250), Pair(6, 1'001'500), Pair(7, 1'001'750)));
}

TEST_F(RateSourceTest, ARestartCountsFromTheSameMoment) {
  auto source = Make();
  const Offset first = source->LatestOffset(std::nullopt, false).ValueOrDie().value();
  ASSERT_TRUE(source->LogUpTo(first).ok());
  EXPECT_EQ(disk_.Content("/ckpt/sources/0/0"), "v1\n1000000");
  clock_.AdvanceMs(60'000);
  EXPECT_EQ(Make()->LatestOffset(first, false).ValueOrDie(), "60");
  disk_.Put("/ckpt/sources/0/0", "v1\nsome day");
  EXPECT_THAT(Make()->LatestOffset(first, false).status().ToString(), HasSubstr("TIDEMILL_MALFORMED_LOG"));
}

TEST_F(RateSourceTest, AClockThatGoesBackTakesNothingAway) {
  auto source = Make();
  clock_.AdvanceMs(10'000);
  source->LatestOffset(std::nullopt, false).ValueOrDie();
  clock_.AdvanceMs(10'000);
  EXPECT_EQ(source->LatestOffset("0", false).ValueOrDie(), "10");
  clock_.SetMs(1'000'000);
  EXPECT_EQ(source->LatestOffset("10", false).ValueOrDie(), "10");
}

TEST_F(RateSourceTest, AvailableNowEndsWhereItBegan) {
  auto source = Make();
  source->LatestOffset(std::nullopt, false).ValueOrDie();
  clock_.AdvanceMs(5'000);
  ASSERT_TRUE(source->PrepareForAvailableNow().ok());
  clock_.AdvanceMs(5'000);
  EXPECT_EQ(source->LatestOffset("0", false).ValueOrDie(), "5");
}

TEST(RateValueTest, TheRateGrowsDuringTheRampAndThenStays) {
  std::vector<int64_t> values;
  for (int64_t second = 0; second <= 6; ++second) values.push_back(RateValueAt(second, 8, 3));
  EXPECT_THAT(values, ElementsAre(0, 2, 6, 12, 20, 28, 36));
  EXPECT_EQ(RateValueAt(7, 10, 0), 70);
}

TEST_F(RateSourceTest, AMicroBatchHasItsRowsAndOneTime) {
  auto source =
      MakeMicroBatch({{"rowsperbatch", "3"}, {"starttimestamp", "1000"}, {"advancemillisperbatch", "500"}, {"numpartitions", "2"}});
  const Offset first = source->LatestOffset(std::nullopt, false).ValueOrDie().value();
  EXPECT_EQ(first, "{\"offset\":3,\"timestamp\":1500}");
  EXPECT_THAT(Rows(*source, std::nullopt, first), ElementsAre(Pair(0, 1000), Pair(1, 1000), Pair(2, 1000)));
  const Offset second = source->LatestOffset(first, false).ValueOrDie().value();
  EXPECT_THAT(Rows(*source, first, second), ElementsAre(Pair(3, 1500), Pair(4, 1500), Pair(5, 1500)));
}

TEST_F(RateSourceTest, AvailableNowIsOneMicroBatch) {
  auto source = MakeMicroBatch({{"rowsperbatch", "3"}});
  ASSERT_TRUE(source->PrepareForAvailableNow().ok());
  const auto end = source->LatestOffset("{\"offset\":3,\"timestamp\":1000}", false).ValueOrDie();
  EXPECT_EQ(end, "{\"offset\":6,\"timestamp\":2000}");
  EXPECT_EQ(source->LatestOffset(end, false).ValueOrDie(), end);
}

}  // namespace
}  // namespace tidemill::connector
