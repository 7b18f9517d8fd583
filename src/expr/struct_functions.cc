// Structs: a field of one, and making one.

#include <arrow/array.h>
#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include "expr/coercion_internal.h"
#include "expr/registry_internal.h"

namespace tidemill::expr {

using type::Kind;

namespace {

std::string TextOf(const Expression& literal) { return std::string(static_cast<const arrow::BaseBinaryScalar&>(*literal.value).view()); }

/// The number of the field that getfield's second argument names, or -1. The analyser has settled upper and lower case.
int FieldIndex(const type::DataType& type, const std::string& name) {
  for (size_t i = 0; i < type.fields().size(); ++i) {
    if (type.fields()[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

Result<Bound> BindGetField(CallSite& call) {
  const type::DataType& type = call.TypeOf(0);
  if (type.kind() != Kind::kStruct || call.children[1]->kind != ExprKind::kLiteral) return InternalError("getfield over {}", type.ToSql());
  const std::string name = TextOf(*call.children[1]);
  const int index = FieldIndex(type, name);
  if (index < 0) {
    std::string fields;
    for (const type::Field& field : type.fields()) fields += (fields.empty() ? "`" : ", `") + field.name + "`";
    return UserError("FIELD_NOT_FOUND", "No such struct field `{}` in {}.", name, fields).Param("fieldName", "`" + name + "`").Param("fields", fields);
  }
  const type::Field& field = type.fields()[index];
  return Bound{field.type, call.children[0]->nullable || field.nullable};
}

Result<Kernel> CompileGetField(const Expression& call) {
  const int index = FieldIndex(*call.children[0]->type, TextOf(*call.children[1]));
  return Kernel([index](std::span<const Column> arguments, int64_t rows) -> Result<ArrayPtr> {
    ARROW_ASSIGN_OR_RAISE(const ArrayPtr field, static_cast<const arrow::StructArray&>(*arguments[0].array).GetFlattenedField(index));
    if (!arguments[0].constant || rows == 1) return field;
    ARROW_ASSIGN_OR_RAISE(const auto value, field->GetScalar(0));
    return arrow::MakeArrayFromScalar(*value, rows);
  });
}

/// Columns spread out to `rows` rows each, as children of a struct.
Result<ArrayPtr> MakeStruct(const std::shared_ptr<arrow::DataType>& type, std::span<const Column> columns, int64_t rows) {
  arrow::ArrayVector children;
  for (const Column& column : columns) {
    if (!column.constant || rows == 1) {
      children.push_back(column.array);
      continue;
    }
    ARROW_ASSIGN_OR_RAISE(const auto value, column.array->GetScalar(0));
    ARROW_ASSIGN_OR_RAISE(auto spread, arrow::MakeArrayFromScalar(*value, rows));
    children.push_back(std::move(spread));
  }
  return std::make_shared<arrow::StructArray>(type, rows, std::move(children));
}

/// Spark names a field after its column, else col1, col2, …
Result<Bound> BindStruct(CallSite& call) {
  std::vector<type::Field> fields;
  for (size_t i = 0; i < call.children.size(); ++i) {
    const Expression& child = *call.children[i];
    const bool named = child.kind == ExprKind::kAttribute || child.kind == ExprKind::kAlias;
    const bool is_field = child.kind == ExprKind::kCall && child.name == "getfield";
    std::string name = named ? child.name : is_field ? TextOf(*child.children[1]) : "col" + std::to_string(i + 1);
    fields.push_back({std::move(name), child.type, child.nullable});
  }
  return Bound{type::Struct(std::move(fields)), false};
}

Result<Kernel> CompileStruct(const Expression& call) {
  const auto type = call.type->ToArrow();
  return Kernel([type](std::span<const Column> arguments, int64_t rows) { return MakeStruct(type, arguments, rows); });
}

Result<Bound> BindNamedStruct(CallSite& call) {
  if (call.children.size() % 2 != 0) {
    return UserError("WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "The `named_struct` requires 2n (n > 0) parameters but the actual number is {}.", call.children.size())
        .Param("functionName", "`named_struct`")
        .Param("expectedNum", "2n (n > 0)")
        .Param("actualNum", std::to_string(call.children.size()))
        .Param("docroot", "https://spark.apache.org/docs/latest");
  }
  std::vector<type::Field> fields;
  for (size_t i = 0; i < call.children.size(); i += 2) {
    const Expression& name = *call.children[i];
    if (name.kind != ExprKind::kLiteral || name.type->kind() != Kind::kString || !name.value->is_valid) {
      return UnexpectedInputType(call, i, "foldable \"STRING\"");
    }
    fields.push_back({TextOf(name), call.children[i + 1]->type, call.children[i + 1]->nullable});
  }
  return Bound{type::Struct(std::move(fields)), false};
}

Result<Kernel> CompileNamedStruct(const Expression& call) {
  const auto type = call.type->ToArrow();
  return Kernel([type](std::span<const Column> arguments, int64_t rows) {
    std::vector<Column> values;
    for (size_t i = 1; i < arguments.size(); i += 2) values.push_back(arguments[i]);
    return MakeStruct(type, values, rows);
  });
}

constexpr Function kFunctions[] = {
    {"getfield", 2, 2, BindGetField, CompileGetField},
    {"struct", 1, -1, BindStruct, CompileStruct},
    {"named_struct", 2, -1, BindNamedStruct, CompileNamedStruct},
};

}  // namespace

std::span<const Function> StructFunctions() { return kFunctions; }

}  // namespace tidemill::expr
