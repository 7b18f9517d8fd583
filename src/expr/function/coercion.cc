#include "expr/function/coercion_internal.h"

#include <arrow/scalar.h>

#include <algorithm>

#include "expr/function/resolve.h"

namespace tidemill::expr {

namespace {

using type::Kind;
using type::TypePtr;

constexpr int kMaxPrecision = 38;
// Fraction digits that a result keeps even when its whole digits do not all fit.
constexpr int kMinAdjustedScale = 6;

TypePtr IntegralDecimal(Kind kind) {
  switch (kind) {
    case Kind::kByte:
      return type::Decimal(3, 0);
    case Kind::kShort:
      return type::Decimal(5, 0);
    case Kind::kInt:
      return type::Decimal(10, 0);
    default:
      return type::Decimal(20, 0);
  }
}

bool IsFractional(const type::DataType& t) { return t.kind() == Kind::kFloat || t.kind() == Kind::kDouble; }
bool IsDatetime(Kind kind) { return kind == Kind::kDate || kind == Kind::kTimestamp || kind == Kind::kTimestampNtz; }
bool IsAtomic(Kind kind) { return kind != Kind::kStruct && kind != Kind::kArray && kind != Kind::kMap && kind != Kind::kVoid; }

TypePtr CommonNumeric(const TypePtr& a, const TypePtr& b, bool ansi) {
  const bool a_decimal = a->kind() == Kind::kDecimal;
  const bool b_decimal = b->kind() == Kind::kDecimal;
  if (a_decimal || b_decimal) {
    if (IsFractional(*a) || IsFractional(*b)) return type::Double();
    return WiderDecimal(a_decimal ? *a : *IntegralDecimal(a->kind()), b_decimal ? *b : *IntegralDecimal(b->kind()));
  }
  const TypePtr& wider = a->kind() >= b->kind() ? a : b;
  // A float cannot hold every integer: ANSI mode goes to double rather than lose digits.
  if (ansi && wider->kind() == Kind::kFloat && a->kind() != b->kind()) return type::Double();
  return wider;
}

TypePtr CommonDatetime(const TypePtr& a, const TypePtr& b) {
  if (a->kind() == Kind::kTimestamp || b->kind() == Kind::kTimestamp) return type::Timestamp();
  return type::TimestampNtz();
}

TypePtr CommonStruct(const TypePtr& a, const TypePtr& b, bool ansi) {
  if (a->fields().size() != b->fields().size()) return nullptr;
  std::vector<type::Field> fields;
  for (size_t i = 0; i < a->fields().size(); ++i) {
    type::Field field = a->fields()[i];
    field.type = CommonType(field.type, b->fields()[i].type, ansi);
    if (field.type == nullptr) return nullptr;
    field.nullable = field.nullable || b->fields()[i].nullable;
    fields.push_back(std::move(field));
  }
  return type::Struct(std::move(fields));
}

// A string beside another type: in ANSI mode the string is read as the other's widest kin, otherwise both become strings.
TypePtr CommonWithString(const TypePtr& other, bool ansi) {
  if (!IsAtomic(other->kind())) return nullptr;
  if (!ansi) return other->kind() == Kind::kBinary || other->kind() == Kind::kBoolean ? nullptr : type::String();
  if (other->IsIntegral()) return type::Long();
  if (other->IsNumeric()) return type::Double();
  return other;
}

std::string_view Ordinal(size_t i) {
  constexpr std::string_view kOrdinals[] = {"first", "second", "third", "fourth", "fifth", "sixth", "seventh"};
  return i < std::size(kOrdinals) ? kOrdinals[i] : "next";
}

// Would Spark turn an argument of type `from` into `to` without being told?
bool ImplicitlyBecomes(const type::DataType& from, const type::DataType& to, bool ansi) {
  if (from.kind() == Kind::kVoid) return true;
  if (to.kind() == Kind::kString) return IsAtomic(from.kind()) && (!ansi || from.kind() != Kind::kBinary);
  if (from.kind() == Kind::kString) return IsAtomic(to.kind());
  if (from.IsNumeric() && to.IsNumeric()) return !ansi || from.kind() < to.kind();
  return IsDatetime(from.kind()) && IsDatetime(to.kind());
}

}  // namespace

std::string Quoted(const std::string& text) { return "\"" + text + "\""; }

TypePtr BoundedDecimal(int precision, int scale) {
  return type::Decimal(std::min(precision, kMaxPrecision), std::min(scale, kMaxPrecision));
}

TypePtr AdjustedDecimal(int precision, int scale) {
  if (precision <= kMaxPrecision) return type::Decimal(precision, scale);
  const int whole = precision - scale;
  return type::Decimal(kMaxPrecision, std::max(kMaxPrecision - whole, std::min(scale, kMinAdjustedScale)));
}

TypePtr WiderDecimal(const type::DataType& a, const type::DataType& b) {
  const int scale = std::max(a.scale(), b.scale());
  const int whole = std::max(a.precision() - a.scale(), b.precision() - b.scale());
  return AdjustedDecimal(whole + scale, scale);
}

TypePtr DecimalOf(const Expression& operand) {
  if (operand.type->kind() == Kind::kDecimal) return operand.type;
  if (operand.kind != ExprKind::kLiteral || !operand.value->is_valid) return IntegralDecimal(operand.type->kind());
  // A whole literal counts with the digits it has, so that `d + 1` does not grow by ten.
  std::string digits = operand.value->ToString();
  if (digits[0] == '-') digits.erase(0, 1);
  return type::Decimal(static_cast<int>(digits.size()), 0);
}

TypePtr CommonType(const TypePtr& a, const TypePtr& b, bool ansi) {
  if (a->Equals(*b)) return a;
  if (a->kind() == Kind::kVoid) return b;
  if (b->kind() == Kind::kVoid) return a;
  if (a->IsNumeric() && b->IsNumeric()) return CommonNumeric(a, b, ansi);
  if (IsDatetime(a->kind()) && IsDatetime(b->kind())) return CommonDatetime(a, b);
  if (a->kind() == Kind::kString) return CommonWithString(b, ansi);
  if (b->kind() == Kind::kString) return CommonWithString(a, ansi);
  if (a->kind() == Kind::kStruct && b->kind() == Kind::kStruct) return CommonStruct(a, b, ansi);
  if (a->kind() == Kind::kArray && b->kind() == Kind::kArray) {
    TypePtr element = CommonType(a->element(), b->element(), ansi);
    return element == nullptr ? nullptr : type::Array(std::move(element), a->contains_null() || b->contains_null());
  }
  return nullptr;
}

TypePtr WiderType(const TypePtr& a, const TypePtr& b, bool ansi) { return CommonType(a, b, ansi); }

TypePtr ComparisonType(const TypePtr& a, const TypePtr& b, bool ansi) {
  if (!ansi && (a->kind() == Kind::kString) != (b->kind() == Kind::kString)) {
    const TypePtr& other = a->kind() == Kind::kString ? b : a;
    if (other->kind() == Kind::kDecimal) return type::Double();
    if (other->kind() != Kind::kVoid) return IsAtomic(other->kind()) ? other : nullptr;
  }
  return CommonType(a, b, ansi);
}

ExprPtr ImplicitCast(const ExprPtr& child, const TypePtr& to, const EvalContext& context) {
  if (child->type->Equals(*to)) return child;
  if (child->kind == ExprKind::kLiteral && !child->value->is_valid) return LiteralNull(to);
  auto cast = std::make_shared<Expression>();
  cast->kind = ExprKind::kCast;
  cast->name = "implicit";
  cast->children = {child};
  cast->type = to;
  // In ANSI mode what cannot be converted is an error; otherwise only widening surely keeps a value.
  const bool widening = child->type->IsNumeric() && to->IsNumeric() && (child->type->kind() < to->kind() || to->kind() == Kind::kDecimal);
  const bool total = context.ansi || widening || to->kind() == Kind::kString || IsDatetime(child->type->kind());
  cast->nullable = child->nullable || !total;
  cast->context = context;
  cast->origin = child->origin;
  return cast;
}

Status ExpectType(CallSite& call, size_t i, const TypePtr& type) {
  if (call.TypeOf(i).Equals(*type)) return Status::OK();
  if (!ImplicitlyBecomes(call.TypeOf(i), *type, call.context.ansi)) return UnexpectedInputType(call, i, Quoted(type->ToSql()));
  call.Cast(i, type);
  return Status::OK();
}

Status ExpectNumeric(CallSite& call, size_t i) {
  if (call.TypeOf(i).IsNumeric()) return Status::OK();
  if (call.TypeOf(i).kind() != Kind::kString && call.TypeOf(i).kind() != Kind::kVoid)
    return UnexpectedInputType(call, i, Quoted("NUMERIC"));
  call.Cast(i, type::Double());
  return Status::OK();
}

Status UnifyArguments(CallSite& call, size_t from, size_t step) {
  TypePtr common = call.children[from]->type;
  for (size_t i = from + step; common != nullptr && i < call.children.size(); i += step)
    common = CommonType(common, call.children[i]->type, call.context.ansi);
  if (common == nullptr) {
    std::string types;
    for (size_t i = from; i < call.children.size(); i += step) types += (types.empty() ? "" : " or ") + Quoted(call.TypeOf(i).ToSql());
    return UserError("DATATYPE_MISMATCH.DATA_DIFF_TYPES", "Cannot resolve {}: the arguments of `{}` must have one type, but they are ({}).",
                     call.QuotedSql(), call.name, types)
        .Param("sqlExpr", call.QuotedSql())
        .Param("functionName", "`" + call.name + "`")
        .Param("dataType", "(" + types + ")");
  }
  for (size_t i = from; i < call.children.size(); i += step) call.Cast(i, common);
  return Status::OK();
}

Error UnexpectedInputType(const CallSite& call, size_t i, const std::string& required) {
  const std::string input = Quoted(call.children[i]->ToSql());
  const std::string actual = Quoted(call.TypeOf(i).ToSql());
  return UserError("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE",
                   "Cannot resolve {}: the {} parameter must be of type {}, but {} is of type {}.", call.QuotedSql(), Ordinal(i), required,
                   input, actual)
      .Param("sqlExpr", call.QuotedSql())
      .Param("paramIndex", std::string(Ordinal(i)))
      .Param("requiredType", required)
      .Param("inputSql", input)
      .Param("inputType", actual);
}

Error BinaryDiffTypes(const CallSite& call) {
  const std::string left = Quoted(call.TypeOf(0).ToSql());
  const std::string right = Quoted(call.TypeOf(1).ToSql());
  return UserError("DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES",
                   "Cannot resolve {}: the operands have types that do not go together, {} and {}.", call.QuotedSql(), left, right)
      .Param("sqlExpr", call.QuotedSql())
      .Param("left", left)
      .Param("right", right);
}

Error BinaryWrongType(const CallSite& call, const std::string& required) {
  const std::string actual = Quoted(call.TypeOf(0).ToSql());
  return UserError("DATATYPE_MISMATCH.BINARY_OP_WRONG_TYPE", "Cannot resolve {}: the operator takes {}, not {}.", call.QuotedSql(),
                   required, actual)
      .Param("sqlExpr", call.QuotedSql())
      .Param("inputType", required)
      .Param("actualDataType", actual);
}

}  // namespace tidemill::expr
