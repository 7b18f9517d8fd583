#include "connector/rate/rate_formats.h"

#include "connector/rate/counting_reader.h"
#include "connector/rate/rate_micro_batch_source.h"
#include "connector/rate/rate_options.h"
#include "connector/rate/rate_source.h"

namespace tidemill::connector {

void RegisterRateFormats(Registry& registry) {
  Format rate;
  rate.make_source = MakeRateSource;
  rate.own_schema = [](const auto&) { return CountingSchema(); };
  rate.provider = "RateStreamProvider";
  rate.known_options = RateOptions::Known();
  registry.Add("rate", std::move(rate));

  Format micro_batch;
  micro_batch.make_source = MakeRateMicroBatchSource;
  micro_batch.own_schema = [](const auto&) { return CountingSchema(); };
  micro_batch.provider = "RatePerMicroBatchProvider";
  micro_batch.known_options = RateMicroBatchOptions::Known();
  registry.Add("rate-micro-batch", std::move(micro_batch));
}

}  // namespace tidemill::connector
