// What stands behind FROM: tables, streams, subqueries, joins, and the clauses between a relation and its alias.

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <utility>

#include "plan/analyzer.h"
#include "sql/literal_parser.h"
#include "sql/query_parser.h"

namespace tidemill::sql {

using expr::ExprPtr;
using expr::Origin;
using plan::LogicalPlan;
using plan::PlanKind;
using plan::PlanPtr;

namespace {

constexpr int kMaxJoins = 100;
// Spark counts a month of a delay as 31 days.
constexpr int64_t kMillisPerMonth = int64_t{31} * 24 * 3600 * 1000;

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

struct JoinWords {
  std::initializer_list<std::string_view> words;
  const char* type;
};

Result<std::string> ParseOptionKey(Cursor& cursor) {
  if (cursor.Peek().kind == TokenKind::kString) return Lower(cursor.Next().value);
  std::string key;
  do {
    const Token& token = cursor.Peek();
    if (token.kind != TokenKind::kWord && token.kind != TokenKind::kQuoted) return cursor.Unexpected();
    key += (key.empty() ? "" : ".") + cursor.Next().value;
  } while (cursor.AcceptSymbol("."));
  return Lower(std::move(key));
}

Result<std::string> ParseOptionValue(Cursor& cursor) {
  std::string sign = cursor.AcceptSymbol("-") ? "-" : "";
  const Token& token = cursor.Peek();
  bool is_number = token.kind == TokenKind::kInteger || token.kind == TokenKind::kDecimal || token.kind == TokenKind::kDouble;
  if (is_number) return sign + cursor.Next().value;
  if (!sign.empty()) return cursor.Unexpected();
  if (token.kind == TokenKind::kString) return cursor.Next().value;
  if (token.Is("TRUE") || token.Is("FALSE")) return Lower(cursor.Next().value);
  return cursor.Unexpected();
}

}  // namespace

Result<plan::Options> ParseOptions(Cursor& cursor) {
  plan::Options options;
  ARROW_RETURN_NOT_OK(cursor.ExpectSymbol("("));
  do {
    Origin origin = cursor.Peek().origin;
    ARROW_ASSIGN_OR_RAISE(std::string key, ParseOptionKey(cursor));
    if (!cursor.AcceptSymbol("=")) cursor.AcceptSymbol("==");
    ARROW_ASSIGN_OR_RAISE(std::string value, ParseOptionValue(cursor));
    if (!options.emplace(key, std::move(value)).second) {
      return AtPlace(UserError("DUPLICATE_KEY", "Found duplicate keys `{}`.", key).Param("keyColumn", "`" + key + "`"), origin);
    }
  } while (cursor.AcceptSymbol(","));
  ARROW_RETURN_NOT_OK(cursor.ExpectSymbol(")"));
  return options;
}

Result<PlanPtr> QueryParser::ParseFrom() {
  ARROW_RETURN_NOT_OK(cursor_.Expect("FROM"));
  int joins = 0;
  ARROW_ASSIGN_OR_RAISE(PlanPtr from, ParseRelation());
  ARROW_ASSIGN_OR_RAISE(from, ParseJoins(std::move(from), &joins));
  while (cursor_.Peek().IsSymbol(",")) {
    Origin origin = cursor_.Next().origin;
    if (++joins > kMaxJoins) return AtPlace(UserError("TIDEMILL_QUERY_TOO_DEEP", "More than {} joins in a row.", kMaxJoins), origin);
    ARROW_ASSIGN_OR_RAISE(PlanPtr right, ParseRelation());
    auto join = std::make_shared<LogicalPlan>();
    join->kind = PlanKind::kJoin;
    join->children = {std::move(from), std::move(right)};
    join->join_type = "Inner";
    join->origin = origin;
    ARROW_ASSIGN_OR_RAISE(from, ParseJoins(std::move(join), &joins));
  }
  if (cursor_.Peek().Is("LATERAL") || cursor_.Peek().Is("PIVOT") || cursor_.Peek().Is("UNPIVOT")) {
    return UnsupportedSyntax(std::string(cursor_.Peek().text), cursor_.Peek().origin);
  }
  return from;
}

Result<std::string> QueryParser::ParseJoinType(bool* found) {
  static const JoinWords kJoins[] = {{{"JOIN"}, "Inner"},
                                     {{"INNER", "JOIN"}, "Inner"},
                                     {{"CROSS", "JOIN"}, "Cross"},
                                     {{"LEFT", "JOIN"}, "LeftOuter"},
                                     {{"LEFT", "OUTER", "JOIN"}, "LeftOuter"},
                                     {{"RIGHT", "JOIN"}, "RightOuter"},
                                     {{"RIGHT", "OUTER", "JOIN"}, "RightOuter"},
                                     {{"FULL", "JOIN"}, "FullOuter"},
                                     {{"FULL", "OUTER", "JOIN"}, "FullOuter"},
                                     {{"LEFT", "SEMI", "JOIN"}, "LeftSemi"},
                                     {{"SEMI", "JOIN"}, "LeftSemi"},
                                     {{"LEFT", "ANTI", "JOIN"}, "LeftAnti"},
                                     {{"ANTI", "JOIN"}, "LeftAnti"}};
  if (cursor_.Peek().Is("NATURAL")) return UnsupportedSyntax("NATURAL JOIN", cursor_.Peek().origin);
  for (const JoinWords& join : kJoins) {
    if (!cursor_.AcceptWords(join.words)) continue;
    *found = true;
    return join.type;
  }
  *found = false;
  return "";
}

Result<PlanPtr> QueryParser::ParseJoins(PlanPtr left, int* joins) {
  while (true) {
    Origin origin = cursor_.Peek().origin;
    bool found = false;
    ARROW_ASSIGN_OR_RAISE(std::string type, ParseJoinType(&found));
    if (!found) return left;
    if (++*joins > kMaxJoins) return AtPlace(UserError("TIDEMILL_QUERY_TOO_DEEP", "More than {} joins in a row.", kMaxJoins), origin);
    if (cursor_.Peek().Is("LATERAL")) return UnsupportedSyntax("LATERAL", cursor_.Peek().origin);
    ARROW_ASSIGN_OR_RAISE(PlanPtr right, ParseRelation());
    auto join = std::make_shared<LogicalPlan>();
    join->kind = PlanKind::kJoin;
    join->children = {std::move(left), std::move(right)};
    join->join_type = std::move(type);
    join->origin = origin;
    if (cursor_.Accept("ON")) {
      ARROW_ASSIGN_OR_RAISE(join->condition, expressions_.ParseExpression());
    } else if (cursor_.Peek().Is("USING")) {
      return UnsupportedSyntax("JOIN … USING (write ON)", cursor_.Peek().origin);
    }
    left = std::move(join);
  }
}

// STREAM is a keyword before a name, and a name of its own elsewhere.
bool QueryParser::AtStream() {
  if (!cursor_.Peek().Is("STREAM")) return false;
  const Token& next = cursor_.Peek(1);
  if (next.IsSymbol("(") || next.kind == TokenKind::kQuoted) return true;
  bool is_clause = next.Is("AS") || next.Is("WITH") || next.Is("WATERMARK") || next.Is("INNER") || next.Is("LEFT") || next.Is("RIGHT") ||
                   next.Is("FULL") || next.Is("CROSS");
  return !is_clause && cursor_.AtIdentifier(1);
}

// relation [TABLESAMPLE …] [WATERMARK …] [[AS] alias]
Result<PlanPtr> QueryParser::ParseRelation() {
  Cursor::Nesting nesting(cursor_);
  ARROW_RETURN_NOT_OK(cursor_.CheckNesting());
  if (cursor_.Peek().Is("LATERAL")) return UnsupportedSyntax("LATERAL", cursor_.Peek().origin);
  ARROW_ASSIGN_OR_RAISE(PlanPtr relation, cursor_.Peek().IsSymbol("(") ? ParseParenthesizedRelation() : ParseNamedRelation());
  if (cursor_.Peek().Is("WATERMARK")) {
    ARROW_ASSIGN_OR_RAISE(relation, ParseWatermark(std::move(relation)));
  }
  return ParseAlias(std::move(relation));
}

Result<PlanPtr> QueryParser::ParseParenthesizedRelation() {
  ARROW_RETURN_NOT_OK(cursor_.ExpectSymbol("("));
  ARROW_ASSIGN_OR_RAISE(PlanPtr relation, AtQuery() ? ParseQuery() : ParseRelation());
  int joins = 0;
  ARROW_ASSIGN_OR_RAISE(relation, ParseJoins(std::move(relation), &joins));
  ARROW_RETURN_NOT_OK(cursor_.ExpectSymbol(")"));
  return relation;
}

Result<PlanPtr> QueryParser::ParseNamedRelation() {
  if (!AtStream()) return ParseStreamOrTable(/*is_stream=*/false);
  cursor_.Next();
  return ParseStreamOrTable(/*is_stream=*/true);
}

Result<PlanPtr> QueryParser::ParseStreamOrTable(bool is_stream) {
  bool in_brackets = is_stream && cursor_.AcceptSymbol("(");
  Origin origin = cursor_.Peek().origin;
  if (!cursor_.AtIdentifier()) return cursor_.Unexpected();
  ARROW_ASSIGN_OR_RAISE(std::vector<std::string> name, cursor_.ExpectName());
  if (cursor_.Peek().IsSymbol("(")) {
    return AtPlace(UserError("UNRESOLVABLE_TABLE_VALUED_FUNCTION", "Could not resolve `{}` to a table-valued function.", name.back())
                       .Param("name", "`" + name.back() + "`"),
                   origin);
  }
  if (in_brackets) ARROW_RETURN_NOT_OK(cursor_.ExpectSymbol(")"));
  if (PlanPtr cte = name.size() == 1 ? FindCte(name[0]) : nullptr; cte != nullptr && !is_stream) return cte;

  plan::Options options;
  if (cursor_.Peek().Is("WITH") && cursor_.Peek(1).IsSymbol("(")) {
    cursor_.Next();
    ARROW_ASSIGN_OR_RAISE(options, ParseOptions(cursor_));
  }
  auto relation = std::make_shared<LogicalPlan>(*plan::UnresolvedRelation(std::move(name), is_stream, std::move(options), origin));
  if (is_stream && cursor_.AcceptWords({"IDENTIFIED", "BY"})) {
    ARROW_ASSIGN_OR_RAISE(relation->source_name, cursor_.ExpectIdentifier());
  }
  if (!is_stream && cursor_.Peek().Is("TABLESAMPLE")) return ParseSample(std::move(relation));
  return PlanPtr(std::move(relation));
}

// TABLESAMPLE (50 PERCENT) [REPEATABLE (1)]: what is in the brackets does not matter, as no operator samples.
Result<PlanPtr> QueryParser::ParseSample(PlanPtr relation) {
  auto sample = std::make_shared<LogicalPlan>();
  sample->kind = PlanKind::kSample;
  sample->origin = cursor_.Next().origin;
  sample->children = {std::move(relation)};
  ARROW_RETURN_NOT_OK(cursor_.ExpectSymbol("("));
  while (!cursor_.Peek().IsSymbol(")")) {
    if (cursor_.AtEnd() || cursor_.Peek().IsSymbol("(")) return cursor_.Unexpected();
    cursor_.Next();
  }
  cursor_.Next();
  return PlanPtr(std::move(sample));
}

// WATERMARK expression [[AS] name] DELAY OF INTERVAL …
Result<PlanPtr> QueryParser::ParseWatermark(PlanPtr relation) {
  Origin origin = cursor_.Next().origin;
  ARROW_ASSIGN_OR_RAISE(ExprPtr column, expressions_.ParseExpression());
  Origin name_origin = cursor_.Peek().origin;
  if (cursor_.Accept("AS") || (!cursor_.Peek().Is("DELAY") && cursor_.AtIdentifier())) {
    if (cursor_.Peek().IsSymbol("(")) {
      return AtPlace(UserError("CANNOT_USE_MULTI_ALIASES_IN_WATERMARK_CLAUSE", "Multiple aliases are not supported in watermark clause."),
                     name_origin);
    }
    ARROW_ASSIGN_OR_RAISE(std::string name, cursor_.ExpectIdentifier());
    Origin place = column->origin;
    column = expr::UnresolvedAlias(std::move(column), std::move(name), place);
  }
  if (!cursor_.AcceptWords({"DELAY", "OF"})) return cursor_.Unexpected();
  ARROW_RETURN_NOT_OK(cursor_.Expect("INTERVAL"));
  ARROW_ASSIGN_OR_RAISE(IntervalLiteral delay, ParseInterval(cursor_, /*needs_unit=*/true));
  if (delay.months < 0 || delay.micros < 0) {
    return AtPlace(UserError("", "requirement failed: delay threshold ({}) should not be negative.", delay.text).Param("delay", delay.text),
                   delay.origin);
  }
  int64_t delay_ms = delay.is_year_month ? delay.months * kMillisPerMonth : delay.micros / 1000;
  auto watermark = std::make_shared<LogicalPlan>(*plan::Watermark(std::move(relation), std::move(column), delay_ms, delay.text));
  watermark->origin = origin;
  return PlanPtr(std::move(watermark));
}

Result<PlanPtr> QueryParser::ParseAlias(PlanPtr relation) {
  bool has_as = cursor_.Accept("AS");
  if (!has_as && !cursor_.AtImplicitAlias()) return relation;
  Origin origin = cursor_.Peek().origin;
  ARROW_ASSIGN_OR_RAISE(std::string name, cursor_.ExpectIdentifier());
  if (cursor_.Peek().IsSymbol("(")) return UnsupportedSyntax("Column names behind an alias", cursor_.Peek().origin);
  auto alias = std::make_shared<LogicalPlan>(*plan::SubqueryAlias(std::move(relation), std::move(name)));
  alias->origin = origin;
  return PlanPtr(std::move(alias));
}

PlanPtr QueryParser::FindCte(const std::string& name) const {
  auto found = ctes_.find(Lower(name));
  return found == ctes_.end() ? nullptr : found->second;
}

}  // namespace tidemill::sql
