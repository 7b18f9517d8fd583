// Expressions as text: SQL as Spark makes column names of it, and the form of `explain`.

#include <arrow/array.h>
#include <arrow/array/util.h>
#include <arrow/scalar.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "expr/value_text.h"
#include "expr/expression.h"

namespace tidemill::expr {

namespace {

struct InfixOperator {
  std::string_view name;
  std::string_view symbol;
};

constexpr InfixOperator kInfix[] = {
    {"+", "+"},     {"-", "-"}, {"*", "*"},   {"/", "/"}, {"%", "%"},   {"div", "div"}, {"=", "="},   {"==", "="},
    {"<=>", "<=>"}, {"<", "<"}, {"<=", "<="}, {">", ">"}, {">=", ">="}, {"and", "AND"}, {"or", "OR"},
};

// Functions whose name Spark prints in its own way, whatever the user wrote.
struct PrintedName {
  std::string_view name;
  std::string_view printed;
};
constexpr PrintedName kPrintedNames[] = {{"||", "concat"},   {"ceil", "CEIL"}, {"floor", "FLOOR"}, {"sqrt", "SQRT"},
                                         {"power", "POWER"}, {"if", "IF"},     {"trim", "trim"}};

using Render = std::string (*)(const Expression&);

// Literals inside names are bare: strings without quotes, numbers without type suffix.
std::string LiteralText(const Expression& literal) {
  if (!literal.value->is_valid) return "NULL";
  const auto array = arrow::MakeArrayFromScalar(*literal.value, 1);
  const auto text = array.ok() ? FormatValue(**array, 0, *literal.type, literal.context.time_zone) : Result<std::string>(array.status());
  if (!text.ok()) return literal.value->ToString();
  switch (literal.type->kind()) {
    case type::Kind::kTimestamp:
      return "TIMESTAMP '" + *text + "'";
    case type::Kind::kTimestampNtz:
      return "TIMESTAMP_NTZ '" + *text + "'";
    case type::Kind::kDate:
      return "DATE '" + *text + "'";
    default:
      return *text;
  }
}

std::string Joined(const Expression& call, Render render) {
  std::string text;
  for (size_t i = 0; i < call.children.size(); ++i) {
    if (i > 0) text += ", ";
    text += render(*call.children[i]);
  }
  return text;
}

std::string CaseText(const Expression& call, Render render) {
  std::string text = "CASE";
  size_t i = 0;
  for (; i + 1 < call.children.size(); i += 2) text += " WHEN " + render(*call.children[i]) + " THEN " + render(*call.children[i + 1]);
  if (i < call.children.size()) text += " ELSE " + render(*call.children[i]);
  return text + " END";
}

bool IsTimeArithmetic(const Expression& call) {
  if (call.name != "+" && call.name != "-") return false;
  return std::any_of(call.children.begin(), call.children.end(), [](const ExprPtr& child) {
    return child->type != nullptr &&
           (child->type->kind() == type::Kind::kDayTimeInterval || child->type->kind() == type::Kind::kYearMonthInterval);
  });
}

std::string OperatorText(const Expression& call, std::string_view symbol, Render render) {
  const std::string text = render(*call.children[0]) + " " + std::string(symbol) + " " + render(*call.children[1]);
  return IsTimeArithmetic(call) ? text : "(" + text + ")";
}

std::string CallText(const Expression& call, Render render) {
  const auto& children = call.children;
  if (children.size() == 2) {
    for (const InfixOperator& infix : kInfix) {
      if (call.name == infix.name) return OperatorText(call, infix.symbol, render);
    }
    if (call.name == "<>" || call.name == "!=") return "(NOT " + OperatorText(call, "=", render) + ")";
    if (call.name == "like" || call.name == "ilike") {
      return render(*children[0]) + (call.name == "like" ? " LIKE " : " ILIKE ") + render(*children[1]);
    }
    if (call.name == "getfield") return render(*children[0]) + "." + render(*children[1]);
  }
  if (children.size() == 1) {
    if (call.name == "-") return "(- " + render(*children[0]) + ")";
    if (call.name == "+") return "(+ " + render(*children[0]) + ")";
    if (call.name == "not" || call.name == "!") return "(NOT " + render(*children[0]) + ")";
    if (call.name == "isnull") return "(" + render(*children[0]) + " IS NULL)";
    if (call.name == "isnotnull") return "(" + render(*children[0]) + " IS NOT NULL)";
  }
  if (call.name == "when") return CaseText(call, render);
  if (call.name == "if") return "(IF(" + Joined(call, render) + "))";
  if (call.name == "in" && !children.empty()) {
    std::string text = "(" + render(*children[0]) + " IN (";
    for (size_t i = 1; i < children.size(); ++i) text += (i > 1 ? ", " : "") + render(*children[i]);
    return text + "))";
  }
  std::string name = call.name;
  for (const PrintedName& known : kPrintedNames) {
    if (name == known.name) name = known.printed;
  }
  if (name == "count" && children.size() == 1 && children[0]->kind == ExprKind::kStar) return "count(1)";
  return name + (call.distinct ? "(DISTINCT " : "(") + Joined(call, render) + ")";
}

std::string CastText(const Expression& cast, Render render) {
  if (cast.name == "implicit") return render(*cast.children[0]);
  return (cast.name == "try_cast" ? "TRY_CAST(" : "CAST(") + render(*cast.children[0]) + " AS " + cast.type->ToSql() + ")";
}

std::string Text(const Expression& e, Render render, bool ids) {
  const std::string id = ids ? "#" + std::to_string(e.id) : "";
  switch (e.kind) {
    case ExprKind::kLiteral:
      return LiteralText(e);
    case ExprKind::kUnresolvedAttribute:
    case ExprKind::kStar: {
      std::string text = ids ? "'" : "";
      for (size_t i = 0; i < e.name_parts.size(); ++i) text += (i > 0 ? "." : "") + e.name_parts[i];
      if (e.kind == ExprKind::kStar) text += e.name_parts.empty() ? "*" : ".*";
      return text;
    }
    case ExprKind::kAttribute:
      return e.name + id;
    case ExprKind::kCall:
      return CallText(e, render);
    case ExprKind::kCast:
      return CastText(e, render);
    case ExprKind::kAlias:
      return render(*e.children[0]) + " AS " + e.name + id;
  }
  return e.name;
}

std::string RenderSql(const Expression& e) { return Text(e, RenderSql, /*ids=*/false); }
std::string RenderPlan(const Expression& e) {
  // A plan shows what coercion put in; a column name does not.
  if (e.kind == ExprKind::kCast && e.name == "implicit") return "cast(" + RenderPlan(*e.children[0]) + " as " + e.type->ToString() + ")";
  return Text(e, RenderPlan, /*ids=*/true);
}

}  // namespace

std::string Expression::ToSql() const { return RenderSql(*this); }
std::string Expression::ToString() const { return RenderPlan(*this); }

}  // namespace tidemill::expr
