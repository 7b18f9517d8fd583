#pragma once

// Expressions as immutable values: unresolved as the parser (or a client) makes them, resolved once the analyser has bound names and types.
//
// A resolved expression has a type; its attributes carry ids, unique in a query as in Spark, so a column keeps its identity through the plan. Time zone, ANSI mode and
// case rules are bound in at analysis (EvalContext), nothing is global.

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "type/data_type.h"

namespace tidemill::expr {

/// Where an expression stands in the text it came from; line and column count from 1, 0 is unknown. start/stop are byte offsets of the text.
struct Origin {
  int line = 0;
  int column = 0;
  int start = -1;
  int stop = -1;
};

enum class ExprKind {
  kLiteral,              ///< value, type
  kUnresolvedAttribute,  ///< name_parts
  kStar,                 ///< name_parts = qualifier, may be empty
  kAttribute,            ///< name, id, metadata_json: a column of a plan node
  kCall,                 ///< name = function or operator in lower case, children = arguments
  kCast,                 ///< children[0] to type; name: "cast", "try_cast", or "implicit" for one that coercion put in (SQL text does not show it)
  kAlias                 ///< children[0], name, id
};

class Expression;
using ExprPtr = std::shared_ptr<const Expression>;

/// Bound at analysis from the session's configuration.
struct EvalContext {
  std::string time_zone = "UTC";
  bool ansi = true;
};

/// One node. Made by the functions below; never changed afterwards.
class Expression {
 public:
  ExprKind kind = ExprKind::kLiteral;
  std::string name;
  std::vector<std::string> name_parts;
  std::vector<ExprPtr> children;
  std::shared_ptr<arrow::Scalar> value;  ///< kLiteral, of type->ToArrow(); an interval with months or days: see CalendarInterval
  type::TypePtr type;                    ///< null while unresolved
  bool nullable = true;
  bool distinct = false;                 ///< kCall: count(DISTINCT x)
  int64_t id = 0;                        ///< kAttribute, kAlias
  std::string metadata_json = "{}";      ///< kAttribute, kAlias: "spark.watermarkDelayMs" and the like
  std::vector<std::string> qualifier;    ///< kAttribute: relation name or alias it can be reached by
  EvalContext context;                   ///< resolved kCall and kCast
  Origin origin;

  bool resolved() const { return type != nullptr; }
  /// As Spark's SQL text of it, for column names and messages: `sum((v + 1))`, `window(ts, 10 seconds)`.
  std::string ToSql() const;
  /// As Spark's explain prints it: `v#3`, `(v#3 + 1)`.
  std::string ToString() const;
};

/// A fresh attribute id, unique in the process.
int64_t NewExprId();

ExprPtr Literal(std::shared_ptr<arrow::Scalar> value, type::TypePtr type, Origin origin = {});
ExprPtr LiteralLong(int64_t value);
ExprPtr LiteralInt(int32_t value);
ExprPtr LiteralString(std::string value, Origin origin = {});
ExprPtr LiteralNull(const type::TypePtr& type);
ExprPtr LiteralBoolean(bool value);
ExprPtr UnresolvedAttribute(std::vector<std::string> name_parts, Origin origin = {});
ExprPtr Star(std::vector<std::string> qualifier, Origin origin = {});
ExprPtr Attribute(const type::Field& field, int64_t id, std::vector<std::string> qualifier = {});
ExprPtr UnresolvedCall(std::string name, std::vector<ExprPtr> arguments, bool distinct = false, Origin origin = {});
ExprPtr UnresolvedCast(ExprPtr child, type::TypePtr type, bool try_cast, Origin origin = {});
ExprPtr UnresolvedAlias(ExprPtr child, std::string name, Origin origin = {});

/// A copy of `node` with other children (types and ids stay).
ExprPtr WithChildren(const ExprPtr& node, std::vector<ExprPtr> children);

}  // namespace tidemill::expr
