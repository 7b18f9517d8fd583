// Rows as a damaged state file could hold them: decoded inside their bytes, or refused; what was decoded encodes to a row that decodes again.

#include <arrow/array/array_base.h>
#include <arrow/memory_pool.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "row/murmur3.h"
#include "row/unsafe_row.h"

namespace {

using namespace tidemill;  // NOLINT: a program of one function

const type::Schema& AllShapes() {
  static const type::Schema schema{{{"flag", type::Boolean()},
                                    {"text", type::String()},
                                    {"number", type::Decimal(30, 2)},
                                    {"window", type::WindowStruct(type::Timestamp())},
                                    {"words", type::Array(type::String())},
                                    {"counts", type::Map(type::Int(), type::Array(type::Decimal(38, 0)))},
                                    {"nested", type::Struct({{"x", type::Array(type::Short())}, {"y", type::Binary()}})}}};
  return schema;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static auto decoder = row::RowDecoder::Make(AllShapes(), arrow::default_memory_pool()).ValueOrDie();
  static auto encoder = row::RowEncoder::Make(AllShapes(), false).ValueOrDie();
  if (!decoder->Append({reinterpret_cast<const char*>(data), size}).ok()) return 0;
  const auto columns = decoder->Finish().ValueOrDie();
  row::RowBatch rows;
  if (!encoder->Encode(columns, 1, &rows).ok() || !row::ValidateRow(AllShapes(), rows.row(0)).ok()) std::abort();
  row::HashRow(AllShapes(), rows.row(0));
  return 0;
}
