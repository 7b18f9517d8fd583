// Runs scripted cases and compares what the engine does with what Spark did.
//
//   semantics_cases [--only ID,…] [--waiting FILE] [--keep] [--strict] FILE.json…
//
// A line per case: `PASS id`, `FAIL id: first difference` or `SKIP id: feature it waits for`; last `N passed, N failed, N skipped`. Cases that the engine cannot
// run yet are listed in waiting.txt, one `id feature` a line. The list only shrinks: a listed case that passes is a failure until its line is removed. --strict: a case that waits and is not
// listed is a failure too.

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include "base/log.h"
#include "case_run.h"
#include "compare.h"
#include "fs/local_file_system.h"

namespace tidemill::semantics {
namespace {

constexpr char kVersion[] = "4.3.0";

struct Arguments {
  std::vector<std::string> files;
  std::set<std::string> only;
  std::string waiting = TIDEMILL_SEMANTICS_WAITING;
  bool keep = false;
  bool strict = false;
};

std::set<std::string> Split(const std::string& text) {
  std::set<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) parts.insert(part);
  return parts;
}

bool ParseArguments(int argc, char** argv, Arguments* arguments) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--keep") {
      arguments->keep = true;
    } else if (word == "--strict") {
      arguments->strict = true;
    } else if ((word == "--only" || word == "--waiting") && i + 1 < argc) {
      const std::string value = argv[++i];
      if (word == "--only") {
        arguments->only = Split(value);
      } else {
        arguments->waiting = value;
      }
    } else if (word.starts_with("-")) {
      return false;
    } else {
      arguments->files.push_back(word);
    }
  }
  return !arguments->files.empty();
}

/// Case id to the feature it waits for.
std::map<std::string, std::string> ReadWaiting(const std::string& path) {
  std::map<std::string, std::string> waiting;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const size_t space = line.find(' ');
    if (line.empty() || line[0] == '#' || space == std::string::npos) continue;
    waiting[line.substr(0, space)] = line.substr(line.find_first_not_of(' ', space));
  }
  return waiting;
}

/// A folder in memory when the machine has one: nothing in it outlives the case.
std::string MakeWorkFolder() {
  const std::string parent = std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : std::filesystem::temp_directory_path().string();
  std::string pattern = parent + "/semantics-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) {
    std::cerr << "semantics_cases: cannot make a folder below " << parent << "\n";
    exit(2);
  }
  return pattern;
}

struct Tally {
  int passed = 0, failed = 0, skipped = 0;
};

enum class Outcome { kPass, kFail, kSkip };

struct Verdict {
  Outcome outcome = Outcome::kPass;
  std::string reason;
};

/// A script that the runner does not understand is a failure of its case, not the end of the run.
Result<Json> RunCase(Engine engine, const Json& one, const std::string& work) {
  try {
    return CaseRun(engine, one, work).Run();
  } catch (const nlohmann::json::exception& error) {
    return Status::Invalid("the script is not understood: ", error.what());
  }
}

Verdict Judge(Engine engine, const Json& one, const Json& expected, const std::string& work) {
  const Result<Json> actual = RunCase(engine, one, work);
  if (actual.status().IsNotImplemented()) return {Outcome::kSkip, actual.status().message()};
  if (!actual.ok()) return {Outcome::kFail, actual.status().ToString()};
  const auto difference = FirstDifference(one, expected, *actual);
  return difference ? Verdict{Outcome::kFail, *difference} : Verdict{};
}

/// The list decides about what is known not to work; anything else has to.
Verdict Weigh(Verdict found, const std::string& id, const std::map<std::string, std::string>& waiting, bool strict) {
  const auto listed = waiting.find(id);
  if (listed == waiting.end()) {
    if (strict && found.outcome == Outcome::kSkip) return {Outcome::kFail, "waits for " + found.reason + ", but is not in the waiting list"};
    return found;
  }
  if (found.outcome == Outcome::kPass) return {Outcome::kFail, "passes, so it has to be removed from the waiting list"};
  return {Outcome::kSkip, listed->second};
}

void Report(const Verdict& verdict, const std::string& id, Tally* tally) {
  switch (verdict.outcome) {
    case Outcome::kPass:
      ++tally->passed;
      std::cout << "PASS " << id << std::endl;
      return;
    case Outcome::kFail:
      ++tally->failed;
      std::cout << "FAIL " << id << ": " << verdict.reason << std::endl;
      return;
    case Outcome::kSkip:
      ++tally->skipped;
      std::cout << "SKIP " << id << ": " << verdict.reason << std::endl;
      return;
  }
}

void RunFile(Engine engine, const Arguments& arguments, const std::string& path, const std::map<std::string, std::string>& waiting, Tally* tally) {
  std::ifstream file(path);
  if (!file) {
    std::cerr << "semantics_cases: cannot read " << path << "\n";
    exit(2);
  }
  const Json document = Json::parse(file);
  for (const Json& one : document["cases"]) {
    const std::string id = one["id"];
    if (!arguments.only.empty() && !arguments.only.contains(id)) continue;
    const Json expected = ExpectedFor(one, kVersion);
    if (expected.is_null()) continue;
    const std::string work = MakeWorkFolder();
    Report(Weigh(Judge(engine, one, expected, work), id, waiting, arguments.strict), id, tally);
    if (arguments.keep) {
      std::cout << "     " << work << std::endl;
    } else {
      std::filesystem::remove_all(work);
    }
  }
}

int Main(int argc, char** argv) {
  Arguments arguments;
  if (!ParseArguments(argc, argv, &arguments)) {
    std::cerr << "usage: semantics_cases [--only ID,…] [--waiting FILE] [--keep] [--strict] FILE.json…\n";
    return 2;
  }
  log::SetLevel(log::Level::kOff);
  const auto calls = fs::MakePosixCalls();
  const auto file_system = fs::MakeLocalFileSystem(*calls, {.sync = false});
  GatedClock clock;
  ThreadPool pool(2);
  const auto waiting = ReadWaiting(arguments.waiting);
  Tally tally;
  for (const std::string& file : arguments.files) RunFile({*file_system, clock, pool}, arguments, file, waiting, &tally);
  std::cout << tally.passed << " passed, " << tally.failed << " failed, " << tally.skipped << " skipped" << std::endl;
  return tally.failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tidemill::semantics

int main(int argc, char** argv) { return tidemill::semantics::Main(argc, argv); }
