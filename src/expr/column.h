#pragma once

// What passes between kernels: columns that may be one repeated value, and the loops over them.

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/type.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "expr/expression.h"

namespace tidemill::expr {

using ArrayPtr = std::shared_ptr<arrow::Array>;

/// An argument of a kernel. A constant holds one value that stands for every row.
struct Column {
  ArrayPtr array;
  bool constant = false;

  int64_t Index(int64_t row) const { return constant ? 0 : row; }
  bool IsNull(int64_t row) const { return array->IsNull(Index(row)); }
};

/// A compiled function: columns in, `rows` values out. With constants only, it is called with rows = 1.
using Kernel = std::function<Result<ArrayPtr>(std::span<const Column> arguments, int64_t rows)>;

/// Values of a fixed-width column behind its offset.
template <typename T>
const T* RawValues(const arrow::Array& array) {
  return array.data()->GetValues<T>(1);
}

/// Which rows of a row-wise function have all their arguments. No bitmap: all of them.
struct Validity {
  std::shared_ptr<arrow::Buffer> bitmap;
  int64_t null_count = 0;

  bool IsValid(int64_t row) const { return bitmap == nullptr || ((bitmap->data()[row >> 3] >> (row & 7)) & 1) != 0; }
};
Result<Validity> IntersectValidity(std::span<const Column> arguments, int64_t rows);

Result<std::shared_ptr<arrow::Buffer>> AllocateValues(int64_t bytes);
/// A bitmap of `rows` bits, all zero.
Result<std::shared_ptr<arrow::Buffer>> AllocateBits(int64_t rows);

/// A fixed-width (or boolean) array over `values`.
ArrayPtr MakeFixed(const std::shared_ptr<arrow::DataType>& type, int64_t rows, std::shared_ptr<arrow::Buffer> values,
                   const Validity& validity);
Result<ArrayPtr> AllNull(const std::shared_ptr<arrow::DataType>& type, int64_t rows);

/// Bits of a bitmap as words, from bit 0 on whatever its offset; `bits` null: all ones. Bits past `length` are zero.
std::vector<uint64_t> LoadWords(const uint8_t* bits, int64_t offset, int64_t length);
/// Truth values and validity of a boolean column, spread out when it is constant.
struct BooleanWords {
  std::vector<uint64_t> values;
  std::vector<uint64_t> valid;
};
BooleanWords LoadBooleans(const Column& column, int64_t rows);
Result<ArrayPtr> StoreBooleans(const std::vector<uint64_t>& values, const std::vector<uint64_t>& valid, int64_t rows);

/// Call `at(row)` for each row and pack its truth into a bitmap.
template <typename At>
Result<std::shared_ptr<arrow::Buffer>> PackBits(int64_t rows, At at) {
  ARROW_ASSIGN_OR_RAISE(auto buffer, AllocateBits(rows));
  auto* words = reinterpret_cast<uint64_t*>(buffer->mutable_data());
  const int64_t whole = rows / 64;
  for (int64_t w = 0; w < whole; ++w) {
    uint64_t word = 0;
    for (int64_t bit = 0; bit < 64; ++bit) word |= static_cast<uint64_t>(at(w * 64 + bit)) << bit;
    words[w] = word;
  }
  for (int64_t row = whole * 64; row < rows; ++row) words[whole] |= static_cast<uint64_t>(at(row)) << (row & 63);
  return buffer;
}

/// Row-wise conversion of one column. `convert(row, Out*)` says whether the value exists; where it does not, `failure(row)` is the error,
/// or with an OK status the row
/// becomes null.
template <typename Out, typename Convert, typename Failure>
Result<ArrayPtr> ConvertFixed(const Column& column, int64_t rows, const std::shared_ptr<arrow::DataType>& type, Convert convert,
                              Failure failure) {
  ARROW_ASSIGN_OR_RAISE(Validity validity, IntersectValidity({&column, 1}, rows));
  ARROW_ASSIGN_OR_RAISE(auto buffer, AllocateValues(rows * static_cast<int64_t>(sizeof(Out))));
  Out* out = reinterpret_cast<Out*>(buffer->mutable_data());
  std::vector<int64_t> lost;
  for (int64_t row = 0; row < rows; ++row) {
    if (!validity.IsValid(row)) {
      out[row] = Out{};
    } else if (!convert(row, &out[row])) {
      ARROW_RETURN_NOT_OK(failure(row));
      out[row] = Out{};
      lost.push_back(row);
    }
  }
  if (!lost.empty()) {
    ARROW_ASSIGN_OR_RAISE(auto bits, AllocateBits(rows));
    for (int64_t row = 0; row < rows; ++row) {
      if (validity.IsValid(row)) bits->mutable_data()[row >> 3] |= static_cast<uint8_t>(1 << (row & 7));
    }
    for (int64_t row : lost) bits->mutable_data()[row >> 3] &= static_cast<uint8_t>(~(1 << (row & 7)));
    validity = {std::move(bits), validity.null_count + static_cast<int64_t>(lost.size())};
  }
  return MakeFixed(type, rows, std::move(buffer), validity);
}

/// out[row] = op(a[row], b[row]) without a branch, whichever of the two is constant. Null rows are computed too: `op` must not trap.
template <typename In, typename Out, typename Op>
void BinaryLoop(const Column& left, const Column& right, int64_t rows, Out* out, Op op) {
  const In* a = RawValues<In>(*left.array);
  const In* b = RawValues<In>(*right.array);
  if (right.constant && !left.constant) {
    const In value = b[0];
    for (int64_t row = 0; row < rows; ++row) out[row] = op(a[row], value);
  } else if (left.constant && !right.constant) {
    const In value = a[0];
    for (int64_t row = 0; row < rows; ++row) out[row] = op(value, b[row]);
  } else {
    for (int64_t row = 0; row < rows; ++row) out[row] = op(a[row], b[row]);
  }
}

}  // namespace tidemill::expr
