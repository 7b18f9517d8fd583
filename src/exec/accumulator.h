#pragma once

// Aggregate buffers of many groups, a column at a time. One Accumulator is one aggregate function; a group is a number.
//
//   accumulator->Resize(groups); accumulator->Update(&argument, ids); … ; accumulator->Buffers() → the function's buffer columns, one row a group

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "expr/function/aggregate.h"

namespace tidemill::exec {

using ArrayPtr = std::shared_ptr<arrow::Array>;

class Accumulator {
 public:
  /// Errors: user error for an argument type without buffers.
  static Result<std::unique_ptr<Accumulator>> Make(const expr::AggregateFunction& function);
  virtual ~Accumulator() = default;

  /// There are `groups` groups from now on; new ones hold the function's initial buffer.
  virtual void Resize(int64_t groups) = 0;
  /// Forget all groups.
  void Clear() { Resize(0); }
  /// Row i of `argument` belongs to group `groups[i]`. `argument` is null for count(*). Errors: ARITHMETIC_OVERFLOW in ANSI mode.
  virtual Status Update(const arrow::Array* argument, std::span<const uint32_t> groups) = 0;
  /// Row i of the buffer columns is merged into group `groups[i]`.
  virtual Status Merge(std::span<const ArrayPtr> buffers, std::span<const uint32_t> groups) = 0;
  /// The function's buffer columns.
  virtual Result<std::vector<ArrayPtr>> Buffers() const = 0;
};

/// The results of `function`, one a row of its buffer columns. Errors: ARITHMETIC_OVERFLOW where a decimal sum left its precision in ANSI mode.
Result<ArrayPtr> FinishAggregate(const expr::AggregateFunction& function, std::span<const ArrayPtr> buffers);

/// The error of a sum that left BIGINT in ANSI mode.
Error LongOverflow();

}  // namespace tidemill::exec
