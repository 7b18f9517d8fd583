// = <=> < <= > >=, IN, greatest and least. NaN equals NaN and is the largest number, -0.0 equals 0.0; strings and binary compare by bytes.

#include <arrow/array.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>
#include <arrow/compute/api_vector.h>
#include <arrow/util/decimal.h>

#include <cmath>
#include <cstring>
#include <string_view>

#include "expr/function/coercion_internal.h"
#include "expr/function/registry_internal.h"

namespace tidemill::expr {

namespace {

using type::Kind;

template <typename T>
struct Order {
  static bool Equal(T a, T b) { return a == b; }
  static bool Less(T a, T b) { return a < b; }
};
template <typename T>
struct FloatOrder {
  static bool Equal(T a, T b) { return (a == b) | ((a != a) & (b != b)); }
  static bool Less(T a, T b) { return (a < b) | ((b != b) & (a == a)); }
};
template <>
struct Order<float> : FloatOrder<float> {};
template <>
struct Order<double> : FloatOrder<double> {};

enum class Comparison { kEqual, kLess, kLessOrEqual, kGreater, kGreaterOrEqual };

template <Comparison kOp, typename T>
bool Compare(T a, T b) {
  switch (kOp) {
    case Comparison::kEqual:
      return Order<T>::Equal(a, b);
    case Comparison::kLess:
      return Order<T>::Less(a, b);
    case Comparison::kLessOrEqual:
      return !Order<T>::Less(b, a);
    case Comparison::kGreater:
      return Order<T>::Less(b, a);
    case Comparison::kGreaterOrEqual:
      return !Order<T>::Less(a, b);
  }
}

using Bits = std::shared_ptr<arrow::Buffer>;

template <Comparison kOp, typename T>
Result<Bits> CompareFixed(const Column& left, const Column& right, int64_t rows) {
  const T* a = RawValues<T>(*left.array);
  const T* b = RawValues<T>(*right.array);
  if (right.constant && !left.constant) {
    const T value = b[0];
    return PackBits(rows, [=](int64_t row) { return Compare<kOp, T>(a[row], value); });
  }
  if (left.constant && !right.constant) {
    const T value = a[0];
    return PackBits(rows, [=](int64_t row) { return Compare<kOp, T>(value, b[row]); });
  }
  return PackBits(rows, [=](int64_t row) { return Compare<kOp, T>(a[row], b[row]); });
}

template <Comparison kOp>
Result<Bits> CompareBooleans(const Column& left, const Column& right, int64_t rows) {
  const auto& a = static_cast<const arrow::BooleanArray&>(*left.array);
  const auto& b = static_cast<const arrow::BooleanArray&>(*right.array);
  return PackBits(rows, [&](int64_t row) { return Compare<kOp, int>(a.Value(left.Index(row)), b.Value(right.Index(row))); });
}

template <Comparison kOp>
Result<Bits> CompareBytes(const Column& left, const Column& right, int64_t rows) {
  const auto& a = static_cast<const arrow::BinaryArray&>(*left.array);
  const auto& b = static_cast<const arrow::BinaryArray&>(*right.array);
  if (kOp == Comparison::kEqual && right.constant && !left.constant) {
    // The common filter: only strings of the literal's length are looked into.
    const std::string_view value = b.GetView(0);
    const int32_t* offsets = a.raw_value_offsets();
    const uint8_t* data = a.raw_data();
    const auto length = static_cast<int32_t>(value.size());
    return PackBits(rows, [=](int64_t row) {
      return offsets[row + 1] - offsets[row] == length && std::memcmp(data + offsets[row], value.data(), static_cast<size_t>(length)) == 0;
    });
  }
  return PackBits(rows,
                  [&](int64_t row) { return Compare<kOp, std::string_view>(a.GetView(left.Index(row)), b.GetView(right.Index(row))); });
}

template <Comparison kOp>
Result<Bits> CompareDecimals(const Column& left, const Column& right, int64_t rows) {
  const auto& a = static_cast<const arrow::Decimal128Array&>(*left.array);
  const auto& b = static_cast<const arrow::Decimal128Array&>(*right.array);
  return PackBits(rows, [&](int64_t row) {
    return Compare<kOp, arrow::Decimal128>(arrow::Decimal128(a.GetValue(left.Index(row))), arrow::Decimal128(b.GetValue(right.Index(row))));
  });
}

int CompareValues(const arrow::Array& a, int64_t i, const arrow::Array& b, int64_t j);

template <typename T>
int ThreeWay(const T& a, const T& b) {
  return Order<T>::Less(a, b) ? -1 : (Order<T>::Less(b, a) ? 1 : 0);
}

template <typename T>
int CompareRaw(const arrow::Array& a, int64_t i, const arrow::Array& b, int64_t j) {
  return ThreeWay(RawValues<T>(a)[i], RawValues<T>(b)[j]);
}

int CompareStructs(const arrow::StructArray& a, int64_t i, const arrow::StructArray& b, int64_t j) {
  for (int field = 0; field < a.num_fields(); ++field) {
    const int order = CompareValues(*a.field(field), i, *b.field(field), j);
    if (order != 0) return order;
  }
  return 0;
}

int CompareLists(const arrow::ListArray& a, int64_t i, const arrow::ListArray& b, int64_t j) {
  for (int32_t at = 0; at < std::min(a.value_length(i), b.value_length(j)); ++at) {
    const int order = CompareValues(*a.values(), a.value_offset(i) + at, *b.values(), b.value_offset(j) + at);
    if (order != 0) return order;
  }
  return ThreeWay(a.value_length(i), b.value_length(j));
}

// Values inside structs and arrays: nulls first, and equal to each other.
int CompareValues(const arrow::Array& a, int64_t i, const arrow::Array& b, int64_t j) {
  if (a.IsNull(i) || b.IsNull(j)) return static_cast<int>(b.IsNull(j)) - static_cast<int>(a.IsNull(i));
  switch (a.type_id()) {
    case arrow::Type::BOOL:
      return ThreeWay<int>(static_cast<const arrow::BooleanArray&>(a).Value(i), static_cast<const arrow::BooleanArray&>(b).Value(j));
    case arrow::Type::INT8:
      return CompareRaw<int8_t>(a, i, b, j);
    case arrow::Type::INT16:
      return CompareRaw<int16_t>(a, i, b, j);
    case arrow::Type::INT32:
    case arrow::Type::DATE32:
      return CompareRaw<int32_t>(a, i, b, j);
    case arrow::Type::FLOAT:
      return CompareRaw<float>(a, i, b, j);
    case arrow::Type::DOUBLE:
      return CompareRaw<double>(a, i, b, j);
    case arrow::Type::DECIMAL128:
      return ThreeWay(arrow::Decimal128(static_cast<const arrow::Decimal128Array&>(a).GetValue(i)),
                      arrow::Decimal128(static_cast<const arrow::Decimal128Array&>(b).GetValue(j)));
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      return ThreeWay(static_cast<const arrow::BinaryArray&>(a).GetView(i), static_cast<const arrow::BinaryArray&>(b).GetView(j));
    case arrow::Type::STRUCT:
      return CompareStructs(static_cast<const arrow::StructArray&>(a), i, static_cast<const arrow::StructArray&>(b), j);
    case arrow::Type::LIST:
      return CompareLists(static_cast<const arrow::ListArray&>(a), i, static_cast<const arrow::ListArray&>(b), j);
    default:
      return CompareRaw<int64_t>(a, i, b, j);  // long, timestamps, durations
  }
}

template <Comparison kOp>
Result<Bits> CompareColumns(Kind kind, const Column& left, const Column& right, int64_t rows) {
  switch (kind) {
    case Kind::kBoolean:
      return CompareBooleans<kOp>(left, right, rows);
    case Kind::kByte:
      return CompareFixed<kOp, int8_t>(left, right, rows);
    case Kind::kShort:
      return CompareFixed<kOp, int16_t>(left, right, rows);
    case Kind::kInt:
    case Kind::kDate:
    case Kind::kYearMonthInterval:
      return CompareFixed<kOp, int32_t>(left, right, rows);
    case Kind::kLong:
    case Kind::kTimestamp:
    case Kind::kTimestampNtz:
    case Kind::kDayTimeInterval:
      return CompareFixed<kOp, int64_t>(left, right, rows);
    case Kind::kFloat:
      return CompareFixed<kOp, float>(left, right, rows);
    case Kind::kDouble:
      return CompareFixed<kOp, double>(left, right, rows);
    case Kind::kDecimal:
      return CompareDecimals<kOp>(left, right, rows);
    case Kind::kString:
    case Kind::kBinary:
      return CompareBytes<kOp>(left, right, rows);
    default:
      return PackBits(rows, [&](int64_t row) {
        return Compare<kOp, int>(CompareValues(*left.array, left.Index(row), *right.array, right.Index(row)), 0);
      });
  }
}

bool IsComparable(const type::DataType& t) {
  if (t.kind() == Kind::kMap) return false;
  if (t.kind() == Kind::kArray) return IsComparable(*t.element());
  for (const type::Field& field : t.fields()) {
    if (!IsComparable(*field.type)) return false;
  }
  return true;
}

Result<Bound> BindComparison(CallSite& call) {
  const type::TypePtr common = ComparisonType(call.children[0]->type, call.children[1]->type, call.context.ansi);
  if (common == nullptr) return BinaryDiffTypes(call);
  if (!IsComparable(*common)) {
    return UserError("DATATYPE_MISMATCH.INVALID_ORDERING_TYPE", "Cannot resolve {}: `{}` does not compare values of type {}.",
                     call.QuotedSql(), call.name, Quoted(common->ToSql()))
        .Param("sqlExpr", call.QuotedSql())
        .Param("functionName", "`" + call.name + "`")
        .Param("dataType", Quoted(common->ToSql()));
  }
  call.Cast(0, common);
  call.Cast(1, common);
  return Bound{type::Boolean(), call.name != "<=>" && call.AnyNullable()};
}

template <Comparison kOp>
Result<Kernel> CompileComparison(const Expression& call) {
  const Kind kind = call.children[0]->type->kind();
  return Kernel([kind](std::span<const Column> arguments, int64_t rows) -> Result<ArrayPtr> {
    ARROW_ASSIGN_OR_RAISE(const Validity validity, IntersectValidity(arguments, rows));
    if (validity.null_count == rows) return AllNull(arrow::boolean(), rows);
    ARROW_ASSIGN_OR_RAISE(auto bits, CompareColumns<kOp>(kind, arguments[0], arguments[1], rows));
    return MakeFixed(arrow::boolean(), rows, std::move(bits), validity);
  });
}

Result<Kernel> CompileNullSafeEqual(const Expression& call) {
  const Kind kind = call.children[0]->type->kind();
  return Kernel([kind](std::span<const Column> arguments, int64_t rows) -> Result<ArrayPtr> {
    const Column& left = arguments[0];
    const Column& right = arguments[1];
    Bits equal;
    if (kind == Kind::kVoid || (left.constant && left.IsNull(0)) || (right.constant && right.IsNull(0))) {
      ARROW_ASSIGN_OR_RAISE(equal, AllocateBits(rows));
    } else {
      ARROW_ASSIGN_OR_RAISE(equal, CompareColumns<Comparison::kEqual>(kind, left, right, rows));
    }
    const auto* raw = equal->data();
    ARROW_ASSIGN_OR_RAISE(auto bits, PackBits(rows, [&](int64_t row) {
                            const bool a = left.IsNull(row), b = right.IsNull(row);
                            return a || b ? a && b : ((raw[row >> 3] >> (row & 7)) & 1) != 0;
                          }));
    return MakeFixed(arrow::boolean(), rows, std::move(bits), {});
  });
}

Result<Bound> BindIn(CallSite& call) {
  const std::vector<ExprPtr> original = call.children;
  const Status unified = UnifyArguments(call, 0);
  if (!unified.ok()) {
    // Outside ANSI mode one pair at a time may still go together ('1' in a list of numbers).
    call.children = original;
    if (call.context.ansi || call.children.size() != 2) return unified;
    const type::TypePtr common = ComparisonType(call.children[0]->type, call.children[1]->type, false);
    if (common == nullptr) return unified;
    call.Cast(0, common);
    call.Cast(1, common);
  }
  return Bound{type::Boolean(), call.AnyNullable()};
}

// True when an item equals; else null when the value or an item is null; else false.
Result<Kernel> CompileIn(const Expression& call) {
  const Kind kind = call.children[0]->type->kind();
  return Kernel([kind](std::span<const Column> arguments, int64_t rows) -> Result<ArrayPtr> {
    const Column& value = arguments[0];
    const size_t words = static_cast<size_t>((rows + 63) / 64);
    std::vector<uint64_t> found(words, 0);
    std::vector<uint64_t> unknown(words, 0);
    for (const Column& item : arguments.subspan(1)) {
      const Column pair[] = {value, item};
      ARROW_ASSIGN_OR_RAISE(const Validity validity, IntersectValidity(pair, rows));
      const std::vector<uint64_t> valid = LoadWords(validity.bitmap == nullptr ? nullptr : validity.bitmap->data(), 0, rows);
      std::vector<uint64_t> equal(words, 0);
      if (validity.null_count < rows) {
        ARROW_ASSIGN_OR_RAISE(auto bits, CompareColumns<Comparison::kEqual>(kind, value, item, rows));
        equal = LoadWords(bits->data(), 0, rows);
      }
      for (size_t i = 0; i < words; ++i) {
        found[i] |= equal[i] & valid[i];
        unknown[i] |= ~valid[i];
      }
    }
    std::vector<uint64_t> valid = LoadWords(nullptr, 0, rows);
    for (size_t i = 0; i < words; ++i) valid[i] &= found[i] | ~unknown[i];
    return StoreBooleans(found, valid, rows);
  });
}

Result<Bound> BindExtreme(CallSite& call) {
  ARROW_RETURN_NOT_OK(UnifyArguments(call, 0));
  bool nullable = true;
  for (const ExprPtr& child : call.children) nullable = nullable && child->nullable;
  return Bound{call.children[0]->type, nullable};
}

// The greatest or least argument that is not null.
template <bool kGreatest>
Result<Kernel> CompileExtreme(const Expression& call) {
  const auto type = call.type->ToArrow();
  return Kernel([type](std::span<const Column> arguments, int64_t rows) -> Result<ArrayPtr> {
    arrow::ArrayVector parts;
    std::vector<int64_t> starts;
    int64_t end = 0;
    for (const Column& column : arguments) {
      parts.push_back(column.array);
      starts.push_back(end);
      end += column.array->length();
    }
    arrow::Int64Builder indices;
    ARROW_RETURN_NOT_OK(indices.Reserve(rows));
    for (int64_t row = 0; row < rows; ++row) {
      int best = -1;
      for (int i = 0; i < static_cast<int>(arguments.size()); ++i) {
        const Column& column = arguments[static_cast<size_t>(i)];
        if (column.IsNull(row)) continue;
        if (best >= 0) {
          const Column& other = arguments[static_cast<size_t>(best)];
          const int order = CompareValues(*column.array, column.Index(row), *other.array, other.Index(row));
          if (kGreatest ? order <= 0 : order >= 0) continue;
        }
        best = i;
      }
      if (best < 0) {
        indices.UnsafeAppendNull();
      } else {
        indices.UnsafeAppend(starts[static_cast<size_t>(best)] + arguments[static_cast<size_t>(best)].Index(row));
      }
    }
    ARROW_ASSIGN_OR_RAISE(ArrayPtr all, arrow::Concatenate(parts));
    ARROW_ASSIGN_OR_RAISE(ArrayPtr positions, indices.Finish());
    return arrow::compute::Take(*all, *positions, arrow::compute::TakeOptions::NoBoundsCheck());
  });
}

constexpr Function kFunctions[] = {
    {"=", 2, 2, BindComparison, CompileComparison<Comparison::kEqual>},
    {"<", 2, 2, BindComparison, CompileComparison<Comparison::kLess>},
    {"<=", 2, 2, BindComparison, CompileComparison<Comparison::kLessOrEqual>},
    {">", 2, 2, BindComparison, CompileComparison<Comparison::kGreater>},
    {">=", 2, 2, BindComparison, CompileComparison<Comparison::kGreaterOrEqual>},
    {"<=>", 2, 2, BindComparison, CompileNullSafeEqual},
    {"in", 2, -1, BindIn, CompileIn},
    {"greatest", 2, -1, BindExtreme, CompileExtreme<true>},
    {"least", 2, -1, BindExtreme, CompileExtreme<false>},
};

}  // namespace

std::span<const Function> ComparisonFunctions() { return kFunctions; }

}  // namespace tidemill::expr
