#include <algorithm>
#include <array>
#include <cctype>

#include "sql/string_escapes.h"
#include "sql/token.h"

namespace tidemill::sql {

namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
// Letters of other scripts (bytes above ASCII) may stand in names.
bool IsWordChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || static_cast<unsigned char>(c) >= 0x80; }

// Longest first. `>>` is left out: `ARRAY<ARRAY<INT>>` closes two brackets.
constexpr std::array<std::string_view, 11> kLongSymbols = {"<=>", "<=", ">=", "<>", "!=", "==", "||", "::", "->", "|>", "=>"};
constexpr std::string_view kShortSymbols = "()[]{},.;:?+-*/%<>=!&|^~@#$\\";

// What a word that begins with digits is: a number, with exponent or suffix, or else a name such as `1st`.
TokenKind ClassifyDigits(std::string_view word, size_t digits) {
  std::string rest(word.substr(digits));
  std::transform(rest.begin(), rest.end(), rest.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (rest.empty()) return TokenKind::kInteger;
  if (rest == "L" || rest == "S" || rest == "Y" || rest == "F" || rest == "BD") return TokenKind::kSuffixed;
  if (rest == "D") return TokenKind::kDouble;
  if (rest[0] != 'E') return TokenKind::kWord;
  size_t exponent = 1;
  while (exponent < rest.size() && IsDigit(rest[exponent])) ++exponent;
  if (exponent == 1) return TokenKind::kWord;
  std::string_view suffix = std::string_view(rest).substr(exponent);
  if (suffix.empty() || suffix == "D") return TokenKind::kDouble;
  return suffix == "F" || suffix == "BD" ? TokenKind::kSuffixed : TokenKind::kWord;
}

}  // namespace

bool Token::Is(std::string_view keyword) const {
  return kind == TokenKind::kWord && text.size() == keyword.size() &&
         std::equal(text.begin(), text.end(), keyword.begin(),
                    [](char a, char b) { return std::toupper(static_cast<unsigned char>(a)) == b; });
}

Status SyntaxError(const Token& token, std::string hint, std::string suggestion) {
  std::string near = token.kind == TokenKind::kEnd ? "end of input" : "'" + std::string(token.text.substr(0, 80)) + "'";
  std::string question = suggestion.empty() ? "" : " Did you mean " + suggestion + "?";
  Error error = UserError("PARSE_SYNTAX_ERROR", "Syntax error at or near {}{}.{}", near, hint, question)
                    .Param("error", near)
                    .Param("hint", hint)
                    .Param("line", std::to_string(token.origin.line))
                    .Param("column", std::to_string(token.origin.column));
  if (suggestion.empty()) return error;
  return std::move(error).Param("suggestion", suggestion);
}

void Lexer::Advance(size_t count) {
  for (size_t i = 0; i < count; ++i, ++position_) {
    if (text_[position_] == '\n') {
      ++line_;
      column_ = 1;
    } else {
      ++column_;
    }
  }
}

Token Lexer::Take(TokenKind kind, size_t length) {
  Token token;
  token.kind = kind;
  token.text = text_.substr(position_, length);
  token.origin = {line_, column_, static_cast<int>(position_), static_cast<int>(position_ + length)};
  Advance(length);
  return token;
}

// Bracketed comments nest.
Status Lexer::SkipBracketedComment() {
  Lexer start = *this;
  int depth = 0;
  do {
    if (position_ >= text_.size()) {
      return UserError("UNCLOSED_BRACKETED_COMMENT", "Found an unclosed bracketed comment. Please, append */ at the end of the comment.")
          .Param("line", std::to_string(start.line_))
          .Param("column", std::to_string(start.column_));
    }
    if (At(0) == '/' && At(1) == '*') {
      ++depth;
      Advance(2);
    } else if (At(0) == '*' && At(1) == '/') {
      --depth;
      Advance(2);
    } else {
      Advance(1);
    }
  } while (depth > 0);
  return Status::OK();
}

Status Lexer::SkipBlanks() {
  while (position_ < text_.size()) {
    if (std::isspace(static_cast<unsigned char>(At(0))) != 0) {
      Advance(1);
    } else if (At(0) == '-' && At(1) == '-') {
      while (position_ < text_.size() && At(0) != '\n') Advance(1);
    } else if (At(0) == '/' && At(1) == '*') {
      ARROW_RETURN_NOT_OK(SkipBracketedComment());
    } else {
      break;
    }
  }
  return Status::OK();
}

Result<Token> Lexer::ReadString(size_t prefix, bool raw) {
  char quote = At(prefix);
  std::string body;
  size_t length = prefix + 1;
  while (true) {
    if (position_ + length >= text_.size()) return SyntaxError(Take(TokenKind::kSymbol, prefix + 1));
    char c = At(length);
    if (c == quote && At(length + 1) == quote && !raw) {
      body += quote;  // '' is a quote
      length += 2;
    } else if (c == quote) {
      break;
    } else if (c == '\\' && !raw && position_ + length + 1 < text_.size()) {
      body += c;
      body += At(length + 1);
      length += 2;
    } else {
      body += c;
      ++length;
    }
  }
  Token token = Take(TokenKind::kString, length + 1);
  token.value = raw ? body : UnescapeString(body);
  return token;
}

Result<Token> Lexer::ReadQuotedIdentifier() {
  std::string name;
  size_t length = 1;
  while (At(length) != '`' || At(length + 1) == '`') {
    if (position_ + length >= text_.size()) return SyntaxError(Take(TokenKind::kSymbol, 1));
    if (At(length) == '`') ++length;
    name += At(length++);
  }
  Token token = Take(TokenKind::kQuoted, length + 1);
  if (name.empty()) return SyntaxError(token);
  token.value = std::move(name);
  return token;
}

// digits [. digits] | . digits, then exponent and suffix; the current character is a digit or a point.
Token Lexer::ReadDecimal() {
  size_t length = 0;
  while (IsDigit(At(length))) ++length;
  ++length;  // the point
  while (IsDigit(At(length))) ++length;
  TokenKind kind = TokenKind::kDecimal;
  bool has_exponent = std::toupper(At(length)) == 'E' &&
                      (IsDigit(At(length + 1)) || ((At(length + 1) == '+' || At(length + 1) == '-') && IsDigit(At(length + 2))));
  if (has_exponent) {
    length += 2;
    while (IsDigit(At(length))) ++length;
    kind = TokenKind::kDouble;
  }
  char suffix = static_cast<char>(std::toupper(At(length)));
  if (suffix == 'B' && std::toupper(At(length + 1)) == 'D' && !IsWordChar(At(length + 2))) {
    length += 2;
    kind = TokenKind::kSuffixed;
  } else if ((suffix == 'D' || suffix == 'F') && !IsWordChar(At(length + 1))) {
    ++length;
    kind = suffix == 'D' ? TokenKind::kDouble : TokenKind::kSuffixed;
  }
  Token token = Take(kind, length);
  token.value = std::string(token.text);
  return token;
}

Token Lexer::ReadWordOrNumber() {
  size_t digits = 0;
  while (IsDigit(At(digits))) ++digits;
  if (digits > 0 && At(digits) == '.') return ReadDecimal();
  size_t length = digits;
  while (IsWordChar(At(length))) ++length;
  TokenKind kind = TokenKind::kWord;
  if (digits > 0) {
    kind = ClassifyDigits(text_.substr(position_, length), digits);
    // 1e+3: the sign is part of the number.
    bool signed_exponent =
        length == digits + 1 && std::toupper(At(digits)) == 'E' && (At(length) == '+' || At(length) == '-') && IsDigit(At(length + 1));
    if (signed_exponent) {
      ++length;
      while (IsDigit(At(length))) ++length;
      kind = TokenKind::kDouble;
    }
  }
  Token token = Take(kind, length);
  token.value = std::string(token.text);
  return token;
}

Result<Token> Lexer::Next() {
  ARROW_RETURN_NOT_OK(SkipBlanks());
  if (position_ >= text_.size()) return Take(TokenKind::kEnd, 0);
  char c = At(0);
  if (c == '\'' || c == '"') return ReadString(0, false);
  if ((c == 'r' || c == 'R') && (At(1) == '\'' || At(1) == '"')) return ReadString(1, true);
  if (c == '`') return ReadQuotedIdentifier();
  if (c == '.' && IsDigit(At(1))) return ReadDecimal();
  if (IsWordChar(c)) return ReadWordOrNumber();
  for (std::string_view symbol : kLongSymbols) {
    if (text_.substr(position_, symbol.size()) == symbol) return Take(TokenKind::kSymbol, symbol.size());
  }
  Token symbol = Take(TokenKind::kSymbol, 1);
  if (kShortSymbols.find(c) == std::string_view::npos) return SyntaxError(symbol);
  return symbol;
}

Token Lexer::RestOfStatement() {
  while (position_ < text_.size() && std::isspace(static_cast<unsigned char>(At(0))) != 0) Advance(1);
  size_t length = 0;
  while (position_ + length < text_.size() && At(length) != ';') {
    bool word_begins = length == 0 || std::isspace(static_cast<unsigned char>(At(length - 1))) != 0;
    if (word_begins && At(length) == '-' && At(length + 1) == '-') break;
    ++length;
  }
  while (length > 0 && std::isspace(static_cast<unsigned char>(At(length - 1))) != 0) --length;
  Token token = Take(TokenKind::kString, length);
  token.value = std::string(token.text);
  return token;
}

}  // namespace tidemill::sql
