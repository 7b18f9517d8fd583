#pragma once

#include "connector/registry.h"

namespace tidemill::connector {

/// `rate` and `rate-micro-batch`, for reading.
void RegisterRateFormats(Registry& registry);

}  // namespace tidemill::connector
