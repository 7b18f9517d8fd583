#pragma once

// The function table. A family of functions lives in one file and hands out its rows; registry.cc lists the families.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "expr/column.h"
#include "expr/expression.h"

namespace tidemill::expr {

/// A call under resolution. `bind` may replace children by casts of them.
struct CallSite {
  std::string name;
  std::vector<ExprPtr> children;
  const EvalContext& context;
  Origin origin;
  bool distinct = false;

  const type::DataType& TypeOf(size_t i) const { return *children[i]->type; }
  bool AnyNullable() const;
  /// The call as SQL text in double quotes, as messages print it.
  std::string QuotedSql() const;
  /// Child `i` with an implied cast to `type`; the child itself when it has that type.
  void Cast(size_t i, const type::TypePtr& type);
};

struct Bound {
  type::TypePtr type;
  bool nullable = true;
};

enum class Failing {
  kNever,   ///< no input makes it fail
  kAnsi,    ///< may fail in ANSI mode
  kAlways,  ///< may fail in any mode
};

struct Function {
  std::string_view name;
  int min_arguments = 0;
  int max_arguments = 0;  ///< -1: any number
  Result<Bound> (*bind)(CallSite& call) = nullptr;
  /// Null for functions that the evaluator takes apart itself (conditionals) and for aggregates.
  Result<Kernel> (*compile)(const Expression& call) = nullptr;
  Failing failing = Failing::kNever;
};

std::span<const Function> ArithmeticFunctions();
std::span<const Function> BitwiseFunctions();
std::span<const Function> MathFunctions();
std::span<const Function> ComparisonFunctions();
std::span<const Function> LogicFunctions();
std::span<const Function> ConditionalFunctions();
std::span<const Function> StringFunctions();
std::span<const Function> LikeFunctions();
std::span<const Function> DateFunctions();
std::span<const Function> TimestampFunctions();
std::span<const Function> WindowFunctions();
std::span<const Function> StructFunctions();
std::span<const Function> ArrayFunctions();
std::span<const Function> AggregateFunctions();

/// A column with a value for each of `rows` rows, where it was one for all.
Result<ArrayPtr> SpreadOut(const Column& column, int64_t rows);

const Function* FindFunction(std::string_view name);
/// A copy of `call` as an expression, resolved.
ExprPtr MakeResolvedCall(std::string name, std::vector<ExprPtr> children, type::TypePtr type, bool nullable, const EvalContext& context,
                         Origin origin = {});

/// Compile a cast from its child's type. Needs a pair of types that ResolveCast allows.
Result<Kernel> CompileCast(const Expression& cast);
/// Can evaluating it raise an error for some row? Then it must not see rows that a condition keeps away from it.
bool MayFail(const Expression& expression);

}  // namespace tidemill::expr
