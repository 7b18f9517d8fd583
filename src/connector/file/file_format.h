#pragma once

// The formats that live in files.

#include "connector/registry.h"

namespace tidemill::connector {

/// Add `json`, as source and sink.
void RegisterFileFormats(Registry& registry);

}  // namespace tidemill::connector
