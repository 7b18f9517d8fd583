// How many rows a second one core decodes: flat objects of seven strings, three of them wanted, as in the Yahoo streaming benchmark.

#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <benchmark/benchmark.h>

#include <random>

#include "format/json_decoder.h"

namespace tidemill::format {
namespace {

std::string RandomUuid(std::mt19937& random) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx";
  for (char& c : text) {
    if (c == 'x') c = kDigits[random() % 16];
  }
  return text;
}

std::string MakeLines(int rows) {
  static constexpr const char* kAdTypes[] = {"banner", "modal", "sponsored-search", "mail", "mobile"};
  static constexpr const char* kEventTypes[] = {"view", "click", "purchase"};
  std::mt19937 random(1);
  std::string text;
  for (int i = 0; i < rows; ++i) {
    text += fmt::format(
        R"({{"user_id": "{}", "page_id": "{}", "ad_id": "{}", "ad_type": "{}", "event_type": "{}", "event_time": "2026-01-01 00:{:02}:{:02}.{:03}", "ip_address": "1.2.3.4"}})",
        RandomUuid(random), RandomUuid(random), RandomUuid(random), kAdTypes[random() % 5], kEventTypes[random() % 3], i / 60 % 60, i % 60, i % 1000);
    text += '\n';
  }
  return text;
}

void DecodeLines(benchmark::State& state, const char* ddl) {
  constexpr int kRows = 4096;  // about a megabyte: what a reader hands over at a time
  std::string text = MakeLines(kRows);
  const size_t size = text.size();
  text.append(kJsonPadding, '\0');
  auto decoder = JsonDecoder::Make(type::ParseDdl(ddl).ValueOrDie().fields, {}, arrow::default_memory_pool()).ValueOrDie();
  for (auto _ : state) {
    benchmark::DoNotOptimize(decoder->Decode(text.data(), text.data() + size, 2 * kRows).ValueOrDie());
    benchmark::DoNotOptimize(decoder->Finish().ValueOrDie());
  }
  state.SetItemsProcessed(state.iterations() * kRows);
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(size));
}

void BM_ThreeStrings(benchmark::State& state) { DecodeLines(state, "ad_id STRING, event_type STRING, event_time STRING"); }
void BM_TwoStringsAndATimestamp(benchmark::State& state) { DecodeLines(state, "ad_id STRING, event_type STRING, event_time TIMESTAMP"); }
void BM_AllSeven(benchmark::State& state) {
  DecodeLines(state, "user_id STRING, page_id STRING, ad_id STRING, ad_type STRING, event_type STRING, event_time STRING, ip_address STRING");
}
BENCHMARK(BM_ThreeStrings);
BENCHMARK(BM_TwoStringsAndATimestamp);
BENCHMARK(BM_AllSeven);

}  // namespace
}  // namespace tidemill::format

BENCHMARK_MAIN();
