#pragma once

// `rate`: so many rows for each second since the query began. Source: Spark RateStreamProvider, RateStreamMicroBatchStream.

#include "connector/source.h"

namespace tidemill::connector {

/// Options: rowsPerSecond, rampUpTime, numPartitions. Errors: in Spark's words.
Result<std::unique_ptr<Source>> MakeRateSource(const SourceContext& context);

/// How many rows the first `second` seconds have: the rate grows second by second during `ramp_up_s`, and then stays.
int64_t RateValueAt(int64_t second, int64_t rows_per_second, int64_t ramp_up_s);

}  // namespace tidemill::connector
