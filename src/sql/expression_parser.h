#pragma once

// Expressions, by precedence climbing.

#include <string>
#include <vector>

#include "expr/expression.h"
#include "sql/cursor.h"

namespace tidemill::sql {

class ExpressionParser {
 public:
  explicit ExpressionParser(Cursor& cursor) : cursor_(cursor) {}

  Result<expr::ExprPtr> ParseExpression();
  /// An expression with a name behind it, if there is one: select items, window expressions.
  Result<expr::ExprPtr> ParseNamedExpression();
  /// A SQL type, as in CAST.
  Result<type::TypePtr> ParseType();

 private:
  // An expression with the height of its tree, which is bounded: everything that walks a tree does so by recursion.
  struct Tree {
    expr::ExprPtr expression;
    int height = 1;
  };

  Result<Tree> Parse(int least_precedence);
  Result<Tree> ParsePrefix(int least_precedence);
  Result<Tree> ParsePostfix();
  Result<Tree> ParsePrimary();
  Result<Tree> ParseWordPrimary();
  Result<Tree> ParseLogical(Tree first, const char* name);
  Result<Tree> ParsePredicate(Tree value);
  Result<Tree> ParseIs(Tree value);
  Result<Tree> ParseIn(Tree value, bool negated);
  Result<Tree> ParseBetween(Tree value, bool negated);
  Result<Tree> ParseLike(Tree value, bool negated);
  Result<Tree> ParseCase();
  Result<Tree> ParseCast(bool try_cast);
  Result<Tree> ParseCall(std::vector<std::string> name, expr::Origin origin);
  Result<Tree> ParseFilterClause(Tree call);
  Result<Tree> ParseNameOrCall();
  Result<Tree> ParseParenthesized();
  bool AtPredicate();
  Result<Tree> Call(std::string name, std::vector<Tree> arguments, expr::Origin origin, bool distinct = false);
  Result<Tree> Negate(Tree tree, bool negated);
  Status CheckHeight(int height, const expr::Origin& origin);

  Cursor& cursor_;
};

}  // namespace tidemill::sql
