#pragma once

// How a streaming aggregation lies in state: key and value schema, and, where every buffer is a fixed-width slot, merging rows in place.
//
// State format 2 (Spark's default): value = buffers. Format 1: value = keys, then buffers. Partial rows between tasks are always buffers alone.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exec/accumulator.h"
#include "expr/function/aggregate.h"
#include "state/operator_metadata.h"
#include "type/data_type.h"

namespace tidemill::exec {

/// Reads the event time of a state key: microseconds at which the key falls due (the timestamp itself, or the end of a window).
class EventTimeKey {
 public:
  /// The first key column with watermark metadata, or nullopt when there is none.
  static std::optional<EventTimeKey> Find(const type::Schema& keys);
  /// nullopt for a null time: such a key is never late and never due.
  std::optional<int64_t> operator()(std::string_view key) const;

 private:
  EventTimeKey(int field, int fields, bool is_window) : field_(field), fields_(fields), is_window_(is_window) {}
  int field_;
  int fields_;
  bool is_window_;
};

/// A field-wise merge of fixed-width buffer rows; see AggregateLayout::in_place().
class InPlaceMerge {
 public:
  /// nullopt when some buffer can grow (strings, wide decimals).
  static std::optional<InPlaceMerge> Make(const std::vector<expr::AggregateFunction>& functions);
  /// Merge `source` into `target`, both rows of the buffers alone. Errors: ARITHMETIC_OVERFLOW.
  Status Merge(std::span<const uint8_t* const> sources, std::span<uint8_t* const> targets) const;

 private:
  enum class Rule {
    kAddLong,         // not null on either side
    kAddNullableLong, kAddNullableLongAnsi, kAddDouble, kAddNullableDouble,
    kMinSigned8, kMinSigned16, kMinSigned32, kMinSigned64, kMinFloat, kMinDouble,
    kMaxSigned8, kMaxSigned16, kMaxSigned32, kMaxSigned64, kMaxFloat, kMaxDouble
  };
  std::vector<Rule> rules_;  // one a field
};

struct AggregateLayout {
  std::vector<expr::AggregateFunction> functions;
  type::Schema keys;
  type::Schema buffers;      ///< of all functions, in order
  type::Schema state_value;  ///< buffers, or keys and buffers
  int state_format = 2;
  std::optional<EventTimeKey> event_time;
  std::optional<InPlaceMerge> merge;  ///< set when rows can be merged in place
  std::string initial_buffers;        ///< canonical row of a group without input
  std::string initial_value;          ///< the same as a state value (format 1: keys null)

  static Result<AggregateLayout> Make(type::Schema keys, std::vector<expr::AggregateFunction> functions, int state_format);
  state::StateSchema schema() const { return {keys, state_value}; }
  /// The buffer columns of `columns`, which are decoded state values.
  std::span<const ArrayPtr> BufferColumns(std::span<const ArrayPtr> columns) const {
    return columns.subspan(columns.size() - buffers.fields.size());
  }
};

}  // namespace tidemill::exec
