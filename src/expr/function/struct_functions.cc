// Building structs and reaching into them.

#include <arrow/array/array_nested.h>
#include <arrow/array/util.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include "expr/function/coercion_internal.h"
#include "expr/function/registry_internal.h"

namespace tidemill::expr {

namespace {

std::string StringLiteral(const Expression& literal) { return std::string(static_cast<const arrow::StringScalar&>(*literal.value).view()); }

bool IsStringLiteral(const Expression& e) {
  return e.kind == ExprKind::kLiteral && e.type->kind() == type::Kind::kString && e.value->is_valid;
}

int FieldIndex(const type::DataType& t, const std::string& name) {
  for (size_t i = 0; i < t.fields().size(); ++i) {
    if (t.fields()[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

Result<Bound> BindGetField(CallSite& call) {
  if (!IsStringLiteral(*call.children[1])) return InternalError("getfield takes a literal name");
  const std::string name = StringLiteral(*call.children[1]);
  const int index = FieldIndex(call.TypeOf(0), name);
  if (call.TypeOf(0).kind() != type::Kind::kStruct || index < 0) {
    std::string fields;
    for (const type::Field& field : call.TypeOf(0).fields()) fields += (fields.empty() ? "`" : ", `") + field.name + "`";
    return UserError("FIELD_NOT_FOUND", "No such struct field `{}` in {}.", name, fields)
        .Param("fieldName", "`" + name + "`")
        .Param("fields", fields);
  }
  const type::Field& field = call.TypeOf(0).fields()[static_cast<size_t>(index)];
  return Bound{field.type, field.nullable || call.children[0]->nullable};
}

Result<Kernel> CompileGetField(const Expression& call) {
  const int index = FieldIndex(*call.children[0]->type, StringLiteral(*call.children[1]));
  return Kernel([index](std::span<const Column> arguments, int64_t) -> Result<ArrayPtr> {
    const auto& parent = static_cast<const arrow::StructArray&>(*arguments[0].array);
    if (parent.null_count() == 0) return parent.field(index);
    return parent.GetFlattenedField(index);
  });
}

// Spark names an unnamed value after its place; an attribute keeps its name.
std::string ImpliedName(const Expression& e, size_t place) {
  if (e.kind == ExprKind::kAttribute || e.kind == ExprKind::kAlias) return e.name;
  if (e.kind == ExprKind::kCall && e.name == "getfield") return StringLiteral(*e.children[1]);
  return "col" + std::to_string(place + 1);
}

Result<Bound> BindStruct(CallSite& call) {
  std::vector<type::Field> fields;
  for (size_t i = 0; i < call.children.size(); ++i)
    fields.push_back({ImpliedName(*call.children[i], i), call.children[i]->type, call.children[i]->nullable});
  return Bound{type::Struct(std::move(fields)), false};
}

Result<Bound> BindNamedStruct(CallSite& call) {
  if (call.children.size() % 2 != 0) {
    return UserError("WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "The `named_struct` requires 2n (n > 0) parameters but the actual number is {}.",
                     call.children.size())
        .Param("functionName", "`named_struct`")
        .Param("expectedNum", "2n (n > 0)")
        .Param("actualNum", std::to_string(call.children.size()))
        .Param("docroot", "https://spark.apache.org/docs/latest");
  }
  std::vector<type::Field> fields;
  for (size_t i = 0; i < call.children.size(); i += 2) {
    if (!IsStringLiteral(*call.children[i])) {
      return UserError("DATATYPE_MISMATCH.CREATE_NAMED_STRUCT_WITHOUT_FOLDABLE_STRING",
                       "Cannot resolve {}: field names must be string literals.", call.QuotedSql())
          .Param("sqlExpr", call.QuotedSql())
          .Param("inputExprs", "[" + Quoted(call.children[i]->ToSql()) + "]");
    }
    fields.push_back({StringLiteral(*call.children[i]), call.children[i + 1]->type, call.children[i + 1]->nullable});
  }
  return Bound{type::Struct(std::move(fields)), false};
}

// Every `step`-th argument from `first` on is a field.
Kernel BuildStruct(std::shared_ptr<arrow::DataType> type, size_t first, size_t step) {
  return [=](std::span<const Column> arguments, int64_t rows) -> Result<ArrayPtr> {
    arrow::ArrayVector fields;
    for (size_t i = first; i < arguments.size(); i += step) {
      ARROW_ASSIGN_OR_RAISE(fields.emplace_back(), SpreadOut(arguments[i], rows));
    }
    return std::make_shared<arrow::StructArray>(type, rows, fields);
  };
}

Result<Kernel> CompileStruct(const Expression& call) { return BuildStruct(call.type->ToArrow(), 0, 1); }
Result<Kernel> CompileNamedStruct(const Expression& call) { return BuildStruct(call.type->ToArrow(), 1, 2); }

constexpr Function kFunctions[] = {
    {"getfield", 2, 2, BindGetField, CompileGetField},
    {"struct", 1, -1, BindStruct, CompileStruct},
    {"named_struct", 2, -1, BindNamedStruct, CompileNamedStruct},
};

}  // namespace

Result<ArrayPtr> SpreadOut(const Column& column, int64_t rows) {
  if (!column.constant || rows == 1) return column.array;
  ARROW_ASSIGN_OR_RAISE(auto value, column.array->GetScalar(0));
  return arrow::MakeArrayFromScalar(*value, rows);
}

std::span<const Function> StructFunctions() { return kFunctions; }

}  // namespace tidemill::expr
