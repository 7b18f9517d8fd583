# Every third-party library, why it is here and not our own code, and the version that was tried.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

# Columns, buffers, memory pools and kernels whose semantics equal Spark's. Debian has no Arrow C++: it comes from the pyarrow wheel.
include(arrow)

# Text formatting: gcc 12 has no std::format. 9.1.
find_package(fmt 9.0 REQUIRED)
# Structured log lines with levels, sinks and patterns. 1.10.
find_package(spdlog 1.10 REQUIRED)
# JSON on cold paths only (logs of a checkpoint, progress objects). 3.11.
find_package(nlohmann_json 3.11 REQUIRED)
# JSON lines of a source: parsed at memory speed. 3.0.
find_package(simdjson 3.0 REQUIRED)
# Command line flags with help texts. 2.1.
find_package(CLI11 2.1 REQUIRED)
# Codecs of Spark's state files; LZF is small enough to be ours.
pkg_check_modules(lz4 REQUIRED IMPORTED_TARGET liblz4>=1.9)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash>=0.8)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd>=1.5)
find_package(Snappy 1.1 REQUIRED)
# Session time zones: parses and formats timestamps as Spark does, reads the system's zone files. 3.0.
find_package(date 3.0 REQUIRED)

if(TIDEMILL_DEVELOPER)
  find_package(GTest 1.12 REQUIRED)
  include(GoogleTest)
endif()
if(TIDEMILL_BENCH)
  find_package(benchmark 1.7 REQUIRED)
endif()
