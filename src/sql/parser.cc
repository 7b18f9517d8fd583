#include "sql/parser.h"

#include <utility>

#include "sql/cursor.h"
#include "sql/expression_parser.h"
#include "sql/query_parser.h"
#include "sql/statement_parser.h"

namespace tidemill::sql {

namespace {

// Offsets are kept in 32 bits.
Status CheckSize(std::string_view text) {
  constexpr size_t kMaxTextBytes = 64 << 20;
  if (text.size() <= kMaxTextBytes) return Status::OK();
  return UserError("TIDEMILL_QUERY_TOO_LONG", "The SQL text has {} bytes; at most {} are read.", text.size(), kMaxTextBytes);
}

// A semicolon at the end does no harm; anything else there does.
Status ExpectEnd(Cursor& cursor) {
  while (cursor.AcceptSymbol(";")) {
  }
  return cursor.ExpectEnd();
}

}  // namespace

Result<std::vector<Statement>> ParseScript(std::string_view text) {
  ARROW_RETURN_NOT_OK(CheckSize(text));
  return StatementParser(text).ParseAll();
}

Result<plan::PlanPtr> ParseQuery(std::string_view text) {
  ARROW_RETURN_NOT_OK(CheckSize(text));
  Cursor cursor(text);
  ARROW_ASSIGN_OR_RAISE(plan::PlanPtr query, QueryParser(cursor).ParseQuery());
  ARROW_RETURN_NOT_OK(ExpectEnd(cursor));
  return query;
}

Result<expr::ExprPtr> ParseExpression(std::string_view text) {
  ARROW_RETURN_NOT_OK(CheckSize(text));
  Cursor cursor(text);
  ARROW_ASSIGN_OR_RAISE(expr::ExprPtr expression, ExpressionParser(cursor).ParseNamedExpression());
  ARROW_RETURN_NOT_OK(ExpectEnd(cursor));
  return expression;
}

}  // namespace tidemill::sql
