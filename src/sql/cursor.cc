#include "sql/cursor.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <vector>

namespace tidemill::sql {

namespace {

// Deep enough for any text a person or a generator writes, shallow enough for every recursion over the result.
constexpr int kMaxNesting = 150;

// Words that cannot be a column, table or alias unless quoted. Spark reserves fewer, but a name like these is a slip far more often than a name.
constexpr std::array<std::string_view, 24> kReserved = {"SELECT", "FROM",      "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION",
                                                        "EXCEPT", "INTERSECT", "MINUS", "JOIN",  "ON",     "AND",   "OR",    "NOT",
                                                        "WHEN",   "THEN",      "ELSE",  "END",   "AS",     "IN",    "IS",    "BETWEEN"};
// Words that end a select item or a relation, so that they are no alias without AS.
constexpr std::array<std::string_view, 27> kNoImplicitAlias = {
    "OFFSET",      "INNER",   "LEFT",   "RIGHT",   "FULL",    "CROSS",      "NATURAL",   "ANTI",  "SEMI",
    "USING",       "LATERAL", "WINDOW", "SORT",    "CLUSTER", "DISTRIBUTE", "WATERMARK", "WITH",  "IDENTIFIED",
    "TABLESAMPLE", "VERSION", "PIVOT",  "UNPIVOT", "DELAY",   "QUALIFY",    "LIKE",      "RLIKE", "ILIKE"};

// Words worth a hint when they are misspelled.
constexpr std::array<std::string_view, 28> kKeywords = {
    "SELECT",  "FROM",    "WHERE", "GROUP",   "HAVING",  "ORDER",         "LIMIT",    "STREAM",    "STREAMING", "WATERMARK",
    "DELAY",   "CREATE",  "TABLE", "VIEW",    "USING",   "OPTIONS",       "LOCATION", "TEMPORARY", "INTERVAL",  "DISTINCT",
    "SECONDS", "MINUTES", "HOURS", "BETWEEN", "REPLACE", "TBLPROPERTIES", "UNION",    "WITH"};

template <size_t N>
bool Contains(const std::array<std::string_view, N>& words, const Token& token) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return token.Is(word); });
}

// Slips of the finger between two words: a letter wrong, missing or too many, two letters swapped.
size_t Slips(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

// The keyword that a word nearly is, or "". Short words must differ by one slip only, or every name would be near to some keyword.
std::string NearestKeyword(const Token& token) {
  if (token.kind != TokenKind::kWord || token.text.size() < 4 || token.text.size() > 20) return "";
  std::string upper(token.text);
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::string_view nearest;
  size_t fewest = upper.size() < 8 ? 2 : 3;
  for (std::string_view keyword : kKeywords) {
    size_t slips = Slips(upper, keyword);
    if (slips == 0) return "";
    if (slips >= fewest) continue;
    fewest = slips;
    nearest = keyword;
  }
  return std::string(nearest);
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
  ARROW_ASSIGN_OR_RAISE(std::string first, ExpectIdentifier());
  std::vector<std::string> parts = {std::move(first)};
  while (AcceptSymbol(".")) {
    ARROW_ASSIGN_OR_RAISE(std::string part, ExpectPart());
    parts.push_back(std::move(part));
  }
  return parts;
}

Result<std::string> Cursor::ExpectPart() {
  if (Peek().kind != TokenKind::kWord && Peek().kind != TokenKind::kQuoted) return Unexpected();
  return Next().value;
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
