#pragma once

// The one logical plan: unresolved from the parser or a client, resolved by the analyser, then optimised. Nodes are immutable.
//
// After optimisation a plan has only resolved nodes, and an Aggregate is in normal form (see kAggregate), which exec/ turns into pipelines.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "expr/function/aggregate.h"
#include "expr/expression.h"
#include "type/data_type.h"

namespace tidemill::plan {

enum class PlanKind {
  kUnresolvedRelation,  ///< name_parts, is_streaming (STREAM …), options (WITH …), source_name (IDENTIFIED BY)
  kRelation,            ///< table: a data source, streaming or not; output = attributes
  kSubqueryAlias,       ///< name, child
  kProject,             ///< expressions (named: attribute or alias)
  kFilter,              ///< condition
  kWatermark,           ///< column (unresolved or attribute) and delay_ms; with `column` an alias: adds the column in front
  kExpand,              ///< projections: k lists of expressions over the child with the same output (sliding windows)
  kAggregate,           ///< unresolved/resolved: grouping, expressions. Normal form: keys, aggregates
  kDistinct,   ///< child; becomes an Aggregate over all columns
  kSort,       ///< grouping = sort keys, unresolved
  kLimit,      ///< limit
  kOffset,     ///< limit = rows to skip
  kSample,     ///< child
  kUnion,      ///< children, by position; UNION ALL
  kExcept, kIntersect,  ///< children left and right
  kJoin,       ///< children left and right, join_type, condition
};  // From kSort on: parsed and judged by CheckStreaming, then refused by Optimize

class LogicalPlan;
using PlanPtr = std::shared_ptr<const LogicalPlan>;
using Options = std::map<std::string, std::string>;  // keys in lower case; values as given

/// A table or view as the catalog has it: format, columns, options.
struct TableDescription {
  std::string name;
  std::string format;      ///< "json", …
  type::Schema schema;
  Options options;
  bool is_streaming_view = false;  ///< a view over a stream: usable with and without STREAM
};

/// One aggregate of a normal-form Aggregate: what is computed, the child column it reads (-1: none), the attribute of its result.
struct AggregateColumn {
  expr::AggregateFunction function;
  int argument = -1;
  expr::ExprPtr output;
};

class LogicalPlan {
 public:
  PlanKind kind = PlanKind::kProject;
  std::vector<PlanPtr> children;
  std::vector<std::string> name_parts;
  bool is_streaming = false;
  Options options;
  std::optional<std::string> source_name;
  std::shared_ptr<const TableDescription> table;
  int64_t relation_id = 0;  ///< kRelation: tells two reads of one table apart, also when no column of them is left
  std::vector<expr::ExprPtr> expressions;
  expr::ExprPtr condition;
  bool having = false;  ///< kFilter: a HAVING, which may name aggregates and columns of the Aggregate below
  expr::ExprPtr column;
  int64_t delay_ms = 0;
  std::string delay_text;
  std::vector<std::vector<expr::ExprPtr>> projections;
  std::vector<expr::ExprPtr> grouping;
  /// Normal form: child column of each key, in groupBy order; the first `keys.size()` output attributes are the keys, then the aggregates' outputs.
  std::vector<int> keys;
  std::vector<AggregateColumn> aggregates;
  int64_t limit = 0;
  std::string join_type;
  expr::Origin origin;

  /// Attributes of a resolved node, in column order.
  std::vector<expr::ExprPtr> output;

  /// As Spark's explain prints a tree.
  std::string ToString() const;
};

/// Does the plan read a stream?
bool IsStreaming(const LogicalPlan& plan);
/// Columns of a join of `plan.children`: a side that an outer join may leave out can be null; a semi or anti join has the left side's alone.
std::vector<expr::ExprPtr> JoinOutput(const LogicalPlan& plan);
/// The output attributes as a schema.
type::Schema OutputSchema(const LogicalPlan& plan);

}  // namespace tidemill::plan
