#include "expr/function/resolve.h"

#include <arrow/array/util.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "base/config.h"
#include "expr/function/coercion_internal.h"
#include "expr/function/evaluator.h"
#include "expr/function/registry_internal.h"
#include "expr/function/spark_functions_internal.h"
#include "expr/timestamp.h"

namespace tidemill::expr {

namespace {

using type::Kind;

// One function under several spellings; the name that is printed is the user's, except where Spark prints its own.
const std::map<std::string, std::string>& OperatorSpellings() {
  static const std::map<std::string, std::string> spellings = {
      {"==", "="}, {"!", "not"}, {"case", "when"}, {"is null", "isnull"}, {"is not null", "isnotnull"}};
  return spellings;
}

const std::set<std::string>& NondeterministicNames() {
  static const std::set<std::string> names = {"current_timestamp", "now", "current_date", "localtimestamp"};
  return names;
}

Error UnknownFunction(const std::string& name) {
  if (IsSparkFunction(name)) {
    return UserError("TIDEMILL_UNSUPPORTED_FUNCTION", "The function `{}` of Spark is not supported yet.", name).Param("routineName", "`" + name + "`");
  }
  const std::string near = NearestName(name, FunctionNames());
  const std::string hint = near.empty() ? "" : " Did you mean `" + near + "`?";
  return UserError("UNRESOLVED_ROUTINE", "Cannot resolve routine `{}`: there is no function of this name here.{}", name, hint)
      .Param("routineName", "`" + name + "`")
      .Param("searchPath", "[`system`.`builtin`, `system`.`session`, `spark_catalog`.`default`]");
}

Error WrongArgumentCount(const Function& function, const std::string& name, size_t actual) {
  std::string expected = std::to_string(function.min_arguments);
  if (function.max_arguments < 0) {
    expected = "> " + std::to_string(function.min_arguments - 1);
  } else if (function.max_arguments > function.min_arguments) {
    expected = "[";
    for (int i = function.min_arguments; i <= function.max_arguments; ++i)
      expected += (i > function.min_arguments ? ", " : "") + std::to_string(i);
    expected += "]";
  }
  return UserError("WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "The `{}` requires {} parameters but the actual number is {}.", name, expected,
                   actual)
      .Param("functionName", "`" + name + "`")
      .Param("expectedNum", expected)
      .Param("actualNum", std::to_string(actual))
      .Param("docroot", "https://spark.apache.org/docs/latest");
}

bool IsDatetime(Kind kind) { return kind == Kind::kDate || kind == Kind::kTimestamp || kind == Kind::kTimestampNtz; }
bool IsNested(Kind kind) { return kind == Kind::kStruct || kind == Kind::kArray || kind == Kind::kMap; }

// May a value of `from` be cast to `to` at all? `ansi` forbids what hides mistakes.
bool CanCast(const type::DataType& from, const type::DataType& to, bool ansi) {
  if (from.Equals(to) || from.kind() == Kind::kVoid) return true;
  if (to.kind() == Kind::kString) return true;
  if (from.kind() == Kind::kStruct && to.kind() == Kind::kStruct && from.fields().size() == to.fields().size()) {
    for (size_t i = 0; i < from.fields().size(); ++i) {
      if (!CanCast(*from.fields()[i].type, *to.fields()[i].type, ansi)) return false;
    }
    return true;
  }
  if (IsNested(from.kind()) || IsNested(to.kind()) || to.kind() == Kind::kVoid) return false;
  if (from.kind() == Kind::kString) return to.kind() != Kind::kDayTimeInterval && to.kind() != Kind::kYearMonthInterval;
  if (to.kind() == Kind::kBinary) return !ansi && from.IsIntegral();
  if (from.kind() == Kind::kBoolean || to.kind() == Kind::kBoolean) return from.IsNumeric() || to.IsNumeric();
  if (from.IsNumeric()) return to.IsNumeric() || to.kind() == Kind::kTimestamp;
  if (from.kind() == Kind::kTimestamp && to.IsNumeric()) return true;
  return IsDatetime(from.kind()) && IsDatetime(to.kind());
}

// Does the cast lose nothing and never fail, so that only a null gives a null?
bool CastKeepsNulls(const type::DataType& from, const type::DataType& to) {
  if (to.kind() == Kind::kString || from.Equals(to)) return true;
  if (from.kind() == Kind::kStruct) return true;
  if (from.kind() == Kind::kString) return to.kind() == Kind::kBinary;
  if (to.kind() == Kind::kDecimal) return from.IsIntegral() && to.precision() - to.scale() >= 20;
  if (from.kind() == Kind::kDecimal) return to.kind() == Kind::kDouble || to.kind() == Kind::kFloat || to.kind() == Kind::kBoolean;
  if (to.kind() == Kind::kTimestamp) return from.kind() != Kind::kFloat && from.kind() != Kind::kDouble;
  return true;
}

// Stands in for the expression's own tree when its name has no function of its own.
Result<ExprPtr> ResolveNotEqual(const Expression& call, std::vector<ExprPtr> children, const EvalContext& context) {
  ARROW_ASSIGN_OR_RAISE(ExprPtr equal, ResolveCall(*UnresolvedCall("=", {}, false, call.origin), std::move(children), context));
  return ResolveCall(*UnresolvedCall("not", {}, false, call.origin), {std::move(equal)}, context);
}

ExprPtr CurrentTimeLiteral(const Expression& call, int64_t batch_timestamp_ms) {
  const int64_t micros = batch_timestamp_ms * 1000;
  int64_t local = micros;
  if (auto zone = ZoneRules::Find(call.context.time_zone); zone.ok()) local = zone->ToLocal(micros);
  std::shared_ptr<arrow::Scalar> value;
  if (call.name == "current_date") {
    value = std::make_shared<arrow::Date32Scalar>(static_cast<int32_t>(FloorDiv(local, kMicrosPerDay)));
  } else {
    value = std::make_shared<arrow::TimestampScalar>(call.name == "localtimestamp" ? local : micros, call.type->ToArrow());
  }
  auto literal = std::make_shared<Expression>(*Literal(std::move(value), call.type, call.origin));
  literal->context = call.context;
  return literal;
}

}  // namespace

Result<ExprPtr> ResolveCall(const Expression& call, std::vector<ExprPtr> children, const EvalContext& context) {
  std::string name = call.name;
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  if (name == "<>" || name == "!=") return ResolveNotEqual(call, std::move(children), context);
  if (const auto spelling = OperatorSpellings().find(name); spelling != OperatorSpellings().end()) name = spelling->second;
  if (children.size() == 1 && (name == "-" || name == "unary-")) name = "negative";
  if (children.size() == 1 && (name == "+" || name == "unary+")) name = "positive";

  const Function* function = FindFunction(name);
  if (function == nullptr) return UnknownFunction(name);
  const auto count = static_cast<int>(children.size());
  if (count < function->min_arguments || (function->max_arguments >= 0 && count > function->max_arguments))
    return WrongArgumentCount(*function, name, children.size());
  for (const ExprPtr& child : children) {
    if (child->kind != ExprKind::kStar && !child->resolved())
      return InternalError("Argument {} of {} is not resolved", child->ToSql(), name);
  }
  CallSite site{name, std::move(children), context, call.origin, call.distinct};
  ARROW_ASSIGN_OR_RAISE(Bound bound, function->bind(site));
  auto resolved = std::make_shared<Expression>(
      *MakeResolvedCall(site.name, std::move(site.children), std::move(bound.type), bound.nullable, context, call.origin));
  resolved->distinct = call.distinct;
  return resolved;
}

Result<ExprPtr> ResolveCast(ExprPtr child, const type::TypePtr& to, bool try_cast, const EvalContext& context, Origin origin) {
  const type::DataType& from = *child->type;
  if (!CanCast(from, *to, context.ansi || try_cast)) {
    const std::string sql = Quoted(UnresolvedCast(child, to, try_cast)->ToSql());
    const bool without_ansi = CanCast(from, *to, false);
    auto error = UserError(without_ansi ? "DATATYPE_MISMATCH.CAST_WITH_CONF_SUGGESTION" : "DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION",
                           "Cannot resolve {}: {} cannot be cast to {}{}.", sql, Quoted(from.ToSql()), Quoted(to->ToSql()),
                           without_ansi ? " while spark.sql.ansi.enabled is true" : "")
                     .Param("sqlExpr", sql)
                     .Param("srcType", Quoted(from.ToSql()))
                     .Param("targetType", Quoted(to->ToSql()));
    if (!without_ansi) return error;
    return std::move(error).Param("config", Quoted("spark.sql.ansi.enabled")).Param("configVal", "'false'");
  }
  if (from.Equals(*to)) return child;
  auto cast = std::make_shared<Expression>(*UnresolvedCast(child, to, try_cast, origin));
  const bool checked = context.ansi && !try_cast;
  cast->nullable = child->nullable || !(checked || CastKeepsNulls(from, *to));
  cast->context = context;
  return cast;
}

bool IsAggregate(const Expression& call) {
  if (call.kind != ExprKind::kCall) return false;
  std::string name = call.name;
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto functions = AggregateFunctions();
  return std::any_of(functions.begin(), functions.end(), [&](const Function& function) { return function.name == name; });
}

bool IsFoldable(const Expression& expression) {
  switch (expression.kind) {
    case ExprKind::kLiteral:
      return true;
    case ExprKind::kCall:
      if (NondeterministicNames().contains(expression.name) || IsAggregate(expression)) return false;
      break;
    case ExprKind::kCast:
    case ExprKind::kAlias:
      break;
    default:
      return false;
  }
  return std::all_of(expression.children.begin(), expression.children.end(), [](const ExprPtr& child) { return IsFoldable(*child); });
}

Result<ExprPtr> Fold(const ExprPtr& expression) {
  if (expression->kind == ExprKind::kLiteral) return expression;
  ARROW_ASSIGN_OR_RAISE(auto evaluator, Evaluator::Make(expression, {}));
  const auto one_row = arrow::RecordBatch::Make(arrow::schema({}), 1, arrow::ArrayVector{});
  ARROW_ASSIGN_OR_RAISE(auto array, evaluator->Evaluate(*one_row));
  ARROW_ASSIGN_OR_RAISE(auto value, array->GetScalar(0));
  auto literal = std::make_shared<Expression>(*Literal(std::move(value), expression->type, expression->origin));
  literal->context = expression->context;
  return literal;
}

ExprPtr ReplaceCurrentTime(const ExprPtr& expression, int64_t batch_timestamp_ms) {
  if (expression->kind == ExprKind::kCall && NondeterministicNames().contains(expression->name) && expression->resolved()) {
    return CurrentTimeLiteral(*expression, batch_timestamp_ms);
  }
  bool changed = false;
  std::vector<ExprPtr> children;
  for (const ExprPtr& child : expression->children) {
    children.push_back(ReplaceCurrentTime(child, batch_timestamp_ms));
    changed = changed || children.back() != child;
  }
  return changed ? WithChildren(expression, std::move(children)) : expression;
}

}  // namespace tidemill::expr
