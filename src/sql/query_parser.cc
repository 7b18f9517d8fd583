#include "sql/query_parser.h"

#include <arrow/scalar.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "plan/analyzer.h"

namespace tidemill::sql {

using expr::ExprPtr;
using expr::Origin;
using plan::LogicalPlan;
using plan::PlanKind;
using plan::PlanPtr;

namespace {

// A chain of set operations leans to the left, and everything walks plans by recursion.
constexpr int kMaxSetOperations = 100;

std::shared_ptr<LogicalPlan> NewNode(PlanKind kind, std::vector<PlanPtr> children, Origin origin) {
  auto node = std::make_shared<LogicalPlan>();
  node->kind = kind;
  node->children = std::move(children);
  node->origin = origin;
  return node;
}

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

bool QueryParser::AtQuery() {
  size_t ahead = 0;
  while (cursor_.Peek(ahead).IsSymbol("(") && ahead < 100) ++ahead;
  const Token& token = cursor_.Peek(ahead);
  for (const char* word : {"SELECT", "WITH", "FROM", "VALUES", "TABLE"}) {
    if (token.Is(word)) return true;
  }
  return false;
}

Result<PlanPtr> QueryParser::ParseQuery() {
  Cursor::Nesting nesting(cursor_);
  ARROW_RETURN_NOT_OK(cursor_.CheckNesting());
  Ctes outer = ctes_;  // names of this query end with it
  if (cursor_.Accept("WITH")) ARROW_RETURN_NOT_OK(ParseCtes());
  ARROW_ASSIGN_OR_RAISE(PlanPtr query, ParseSetOperations(/*intersect_only=*/false));
  ARROW_ASSIGN_OR_RAISE(query, ParseOrderAndLimit(std::move(query)));
  ctes_ = std::move(outer);
  return query;
}

Status QueryParser::ParseCtes() {
  if (cursor_.Peek().Is("RECURSIVE")) return UnsupportedSyntax("WITH RECURSIVE", cursor_.Peek().origin);
  do {
    Origin origin = cursor_.Peek().origin;
    ARROW_ASSIGN_OR_RAISE(std::string name, cursor_.ExpectIdentifier());
    if (cursor_.Peek().IsSymbol("(")) return UnsupportedSyntax("Column names behind the name of a CTE", cursor_.Peek().origin);
    cursor_.Accept("AS");
    ARROW_RETURN_NOT_OK(cursor_.ExpectSymbol("("));
    ARROW_ASSIGN_OR_RAISE(PlanPtr query, ParseQuery());
    ARROW_RETURN_NOT_OK(cursor_.ExpectSymbol(")"));
    auto alias = std::make_shared<LogicalPlan>(*plan::SubqueryAlias(std::move(query), name));
    alias->origin = origin;
    ctes_[Lower(name)] = std::move(alias);
  } while (cursor_.AcceptSymbol(","));
  return Status::OK();
}

// INTERSECT binds tighter than UNION and EXCEPT, which are equals.
Result<PlanPtr> QueryParser::ParseSetOperations(bool intersect_only) {
  auto operand = [&] { return intersect_only ? ParseTerm() : ParseSetOperations(/*intersect_only=*/true); };
  ARROW_ASSIGN_OR_RAISE(PlanPtr left, operand());
  for (int count = 0;; ++count) {
    Token word = cursor_.Peek();
    bool is_intersect = word.Is("INTERSECT");
    bool is_except = word.Is("EXCEPT") || word.Is("MINUS");
    bool mine = intersect_only ? is_intersect : is_except || word.Is("UNION");
    if (!mine) return left;
    if (count >= kMaxSetOperations)
      return AtPlace(UserError("TIDEMILL_QUERY_TOO_DEEP", "More than {} set operations in a row.", kMaxSetOperations), word.origin);
    cursor_.Next();
    bool all = cursor_.Accept("ALL");
    if (!all) cursor_.Accept("DISTINCT");
    ARROW_ASSIGN_OR_RAISE(PlanPtr right, operand());
    PlanKind kind = is_intersect ? PlanKind::kIntersect : is_except ? PlanKind::kExcept : PlanKind::kUnion;
    left = NewNode(kind, {std::move(left), std::move(right)}, word.origin);
    if (!all && kind == PlanKind::kUnion) left = NewNode(PlanKind::kDistinct, {std::move(left)}, word.origin);
  }
}

Result<PlanPtr> QueryParser::ParseTerm() {
  Origin origin = cursor_.Peek().origin;
  if (cursor_.AcceptSymbol("(")) {
    ARROW_ASSIGN_OR_RAISE(PlanPtr query, ParseQuery());
    ARROW_RETURN_NOT_OK(cursor_.ExpectSymbol(")"));
    return query;
  }
  if (cursor_.Peek().Is("FROM")) return UnsupportedSyntax("A query that begins with FROM (pipe syntax)", origin);
  if (cursor_.Peek().Is("VALUES")) return UnsupportedSyntax("VALUES", origin);
  if (cursor_.Peek().Is("TABLE") && cursor_.AtIdentifier(1)) return UnsupportedSyntax("TABLE t as a query (write SELECT * FROM t)", origin);
  return ParseSelect();
}

Result<PlanPtr> QueryParser::ParseSelect() {
  Origin origin = cursor_.Peek().origin;
  ARROW_RETURN_NOT_OK(cursor_.Expect("SELECT"));
  if (cursor_.Peek().Is("TRANSFORM") && cursor_.Peek(1).IsSymbol("(")) return UnsupportedSyntax("TRANSFORM", origin);
  bool distinct = cursor_.Accept("DISTINCT");
  if (!distinct) cursor_.Accept("ALL");
  ARROW_ASSIGN_OR_RAISE(std::vector<ExprPtr> items, ParseSelectList());
  if (!cursor_.Peek().Is("FROM")) {
    bool ends = cursor_.AtEnd() || cursor_.Peek().IsSymbol(";") || cursor_.Peek().IsSymbol(")");
    return ends ? UnsupportedSyntax("A query without FROM", origin) : cursor_.Unexpected();
  }
  ARROW_ASSIGN_OR_RAISE(PlanPtr query, ParseFrom());
  if (cursor_.Accept("WHERE")) {
    ARROW_ASSIGN_OR_RAISE(ExprPtr condition, expressions_.ParseExpression());
    query = plan::Filter(std::move(query), std::move(condition));
  }
  ARROW_ASSIGN_OR_RAISE(query, ParseGroupBy(std::move(query), std::move(items), origin));
  if (cursor_.Accept("HAVING")) {
    ARROW_ASSIGN_OR_RAISE(ExprPtr condition, expressions_.ParseExpression());
    auto having = std::make_shared<LogicalPlan>(*plan::Filter(std::move(query), std::move(condition)));
    having->having = true;
    query = std::move(having);
  }
  if (cursor_.Peek().Is("WINDOW")) return UnsupportedSyntax("WINDOW", cursor_.Peek().origin);
  if (cursor_.Peek().IsSymbol("|>")) return UnsupportedSyntax("Pipe syntax (|>)", cursor_.Peek().origin);
  return distinct ? NewNode(PlanKind::kDistinct, {std::move(query)}, origin) : query;
}

Result<std::vector<ExprPtr>> QueryParser::ParseSelectList() {
  std::vector<ExprPtr> items;
  do {
    ARROW_ASSIGN_OR_RAISE(ExprPtr item, expressions_.ParseNamedExpression());
    items.push_back(std::move(item));
  } while (cursor_.AcceptSymbol(","));
  return items;
}

Result<std::vector<ExprPtr>> QueryParser::ParseExpressionList() {
  std::vector<ExprPtr> list;
  do {
    ARROW_ASSIGN_OR_RAISE(ExprPtr item, expressions_.ParseExpression());
    list.push_back(std::move(item));
  } while (cursor_.AcceptSymbol(","));
  return list;
}

Result<PlanPtr> QueryParser::ParseGroupBy(PlanPtr input, std::vector<ExprPtr> items, Origin origin) {
  if (!cursor_.Accept("GROUP")) return plan::Project(std::move(input), std::move(items), origin);
  ARROW_RETURN_NOT_OK(cursor_.Expect("BY"));
  for (const char* form : {"ROLLUP", "CUBE", "GROUPING"}) {
    bool follows = cursor_.Peek().Is(form) && (cursor_.Peek(1).IsSymbol("(") || cursor_.Peek(1).Is("SETS"));
    if (follows) return UnsupportedSyntax(std::string("GROUP BY ") + form, cursor_.Peek().origin);
  }
  ARROW_ASSIGN_OR_RAISE(std::vector<ExprPtr> grouping, ParseExpressionList());
  if (cursor_.Peek().Is("WITH") && (cursor_.Peek(1).Is("ROLLUP") || cursor_.Peek(1).Is("CUBE"))) {
    return UnsupportedSyntax("GROUP BY … WITH ROLLUP or CUBE", cursor_.Peek().origin);
  }
  return plan::Aggregate(std::move(input), std::move(grouping), std::move(items), origin);
}

Result<PlanPtr> QueryParser::ParseOrderAndLimit(PlanPtr query) {
  Origin origin = cursor_.Peek().origin;
  if (cursor_.AcceptWords({"ORDER", "BY"}) || cursor_.AcceptWords({"SORT", "BY"})) {
    auto sort = NewNode(PlanKind::kSort, {std::move(query)}, origin);
    do {
      ARROW_ASSIGN_OR_RAISE(ExprPtr key, expressions_.ParseExpression());
      if (!cursor_.Accept("ASC")) cursor_.Accept("DESC");
      if (cursor_.Accept("NULLS") && !cursor_.Accept("FIRST")) ARROW_RETURN_NOT_OK(cursor_.Expect("LAST"));
      sort->grouping.push_back(std::move(key));
    } while (cursor_.AcceptSymbol(","));
    query = std::move(sort);
  }
  for (const char* word : {"CLUSTER", "DISTRIBUTE"}) {
    if (cursor_.Peek().Is(word) && cursor_.Peek(1).Is("BY")) return UnsupportedSyntax(std::string(word) + " BY", cursor_.Peek().origin);
  }
  // LIMIT ALL limits nothing.
  for (PlanKind kind : {PlanKind::kLimit, PlanKind::kOffset}) {
    origin = cursor_.Peek().origin;
    bool is_limit = kind == PlanKind::kLimit;
    if (!cursor_.Accept(is_limit ? "LIMIT" : "OFFSET") || (is_limit && cursor_.Accept("ALL"))) continue;
    ARROW_ASSIGN_OR_RAISE(ExprPtr count, expressions_.ParseExpression());
    if (count->kind != expr::ExprKind::kLiteral || count->type->kind() != type::Kind::kInt) {
      return UnsupportedSyntax(fmt::format("{} of anything but a whole number", is_limit ? "LIMIT" : "OFFSET"), origin);
    }
    auto node = NewNode(kind, {std::move(query)}, origin);
    node->limit = static_cast<const arrow::Int32Scalar&>(*count->value).value;
    query = std::move(node);
  }
  return query;
}

}  // namespace tidemill::sql
