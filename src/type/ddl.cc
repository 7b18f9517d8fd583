// Types and column lists in DDL form, as Spark's StructType.fromDDL and CREATE TABLE read them.

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "type/data_type.h"

namespace tidemill::type {

namespace {

struct TypeName {
  const char* name;
  const TypePtr& (*type)();
};

constexpr TypeName kTypeNames[] = {
    {"boolean", Boolean},
    {"tinyint", Byte},
    {"byte", Byte},
    {"smallint", Short},
    {"short", Short},
    {"int", Int},
    {"integer", Int},
    {"bigint", Long},
    {"long", Long},
    {"float", Float},
    {"real", Float},
    {"double", Double},
    {"date", Date},
    {"timestamp", Timestamp},
    {"timestamp_ltz", Timestamp},
    {"string", String},
    {"binary", Binary},
    {"void", Void},
    {"timestamp_ntz", TimestampNtz},
};

constexpr const char* kDayTimeUnits[] = {"day", "hour", "minute", "second"};

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string Upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

bool IsWordByte(unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c >= 0x80; }

class DdlParser {
 public:
  explicit DdlParser(std::string_view text) : text_(text) {}

  Result<Schema> WholeSchema() {
    Schema schema;
    ARROW_ASSIGN_OR_RAISE(schema.fields, Columns('\0'));
    ARROW_RETURN_NOT_OK(End());
    return schema;
  }

  Result<TypePtr> WholeType() {
    ARROW_ASSIGN_OR_RAISE(TypePtr type, Type());
    ARROW_RETURN_NOT_OK(End());
    return type;
  }

 private:
  // Columns up to (not including) `close`, at least one.
  Result<std::vector<Field>> Columns(char close) {
    std::vector<Field> fields;
    do {
      ARROW_ASSIGN_OR_RAISE(fields.emplace_back(), Column());
    } while (Take(','));
    if (close != '\0' && Peek() != close) return SyntaxError();
    return fields;
  }

  Result<Field> Column() {
    Field field;
    ARROW_ASSIGN_OR_RAISE(field.name, Identifier());
    Take(':');
    ARROW_ASSIGN_OR_RAISE(field.type, Type());
    if (TakeWord("not")) {
      if (!TakeWord("null")) return SyntaxError();
      field.nullable = false;
    }
    if (TakeWord("comment")) {
      ARROW_ASSIGN_OR_RAISE(std::string comment, StringLiteral());
      field.metadata_json = nlohmann::json{{"comment", comment}}.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    }
    return field;
  }

  Result<TypePtr> Type() {
    if (!IsWordByte(Peek())) return SyntaxError();
    const std::string name = Lower(std::string(Word()));
    for (const TypeName& known : kTypeNames) {
      if (name != known.name) continue;
      if (Peek() == '(') return Unsupported(name + Parameters());
      return known.type();
    }
    if (name == "decimal" || name == "dec" || name == "numeric") return DecimalType();
    if (name == "interval") return IntervalType();
    if (name == "array") return ArrayType();
    if (name == "map") return MapType();
    if (name == "struct") return StructType();
    if (name == "char" || name == "character" || name == "varchar") return CharType(name);
    return Unsupported(Peek() == '(' ? name + Parameters() : name);
  }

  Result<TypePtr> DecimalType() {
    int precision = 10;
    int scale = 0;
    if (Take('(')) {
      ARROW_ASSIGN_OR_RAISE(precision, Number());
      if (Take(',')) {
        ARROW_ASSIGN_OR_RAISE(scale, Number());
      }
      if (!Take(')')) return SyntaxError();
    }
    if (precision > 38) {
      return UserError("DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION", "Decimal precision {} exceeds max precision 38.", precision)
          .Param("precision", std::to_string(precision))
          .Param("maxPrecision", "38");
    }
    if (scale > precision) {
      return UserError("_LEGACY_ERROR_TEMP_1228", "Decimal scale ({}) cannot be greater than precision ({}).", scale, precision)
          .Param("scale", std::to_string(scale))
          .Param("precision", std::to_string(precision));
    }
    if (precision == 0) return Unsupported(fmt::format("decimal({},{})", precision, scale));
    return Decimal(precision, scale);
  }

  // INTERVAL DAY TO SECOND and its narrower kin. The old calendar interval (no unit) has no form in a checkpoint that we could keep.
  Result<TypePtr> IntervalType() {
    std::string first = Lower(std::string(PeekWord()));
    if (first == "year" || first == "month") {
      Word();
      if (TakeWord("to") && !TakeWord("month")) return SyntaxError();
      return YearMonthInterval();
    }
    for (const char* unit : kDayTimeUnits) {
      if (first != unit) continue;
      Word();
      if (TakeWord("to")) {
        const std::string last = Lower(std::string(PeekWord()));
        if (std::find(std::begin(kDayTimeUnits), std::end(kDayTimeUnits), last) == std::end(kDayTimeUnits)) return SyntaxError();
        Word();
      }
      return DayTimeInterval();
    }
    return Unsupported("interval");
  }

  Result<TypePtr> ArrayType() {
    if (!Take('<')) return Incomplete("ARRAY", "'ARRAY<<elementType>>'");
    ARROW_ASSIGN_OR_RAISE(TypePtr element, Type());
    if (!Take('>')) return SyntaxError();
    return Array(std::move(element));
  }

  Result<TypePtr> MapType() {
    if (!Take('<')) return Incomplete("MAP", "'MAP<<keyType>, <valueType>>'");
    ARROW_ASSIGN_OR_RAISE(TypePtr key, Type());
    if (!Take(',')) return SyntaxError();
    ARROW_ASSIGN_OR_RAISE(TypePtr value, Type());
    if (!Take('>')) return SyntaxError();
    return Map(std::move(key), std::move(value));
  }

  Result<TypePtr> StructType() {
    if (!Take('<')) return Incomplete("STRUCT", "'STRUCT<fieldName: fieldType, ...>'");
    std::vector<Field> fields;
    if (Peek() != '>') {
      ARROW_ASSIGN_OR_RAISE(fields, Columns('>'));
    }
    if (!Take('>')) return SyntaxError();
    return Struct(std::move(fields));
  }

  Result<TypePtr> CharType(const std::string& name) {
    if (Peek() != '(') {
      return UserError("DATATYPE_MISSING_SIZE", "DataType \"{}\" requires a length parameter, for example \"{}\"(10).", Upper(name),
                       Upper(name))
          .Param("type", "\"" + Upper(name) + "\"");
    }
    Parameters();
    return UserError("UNSUPPORTED_CHAR_OR_VARCHAR_AS_STRING",
                     "The char/varchar type can't be used in the table schema. Use STRING: lengths are not enforced here.");
  }

  Result<std::string> Identifier() {
    if (Peek() != '`') {
      if (!IsWordByte(Peek())) return SyntaxError();
      return std::string(Word());
    }
    std::string name;
    for (++position_; position_ < text_.size(); ++position_) {
      if (text_[position_] != '`') {
        name += text_[position_];
      } else if (position_ + 1 < text_.size() && text_[position_ + 1] == '`') {
        name += text_[position_++];
      } else {
        ++position_;
        if (name.empty()) return UserError("INVALID_EMPTY_IDENTIFIER", "A quoted name must not be empty.");
        return name;
      }
    }
    return SyntaxError();
  }

  Result<std::string> StringLiteral() {
    const char quote = Peek();
    if (quote != '\'' && quote != '"') return SyntaxError();
    std::string value;
    for (++position_; position_ < text_.size() && text_[position_] != quote; ++position_) {
      if (text_[position_] == '\\' && position_ + 1 < text_.size()) ++position_;
      value += text_[position_];
    }
    if (position_ == text_.size()) return SyntaxError();
    ++position_;
    return value;
  }

  Result<int> Number() {
    Peek();
    const std::string_view word = PeekWord();
    int value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (word.empty() || error != std::errc() || end != word.data() + word.size()) return SyntaxError();
    Word();
    return value;
  }

  // The text "(…)" after a name, for messages.
  std::string Parameters() {
    Peek();
    const size_t close = text_.find(')', position_);
    const size_t end = close == std::string_view::npos ? text_.size() : close + 1;
    std::string parameters(text_.substr(position_, end - position_));
    position_ = end;
    return parameters;
  }

  // The next character after white space, '\0' at the end.
  char Peek() {
    while (position_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[position_])) != 0) ++position_;
    return position_ < text_.size() ? text_[position_] : '\0';
  }
  bool Take(char c) {
    if (Peek() != c) return false;
    ++position_;
    return true;
  }
  std::string_view PeekWord() {
    Peek();
    size_t end = position_;
    while (end < text_.size() && IsWordByte(text_[end])) ++end;
    return text_.substr(position_, end - position_);
  }
  std::string_view Word() {
    const std::string_view word = PeekWord();
    position_ += word.size();
    return word;
  }
  bool TakeWord(std::string_view word) {
    if (Lower(std::string(PeekWord())) != word) return false;
    Word();
    return true;
  }
  Status End() { return Peek() == '\0' ? Status::OK() : static_cast<Status>(SyntaxError()); }

  Error SyntaxError() {
    std::string near = "end of input";
    if (Peek() != '\0') {
      const std::string_view word = PeekWord();
      near = "'" + (word.empty() ? std::string(1, text_[position_]) : std::string(word)) + "'";
    }
    return UserError("PARSE_SYNTAX_ERROR", "Syntax error at or near {}, in the column definitions: {}", near, text_)
        .Param("error", near)
        .Param("hint", "");
  }
  static Error Unsupported(const std::string& name) {
    const std::string quoted = "\"" + Upper(name) + "\"";
    return UserError("UNSUPPORTED_DATATYPE", "Unsupported data type {}.", quoted).Param("typeName", quoted);
  }
  static Error Incomplete(const std::string& kind, const std::string& example) {
    return UserError("INCOMPLETE_TYPE_DEFINITION." + kind, "Incomplete complex type: the definition of {} must say what it holds: {}.",
                     kind, example)
        .Param("elementType", "<elementType>");
  }

  std::string_view text_;
  size_t position_ = 0;
};

}  // namespace

Result<Schema> ParseDdl(std::string_view ddl) { return DdlParser(ddl).WholeSchema(); }

Result<TypePtr> ParseType(std::string_view text) { return DdlParser(text).WholeType(); }

}  // namespace tidemill::type
