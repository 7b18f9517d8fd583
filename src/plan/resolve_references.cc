// Names to columns, and bound expressions to typed ones.

#include <algorithm>
#include <utility>

#include "base/config.h"
#include "expr/function/resolve.h"
#include "plan/analyzer_internal.h"
#include "plan/column_metadata.h"
#include "plan/expression_tree.h"

namespace tidemill::plan {

using expr::Expression;
using expr::ExprKind;
using expr::ExprPtr;

namespace {

constexpr size_t kMaxSuggestions = 5;

std::string ToLower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
    }
  }
  return row[b.size()];
}

std::vector<std::string> QualifiedName(const Expression& column) {
  std::vector<std::string> parts = column.qualifier;
  parts.push_back(column.name);
  return parts;
}

bool SameQualifier(const std::vector<ExprPtr>& columns) {
  return std::all_of(columns.begin(), columns.end(), [&](const ExprPtr& column) { return column->qualifier == columns[0]->qualifier; });
}

// A cast knows its type from the start; it is resolved when it has been looked at, which is harmless to do twice.
bool IsDone(const Expression& expression) { return expression.resolved() && expression.kind != ExprKind::kCast; }

// Attributes are shared between nodes; one that was spelled differently here shows that spelling, as in Spark.
ExprPtr WithName(const ExprPtr& column, const std::string& name) {
  if (column->name == name) return column;
  auto renamed = std::make_shared<Expression>(*column);
  renamed->name = name;
  return renamed;
}

}  // namespace

bool NameScope::NamesEqual(std::string_view a, std::string_view b) const { return case_sensitive_ ? a == b : ToLower(a) == ToLower(b); }

bool NameScope::QualifierEndsWith(const Expression& column, const std::vector<std::string>& parts, size_t count) const {
  if (column.qualifier.size() < count) return false;
  for (size_t i = 0; i < count; ++i) {
    if (!NamesEqual(column.qualifier[column.qualifier.size() - count + i], parts[i])) return false;
  }
  return true;
}

Result<ExprPtr> NameScope::AccessFields(ExprPtr base, const std::vector<std::string>& parts, size_t first) const {
  for (size_t i = first; i < parts.size(); ++i) {
    if (base->type->kind() != type::Kind::kStruct) {
      return UserError("INVALID_EXTRACT_BASE_FIELD_TYPE",
                       "Can't extract a value from {}. Need a complex type [STRUCT, ARRAY, MAP] but got {}.", QuoteSql(base->ToSql()),
                       QuoteSql(base->type->ToSql()))
          .Param("base", QuoteSql(base->ToSql()))
          .Param("other", QuoteSql(base->type->ToSql()));
    }
    const std::vector<type::Field>& fields = base->type->fields();
    auto named = [&](const type::Field& field) { return NamesEqual(field.name, parts[i]); };
    auto found = std::find_if(fields.begin(), fields.end(), named);
    if (found == fields.end()) {
      std::string known;
      for (const type::Field& field : fields) known += (known.empty() ? "" : ", ") + QuoteName({field.name});
      return UserError("FIELD_NOT_FOUND", "No such struct field {} in {}.", QuoteName({parts[i]}), known)
          .Param("fieldName", QuoteName({parts[i]}))
          .Param("fields", known);
    }
    ARROW_ASSIGN_OR_RAISE(base, expr::ResolveCall(*expr::UnresolvedCall("getfield", {}), {base, expr::LiteralString(found->name)}, {}));
  }
  return base;
}

Result<std::optional<ExprPtr>> NameScope::Find(const std::vector<std::string>& parts) const {
  // The longest qualifier wins: `a.b` is column b of a before it is field b of column a.
  for (size_t count = parts.size(); count-- > 0;) {
    std::vector<ExprPtr> found;
    for (const ExprPtr& column : columns_) {
      if (!NamesEqual(column->name, parts[count]) || !QualifierEndsWith(*column, parts, count)) continue;
      bool known = std::any_of(found.begin(), found.end(), [&](const ExprPtr& other) { return other->id == column->id; });
      if (!known) found.push_back(column);
    }
    if (found.empty()) continue;
    if (found.size() > 1) {
      std::string references;
      for (const ExprPtr& column : found) references += (references.empty() ? "" : ", ") + QuoteName(QualifiedName(*column));
      return UserError("AMBIGUOUS_REFERENCE", "Reference {} is ambiguous, could be: [{}].", QuoteName(parts), references)
          .Param("name", QuoteName(parts))
          .Param("referenceNames", "[" + references + "]");
    }
    ARROW_ASSIGN_OR_RAISE(ExprPtr resolved, AccessFields(WithName(found[0], parts[count]), parts, count + 1));
    return std::optional<ExprPtr>(std::move(resolved));
  }
  return std::nullopt;
}

Status NameScope::UnknownColumn(const std::vector<std::string>& parts) const {
  std::string name = QuoteName(parts);
  if (columns_.empty()) {
    return UserError("UNRESOLVED_COLUMN.WITHOUT_SUGGESTION", "A column, variable, or function parameter with name {} cannot be resolved.",
                     name)
        .Param("objectName", name);
  }
  // Qualifiers all columns share say nothing, unless the user wrote one.
  bool short_names = parts.size() == 1 && SameQualifier(columns_);
  std::string wanted;
  for (const std::string& part : parts) wanted += (wanted.empty() ? "" : ".") + part;
  std::vector<std::pair<size_t, std::string>> candidates;
  for (const ExprPtr& column : columns_) {
    std::vector<std::string> full = QualifiedName(*column);
    if (!short_names && full.size() > 2) full.erase(full.begin(), full.end() - 2);
    std::string candidate = QuoteName(short_names ? std::vector<std::string>{column->name} : full);
    candidates.emplace_back(EditDistance(wanted, candidate), candidate);
  }
  std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string proposal;
  for (size_t i = 0; i < std::min(candidates.size(), kMaxSuggestions); ++i) proposal += (i > 0 ? ", " : "") + candidates[i].second;
  return UserError("UNRESOLVED_COLUMN.WITH_SUGGESTION",
                   "A column, variable, or function parameter with name {} cannot be resolved. Did you mean one of the following? [{}].",
                   name, proposal)
      .Param("objectName", name)
      .Param("proposal", proposal);
}

Result<std::vector<ExprPtr>> NameScope::ExpandStar(const std::vector<std::string>& qualifier) const {
  if (qualifier.empty()) return columns_;
  std::vector<ExprPtr> columns;
  for (const ExprPtr& column : columns_) {
    if (QualifierEndsWith(*column, qualifier, qualifier.size())) columns.push_back(column);
  }
  if (!columns.empty()) return columns;
  ARROW_ASSIGN_OR_RAISE(std::optional<ExprPtr> base, Find(qualifier));
  if (base && (*base)->type->kind() == type::Kind::kStruct) {
    for (const type::Field& field : (*base)->type->fields()) {
      ARROW_ASSIGN_OR_RAISE(ExprPtr access,
                            expr::ResolveCall(*expr::UnresolvedCall("getfield", {}), {*base, expr::LiteralString(field.name)}, {}));
      columns.push_back(expr::UnresolvedAlias(std::move(access), field.name));
    }
    return columns;
  }
  std::string known;
  for (const ExprPtr& column : columns_) known += (known.empty() ? "" : ", ") + QuoteName({column->name});
  std::string target = QuoteName(qualifier);
  return UserError("CANNOT_RESOLVE_STAR_EXPAND", "Cannot resolve {}.* given input columns {}.", target, known)
      .Param("targetString", target)
      .Param("columns", known);
}

Status AtOrigin(const Status& status, const expr::Origin& origin) {
  const ErrorDetail* detail = ErrorDetail::Of(status);
  if (status.ok() || detail == nullptr || origin.line == 0 || detail->parameters.count("line") > 0) return status;
  auto placed = std::make_shared<ErrorDetail>(*detail);
  placed->parameters["line"] = std::to_string(origin.line);
  placed->parameters["column"] = std::to_string(origin.column);
  return Status(status.code(), status.message(), std::move(placed));
}

Result<ExprPtr> BindNames(const ExprPtr& expression, const NameScope& scope) {
  if (IsDone(*expression)) return expression;
  if (expression->kind == ExprKind::kUnresolvedAttribute) {
    Result<std::optional<ExprPtr>> found = scope.Find(expression->name_parts);
    if (!found.ok()) return AtOrigin(found.status(), expression->origin);
    if (!*found) return AtOrigin(scope.UnknownColumn(expression->name_parts), expression->origin);
    return **found;
  }
  if (expression->kind == ExprKind::kStar) {
    return AtOrigin(UserError("INVALID_USAGE_OF_STAR_OR_REGEX", "Invalid usage of '*' in expression.")
                        .Param("elem", "'*'")
                        .Param("prettyName", "expression"),
                    expression->origin);
  }
  bool is_call = expression->kind == ExprKind::kCall;
  std::vector<ExprPtr> children;
  for (const ExprPtr& child : expression->children) {
    if (is_call && child->kind == ExprKind::kStar) {
      if (expression->name == "count" && child->name_parts.empty() && !expression->distinct && expression->children.size() == 1) {
        children.push_back(expr::LiteralInt(1));
        continue;
      }
      ARROW_ASSIGN_OR_RAISE(std::vector<ExprPtr> columns, scope.ExpandStar(child->name_parts));
      for (const ExprPtr& column : columns) children.push_back(StripAlias(column));
      continue;
    }
    ARROW_ASSIGN_OR_RAISE(ExprPtr bound, BindNames(child, scope));
    children.push_back(std::move(bound));
  }
  return expr::WithChildren(expression, std::move(children));
}

Result<ExprPtr> ResolveTypes(const ExprPtr& bound, const AnalysisFrame& frame) {
  if (IsDone(*bound)) return bound;
  std::vector<ExprPtr> children;
  for (const ExprPtr& child : bound->children) {
    ARROW_ASSIGN_OR_RAISE(ExprPtr typed, ResolveTypes(child, frame));
    children.push_back(std::move(typed));
  }
  switch (bound->kind) {
    case ExprKind::kCall: {
      Result<ExprPtr> call = expr::ResolveCall(*bound, std::move(children), frame.context);
      return call.ok() ? call : AtOrigin(call.status(), bound->origin);
    }
    case ExprKind::kCast: {
      Result<ExprPtr> cast =
          expr::ResolveCast(std::move(children[0]), bound->type, bound->name == "try_cast", frame.context, bound->origin);
      return cast.ok() ? cast : AtOrigin(cast.status(), bound->origin);
    }
    case ExprKind::kAlias: {
      auto alias = std::make_shared<Expression>(*bound);
      alias->type = children[0]->type;
      alias->nullable = children[0]->nullable;
      bool keeps_metadata = children[0]->kind == ExprKind::kAttribute || children[0]->kind == ExprKind::kAlias;
      if (keeps_metadata && alias->metadata_json == "{}") alias->metadata_json = children[0]->metadata_json;
      if (alias->id == 0) alias->id = expr::NewExprId();
      alias->children = std::move(children);
      return ExprPtr(std::move(alias));
    }
    default:
      return InternalError("expression {} cannot be typed", bound->ToSql());
  }
}

Result<ExprPtr> ResolveExpression(const ExprPtr& expression, const NameScope& scope, const AnalysisFrame& frame) {
  ARROW_ASSIGN_OR_RAISE(ExprPtr bound, BindNames(expression, scope));
  return ResolveTypes(bound, frame);
}

Result<ExprPtr> ResolveNamed(const ExprPtr& expression, const NameScope& scope, const AnalysisFrame& frame) {
  ARROW_ASSIGN_OR_RAISE(ExprPtr bound, BindNames(expression, scope));
  ARROW_ASSIGN_OR_RAISE(ExprPtr typed, ResolveTypes(bound, frame));
  if (typed->kind == ExprKind::kAttribute || typed->kind == ExprKind::kAlias) return typed;
  // `w.start` becomes column `start`; anything else is called by its text, taken before casts were put in.
  bool is_field = expression->kind == ExprKind::kUnresolvedAttribute;
  std::string name = is_field ? expression->name_parts.back() : bound->ToSql();
  return ResolveTypes(expr::UnresolvedAlias(std::move(typed), std::move(name), expression->origin), frame);
}

Result<std::vector<ExprPtr>> ExpandStars(const std::vector<ExprPtr>& expressions, const NameScope& scope) {
  std::vector<ExprPtr> expanded;
  for (const ExprPtr& expression : expressions) {
    if (expression->kind != ExprKind::kStar) {
      expanded.push_back(expression);
      continue;
    }
    Result<std::vector<ExprPtr>> columns = scope.ExpandStar(expression->name_parts);
    if (!columns.ok()) return AtOrigin(columns.status(), expression->origin);
    expanded.insert(expanded.end(), columns->begin(), columns->end());
  }
  return expanded;
}

}  // namespace tidemill::plan
