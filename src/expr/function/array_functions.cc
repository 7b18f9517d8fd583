// Building arrays and counting their elements.

#include <arrow/array/array_nested.h>
#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>
#include <arrow/builder.h>
#include <arrow/compute/api_vector.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include <algorithm>

#include "expr/function/coercion_internal.h"
#include "expr/function/registry_internal.h"

namespace tidemill::expr {

namespace {

using type::Kind;

Result<Bound> BindArray(CallSite& call) {
  if (call.children.empty()) return Bound{type::Array(type::Void(), false), false};
  ARROW_RETURN_NOT_OK(UnifyArguments(call, 0));
  return Bound{type::Array(call.children[0]->type, call.AnyNullable()), false};
}

/// Elements lie argument by argument; the array of row r takes every rows-th from r on.
Result<Kernel> CompileArray(const Expression& call) {
  const auto type = call.type->ToArrow();
  return Kernel([type](std::span<const Column> arguments, int64_t rows) -> Result<ArrayPtr> {
    const auto width = static_cast<int64_t>(arguments.size());
    arrow::Int32Builder offsets;
    ARROW_RETURN_NOT_OK(offsets.Reserve(rows + 1));
    for (int64_t row = 0; row <= rows; ++row) offsets.UnsafeAppend(static_cast<int32_t>(row * width));
    ARROW_ASSIGN_OR_RAISE(const auto offset_array, offsets.Finish());
    const auto& list_type = static_cast<const arrow::ListType&>(*type);
    ArrayPtr values;
    if (width == 0) {
      ARROW_ASSIGN_OR_RAISE(values, arrow::MakeEmptyArray(list_type.value_type()));
    } else {
      arrow::ArrayVector columns;
      for (const Column& column : arguments) {
        ARROW_ASSIGN_OR_RAISE(columns.emplace_back(), SpreadOut(column, rows));
      }
      ARROW_ASSIGN_OR_RAISE(const auto all, arrow::Concatenate(columns));
      arrow::Int64Builder order;
      ARROW_RETURN_NOT_OK(order.Reserve(rows * width));
      for (int64_t row = 0; row < rows; ++row) {
        for (int64_t place = 0; place < width; ++place) order.UnsafeAppend(place * rows + row);
      }
      ARROW_ASSIGN_OR_RAISE(const auto indices, order.Finish());
      ARROW_ASSIGN_OR_RAISE(values, arrow::compute::Take(*all, *indices, arrow::compute::TakeOptions::NoBoundsCheck()));
    }
    return std::make_shared<arrow::ListArray>(type, rows, offset_array->data()->buffers[1], std::move(values));
  });
}

Result<Bound> BindSize(CallSite& call) {
  const Kind kind = call.TypeOf(0).kind();
  if (kind != Kind::kArray && kind != Kind::kMap) return UnexpectedInputType(call, 0, "(\"ARRAY\" or \"MAP\")");
  return Bound{type::Int(), call.context.ansi && call.AnyNullable()};
}

/// Of null: null in ANSI mode, else -1.
Result<Kernel> CompileSize(const Expression& call) {
  return Kernel([ansi = call.context.ansi](std::span<const Column> arguments, int64_t rows) -> Result<ArrayPtr> {
    ARROW_ASSIGN_OR_RAISE(const ArrayPtr column, SpreadOut(arguments[0], rows));
    // A map is a list of its entries.
    const auto& lists = static_cast<const arrow::ListArray&>(*column);
    arrow::Int32Builder sizes;
    ARROW_RETURN_NOT_OK(sizes.Reserve(rows));
    for (int64_t row = 0; row < rows; ++row) {
      if (lists.IsValid(row)) {
        sizes.UnsafeAppend(lists.value_length(row));
      } else if (ansi) {
        sizes.UnsafeAppendNull();
      } else {
        sizes.UnsafeAppend(-1);
      }
    }
    return sizes.Finish();
  });
}

constexpr Function kFunctions[] = {
    {"array", 0, -1, BindArray, CompileArray},
    {"size", 1, 1, BindSize, CompileSize},
    {"cardinality", 1, 1, BindSize, CompileSize},
};

}  // namespace

std::span<const Function> ArrayFunctions() { return kFunctions; }

}  // namespace tidemill::expr
