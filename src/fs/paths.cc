#include <filesystem>

#include "fs/file_system.h"

namespace tidemill::fs {

namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

/// "s3a" of "s3a://bucket/x"; empty when the text has no scheme.
std::string_view SchemeOf(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 || !IsLetter(text[0])) return {};
  for (const char c : text.substr(0, colon)) {
    if (!IsLetter(c) && !IsDigit(c) && c != '+' && c != '-' && c != '.') return {};
  }
  return text.substr(0, colon);
}

int HexValue(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string UndoEscapes(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? HexValue(text[i + 1]) : -1;
    const int low = high >= 0 ? HexValue(text[i + 2]) : -1;
    if (low >= 0) {
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

/// The path part of `file:` text: `/a` of "file:/a", "file:///a", "file://localhost/a".
Result<std::string> PathOfFileUri(std::string_view text, std::string_view rest) {
  if (rest.substr(0, 2) == "//") {
    rest.remove_prefix(2);
    const size_t slash = std::min(rest.find('/'), rest.size());
    const std::string_view host = rest.substr(0, slash);
    if (!host.empty() && host != "localhost") {
      return UserError("TIDEMILL_UNSUPPORTED_PATH", "Path '{}' names the host '{}': a file path has none, write file:///path", text, host);
    }
    rest.remove_prefix(slash);
  }
  if (rest.empty() || rest.front() != '/') {
    return UserError("TIDEMILL_UNSUPPORTED_PATH", "Path '{}' is relative: after 'file:' an absolute path is wanted", text);
  }
  return UndoEscapes(rest);
}

std::string Normalise(const std::string& path) {
  std::string normal = std::filesystem::path(path).lexically_normal().string();
  while (normal.size() > 1 && normal.back() == '/') normal.pop_back();
  // POSIX leaves the meaning of exactly two leading slashes to the system; here it is one.
  if (normal.size() > 1 && normal[0] == '/' && normal[1] == '/') normal.erase(0, 1);
  return normal;
}

/// Characters of a URI's path that Java leaves as they are.
bool StaysInUri(char c) {
  constexpr std::string_view kPunctuation = "-_.!~*'():@&=+$,;/";
  return IsLetter(c) || IsDigit(c) || kPunctuation.find(c) != std::string_view::npos;
}

/// Length of the UTF-8 sequence that starts with `lead`; 1 for a byte that starts none.
size_t SequenceLength(unsigned char lead) {
  if (lead >= 0xf0 && lead < 0xf8) return 4;
  if (lead >= 0xe0) return lead < 0xf0 ? 3 : 1;
  return lead >= 0xc0 ? 2 : 1;
}

/// Whether Java escapes a character outside ASCII: it does so for controls and spaces.
bool IsSpaceOutsideAscii(std::string_view sequence) {
  if (sequence.size() == 2) {
    const auto second = static_cast<unsigned char>(sequence[1]);
    return sequence[0] == '\xc2' && second >= 0x80 && second <= 0xa0;  // U+0080 to U+00A0
  }
  if (sequence.size() != 3) return false;
  const auto byte = [&](size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(sequence[i])); };
  const unsigned code = (byte(0) & 0xf) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
  return code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x2028 || code == 0x2029 || code == 0x202f || code == 0x205f ||
         code == 0x3000;
}

void AppendEscaped(std::string* out, std::string_view bytes) {
  for (const char c : bytes) *out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
}

}  // namespace

bool IsNotFound(const Status& status) {
  const ErrorDetail* detail = ErrorDetail::Of(status);
  return detail != nullptr && detail->condition == "PATH_NOT_FOUND";
}

std::string Join(std::string_view directory, std::string_view name) {
  std::string path(directory);
  if (path.empty() || path.back() != '/') path += '/';
  path += name;
  return path;
}

std::string Parent(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return slash == 0 ? "/" : std::string(path.substr(0, slash));
}

std::string BaseName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

Result<std::string> LocalPath(std::string_view text, const std::string& base) {
  if (text.empty()) return UserError("TIDEMILL_UNSUPPORTED_PATH", "A path is empty");
  if (text.find('\0') != std::string_view::npos) return UserError("TIDEMILL_UNSUPPORTED_PATH", "A path holds a NUL character");
  const std::string_view scheme = SchemeOf(text);
  if (scheme == "file") {
    ARROW_ASSIGN_OR_RAISE(const std::string path, PathOfFileUri(text, text.substr(scheme.size() + 1)));
    return Normalise(path);
  }
  if (!scheme.empty()) {
    const bool planned = scheme == "s3" || scheme == "s3a" || scheme == "s3n" || scheme == "hdfs" || scheme == "webhdfs";
    return UserError("TIDEMILL_UNSUPPORTED_PATH", "Path '{}': {} storage {}; use a path of this machine", text, scheme,
                     planned ? "is not supported yet" : "is not supported");
  }
  return Normalise(text.front() == '/' ? std::string(text) : Join(base, text));
}

std::string ToFileUri(const std::string& path) {
  std::string uri = "file://";
  for (size_t i = 0; i < path.size();) {
    const auto lead = static_cast<unsigned char>(path[i]);
    const std::string_view sequence = std::string_view(path).substr(i, lead < 0x80 ? 1 : SequenceLength(lead));
    const bool stays = lead < 0x80 ? StaysInUri(path[i]) : !IsSpaceOutsideAscii(sequence);
    if (stays) {
      uri += sequence;
    } else {
      AppendEscaped(&uri, sequence);
    }
    i += sequence.size();
  }
  return uri;
}

}  // namespace tidemill::fs
