#pragma once

// The file source: a folder that files are added to, read as a stream; each file once. Source: Spark FileStreamSource.
//
// What was read is kept in the log below R/sources/<k>: entry n names the files that offset {"logOffset":n} added. Choosing files (LatestOffset) and writing
// them down (LogUpTo) are two steps, so that the second can go beside other work.

#include "connector/registry.h"

namespace tidemill::connector {

/// A source of JSON lines. Errors: PATH_NOT_FOUND, a missing path option, a schema that JSON cannot be read as. Wrong values of the other options fail the first
/// batch, as in Spark.
Result<std::unique_ptr<Source>> MakeJsonFileSource(const SourceContext& context);

}  // namespace tidemill::connector
