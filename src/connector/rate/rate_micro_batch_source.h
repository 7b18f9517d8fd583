#pragma once

// `rate-micro-batch`: so many rows a batch, all with the batch's own made-up time. Source: Spark RatePerMicroBatchProvider.

#include "connector/source.h"

namespace tidemill::connector {

/// Options: rowsPerBatch (required), numPartitions, startTimestamp, advanceMillisPerBatch. Errors: in Spark's words.
Result<std::unique_ptr<Source>> MakeRateMicroBatchSource(const SourceContext& context);

}  // namespace tidemill::connector
