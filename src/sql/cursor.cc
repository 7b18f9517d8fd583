#include "sql/cursor.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <vector>

#include "base/config.h"

namespace tidemill::sql {

namespace {

// Deep enough for any text a person or a generator writes, shallow enough for every recursion over the result.
constexpr int kMaxNesting = 150;

// Words that cannot be a column, table or alias unless quoted. Spark reserves fewer, but a name like these is a slip far more often than a name.
constexpr std::array<std::string_view, 24> kReserved = {"SELECT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION", "EXCEPT", "INTERSECT", "MINUS", "JOIN",
                                                        "ON", "AND", "OR", "NOT", "WHEN", "THEN", "ELSE", "END", "AS", "IN", "IS", "BETWEEN"};
// Words that end a select item or a relation, so that they are no alias without AS.
constexpr std::array<std::string_view, 27> kNoImplicitAlias = {"OFFSET", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL", "ANTI", "SEMI", "USING", "LATERAL", "WINDOW",
                                                               "SORT", "CLUSTER", "DISTRIBUTE", "WATERMARK", "WITH", "IDENTIFIED", "TABLESAMPLE", "VERSION", "PIVOT",
                                                               "UNPIVOT", "DELAY", "QUALIFY", "LIKE", "RLIKE", "ILIKE"};

template <size_t N>
bool Contains(const std::array<std::string_view, N>& words, const Token& token) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return token.Is(word); });
}

std::string NearestKeyword(const Token& token) {
  static const std::vector<std::string> kKeywords = {"SELECT", "FROM",   "WHERE",     "GROUP", "HAVING", "ORDER",     "LIMIT",   "STREAM",  "STREAMING",    "WATERMARK",
                                                     "DELAY",  "CREATE", "TABLE",     "USING", "OPTIONS", "TEMPORARY", "INTERVAL", "DISTINCT", "TBLPROPERTIES", "SECONDS",
                                                     "MINUTES", "HOURS", "BETWEEN", "REPLACE", "UNION", "WITH"};
  if (token.kind != TokenKind::kWord || token.text.size() < 3) return "";
  std::string upper(token.text);
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::string nearest = NearestName(upper, kKeywords);
  return nearest == upper ? "" : nearest;
}

}  // namespace

const Token& Cursor::Peek(size_t ahead) {
  while (ahead_.size() <= ahead) {
    Result<Token> token = lexer_error_.ok() ? lexer_.Next() : Result<Token>(lexer_error_);
    if (!token.ok()) lexer_error_ = token.status();
    ahead_.push_back(token.ok() ? *std::move(token) : Token{});
  }
  return ahead_[ahead];
}

Token Cursor::Next() {
  Peek();
  previous_ = std::move(ahead_.front());
  ahead_.pop_front();
  return previous_;
}

bool Cursor::Accept(std::string_view keyword) {
  if (!Peek().Is(keyword)) return false;
  Next();
  return true;
}

bool Cursor::AcceptSymbol(std::string_view symbol) {
  if (!Peek().IsSymbol(symbol)) return false;
  Next();
  return true;
}

bool Cursor::AcceptWords(std::initializer_list<std::string_view> keywords) {
  size_t ahead = 0;
  for (std::string_view keyword : keywords) {
    if (!Peek(ahead++).Is(keyword)) return false;
  }
  for (size_t i = 0; i < keywords.size(); ++i) Next();
  return true;
}

Status Cursor::Expect(std::string_view keyword) { return Accept(keyword) ? Status::OK() : Unexpected(); }

Status Cursor::ExpectSymbol(std::string_view symbol) {
  if (AcceptSymbol(symbol)) return Status::OK();
  const Token& token = Peek();
  if (!lexer_error_.ok()) return Unexpected();
  // As Spark's parser: one word too many is named, and so is a bracket that is left open where a clause begins.
  if (Peek(1).IsSymbol(symbol)) return SyntaxError(token, fmt::format(": extra input '{}'", token.text), NearestKeyword(token));
  if (symbol == ")" && (token.kind == TokenKind::kEnd || Contains(kReserved, token))) return SyntaxError(token, ": missing ')'");
  return Unexpected();
}

Status Cursor::ExpectEnd() { return AtEnd() && lexer_error_.ok() ? Status::OK() : Unexpected(); }

Status Cursor::Unexpected() {
  const Token& token = Peek();
  if (!lexer_error_.ok()) return lexer_error_;
  std::string suggestion = NearestKeyword(token);
  if (suggestion.empty()) suggestion = NearestKeyword(previous_);
  return SyntaxError(token, "", std::move(suggestion));
}

bool Cursor::AtIdentifier(size_t ahead) {
  const Token& token = Peek(ahead);
  return token.kind == TokenKind::kQuoted || (token.kind == TokenKind::kWord && !Contains(kReserved, token));
}

bool Cursor::AtImplicitAlias() { return AtIdentifier() && !Contains(kNoImplicitAlias, Peek()); }

Result<std::string> Cursor::ExpectIdentifier() {
  if (!AtIdentifier()) return Unexpected();
  return Next().value;
}

Result<std::vector<std::string>> Cursor::ExpectName() {
  std::vector<std::string> parts;
  do {
    ARROW_ASSIGN_OR_RAISE(std::string part, ExpectIdentifier());
    parts.push_back(std::move(part));
  } while (AcceptSymbol("."));
  return parts;
}

Token Cursor::RestOfStatement() {
  // Tokens already looked at are part of it, so nothing may have been.
  previous_ = lexer_.RestOfStatement();
  return previous_;
}

Status Cursor::CheckNesting() {
  if (nesting_ <= kMaxNesting) return Status::OK();
  return AtPlace(UserError("TIDEMILL_QUERY_TOO_DEEP", "The query is nested deeper than {} levels.", kMaxNesting), Peek().origin);
}

Status UnsupportedSyntax(std::string feature, const expr::Origin& origin) {
  return AtPlace(UserError("TIDEMILL_UNSUPPORTED_SYNTAX", "{} is not supported yet.", feature).Param("feature", feature), origin);
}

Status AtPlace(const Status& status, const expr::Origin& origin) {
  const ErrorDetail* detail = ErrorDetail::Of(status);
  if (detail == nullptr || origin.line == 0 || detail->parameters.count("line") > 0) return status;
  auto placed = std::make_shared<ErrorDetail>(*detail);
  placed->parameters["line"] = std::to_string(origin.line);
  placed->parameters["column"] = std::to_string(origin.column);
  return Status(status.code(), status.message(), std::move(placed));
}

}  // namespace tidemill::sql
