#pragma once

// Joins each batch of a stream with a static table.

#include <memory>

#include "exec/row_operator.h"

namespace tidemill::exec {

/// `spec` is of kind kHashJoin.
Result<std::unique_ptr<RowOperator>> MakeHashJoin(const RowOperatorSpec& spec);

}  // namespace tidemill::exec
