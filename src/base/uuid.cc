#include "base/uuid.h"

#include <cstdint>
#include <random>

namespace tidemill {

std::string NewUuid() {
  // The names of files hang on these being unique across processes and forks, so every bit comes from the system's generator.
  std::random_device device;
  std::string text;
  text.reserve(36);
  constexpr char kHex[] = "0123456789abcdef";
  for (int word = 0; word < 4; ++word) {
    uint32_t bits = device();
    if (word == 1) bits = (bits & 0xffff0fffu) | 0x00004000u;  // version 4
    if (word == 2) bits = (bits & 0x3fffffffu) | 0x80000000u;  // variant 1
    for (int shift = 28; shift >= 0; shift -= 4) {
      const size_t length = text.size();
      if (length == 8 || length == 13 || length == 18 || length == 23) text += '-';
      text += kHex[(bits >> shift) & 0xf];
    }
  }
  return text;
}

}  // namespace tidemill
