#pragma once

// Literals: numbers, typed texts, intervals.

#include <cstdint>
#include <string>

#include "expr/expression.h"
#include "sql/cursor.h"

namespace tidemill::sql {

/// An interval literal: months for year and month fields, microseconds for the others; never both.
struct IntervalLiteral {
  bool is_year_month = false;
  int64_t months = 0;
  int64_t micros = 0;
  std::string text;  ///< as Spark prints it: INTERVAL '05' SECOND
  expr::Origin origin;
};

/// The literal of a number token; `negative`: a minus sign stood before it.
Result<expr::ExprPtr> NumberLiteral(const Token& token, bool negative);
/// `DATE '…'`, `TIMESTAMP '…'`, `X'…'`: `type_name` is the word before the text.
/// A timestamp without zone becomes a cast of its text, since the session's zone is not known here. Errors: INVALID_TYPED_VALUE.
Result<expr::ExprPtr> TypedLiteral(const Token& type_name, const Token& text);
/// Is the next word INTERVAL, followed by what makes it a literal?
bool AtInterval(Cursor& cursor);
/// The interval after the word INTERVAL: number or text with a unit, several times. `needs_unit`: a text that holds its own units does not do.
Result<IntervalLiteral> ParseInterval(Cursor& cursor, bool needs_unit);
expr::ExprPtr ToExpression(const IntervalLiteral& interval);

}  // namespace tidemill::sql
