#include "exec/aggregate_layout.h"

#include <arrow/array.h>
#include <arrow/array/util.h>

#include <cmath>
#include <cstring>
#include <type_traits>

#include "base/check.h"
#include "row/unsafe_row.h"

namespace tidemill::exec {

using expr::AggregateFunction;
using expr::AggregateKind;
using type::Kind;

// ---------------------------------------------------------------- event time

std::optional<EventTimeKey> EventTimeKey::Find(const type::Schema& keys) {
  for (int i = 0; i < keys.size(); ++i) {
    if (keys.fields[i].metadata_json.find("\"spark.watermarkDelayMs\"") == std::string::npos) continue;
    return EventTimeKey(i, keys.size(), keys.fields[i].type->kind() == Kind::kStruct);
  }
  return std::nullopt;
}

namespace {

uint64_t Word(std::string_view row, size_t position) {
  TIDEMILL_CHECK(position + 8 <= row.size());
  uint64_t word;
  std::memcpy(&word, row.data() + position, 8);
  return word;
}

bool IsNull(std::string_view row, int field) { return (Word(row, field / 64 * 8) >> (field % 64)) & 1; }

}  // namespace

std::optional<int64_t> EventTimeKey::operator()(std::string_view key) const {
  if (IsNull(key, field_)) return std::nullopt;
  const uint64_t slot = Word(key, row::NullBytes(fields_) + 8 * field_);
  if (!is_window_) return static_cast<int64_t>(slot);
  const size_t offset = slot >> 32;
  TIDEMILL_CHECK(offset <= key.size());
  const std::string_view window = key.substr(offset);
  if (IsNull(window, 1)) return std::nullopt;
  return static_cast<int64_t>(Word(window, row::NullBytes(2) + 8));  // the second of two slots: the end
}

// ---------------------------------------------------------------- in place

namespace {

bool RowIsNull(const uint8_t* row, int field) { return (row[field / 8] >> (field % 8)) & 1; }
void SetNotNull(uint8_t* row, int field) { row[field / 8] = static_cast<uint8_t>(row[field / 8] & ~(1u << (field % 8))); }

template <typename T>
T LoadSlot(const uint8_t* slot) {
  T value;
  std::memcpy(&value, slot, sizeof(T));
  return value;
}

template <typename T>
void StoreSlot(uint8_t* slot, T value) {
  std::memset(slot, 0, 8);  // bytes above the value are zero in a canonical row
  std::memcpy(slot, &value, sizeof(T));
}

struct Field {
  int index;
  int offset;
};

template <typename T>
void AddNotNull(Field field, std::span<const uint8_t* const> sources, std::span<uint8_t* const> targets) {
  for (size_t i = 0; i < sources.size(); ++i) {
    StoreSlot<T>(targets[i] + field.offset, LoadSlot<T>(targets[i] + field.offset) + LoadSlot<T>(sources[i] + field.offset));
  }
}

/// Sum whose null means "no value yet". Returns true on overflow.
template <typename T>
bool AddNullable(Field field, std::span<const uint8_t* const> sources, std::span<uint8_t* const> targets) {
  bool overflow = false;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (RowIsNull(sources[i], field.index)) continue;
    T sum = LoadSlot<T>(sources[i] + field.offset);
    if (RowIsNull(targets[i], field.index)) {
      SetNotNull(targets[i], field.index);
    } else if constexpr (std::is_integral_v<T>) {
      overflow |= __builtin_add_overflow(LoadSlot<T>(targets[i] + field.offset), sum, &sum);
    } else {
      sum += LoadSlot<T>(targets[i] + field.offset);
    }
    StoreSlot<T>(targets[i] + field.offset, sum);
  }
  return overflow;
}

template <typename T>
bool Less(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a)) return false;
    if (std::isnan(b)) return true;
  }
  return a < b;
}

template <typename T, bool kIsMin>
void TakeExtreme(Field field, std::span<const uint8_t* const> sources, std::span<uint8_t* const> targets) {
  for (size_t i = 0; i < sources.size(); ++i) {
    if (RowIsNull(sources[i], field.index)) continue;
    const T offered = LoadSlot<T>(sources[i] + field.offset);
    if (!RowIsNull(targets[i], field.index)) {
      const T held = LoadSlot<T>(targets[i] + field.offset);
      if (kIsMin ? !Less<T>(offered, held) : !Less<T>(held, offered)) continue;
    }
    SetNotNull(targets[i], field.index);
    StoreSlot<T>(targets[i] + field.offset, offered);
  }
}

}  // namespace

std::optional<InPlaceMerge> InPlaceMerge::Make(const std::vector<AggregateFunction>& functions) {
  InPlaceMerge merge;
  for (const AggregateFunction& function : functions) {
    const type::DataType& first = *function.buffer.at(0).type;
    switch (function.kind) {
      case AggregateKind::kCount: merge.rules_.push_back(Rule::kAddLong); break;
      case AggregateKind::kSum:
        if (first.kind() == Kind::kLong) {
          merge.rules_.push_back(function.ansi ? Rule::kAddNullableLongAnsi : Rule::kAddNullableLong);
        } else if (first.kind() == Kind::kDouble) {
          merge.rules_.push_back(Rule::kAddNullableDouble);
        } else {
          return std::nullopt;
        }
        break;
      case AggregateKind::kAvg:
        if (first.kind() != Kind::kDouble) return std::nullopt;
        merge.rules_.push_back(Rule::kAddDouble);
        merge.rules_.push_back(Rule::kAddLong);
        break;
      case AggregateKind::kMin:
      case AggregateKind::kMax: {
        const bool is_min = function.kind == AggregateKind::kMin;
        Rule rule;
        switch (first.kind()) {
          case Kind::kBoolean:
          case Kind::kByte: rule = is_min ? Rule::kMinSigned8 : Rule::kMaxSigned8; break;
          case Kind::kShort: rule = is_min ? Rule::kMinSigned16 : Rule::kMaxSigned16; break;
          case Kind::kInt:
          case Kind::kDate: rule = is_min ? Rule::kMinSigned32 : Rule::kMaxSigned32; break;
          case Kind::kLong:
          case Kind::kTimestamp:
          case Kind::kTimestampNtz: rule = is_min ? Rule::kMinSigned64 : Rule::kMaxSigned64; break;
          case Kind::kFloat: rule = is_min ? Rule::kMinFloat : Rule::kMaxFloat; break;
          case Kind::kDouble: rule = is_min ? Rule::kMinDouble : Rule::kMaxDouble; break;
          case Kind::kDecimal:
            if (first.precision() > 18) return std::nullopt;
            rule = is_min ? Rule::kMinSigned64 : Rule::kMaxSigned64;
            break;
          default: return std::nullopt;
        }
        merge.rules_.push_back(rule);
        break;
      }
    }
  }
  return merge;
}

Status InPlaceMerge::Merge(std::span<const uint8_t* const> sources, std::span<uint8_t* const> targets) const {
  const int fields = static_cast<int>(rules_.size());
  for (int i = 0; i < fields; ++i) {
    const Field field{i, row::NullBytes(fields) + 8 * i};
    switch (rules_[i]) {
      case Rule::kAddLong: AddNotNull<int64_t>(field, sources, targets); break;
      case Rule::kAddDouble: AddNotNull<double>(field, sources, targets); break;
      case Rule::kAddNullableLong: AddNullable<int64_t>(field, sources, targets); break;
      case Rule::kAddNullableLongAnsi:
        if (AddNullable<int64_t>(field, sources, targets)) return LongOverflow();
        break;
      case Rule::kAddNullableDouble: AddNullable<double>(field, sources, targets); break;
      case Rule::kMinSigned8: TakeExtreme<int8_t, true>(field, sources, targets); break;
      case Rule::kMinSigned16: TakeExtreme<int16_t, true>(field, sources, targets); break;
      case Rule::kMinSigned32: TakeExtreme<int32_t, true>(field, sources, targets); break;
      case Rule::kMinSigned64: TakeExtreme<int64_t, true>(field, sources, targets); break;
      case Rule::kMinFloat: TakeExtreme<float, true>(field, sources, targets); break;
      case Rule::kMinDouble: TakeExtreme<double, true>(field, sources, targets); break;
      case Rule::kMaxSigned8: TakeExtreme<int8_t, false>(field, sources, targets); break;
      case Rule::kMaxSigned16: TakeExtreme<int16_t, false>(field, sources, targets); break;
      case Rule::kMaxSigned32: TakeExtreme<int32_t, false>(field, sources, targets); break;
      case Rule::kMaxSigned64: TakeExtreme<int64_t, false>(field, sources, targets); break;
      case Rule::kMaxFloat: TakeExtreme<float, false>(field, sources, targets); break;
      case Rule::kMaxDouble: TakeExtreme<double, false>(field, sources, targets); break;
    }
  }
  return Status::OK();
}

// ---------------------------------------------------------------- layout

namespace {

Result<std::string> EncodeOne(const type::Schema& schema, const std::vector<ArrayPtr>& columns) {
  ARROW_ASSIGN_OR_RAISE(auto encoder, row::RowEncoder::Make(schema, /*normalize_floats=*/false));
  row::RowBatch rows;
  ARROW_RETURN_NOT_OK(encoder->Encode(columns, 1, &rows));
  return std::string(rows.row(0));
}

}  // namespace

Result<AggregateLayout> AggregateLayout::Make(type::Schema keys, std::vector<AggregateFunction> functions, int state_format) {
  if (state_format != 1 && state_format != 2) {
    return UserError("TIDEMILL_UNSUPPORTED_STATE_FORMAT", "Aggregation state format {} is not known; 1 and 2 are.", state_format);
  }
  AggregateLayout layout;
  layout.keys = std::move(keys);
  layout.state_format = state_format;
  std::vector<ArrayPtr> initial;
  for (const AggregateFunction& function : functions) {
    layout.buffers.fields.insert(layout.buffers.fields.end(), function.buffer.begin(), function.buffer.end());
    ARROW_ASSIGN_OR_RAISE(auto accumulator, Accumulator::Make(function));
    accumulator->Resize(1);
    ARROW_ASSIGN_OR_RAISE(auto columns, accumulator->Buffers());
    initial.insert(initial.end(), columns.begin(), columns.end());
  }
  layout.event_time = EventTimeKey::Find(layout.keys);
  ARROW_ASSIGN_OR_RAISE(layout.initial_buffers, EncodeOne(layout.buffers, initial));
  if (state_format == 1) {
    layout.state_value.fields = layout.keys.fields;
    layout.state_value.fields.insert(layout.state_value.fields.end(), layout.buffers.fields.begin(), layout.buffers.fields.end());
    std::vector<ArrayPtr> columns;
    for (const type::Field& field : layout.keys.fields) {
      ARROW_ASSIGN_OR_RAISE(ArrayPtr null, arrow::MakeArrayOfNull(field.type->ToArrow(), 1));
      columns.push_back(std::move(null));
    }
    columns.insert(columns.end(), initial.begin(), initial.end());
    ARROW_ASSIGN_OR_RAISE(layout.initial_value, EncodeOne(layout.state_value, columns));
  } else {
    layout.state_value = layout.buffers;
    layout.initial_value = layout.initial_buffers;
    layout.merge = InPlaceMerge::Make(functions);
  }
  layout.functions = std::move(functions);
  return layout;
}

}  // namespace tidemill::exec
