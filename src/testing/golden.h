#pragma once

// Checkpoints that real Spark wrote, for tests: tests/golden/ holds one archive a case (its README says what is inside).

#include <string>
#include <vector>

#include "base/status.h"

namespace tidemill::testing {

/// Names of all cases without `.tar.xz`, sorted: "4.3.0_agg_basic_hdfs".
std::vector<std::string> ListGoldenCases();

/// One case, unpacked into a folder of its own that goes away with the object.
class GoldenCase {
 public:
  /// Errors: IOError when there is no such case or `tar` fails.
  static Result<GoldenCase> Unpack(const std::string& name);
  GoldenCase(GoldenCase&& other) noexcept : folder_(std::move(other.folder_)), path_(std::move(other.path_)) { other.folder_.clear(); }
  ~GoldenCase();

  /// The case's folder, with input/, checkpoint/, output/ and expected.json.
  const std::string& path() const { return path_; }
  std::string checkpoint() const { return path_ + "/checkpoint"; }
  /// The text of expected.json.
  std::string expected_json() const;

 private:
  GoldenCase() = default;

  std::string folder_;
  std::string path_;
};

}  // namespace tidemill::testing
