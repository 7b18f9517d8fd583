// The crash proof. Every storage call of a three-batch run is made to fail, or to be the last one of its process; what survives is restarted, and the rows
// that readers of the sink see are compared with a plain recount, as a multiset. Then the proof is proved: with any one kind of sync call left out, it fails.
//
// TIDEMILL_LONG=1 walks with more seeds.

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <set>

#include "base/log.h"
#include "stream/loop_rig.h"
#include "testing/simulated_disk.h"

namespace tidemill::stream {
namespace {

using testing::SimulatedDisk;
using testing::Survival;

// Numbers behind the watermark that are not late yet, numbers twice, numbers in two blocks: each kind of mistake shows in the rows.
const Blocks kFirstRun = {{10, 30, 20}, {15, 40, 40, 30}, {35, 60, 50}};
// The next run finds a new block, as a restart waits for data before it emits what the watermark has passed; the last run another one.
const Blocks kNextRun = {{10, 30, 20}, {15, 40, 40, 30}, {35, 60, 50}, {70, 70}};
const Blocks kLastRun = {{10, 30, 20}, {15, 40, 40, 30}, {35, 60, 50}, {70, 70}, {80}};

bool IsLong() { return std::getenv("TIDEMILL_LONG") != nullptr; }

// Under a sanitizer the walk looks for errors of memory and threads, which repeat from call to call; that nothing is lost is shown without one.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

/// How a run is disturbed, at which call.
struct Disturbance {
  testing::Fault fault;
  int64_t call = 0;
  Survival survival = Survival::kNothingUnsynced;
  uint64_t seed = 0;
  /// The next process does one batch, and then the power goes.
  bool power_cut_later = false;
};

struct Tally {
  int64_t cases = 0, fired = 0, stopped = 0, lost = 0, duplicated = 0, repairs = 0, shapes = 0;
  std::string first_problem;

  int64_t failures() const { return lost + duplicated + repairs + shapes; }
  void Problem(int64_t* count, int64_t by, const std::string& what) {
    if (by > 0 && first_problem.empty()) first_problem = what;
    *count += by;
  }
  void Add(const Tally& other) {
    cases += other.cases;
    fired += other.fired;
    stopped += other.stopped;
    lost += other.lost;
    duplicated += other.duplicated;
    repairs += other.repairs;
    shapes += other.shapes;
    if (first_problem.empty()) first_problem = other.first_problem;
  }
};

class IoWalk {
 public:
  explicit IoWalk(LogSchedule schedule) : schedule_(schedule) {}

  /// Sync calls for which this is true do nothing, and say that they did.
  std::function<bool(const testing::Call&)> without_sync;

  /// The storage calls of an undisturbed run.
  std::vector<testing::Call> Calls() {
    SimulatedDisk disk;
    const Status status = Run(disk, kFirstRun);
    EXPECT_TRUE(status.ok()) << status;
    return disk.log();
  }

  void RunCase(const Disturbance& disturbance, Tally* tally) {
    ++tally->cases;
    SimulatedDisk disk;
    disk.ignore_sync = without_sync;
    disk.Inject(disturbance.fault, disturbance.call);
    disk.RecordCalls(false);
    const Status disturbed = Run(disk, kFirstRun);  // fails or not, as it pleases
    tally->fired += disk.fired() > 0;
    const std::string name = fmt::format("fault {} at call {}, survival {}, seed {}{}: ", static_cast<int>(disturbance.fault), disturbance.call,
                                         static_cast<int>(disturbance.survival), disturbance.seed, disturbance.power_cut_later ? ", power cut later" : "");
    if (!disturbed.ok() || disk.crashed()) ++tally->stopped;
    disk.Reboot(disturbance.survival, disturbance.seed);
    CheckShape(disk, name, tally);
    if (disturbance.power_cut_later) {
      const Status between = Run(disk, kNextRun, /*triggers=*/1);
      if (!between.ok()) return tally->Problem(&tally->repairs, 1, name + between.ToString());
      disk.Reboot(Survival::kNothingUnsynced, disturbance.seed);
      CheckShape(disk, name, tally);
    }
    const Status restarted = Run(disk, kLastRun);
    if (!restarted.ok()) return tally->Problem(&tally->repairs, 1, name + restarted.ToString());
    CompareRows(disk, name, tally);
  }

 private:
  Status Run(SimulatedDisk& disk, const Blocks& blocks, std::optional<int> triggers = std::nullopt) {
    testing::FakeClock clock;
    LoopRig rig(disk, clock, blocks, {.log_schedule = schedule_});
    ARROW_RETURN_NOT_OK(rig.Open());
    if (!triggers) return rig.RunAll();
    for (int i = 0; i < *triggers; ++i) ARROW_RETURN_NOT_OK(rig.RunTrigger().status());
    return rig.loop->Flush();
  }

  static void CompareRows(SimulatedDisk& disk, const std::string& name, Tally* tally) {
    const auto file_system = fs::MakeLocalFileSystem(disk);
    const Result<std::vector<int64_t>> rows = ManifestSink::ReadRows(*file_system, kRigOutput);
    if (!rows.ok()) return tally->Problem(&tally->lost, 1, name + rows.status().ToString());
    std::map<int64_t, int64_t> balance;
    for (int64_t number : ExpectedRows(kLastRun)) ++balance[number];
    for (int64_t number : *rows) --balance[number];
    for (const auto& [number, left] : balance) {
      tally->Problem(&tally->lost, std::max<int64_t>(left, 0), fmt::format("{}{} is lost", name, number));
      tally->Problem(&tally->duplicated, std::max<int64_t>(-left, 0), fmt::format("{}{} is there too often", name, number));
    }
  }

  // What Spark may rely on at every instant: commits are a prefix of the offsets and at most one behind; a query that has offsets has its id; one that has
  // committed has said which operators it has.
  static void CheckShape(SimulatedDisk& disk, const std::string& name, Tally* tally) {
    const auto files = disk.Files();
    const auto newest = [&](const std::string& folder) {
      int64_t newest = -1;
      for (const auto& [path, bytes] : files) {
        if (fs::Parent(path) == folder && !fs::BaseName(path).starts_with('.')) newest = std::max<int64_t>(newest, std::stoll(fs::BaseName(path)));
      }
      return newest;
    };
    const std::string root = kRigRoot;
    const int64_t offsets = newest(root + "/offsets"), commits = newest(root + "/commits");
    const bool prefix = commits == offsets || commits + 1 == offsets;
    tally->Problem(&tally->shapes, !prefix, fmt::format("{}offsets end with {}, commits with {}", name, offsets, commits));
    tally->Problem(&tally->shapes, offsets >= 0 && !files.contains(root + "/metadata"), name + "offsets without metadata");
    const bool described = files.contains(root + "/state/0/_metadata/metadata") && files.contains(root + "/state/0/0/_metadata/schema");
    tally->Problem(&tally->shapes, commits >= 0 && !described, name + "a commit without operator metadata and schema");
  }

  const LogSchedule schedule_;
};

bool ChangesTheDisk(const testing::Call& call) {
  static const std::set<std::string> kLooks = {"open", "read", "pread", "close", "device", "stat", "list"};
  return !kLooks.contains(call.kind);
}

// Every way to disturb one call. A process that merely fails leaves a page cache behind, and the power may go just then too.
std::vector<Disturbance> DisturbancesAt(int64_t call, bool changes_the_disk, int seeds) {
  std::vector<Disturbance> all;
  for (const testing::Fault fault : {testing::Fault::kFailOnce, testing::Fault::kFailAfter, testing::Fault::kFailFrom,
                                    testing::Fault::kCrashBefore, testing::Fault::kCrashAfter}) {
    // A crash beside a call that only looks is a crash beside the next call that does not.
    const bool crash = fault == testing::Fault::kCrashBefore || fault == testing::Fault::kCrashAfter;
    if (crash && !changes_the_disk) continue;
    for (const Survival survival : {Survival::kNothingUnsynced, Survival::kEverything, Survival::kPageCache}) all.push_back({fault, call, survival});
    for (int seed = 1; seed <= seeds; ++seed) all.push_back({fault, call, Survival::kSeededSubset, static_cast<uint64_t>(call * 1000 + seed)});
    all.push_back({fault, call, Survival::kPageCache, 0, /*power_cut_later=*/true});
  }
  return all;
}

class IoWalkTest : public ::testing::TestWithParam<LogSchedule> {};

TEST_P(IoWalkTest, NothingIsLostOrDoubledWhereverARunIsDisturbed) {
  IoWalk walk(GetParam());
  // Failures are the point here; their warnings would be thousands.
  log::SetLevel(log::Level::kOff);
  const std::vector<testing::Call> calls = walk.Calls();
  ASSERT_GT(calls.size(), 100u);
  Tally tally;
  for (size_t call = 0; call < calls.size(); call += kSanitized ? 41 : 1) {
    for (const Disturbance& disturbance : DisturbancesAt(call, ChangesTheDisk(calls[call]), IsLong() ? 20 : 2)) walk.RunCase(disturbance, &tally);
  }
  std::cout << fmt::format(
      "{} storage calls, {} cases, {} faults fired, {} runs stopped by them: {} lost, {} duplicated, {} hand repairs, {} of the wrong shape\n",
      calls.size(), tally.cases, tally.fired, tally.stopped, tally.lost, tally.duplicated, tally.repairs, tally.shapes);
  EXPECT_EQ(tally.failures(), 0) << tally.first_problem;
  EXPECT_GT(tally.fired * 10, tally.cases * 9) << "too few faults had an effect";
}

// A place in the code that syncs: the kind of call, and the path with its numbers and random parts taken out.
std::string SiteOf(const testing::Call& call) {
  std::string site = call.kind + " ";
  bool in_number = false;
  for (size_t i = 0; i < call.path.size(); ++i) {
    const char c = call.path[i];
    const bool digit = std::isdigit(static_cast<unsigned char>(c));
    if (digit && !in_number) site += '#';
    if (!digit) site += c;
    in_number = digit;
  }
  const size_t uuid = site.find(".tmp");
  if (uuid != std::string::npos && uuid > 37) site.resize(site.rfind('.', uuid - 1));
  const size_t part = site.find("part-");
  if (part != std::string::npos) site.resize(part + 5);
  return site;
}

TEST_P(IoWalkTest, EachSyncIsNeeded) {
  if (kSanitized) GTEST_SKIP() << "a statement about the protocol, shown without a sanitizer";
  log::SetLevel(log::Level::kOff);
  std::map<std::string, Tally> table;
  const std::vector<testing::Call> calls = IoWalk(GetParam()).Calls();
  for (const testing::Call& call : calls) {
    if (testing::IsSync(call)) table[SiteOf(call)];
  }
  ASSERT_GT(table.size(), 10u);
  for (auto& [site, tally] : table) {
    IoWalk walk(GetParam());
    walk.without_sync = [&, wanted = site](const testing::Call& call) { return SiteOf(call) == wanted; };
    for (int64_t call = 0; call < static_cast<int64_t>(calls.size()); ++call) {
      if (!ChangesTheDisk(calls[call])) continue;
      if (tally.failures() > 0 && !IsLong()) break;  // one is enough to show that the site is needed
      walk.RunCase({testing::Fault::kCrashAfter, call, Survival::kNothingUnsynced}, &tally);
      for (uint64_t seed = 1; seed <= 2; ++seed) walk.RunCase({testing::Fault::kCrashAfter, call, Survival::kSeededSubset, seed * 7919 + call}, &tally);
      walk.RunCase({testing::Fault::kCrashAfter, call, Survival::kPageCache, 0, true}, &tally);
    }
  }
  std::cout << fmt::format("{:<60} {:>6} {:>9}\n", "without this sync", "cases", "failures");
  for (const auto& [site, tally] : table) {
    std::cout << fmt::format("{:<60} {:>6} {:>9}\n", site, tally.cases, tally.failures());
    EXPECT_GT(tally.failures(), 0) << site << " could be left out and nobody would notice";
  }
}

INSTANTIATE_TEST_SUITE_P(Schedules, IoWalkTest, ::testing::Values(LogSchedule::kEager, LogSchedule::kLazy),
                         [](const auto& info) { return info.param == LogSchedule::kEager ? "Eager" : "Lazy"; });

}  // namespace
}  // namespace tidemill::stream
