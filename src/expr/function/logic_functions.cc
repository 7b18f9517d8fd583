// AND, OR, NOT with three truth values, and tests for null. Words of 64 rows at a time.

#include <arrow/array/util.h>

#include "expr/function/coercion_internal.h"
#include "expr/function/registry_internal.h"

namespace tidemill::expr {

namespace {

Result<Bound> BindLogic(CallSite& call) {
  for (size_t i = 0; i < call.children.size(); ++i) {
    const type::Kind kind = call.TypeOf(i).kind();
    if (kind == type::Kind::kVoid) {
      call.Cast(i, type::Boolean());
    } else if (kind != type::Kind::kBoolean) {
      if (call.children.size() == 1) return UnexpectedInputType(call, i, Quoted("BOOLEAN"));
      if (call.TypeOf(0).kind() != call.TypeOf(1).kind()) return BinaryDiffTypes(call);
      return BinaryWrongType(call, Quoted("BOOLEAN"));
    }
  }
  return Bound{type::Boolean(), call.AnyNullable()};
}

Result<Bound> BindNullTest(CallSite&) { return Bound{type::Boolean(), false}; }

template <bool kConjunction>
Result<Kernel> CompileLogic(const Expression&) {
  return Kernel([](std::span<const Column> arguments, int64_t rows) -> Result<ArrayPtr> {
    BooleanWords left = LoadBooleans(arguments[0], rows);
    const BooleanWords right = LoadBooleans(arguments[1], rows);
    for (size_t i = 0; i < left.values.size(); ++i) {
      const uint64_t lv = left.values[i], rv = right.values[i], lk = left.valid[i], rk = right.valid[i];
      // Known when both are, or when one side decides alone: false for AND, true for OR.
      if constexpr (kConjunction) {
        left.values[i] = lv & rv;
        left.valid[i] = (lk & rk) | (lk & ~lv) | (rk & ~rv);
      } else {
        left.values[i] = (lv & lk) | (rv & rk);
        left.valid[i] = (lk & rk) | (lk & lv) | (rk & rv);
      }
    }
    return StoreBooleans(left.values, left.valid, rows);
  });
}

Result<Kernel> CompileNot(const Expression&) {
  return Kernel([](std::span<const Column> arguments, int64_t rows) -> Result<ArrayPtr> {
    BooleanWords words = LoadBooleans(arguments[0], rows);
    for (uint64_t& word : words.values) word = ~word;
    return StoreBooleans(words.values, words.valid, rows);
  });
}

template <bool kWantNull>
Result<Kernel> CompileNullTest(const Expression&) {
  return Kernel([](std::span<const Column> arguments, int64_t rows) -> Result<ArrayPtr> {
    const arrow::Array& array = *arguments[0].array;
    std::vector<uint64_t> valid;
    if (array.type_id() == arrow::Type::NA) {
      valid.assign(static_cast<size_t>((rows + 63) / 64), 0);
    } else {
      valid = LoadWords(array.null_count() == 0 ? nullptr : array.null_bitmap_data(), array.offset(), rows);
    }
    if constexpr (kWantNull) {
      for (uint64_t& word : valid) word = ~word;
    }
    return StoreBooleans(valid, LoadWords(nullptr, 0, rows), rows);
  });
}

constexpr Function kFunctions[] = {
    {"and", 2, 2, BindLogic, CompileLogic<true>},
    {"or", 2, 2, BindLogic, CompileLogic<false>},
    {"not", 1, 1, BindLogic, CompileNot},
    {"isnull", 1, 1, BindNullTest, CompileNullTest<true>},
    {"isnotnull", 1, 1, BindNullTest, CompileNullTest<false>},
};

}  // namespace

std::span<const Function> LogicFunctions() { return kFunctions; }

}  // namespace tidemill::expr
