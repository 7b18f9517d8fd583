#pragma once

// Words of SQL text, and the lexer that finds them.

#include <string>
#include <string_view>

#include "base/status.h"
#include "expr/expression.h"

namespace tidemill::sql {

enum class TokenKind {
  kWord,      ///< identifier or keyword, as written
  kQuoted,    ///< `identifier`; value without quotes
  kString,    ///< 'text', "text", r'text'; value unescaped
  kInteger,   ///< digits
  kDecimal,   ///< digits with a point: a decimal literal
  kDouble,    ///< digits with an exponent or suffix D
  kSuffixed,  ///< a number with suffix L, S, Y, F or BD, in upper case at the end of value
  kSymbol,    ///< operator or punctuation
  kEnd
};

/// One word. `text` is a view of the SQL text, as the user wrote it.
struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;
  std::string value;
  expr::Origin origin;

  /// Is it this keyword (upper case)? Quoted identifiers are none.
  bool Is(std::string_view keyword) const;
  bool IsSymbol(std::string_view symbol) const { return kind == TokenKind::kSymbol && text == symbol; }
};

/// PARSE_SYNTAX_ERROR at a token, with Spark's parameters `error` and `hint`, and its line and column.
/// `suggestion` (may be empty) is the keyword that the user may have meant; it travels as a parameter of that name.
Status SyntaxError(const Token& token, std::string hint = "", std::string suggestion = "");

/// Reads one token after another; comments and blanks are skipped. Numbers, words and symbols as Spark 4 separates them.
class Lexer {
 public:
  /// `text` outlives the lexer and its tokens.
  explicit Lexer(std::string_view text) : text_(text) {}

  /// The next token; kEnd at the end of the text, as often as asked. Errors: PARSE_SYNTAX_ERROR, UNCLOSED_BRACKETED_COMMENT.
  Result<Token> Next();
  /// Everything up to the end of the statement, uninterpreted: to a semicolon, or to a comment that begins a word. What SET takes for a value.
  Token RestOfStatement();

 private:
  Status SkipBlanks();
  Status SkipBracketedComment();
  void Advance(size_t count);
  char At(size_t ahead) const { return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0'; }
  Token Take(TokenKind kind, size_t length);
  Result<Token> ReadString(size_t prefix, bool raw);
  Result<Token> ReadQuotedIdentifier();
  Token ReadWordOrNumber();
  Token ReadDecimal();

  std::string_view text_;
  size_t position_ = 0;
  int line_ = 1;
  int column_ = 1;
};

}  // namespace tidemill::sql
