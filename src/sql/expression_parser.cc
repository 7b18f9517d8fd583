#include "sql/expression_parser.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "sql/literal_parser.h"

namespace tidemill::sql {

using expr::ExprKind;
using expr::ExprPtr;
using expr::Origin;

namespace {

// Trees higher than this would exhaust the stack of a task thread somewhere below.
constexpr int kMaxHeight = 1000;
constexpr int kMaxTypeNesting = 100;

// Precedences, weakest first. A predicate (IS, IN, LIKE, BETWEEN) binds weaker than a comparison: `a = b IS NULL` asks about a = b.
enum Precedence { kOr = 1, kAnd, kNot, kPredicate, kComparison, kBitOr, kBitXor, kBitAnd, kAdditive, kMultiplicative, kUnary };

struct BinaryOperator {
  std::string_view symbol;
  int precedence;
  const char* name;
};
constexpr BinaryOperator kBinaryOperators[] = {{"=", kComparison, "="},     {"==", kComparison, "="},    {"<=>", kComparison, "<=>"},
                                               {"<>", kComparison, "<>"},   {"!=", kComparison, "<>"},   {"<", kComparison, "<"},
                                               {"<=", kComparison, "<="},   {">", kComparison, ">"},     {">=", kComparison, ">="},
                                               {"|", kBitOr, "|"},          {"^", kBitXor, "^"},         {"&", kBitAnd, "&"},
                                               {"+", kAdditive, "+"},       {"-", kAdditive, "-"},       {"||", kAdditive, "||"},
                                               {"*", kMultiplicative, "*"}, {"/", kMultiplicative, "/"}, {"%", kMultiplicative, "%"}};

const BinaryOperator* FindBinaryOperator(const Token& token) {
  static constexpr BinaryOperator kDiv = {"DIV", kMultiplicative, "div"};
  if (token.Is("DIV")) return &kDiv;
  if (token.kind != TokenKind::kSymbol) return nullptr;
  for (const BinaryOperator& candidate : kBinaryOperators) {
    if (candidate.symbol == token.text) return &candidate;
  }
  return nullptr;
}

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool IsNumber(const Token& token) {
  return token.kind == TokenKind::kInteger || token.kind == TokenKind::kDecimal || token.kind == TokenKind::kDouble ||
         token.kind == TokenKind::kSuffixed;
}

bool IsTypedLiteralName(const Token& token) {
  return token.Is("DATE") || token.Is("TIMESTAMP") || token.Is("TIMESTAMP_NTZ") || token.Is("TIMESTAMP_LTZ") || token.Is("X");
}

}  // namespace

Status ExpressionParser::CheckHeight(int height, const Origin& origin) {
  if (height <= kMaxHeight) return Status::OK();
  return AtPlace(UserError("TIDEMILL_QUERY_TOO_DEEP", "The expression is nested deeper than {} levels.", kMaxHeight), origin);
}

Result<ExpressionParser::Tree> ExpressionParser::Call(std::string name, std::vector<Tree> arguments, Origin origin, bool distinct) {
  Tree call;
  std::vector<ExprPtr> children;
  for (Tree& argument : arguments) {
    call.height = std::max(call.height, argument.height + 1);
    children.push_back(std::move(argument.expression));
  }
  ARROW_RETURN_NOT_OK(CheckHeight(call.height, origin));
  call.expression = expr::UnresolvedCall(std::move(name), std::move(children), distinct, origin);
  return call;
}

Result<ExpressionParser::Tree> ExpressionParser::Negate(Tree tree, bool negated) {
  if (!negated) return tree;
  Origin origin = tree.expression->origin;
  return Call("not", {std::move(tree)}, origin);
}

Result<ExprPtr> ExpressionParser::ParseExpression() {
  ARROW_ASSIGN_OR_RAISE(Tree tree, Parse(kOr));
  return tree.expression;
}

Result<ExprPtr> ExpressionParser::ParseNamedExpression() {
  ARROW_ASSIGN_OR_RAISE(ExprPtr expression, ParseExpression());
  Origin origin = cursor_.Peek().origin;
  if (cursor_.Accept("AS")) {
    if (cursor_.Peek().IsSymbol("(")) return UnsupportedSyntax("An alias of several names", origin);
  } else if (!cursor_.AtImplicitAlias()) {
    return expression;
  }
  ARROW_ASSIGN_OR_RAISE(std::string name, cursor_.ExpectIdentifier());
  Origin place = expression->origin;
  return expr::UnresolvedAlias(std::move(expression), std::move(name), place);
}

Result<ExpressionParser::Tree> ExpressionParser::Parse(int least_precedence) {
  Cursor::Nesting nesting(cursor_);
  ARROW_RETURN_NOT_OK(cursor_.CheckNesting());
  ARROW_ASSIGN_OR_RAISE(Tree left, ParsePrefix(least_precedence));
  bool had_predicate = false;
  while (true) {
    const Token& token = cursor_.Peek();
    if (least_precedence <= kOr && token.Is("OR")) {
      ARROW_ASSIGN_OR_RAISE(left, ParseLogical(std::move(left), "or"));
    } else if (least_precedence <= kAnd && token.Is("AND")) {
      ARROW_ASSIGN_OR_RAISE(left, ParseLogical(std::move(left), "and"));
    } else if (least_precedence <= kPredicate && !had_predicate && AtPredicate()) {
      ARROW_ASSIGN_OR_RAISE(left, ParsePredicate(std::move(left)));
      had_predicate = true;
    } else if (const BinaryOperator* op = FindBinaryOperator(token);
               op != nullptr && op->precedence >= least_precedence && !had_predicate) {
      Origin origin = left.expression->origin;
      cursor_.Next();
      ARROW_ASSIGN_OR_RAISE(Tree right, Parse(op->precedence + 1));
      bool unequal = std::string_view(op->name) == "<>";
      ARROW_ASSIGN_OR_RAISE(left, Call(unequal ? "=" : op->name, {std::move(left), std::move(right)}, origin));
      ARROW_ASSIGN_OR_RAISE(left, Negate(std::move(left), unequal));
    } else {
      return left;
    }
  }
}

// A chain of ANDs (or ORs) becomes a balanced tree, as in Spark: generated conditions have thousands.
Result<ExpressionParser::Tree> ExpressionParser::ParseLogical(Tree first, const char* name) {
  bool is_and = std::string_view(name) == "and";
  std::vector<Tree> level = {std::move(first)};
  while (cursor_.Accept(is_and ? "AND" : "OR")) {
    ARROW_ASSIGN_OR_RAISE(Tree next, Parse(is_and ? kNot : kAnd));
    level.push_back(std::move(next));
  }
  while (level.size() > 1) {
    std::vector<Tree> paired;
    for (size_t i = 0; i + 1 < level.size(); i += 2) {
      Origin origin = level[i].expression->origin;
      ARROW_ASSIGN_OR_RAISE(Tree pair, Call(name, {std::move(level[i]), std::move(level[i + 1])}, origin));
      paired.push_back(std::move(pair));
    }
    if (level.size() % 2 == 1) paired.push_back(std::move(level.back()));
    level = std::move(paired);
  }
  return std::move(level[0]);
}

Result<ExpressionParser::Tree> ExpressionParser::ParsePrefix(int least_precedence) {
  Origin origin = cursor_.Peek().origin;
  if (least_precedence <= kNot && (cursor_.Accept("NOT") || cursor_.AcceptSymbol("!"))) {
    ARROW_ASSIGN_OR_RAISE(Tree operand, Parse(kNot));
    return Call("not", {std::move(operand)}, origin);
  }
  if (cursor_.Peek().IsSymbol("-") && IsNumber(cursor_.Peek(1))) {
    cursor_.Next();
    ARROW_ASSIGN_OR_RAISE(ExprPtr literal, NumberLiteral(cursor_.Next(), true));
    return Tree{std::move(literal)};
  }
  for (const char* sign : {"-", "+", "~"}) {
    if (!cursor_.AcceptSymbol(sign)) continue;
    ARROW_ASSIGN_OR_RAISE(Tree operand, Parse(kUnary));
    return Call(sign, {std::move(operand)}, origin);
  }
  return ParsePostfix();
}

bool ExpressionParser::AtPredicate() {
  size_t ahead = cursor_.Peek().Is("NOT") ? 1 : 0;
  const Token& token = cursor_.Peek(ahead);
  if (ahead == 0 && token.Is("IS")) return true;
  return token.Is("IN") || token.Is("BETWEEN") || token.Is("LIKE") || token.Is("ILIKE") || token.Is("RLIKE") || token.Is("REGEXP");
}

Result<ExpressionParser::Tree> ExpressionParser::ParsePredicate(Tree value) {
  if (cursor_.Accept("IS")) return ParseIs(std::move(value));
  bool negated = cursor_.Accept("NOT");
  if (cursor_.Accept("IN")) return ParseIn(std::move(value), negated);
  if (cursor_.Accept("BETWEEN")) return ParseBetween(std::move(value), negated);
  return ParseLike(std::move(value), negated);
}

Result<ExpressionParser::Tree> ExpressionParser::ParseIs(Tree value) {
  Origin origin = value.expression->origin;
  bool negated = cursor_.Accept("NOT");
  if (cursor_.Accept("NULL") || cursor_.Accept("UNKNOWN")) return Call(negated ? "isnotnull" : "isnull", {std::move(value)}, origin);
  for (bool truth : {true, false}) {
    if (!cursor_.Accept(truth ? "TRUE" : "FALSE")) continue;
    ARROW_ASSIGN_OR_RAISE(Tree test, Call("<=>", {std::move(value), Tree{expr::LiteralBoolean(truth)}}, origin));
    return Negate(std::move(test), negated);
  }
  if (!cursor_.AcceptWords({"DISTINCT", "FROM"})) return cursor_.Unexpected();
  ARROW_ASSIGN_OR_RAISE(Tree other, Parse(kComparison));
  ARROW_ASSIGN_OR_RAISE(Tree same, Call("<=>", {std::move(value), std::move(other)}, origin));
  return Negate(std::move(same), !negated);
}

Result<ExpressionParser::Tree> ExpressionParser::ParseIn(Tree value, bool negated) {
  Origin origin = value.expression->origin;
  ARROW_RETURN_NOT_OK(cursor_.ExpectSymbol("("));
  if (cursor_.Peek().Is("SELECT") || cursor_.Peek().Is("WITH")) return UnsupportedSyntax("IN with a subquery", cursor_.Peek().origin);
  std::vector<Tree> arguments = {std::move(value)};
  do {
    ARROW_ASSIGN_OR_RAISE(Tree item, Parse(kOr));
    arguments.push_back(std::move(item));
  } while (cursor_.AcceptSymbol(","));
  ARROW_RETURN_NOT_OK(cursor_.ExpectSymbol(")"));
  ARROW_ASSIGN_OR_RAISE(Tree in, Call("in", std::move(arguments), origin));
  return Negate(std::move(in), negated);
}

Result<ExpressionParser::Tree> ExpressionParser::ParseBetween(Tree value, bool negated) {
  Origin origin = value.expression->origin;
  ARROW_ASSIGN_OR_RAISE(Tree low, Parse(kComparison));
  ARROW_RETURN_NOT_OK(cursor_.Expect("AND"));
  ARROW_ASSIGN_OR_RAISE(Tree high, Parse(kComparison));
  ARROW_ASSIGN_OR_RAISE(Tree above, Call(">=", {value, std::move(low)}, origin));
  ARROW_ASSIGN_OR_RAISE(Tree below, Call("<=", {value, std::move(high)}, origin));
  ARROW_ASSIGN_OR_RAISE(Tree both, Call("and", {std::move(above), std::move(below)}, origin));
  return Negate(std::move(both), negated);
}

Result<ExpressionParser::Tree> ExpressionParser::ParseLike(Tree value, bool negated) {
  Origin origin = value.expression->origin;
  std::string name = Lower(cursor_.Next().value);
  if (name == "regexp") name = "rlike";
  for (const char* quantifier : {"ANY", "SOME", "ALL"}) {
    if (cursor_.Peek().Is(quantifier)) return UnsupportedSyntax(std::string("LIKE ") + quantifier, cursor_.Peek().origin);
  }
  ARROW_ASSIGN_OR_RAISE(Tree pattern, Parse(kComparison));
  if (cursor_.Peek().Is("ESCAPE")) return UnsupportedSyntax("LIKE … ESCAPE", cursor_.Peek().origin);
  ARROW_ASSIGN_OR_RAISE(Tree like, Call(std::move(name), {std::move(value), std::move(pattern)}, origin));
  return Negate(std::move(like), negated);
}

Result<ExpressionParser::Tree> ExpressionParser::ParsePostfix() {
  ARROW_ASSIGN_OR_RAISE(Tree tree, ParsePrimary());
  while (true) {
    Origin origin = tree.expression->origin;
    if (cursor_.AcceptSymbol("::")) {
      ARROW_ASSIGN_OR_RAISE(type::TypePtr type, ParseType());
      ARROW_RETURN_NOT_OK(CheckHeight(++tree.height, origin));
      tree.expression = expr::UnresolvedCast(std::move(tree.expression), std::move(type), false, origin);
    } else if (cursor_.AcceptSymbol(".")) {
      ARROW_ASSIGN_OR_RAISE(std::string field, cursor_.ExpectPart());
      ARROW_ASSIGN_OR_RAISE(tree, Call("getfield", {std::move(tree), Tree{expr::LiteralString(std::move(field))}}, origin));
    } else if (cursor_.Peek().IsSymbol("[")) {
      return UnsupportedSyntax("Access to an array or map by […]", cursor_.Peek().origin);
    } else {
      return tree;
    }
  }
}

Result<ExpressionParser::Tree> ExpressionParser::ParsePrimary() {
  const Token& token = cursor_.Peek();
  Origin origin = token.origin;
  if (IsNumber(token)) {
    ARROW_ASSIGN_OR_RAISE(ExprPtr literal, NumberLiteral(cursor_.Next(), false));
    return Tree{std::move(literal)};
  }
  if (token.kind == TokenKind::kString) {
    std::string text;
    while (cursor_.Peek().kind == TokenKind::kString) text += cursor_.Next().value;  // neighbours are one text
    return Tree{expr::LiteralString(std::move(text), origin)};
  }
  if (token.IsSymbol("(")) return ParseParenthesized();
  if (cursor_.AcceptSymbol("*")) return Tree{expr::Star({}, origin)};
  if (token.IsSymbol(":") || token.IsSymbol("?")) return UnsupportedSyntax("A parameter marker", origin);
  if (token.kind == TokenKind::kWord || token.kind == TokenKind::kQuoted) return ParseWordPrimary();
  return cursor_.Unexpected();
}

Result<ExpressionParser::Tree> ExpressionParser::ParseParenthesized() {
  Origin origin = cursor_.Next().origin;
  if (cursor_.Peek().Is("SELECT") || cursor_.Peek().Is("WITH")) return UnsupportedSyntax("A subquery in an expression", origin);
  ARROW_ASSIGN_OR_RAISE(Tree tree, Parse(kOr));
  if (cursor_.Peek().IsSymbol(",")) return UnsupportedSyntax("A row of values in parentheses (write struct(…))", origin);
  ARROW_RETURN_NOT_OK(cursor_.ExpectSymbol(")"));
  if (cursor_.Peek().IsSymbol("->")) return UnsupportedSyntax("A lambda function", cursor_.Peek().origin);
  return tree;
}

Result<ExpressionParser::Tree> ExpressionParser::ParseWordPrimary() {
  const Token& token = cursor_.Peek();
  Origin origin = token.origin;
  const Token& following = cursor_.Peek(1);
  if (token.Is("CASE")) return ParseCase();
  if (following.IsSymbol("(") && (token.Is("CAST") || token.Is("TRY_CAST"))) return ParseCast(token.Is("TRY_CAST"));
  if (following.IsSymbol("(") && token.Is("EXISTS")) return UnsupportedSyntax("EXISTS", origin);
  if (following.kind == TokenKind::kString && IsTypedLiteralName(token)) {
    Token type_name = cursor_.Next();
    ARROW_ASSIGN_OR_RAISE(ExprPtr literal, TypedLiteral(type_name, cursor_.Next()));
    return Tree{std::move(literal), 2};
  }
  if (AtInterval(cursor_)) {
    cursor_.Next();
    ARROW_ASSIGN_OR_RAISE(IntervalLiteral interval, ParseInterval(cursor_, /*needs_unit=*/false));
    return Tree{ToExpression(interval)};
  }
  bool qualifies = following.IsSymbol(".");
  if (!qualifies && cursor_.Accept("NULL")) return Tree{expr::LiteralNull(type::Void())};
  if (!qualifies && cursor_.Accept("TRUE")) return Tree{expr::LiteralBoolean(true)};
  if (!qualifies && cursor_.Accept("FALSE")) return Tree{expr::LiteralBoolean(false)};
  bool bare_function = token.Is("CURRENT_TIMESTAMP") || token.Is("CURRENT_DATE") || token.Is("LOCALTIMESTAMP");
  if (bare_function && !qualifies && !following.IsSymbol("(")) return Call(Lower(cursor_.Next().value), {}, origin);
  return ParseNameOrCall();
}

Result<ExpressionParser::Tree> ExpressionParser::ParseNameOrCall() {
  Origin origin = cursor_.Peek().origin;
  std::vector<std::string> parts;
  ARROW_ASSIGN_OR_RAISE(std::string first, cursor_.ExpectIdentifier());
  parts.push_back(std::move(first));
  while (cursor_.Peek().IsSymbol(".")) {
    if (cursor_.Peek(1).IsSymbol("*")) {
      cursor_.Next();
      cursor_.Next();
      return Tree{expr::Star(std::move(parts), origin)};
    }
    cursor_.Next();
    ARROW_ASSIGN_OR_RAISE(std::string part, cursor_.ExpectPart());
    parts.push_back(std::move(part));
  }
  if (cursor_.Peek().IsSymbol("(")) return ParseCall(std::move(parts), origin);
  if (cursor_.Peek().IsSymbol("->")) return UnsupportedSyntax("A lambda function", cursor_.Peek().origin);
  origin.stop = cursor_.previous().origin.stop;
  return Tree{expr::UnresolvedAttribute(std::move(parts), origin)};
}

Result<ExpressionParser::Tree> ExpressionParser::ParseCall(std::vector<std::string> name, Origin origin) {
  std::string function;
  for (const std::string& part : name) function += (function.empty() ? "" : ".") + Lower(part);
  ARROW_RETURN_NOT_OK(cursor_.ExpectSymbol("("));
  bool distinct = cursor_.Accept("DISTINCT");
  if (!distinct) cursor_.Accept("ALL");
  std::vector<Tree> arguments;
  bool is_extract = function == "extract";
  if (is_extract) return UnsupportedSyntax("EXTRACT (write year(…), hour(…) and the like)", origin);
  if (!cursor_.Peek().IsSymbol(")")) {
    do {
      ARROW_ASSIGN_OR_RAISE(Tree argument, Parse(kOr));
      if (cursor_.Peek().IsSymbol("=>")) return UnsupportedSyntax("A named argument", cursor_.Peek().origin);
      arguments.push_back(std::move(argument));
    } while (cursor_.AcceptSymbol(","));
  }
  ARROW_RETURN_NOT_OK(cursor_.ExpectSymbol(")"));
  origin.stop = cursor_.previous().origin.stop;
  ARROW_ASSIGN_OR_RAISE(Tree call, Call(std::move(function), std::move(arguments), origin, distinct));
  bool has_filter = cursor_.Peek().Is("FILTER") && cursor_.Peek(1).IsSymbol("(");
  if (has_filter) {
    ARROW_ASSIGN_OR_RAISE(call, ParseFilterClause(std::move(call)));
  }
  for (const char* clause : {"OVER", "WITHIN", "IGNORE", "RESPECT"}) {
    bool follows =
        cursor_.Peek().Is(clause) && (cursor_.Peek(1).IsSymbol("(") || cursor_.Peek(1).Is("GROUP") || cursor_.Peek(1).Is("NULLS"));
    if (follows) return UnsupportedSyntax(std::string("A function call with ") + clause, cursor_.Peek().origin);
  }
  return call;
}

// f(x) FILTER (WHERE c) is f(CASE WHEN c THEN x END): every aggregate function known here ignores nulls.
Result<ExpressionParser::Tree> ExpressionParser::ParseFilterClause(Tree call) {
  Origin origin = cursor_.Next().origin;
  ARROW_RETURN_NOT_OK(cursor_.ExpectSymbol("("));
  ARROW_RETURN_NOT_OK(cursor_.Expect("WHERE"));
  ARROW_ASSIGN_OR_RAISE(Tree condition, Parse(kOr));
  ARROW_RETURN_NOT_OK(cursor_.ExpectSymbol(")"));
  if (call.expression->children.size() != 1) return UnsupportedSyntax("FILTER on a function with other than one argument", origin);
  ExprPtr argument = call.expression->children[0];
  if (argument->kind == ExprKind::kStar) argument = expr::LiteralInt(1);
  ARROW_ASSIGN_OR_RAISE(Tree guarded, Call("when", {std::move(condition), Tree{std::move(argument), call.height - 1}}, origin));
  return Call(call.expression->name, {std::move(guarded)}, call.expression->origin, call.expression->distinct);
}

// CASE x WHEN v … compares; both forms become when(condition, value, …, [else]).
Result<ExpressionParser::Tree> ExpressionParser::ParseCase() {
  Origin origin = cursor_.Next().origin;
  std::vector<Tree> arguments;
  std::vector<Tree> subject;
  if (!cursor_.Peek().Is("WHEN")) {
    ARROW_ASSIGN_OR_RAISE(Tree value, Parse(kOr));
    subject.push_back(std::move(value));
  }
  if (!cursor_.Peek().Is("WHEN")) return cursor_.Unexpected();
  while (cursor_.Accept("WHEN")) {
    ARROW_ASSIGN_OR_RAISE(Tree condition, Parse(kOr));
    if (!subject.empty()) {
      Origin place = condition.expression->origin;
      ARROW_ASSIGN_OR_RAISE(condition, Call("=", {subject[0], std::move(condition)}, place));
    }
    arguments.push_back(std::move(condition));
    ARROW_RETURN_NOT_OK(cursor_.Expect("THEN"));
    ARROW_ASSIGN_OR_RAISE(Tree value, Parse(kOr));
    arguments.push_back(std::move(value));
  }
  if (cursor_.Accept("ELSE")) {
    ARROW_ASSIGN_OR_RAISE(Tree otherwise, Parse(kOr));
    arguments.push_back(std::move(otherwise));
  }
  ARROW_RETURN_NOT_OK(cursor_.Expect("END"));
  return Call("when", std::move(arguments), origin);
}

Result<ExpressionParser::Tree> ExpressionParser::ParseCast(bool try_cast) {
  Origin origin = cursor_.Next().origin;
  ARROW_RETURN_NOT_OK(cursor_.ExpectSymbol("("));
  ARROW_ASSIGN_OR_RAISE(Tree tree, Parse(kOr));
  ARROW_RETURN_NOT_OK(cursor_.Expect("AS"));
  ARROW_ASSIGN_OR_RAISE(type::TypePtr type, ParseType());
  ARROW_RETURN_NOT_OK(cursor_.ExpectSymbol(")"));
  ARROW_RETURN_NOT_OK(CheckHeight(++tree.height, origin));
  tree.expression = expr::UnresolvedCast(std::move(tree.expression), std::move(type), try_cast, origin);
  return tree;
}

Result<type::TypePtr> ExpressionParser::ParseType() {
  Token first = cursor_.Peek();
  if (first.kind != TokenKind::kWord) return cursor_.Unexpected();
  cursor_.Next();
  // The words of `INTERVAL DAY TO SECOND`.
  while (first.Is("INTERVAL") && cursor_.Peek().kind == TokenKind::kWord) cursor_.Next();
  int open = 0;
  bool has_arguments = cursor_.Peek().IsSymbol("(") || cursor_.Peek().IsSymbol("<");
  while (has_arguments) {
    Token token = cursor_.Peek();
    if (token.kind == TokenKind::kEnd || token.IsSymbol(";")) return cursor_.Unexpected();
    if (token.IsSymbol("(") || token.IsSymbol("<")) ++open;
    if (token.IsSymbol(")") || token.IsSymbol(">")) --open;
    if (open > kMaxTypeNesting)
      return AtPlace(UserError("TIDEMILL_QUERY_TOO_DEEP", "The type is nested deeper than {} levels.", kMaxTypeNesting), token.origin);
    cursor_.Next();
    if (open == 0) break;
  }
  Result<type::TypePtr> type = type::ParseType(cursor_.TextFrom(first.origin.start));
  return type.ok() ? type : AtPlace(type.status(), first.origin);
}

}  // namespace tidemill::sql
