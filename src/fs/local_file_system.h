#pragma once

#include <memory>

#include "fs/file_system.h"
#include "fs/system_calls.h"

namespace tidemill::fs {

struct LocalOptions {
  /// False: no sync call is made (tidemill.checkpoint.sync=false, to compare with Spark, which syncs nothing).
  bool sync = true;
  /// Write Hadoop's hidden `.crc` beside each checkpoint file.
  bool hadoop_crc = false;
};

/// A FileSystem over `calls`, which must outlive it. Safe to call from several threads.
std::unique_ptr<FileSystem> MakeLocalFileSystem(SystemCalls& calls, LocalOptions options = {});
/// The kernel's system calls; one object serves the process.
std::unique_ptr<SystemCalls> MakePosixCalls();

}  // namespace tidemill::fs
