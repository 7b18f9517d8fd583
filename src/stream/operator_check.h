#pragma once

// Does the plan fit the state of the checkpoint? Compared in the first batch of each run, before any state is loaded. Source: Spark
// IncrementalExecution, OperatorStateMetadataValidator.

#include <cstdint>
#include <vector>

#include "base/config.h"
#include "checkpoint/query_metadata.h"
#include "exec/query_plan.h"
#include "fs/file_system.h"

namespace tidemill::stream {

/// Compare operators and schemas of the plan with R/state; write what a new query (or a checkpoint of Spark 3) lacks. Durable on return, safe to repeat.
///
/// Errors: STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA, STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY,
/// STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE, STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE.
Status CheckOrWriteOperators(fs::FileSystem& file_system, const checkpoint::Layout& layout, int64_t first_batch_id,
                             const std::vector<exec::StatefulOperatorInfo>& operators, const Config& config);

}  // namespace tidemill::stream
