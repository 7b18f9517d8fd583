#pragma once

#include <string>

namespace tidemill {
/// A fresh random (version 4) UUID, 36 characters, lower case.
std::string NewUuid();
}  // namespace tidemill
