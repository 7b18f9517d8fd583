// Errors for a terminal.
//
//   job.sql:3:10: error: [PARSE_SYNTAX_ERROR] Syntax error at or near 't'. Did you mean FROM?
//      3 | SELECT k FORM t
//        |               ^

#include <charconv>

#include "sql/parser.h"

namespace tidemill::sql {

namespace {

// A number among the parameters; 0 when it is not there.
int Place(const ErrorDetail& detail, const char* name) {
  auto found = detail.parameters.find(name);
  int value = 0;
  if (found != detail.parameters.end()) std::from_chars(found->second.data(), found->second.data() + found->second.size(), value);
  return value;
}

std::string_view LineOf(std::string_view text, int line) {
  for (int i = 1; i < line; ++i) {
    size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  return text;
}

// A caret under a byte: tabs stay tabs, and a character of several bytes is one place wide.
std::string CaretLine(std::string_view line, int column) {
  std::string caret;
  for (int i = 0; i < column - 1 && i < static_cast<int>(line.size()); ++i) {
    bool continues = (static_cast<unsigned char>(line[i]) & 0xC0) == 0x80;
    if (!continues) caret += line[i] == '\t' ? '\t' : ' ';
  }
  return caret + "^";
}

}  // namespace

std::string RenderError(const Status& error, std::string_view file_name, std::string_view text) {
  const ErrorDetail* detail = ErrorDetail::Of(error);
  std::string condition = detail == nullptr || detail->condition.empty() ? "" : "[" + detail->condition + "] ";
  int line = detail == nullptr ? 0 : Place(*detail, "line");
  if (line == 0) return fmt::format("{}: error: {}{}\n", file_name, condition, error.message());
  int column = Place(*detail, "column");
  std::string_view source = LineOf(text, line);
  return fmt::format("{}:{}:{}: error: {}{}\n{:>5} | {}\n      | {}\n", file_name, line, column, condition, error.message(), line, source,
                     CaretLine(source, column));
}

}  // namespace tidemill::sql
