#include "testing/golden.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

extern char** environ;

namespace tidemill::testing {
namespace {

constexpr std::string_view kSuffix = ".tar.xz";

std::filesystem::path GoldenFolder() { return TIDEMILL_GOLDEN_DIR; }

Status Extract(const std::string& archive, const std::string& folder) {
  std::string words[] = {"tar", "-xJf", archive, "-C", folder};
  char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), words[4].data(), nullptr};
  pid_t child = 0;
  if (posix_spawnp(&child, "tar", nullptr, nullptr, arguments, environ) != 0) return Status::IOError("cannot start tar");
  int outcome = 0;
  if (waitpid(child, &outcome, 0) != child || outcome != 0) return Status::IOError("tar could not unpack ", archive);
  return Status::OK();
}

}  // namespace

std::vector<std::string> ListGoldenCases() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(GoldenFolder())) {
    const std::string name = entry.path().filename();
    if (name.ends_with(kSuffix)) names.push_back(name.substr(0, name.size() - kSuffix.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<GoldenCase> GoldenCase::Unpack(const std::string& name) {
  std::string pattern = std::filesystem::temp_directory_path() / "tidemill-golden-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) return Status::IOError("cannot make a folder like ", pattern);
  GoldenCase golden;
  golden.folder_ = pattern;
  // "4.3.0_agg_basic_hdfs" holds the folder agg_basic_hdfs.
  golden.path_ = pattern + "/" + name.substr(name.find('_') + 1);
  ARROW_RETURN_NOT_OK(Extract(GoldenFolder() / (name + std::string(kSuffix)), golden.folder_));
  return golden;
}

GoldenCase::~GoldenCase() {
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

std::string GoldenCase::expected_json() const {
  std::ostringstream text;
  text << std::ifstream(path_ + "/expected.json").rdbuf();
  return text.str();
}

}  // namespace tidemill::testing
