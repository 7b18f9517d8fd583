#pragma once

// Sinks without a store: `console` prints each batch as a table, `noop` takes rows and drops them. Source: Spark ConsoleWrite, NoopDataSource.

#include "connector/registry.h"

namespace tidemill::connector {

/// Add the formats `console` (options numRows, truncate) and `noop`.
void RegisterConsoleFormats(Registry& registry);

}  // namespace tidemill::connector
