#pragma once

// The file sink: data files beside a log, `<path>/_spark_metadata`, that alone says which of them count. Source: Spark FileStreamSink.
//
// Tasks write part files under names of their own; once the batch's barrier has made them durable, one log entry makes all of them visible at once. Readers that
// go by the log see each batch exactly once; whoever lists the folder may see files of attempts that failed.

#include "connector/registry.h"

namespace tidemill::connector {

/// A sink that writes JSON lines. Options: path (required), retention, ignoreNullFields, timeZone.
Result<std::unique_ptr<Sink>> MakeJsonFileSink(const SinkContext& context);

/// Options that MakeJsonFileSink understands, in lower case.
std::vector<std::string> JsonFileSinkOptions();

}  // namespace tidemill::connector
