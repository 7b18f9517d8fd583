#include "connector/console/table_text.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include <algorithm>

#include "expr/value_text.h"

namespace tidemill::connector {

namespace {

constexpr int64_t kMinWidth = 3;

/// Where character `count` of a UTF-8 text begins.
size_t ByteOfCharacter(std::string_view text, int64_t count) {
  size_t byte = 0;
  while (byte < text.size() && count > 0) {
    ++byte;
    while (byte < text.size() && (static_cast<uint8_t>(text[byte]) & 0xC0) == 0x80) ++byte;
    --count;
  }
  return byte;
}

int64_t Characters(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char byte) { return (static_cast<uint8_t>(byte) & 0xC0) != 0x80; });
}

/// East Asian full-width characters take two columns of a terminal.
bool IsFullWidth(uint32_t code) {
  return (code >= 0x1100 && code <= 0x115F) || (code >= 0x2E80 && code <= 0xA4CF) || (code >= 0xAC00 && code <= 0xD7A3) ||
         (code >= 0xF900 && code <= 0xFAFF) || (code >= 0xFE30 && code <= 0xFE6F) || (code >= 0xFF00 && code <= 0xFF60) ||
         (code >= 0xFFE0 && code <= 0xFFE6);
}

int64_t DisplayWidth(std::string_view text) {
  int64_t width = Characters(text);
  for (size_t i = 0; i + 2 < text.size(); ++i) {
    const auto lead = static_cast<uint8_t>(text[i]);
    if ((lead & 0xF0) != 0xE0) continue;  // all full-width characters above are three bytes long
    width += IsFullWidth((lead & 0x0Fu) << 12 | (static_cast<uint8_t>(text[i + 1]) & 0x3Fu) << 6 | (static_cast<uint8_t>(text[i + 2]) & 0x3Fu));
  }
  return width;
}

/// Control characters would break the table.
std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '\n': escaped += "\\n"; break;
      case '\r': escaped += "\\r"; break;
      case '\t': escaped += "\\t"; break;
      case '\f': escaped += "\\f"; break;
      case '\b': escaped += "\\b"; break;
      case '\v': escaped += "\\v"; break;
      case '\a': escaped += "\\a"; break;
      default: escaped += c;
    }
  }
  return escaped;
}

std::string Truncated(std::string text, int limit) {
  if (limit <= 0 || Characters(text) <= limit) return text;
  if (limit < 4) return text.substr(0, ByteOfCharacter(text, limit));
  return text.substr(0, ByteOfCharacter(text, limit - 3)) + "...";
}

using Row = std::vector<std::string>;

void AppendRow(const Row& row, const std::vector<int64_t>& widths, bool left, std::string* out) {
  *out += '|';
  for (size_t i = 0; i < row.size(); ++i) {
    const std::string padding(widths[i] - DisplayWidth(row[i]), ' ');
    *out += left ? row[i] + padding : padding + row[i];
    *out += '|';
  }
  *out += '\n';
}

}  // namespace

Result<std::string> FormatTable(const type::Schema& schema, const std::vector<std::shared_ptr<arrow::RecordBatch>>& batches, const TableOptions& options) {
  std::vector<Row> rows(1);
  for (const type::Field& field : schema.fields) rows[0].push_back(Truncated(Escaped(field.name), options.truncate));
  int64_t total = 0;
  for (const auto& batch : batches) {
    for (int64_t i = 0; i < batch->num_rows() && total + i < options.max_rows; ++i) {
      Row& row = rows.emplace_back();
      for (int column = 0; column < schema.size(); ++column) {
        const arrow::Array& array = *batch->column(column);
        if (array.IsNull(i)) {
          row.push_back("NULL");
          continue;
        }
        ARROW_ASSIGN_OR_RAISE(std::string text, expr::FormatValue(array, i, *schema.fields[column].type, options.time_zone));
        row.push_back(Truncated(Escaped(text), options.truncate));
      }
    }
    total += batch->num_rows();
  }
  std::vector<int64_t> widths(schema.size(), kMinWidth);
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], DisplayWidth(row[i]));
  }
  std::string border = "+";
  for (const int64_t width : widths) border += std::string(width, '-') + "+";
  border += '\n';
  const bool left = options.truncate <= 0;
  std::string table = border;
  AppendRow(rows[0], widths, left, &table);
  table += border;
  for (size_t i = 1; i < rows.size(); ++i) AppendRow(rows[i], widths, left, &table);
  table += border;
  if (total > options.max_rows) {
    table += fmt::format("only showing top {} row{}\n", options.max_rows, options.max_rows == 1 ? "" : "s");
  } else {
    table += '\n';
  }
  return table;
}

}  // namespace tidemill::connector
