#include "expr/expression.h"

#include <arrow/scalar.h>
#include <arrow/type.h>

#include <atomic>
#include <utility>

namespace tidemill::expr {

namespace {

std::shared_ptr<Expression> Node(ExprKind kind, Origin origin = {}) {
  auto node = std::make_shared<Expression>();
  node->kind = kind;
  node->origin = origin;
  return node;
}

}  // namespace

int64_t NewExprId() {
  // Ids only have to differ: they never reach the disk, so a process-wide counter is no hidden state.
  static std::atomic<int64_t> next{0};
  return next.fetch_add(1, std::memory_order_relaxed);
}

ExprPtr Literal(std::shared_ptr<arrow::Scalar> value, type::TypePtr type, Origin origin) {
  auto node = Node(ExprKind::kLiteral, origin);
  node->nullable = !value->is_valid;
  node->value = std::move(value);
  node->type = std::move(type);
  return node;
}

ExprPtr LiteralLong(int64_t value) { return Literal(std::make_shared<arrow::Int64Scalar>(value), type::Long()); }

ExprPtr LiteralInt(int32_t value) { return Literal(std::make_shared<arrow::Int32Scalar>(value), type::Int()); }

ExprPtr LiteralString(std::string value, Origin origin) {
  return Literal(std::make_shared<arrow::StringScalar>(std::move(value)), type::String(), origin);
}

ExprPtr LiteralNull(const type::TypePtr& type) { return Literal(arrow::MakeNullScalar(type->ToArrow()), type); }

ExprPtr LiteralBoolean(bool value) { return Literal(std::make_shared<arrow::BooleanScalar>(value), type::Boolean()); }

ExprPtr UnresolvedAttribute(std::vector<std::string> name_parts, Origin origin) {
  auto node = Node(ExprKind::kUnresolvedAttribute, origin);
  node->name_parts = std::move(name_parts);
  return node;
}

ExprPtr Star(std::vector<std::string> qualifier, Origin origin) {
  auto node = Node(ExprKind::kStar, origin);
  node->name_parts = std::move(qualifier);
  return node;
}

ExprPtr Attribute(const type::Field& field, int64_t id, std::vector<std::string> qualifier) {
  auto node = Node(ExprKind::kAttribute);
  node->name = field.name;
  node->type = field.type;
  node->nullable = field.nullable;
  node->metadata_json = field.metadata_json;
  node->id = id;
  node->qualifier = std::move(qualifier);
  return node;
}

ExprPtr UnresolvedCall(std::string name, std::vector<ExprPtr> arguments, bool distinct, Origin origin) {
  auto node = Node(ExprKind::kCall, origin);
  node->name = std::move(name);
  node->children = std::move(arguments);
  node->distinct = distinct;
  return node;
}

ExprPtr UnresolvedCast(ExprPtr child, type::TypePtr type, bool try_cast, Origin origin) {
  auto node = Node(ExprKind::kCast, origin);
  node->name = try_cast ? "try_cast" : "cast";
  node->children = {std::move(child)};
  node->type = std::move(type);
  return node;
}

ExprPtr UnresolvedAlias(ExprPtr child, std::string name, Origin origin) {
  auto node = Node(ExprKind::kAlias, origin);
  node->name = std::move(name);
  // Known at once when the child is: an alias has the type of what it names. (The type of an unresolved cast says where it goes, not that
  // it is resolved.)
  if (child != nullptr && child->kind != ExprKind::kCast) {
    node->type = child->type;
    node->nullable = child->nullable;
  }
  node->children = {std::move(child)};
  node->id = NewExprId();
  return node;
}

ExprPtr WithChildren(const ExprPtr& node, std::vector<ExprPtr> children) {
  auto copy = std::make_shared<Expression>(*node);
  copy->children = std::move(children);
  return copy;
}

}  // namespace tidemill::expr
