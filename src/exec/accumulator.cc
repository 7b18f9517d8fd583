#include "exec/accumulator.h"

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/type.h>
#include <arrow/util/decimal.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace tidemill::exec {

using arrow::Decimal128;
using expr::AggregateFunction;
using expr::AggregateKind;
using type::Kind;

Error LongOverflow() {
  return UserError("ARITHMETIC_OVERFLOW",
                   "overflow. Use 'try_add' to tolerate overflow and return NULL instead. If necessary set \"spark.sql.ansi.enabled\" to \"false\" to bypass this error.")
      .Param("message", "overflow")
      .Param("alternative", "Use 'try_add' to tolerate overflow and return NULL instead.")
      .Param("config", "\"spark.sql.ansi.enabled\"");
}

namespace {

/// Call `visit(row, value)` for each non-null row of a typed array.
template <typename ArrayType, typename Visit>
void ForEachValid(const ArrayType& array, Visit&& visit) {
  const int64_t length = array.length();
  if (array.null_count() == 0) {
    for (int64_t i = 0; i < length; ++i) visit(i, array.GetView(i));
    return;
  }
  for (int64_t i = 0; i < length; ++i) {
    if (array.IsValid(i)) visit(i, array.GetView(i));
  }
}

/// The same over any integral array, as int64; a decimal counts with its unscaled value (Spark sums narrow decimals so).
template <typename Visit>
Status ForEachLong(const arrow::Array& array, Visit&& visit) {
  switch (array.type_id()) {
    case arrow::Type::INT8: ForEachValid(static_cast<const arrow::Int8Array&>(array), visit); break;
    case arrow::Type::INT16: ForEachValid(static_cast<const arrow::Int16Array&>(array), visit); break;
    case arrow::Type::INT32: ForEachValid(static_cast<const arrow::Int32Array&>(array), visit); break;
    case arrow::Type::INT64: ForEachValid(static_cast<const arrow::Int64Array&>(array), visit); break;
    case arrow::Type::DECIMAL128:
      for (int64_t i = 0; i < array.length(); ++i) {
        if (array.IsNull(i)) continue;
        visit(i, static_cast<int64_t>(Decimal128(static_cast<const arrow::Decimal128Array&>(array).GetValue(i)).low_bits()));
      }
      break;
    case arrow::Type::NA: break;
    default: return InternalError("sum over a column of type {}", array.type()->ToString());
  }
  return Status::OK();
}

/// The same as double.
template <typename Visit>
Status ForEachDouble(const arrow::Array& array, Visit&& visit) {
  switch (array.type_id()) {
    case arrow::Type::FLOAT: ForEachValid(static_cast<const arrow::FloatArray&>(array), visit); break;
    case arrow::Type::DOUBLE: ForEachValid(static_cast<const arrow::DoubleArray&>(array), visit); break;
    default: return ForEachLong(array, [&](int64_t i, int64_t value) { visit(i, static_cast<double>(value)); });
  }
  return Status::OK();
}

template <typename Builder, typename Value>
Result<ArrayPtr> Build(Builder builder, const std::vector<Value>& values, const std::vector<uint8_t>* valid) {
  ARROW_RETURN_NOT_OK(builder.Reserve(static_cast<int64_t>(values.size())));
  for (size_t i = 0; i < values.size(); ++i) {
    if (valid == nullptr || (*valid)[i]) {
      ARROW_RETURN_NOT_OK(builder.Append(values[i]));
    } else {
      ARROW_RETURN_NOT_OK(builder.AppendNull());
    }
  }
  return builder.Finish();
}

class CountAccumulator final : public Accumulator {
 public:
  void Resize(int64_t groups) override { counts_.resize(groups, 0); }

  Status Update(const arrow::Array* argument, std::span<const uint32_t> groups) override {
    if (argument == nullptr || argument->null_count() == 0) {
      for (const uint32_t group : groups) ++counts_[group];
      return Status::OK();
    }
    for (size_t i = 0; i < groups.size(); ++i) counts_[groups[i]] += argument->IsValid(static_cast<int64_t>(i)) ? 1 : 0;
    return Status::OK();
  }

  Status Merge(std::span<const ArrayPtr> buffers, std::span<const uint32_t> groups) override {
    return ForEachLong(*buffers[0], [&](int64_t i, int64_t value) { counts_[groups[i]] += value; });
  }

  Result<std::vector<ArrayPtr>> Buffers() const override {
    ARROW_ASSIGN_OR_RAISE(ArrayPtr counts, Build(arrow::Int64Builder(), counts_, nullptr));
    return std::vector<ArrayPtr>{std::move(counts)};
  }

 private:
  std::vector<int64_t> counts_;
};

class LongSumAccumulator final : public Accumulator {
 public:
  explicit LongSumAccumulator(bool ansi) : ansi_(ansi) {}

  void Resize(int64_t groups) override {
    sums_.resize(groups, 0);
    valid_.resize(groups, 0);
  }

  Status Update(const arrow::Array* argument, std::span<const uint32_t> groups) override { return Add(*argument, groups); }
  Status Merge(std::span<const ArrayPtr> buffers, std::span<const uint32_t> groups) override { return Add(*buffers[0], groups); }

  Result<std::vector<ArrayPtr>> Buffers() const override {
    ARROW_ASSIGN_OR_RAISE(ArrayPtr sums, Build(arrow::Int64Builder(), sums_, &valid_));
    return std::vector<ArrayPtr>{std::move(sums)};
  }

 private:
  Status Add(const arrow::Array& values, std::span<const uint32_t> groups) {
    bool overflow = false;
    ARROW_RETURN_NOT_OK(ForEachLong(values, [&](int64_t i, int64_t value) {
      const uint32_t group = groups[i];
      overflow |= __builtin_add_overflow(sums_[group], value, &sums_[group]);
      valid_[group] = 1;
    }));
    if (overflow && ansi_) return LongOverflow();
    return Status::OK();
  }

  const bool ansi_;
  std::vector<int64_t> sums_;
  std::vector<uint8_t> valid_;
};

class DoubleSumAccumulator final : public Accumulator {
 public:
  void Resize(int64_t groups) override {
    sums_.resize(groups, 0);
    valid_.resize(groups, 0);
  }

  Status Update(const arrow::Array* argument, std::span<const uint32_t> groups) override { return Add(*argument, groups); }
  Status Merge(std::span<const ArrayPtr> buffers, std::span<const uint32_t> groups) override { return Add(*buffers[0], groups); }

  Result<std::vector<ArrayPtr>> Buffers() const override {
    ARROW_ASSIGN_OR_RAISE(ArrayPtr sums, Build(arrow::DoubleBuilder(), sums_, &valid_));
    return std::vector<ArrayPtr>{std::move(sums)};
  }

 private:
  Status Add(const arrow::Array& values, std::span<const uint32_t> groups) {
    return ForEachDouble(values, [&](int64_t i, double value) {
      sums_[groups[i]] += value;
      valid_[groups[i]] = 1;
    });
  }

  std::vector<double> sums_;
  std::vector<uint8_t> valid_;
};

class DoubleAverageAccumulator final : public Accumulator {
 public:
  void Resize(int64_t groups) override {
    sums_.resize(groups, 0);
    counts_.resize(groups, 0);
  }

  Status Update(const arrow::Array* argument, std::span<const uint32_t> groups) override {
    return ForEachDouble(*argument, [&](int64_t i, double value) {
      sums_[groups[i]] += value;
      ++counts_[groups[i]];
    });
  }

  Status Merge(std::span<const ArrayPtr> buffers, std::span<const uint32_t> groups) override {
    ARROW_RETURN_NOT_OK(ForEachDouble(*buffers[0], [&](int64_t i, double value) { sums_[groups[i]] += value; }));
    return ForEachLong(*buffers[1], [&](int64_t i, int64_t value) { counts_[groups[i]] += value; });
  }

  Result<std::vector<ArrayPtr>> Buffers() const override {
    ARROW_ASSIGN_OR_RAISE(ArrayPtr sums, Build(arrow::DoubleBuilder(), sums_, nullptr));
    ARROW_ASSIGN_OR_RAISE(ArrayPtr counts, Build(arrow::Int64Builder(), counts_, nullptr));
    return std::vector<ArrayPtr>{std::move(sums), std::move(counts)};
  }

 private:
  std::vector<double> sums_;
  std::vector<int64_t> counts_;
};

/// Sums of decimals wider than a long; a sum that leaves its precision becomes null for good, which FinishAggregate reports.
class DecimalSums {
 public:
  explicit DecimalSums(const type::DataType& type) : type_(type.ToArrow()), precision_(type.precision()) {}

  void Resize(int64_t groups) {
    sums_.resize(groups, Decimal128(0));
    overflowed_.resize(groups, 0);
  }

  void Add(uint32_t group, const Decimal128& value) {
    if (overflowed_[group]) return;
    sums_[group] += value;
    if (!sums_[group].FitsInPrecision(precision_)) overflowed_[group] = 1;
  }
  void Overflow(uint32_t group) { overflowed_[group] = 1; }

  Result<ArrayPtr> Finish() const {
    arrow::Decimal128Builder builder(type_);
    for (size_t i = 0; i < sums_.size(); ++i) {
      ARROW_RETURN_NOT_OK(overflowed_[i] ? builder.AppendNull() : builder.Append(sums_[i]));
    }
    return builder.Finish();
  }

 private:
  std::shared_ptr<arrow::DataType> type_;
  int precision_;
  std::vector<Decimal128> sums_;
  std::vector<uint8_t> overflowed_;
};

Result<const arrow::Decimal128Array*> AsDecimals(const arrow::Array& array) {
  if (array.type_id() != arrow::Type::DECIMAL128) return InternalError("decimal sum over a column of type {}", array.type()->ToString());
  return &static_cast<const arrow::Decimal128Array&>(array);
}

class DecimalSumAccumulator final : public Accumulator {
 public:
  explicit DecimalSumAccumulator(const type::DataType& sum_type) : sums_(sum_type) {}

  void Resize(int64_t groups) override {
    sums_.Resize(groups);
    empty_.resize(groups, 1);
  }

  Status Update(const arrow::Array* argument, std::span<const uint32_t> groups) override {
    ARROW_ASSIGN_OR_RAISE(const auto* values, AsDecimals(*argument));
    for (int64_t i = 0; i < values->length(); ++i) {
      if (values->IsNull(i)) continue;
      sums_.Add(groups[i], Decimal128(values->GetValue(i)));
      empty_[groups[i]] = 0;
    }
    return Status::OK();
  }

  Status Merge(std::span<const ArrayPtr> buffers, std::span<const uint32_t> groups) override {
    ARROW_ASSIGN_OR_RAISE(const auto* values, AsDecimals(*buffers[0]));
    const auto& empty = static_cast<const arrow::BooleanArray&>(*buffers[1]);
    for (int64_t i = 0; i < values->length(); ++i) {
      if (empty.IsValid(i) && empty.Value(i)) continue;
      empty_[groups[i]] = 0;
      if (values->IsNull(i)) {
        sums_.Overflow(groups[i]);
      } else {
        sums_.Add(groups[i], Decimal128(values->GetValue(i)));
      }
    }
    return Status::OK();
  }

  Result<std::vector<ArrayPtr>> Buffers() const override {
    ARROW_ASSIGN_OR_RAISE(ArrayPtr sums, sums_.Finish());
    ARROW_ASSIGN_OR_RAISE(ArrayPtr empty, Build(arrow::BooleanBuilder(), empty_, nullptr));
    return std::vector<ArrayPtr>{std::move(sums), std::move(empty)};
  }

 private:
  DecimalSums sums_;
  std::vector<uint8_t> empty_;
};

class DecimalAverageAccumulator final : public Accumulator {
 public:
  explicit DecimalAverageAccumulator(const type::DataType& sum_type) : sums_(sum_type) {}

  void Resize(int64_t groups) override {
    sums_.Resize(groups);
    counts_.resize(groups, 0);
  }

  Status Update(const arrow::Array* argument, std::span<const uint32_t> groups) override {
    ARROW_ASSIGN_OR_RAISE(const auto* values, AsDecimals(*argument));
    for (int64_t i = 0; i < values->length(); ++i) {
      if (values->IsNull(i)) continue;
      sums_.Add(groups[i], Decimal128(values->GetValue(i)));
      ++counts_[groups[i]];
    }
    return Status::OK();
  }

  Status Merge(std::span<const ArrayPtr> buffers, std::span<const uint32_t> groups) override {
    ARROW_ASSIGN_OR_RAISE(const auto* values, AsDecimals(*buffers[0]));
    for (int64_t i = 0; i < values->length(); ++i) {
      if (values->IsNull(i)) {
        sums_.Overflow(groups[i]);
      } else {
        sums_.Add(groups[i], Decimal128(values->GetValue(i)));
      }
    }
    return ForEachLong(*buffers[1], [&](int64_t i, int64_t value) { counts_[groups[i]] += value; });
  }

  Result<std::vector<ArrayPtr>> Buffers() const override {
    ARROW_ASSIGN_OR_RAISE(ArrayPtr sums, sums_.Finish());
    ARROW_ASSIGN_OR_RAISE(ArrayPtr counts, Build(arrow::Int64Builder(), counts_, nullptr));
    return std::vector<ArrayPtr>{std::move(sums), std::move(counts)};
  }

 private:
  DecimalSums sums_;
  std::vector<int64_t> counts_;
};

/// Spark's order: NaN is greater than everything else, −0.0 equals 0.0.
template <typename T>
bool Less(const T& a, const T& b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a)) return false;
    if (std::isnan(b)) return true;
  }
  return a < b;
}

/// min and max of one type. `Traits` has the array and builder; values are held as `Held` (strings owned).
template <typename ArrowType, typename Held>
class ExtremeAccumulator final : public Accumulator {
 public:
  using ArrayType = typename arrow::TypeTraits<ArrowType>::ArrayType;
  using BuilderType = typename arrow::TypeTraits<ArrowType>::BuilderType;

  ExtremeAccumulator(bool is_min, std::shared_ptr<arrow::DataType> type) : is_min_(is_min), type_(std::move(type)) {}

  void Resize(int64_t groups) override {
    values_.resize(groups);
    valid_.resize(groups, 0);
  }

  Status Update(const arrow::Array* argument, std::span<const uint32_t> groups) override { return Take(*argument, groups); }
  Status Merge(std::span<const ArrayPtr> buffers, std::span<const uint32_t> groups) override { return Take(*buffers[0], groups); }

  Result<std::vector<ArrayPtr>> Buffers() const override {
    BuilderType builder(type_, arrow::default_memory_pool());
    for (size_t i = 0; i < values_.size(); ++i) {
      ARROW_RETURN_NOT_OK(valid_[i] ? builder.Append(values_[i]) : builder.AppendNull());
    }
    ARROW_ASSIGN_OR_RAISE(ArrayPtr array, builder.Finish());
    return std::vector<ArrayPtr>{std::move(array)};
  }

 private:
  Status Take(const arrow::Array& array, std::span<const uint32_t> groups) {
    const auto& values = static_cast<const ArrayType&>(array);
    for (int64_t i = 0; i < values.length(); ++i) {
      if (values.IsNull(i)) continue;
      const uint32_t group = groups[i];
      if constexpr (std::is_same_v<Held, Decimal128>) {
        Offer(group, Decimal128(values.GetValue(i)));
      } else {
        Offer(group, values.GetView(i));
      }
    }
    return Status::OK();
  }

  template <typename View>
  void Offer(uint32_t group, const View& value) {
    if (valid_[group]) {
      const bool better = is_min_ ? Less<View>(value, View(values_[group])) : Less<View>(View(values_[group]), value);
      if (!better) return;
    }
    values_[group] = Held(value);
    valid_[group] = 1;
  }

  const bool is_min_;
  const std::shared_ptr<arrow::DataType> type_;
  std::vector<Held> values_;
  std::vector<uint8_t> valid_;
};

template <typename ArrowType, typename Held = typename ArrowType::c_type>
std::unique_ptr<Accumulator> MakeExtreme(bool is_min, const type::TypePtr& type) {
  return std::make_unique<ExtremeAccumulator<ArrowType, Held>>(is_min, type->ToArrow());
}

Result<std::unique_ptr<Accumulator>> MakeMinMax(const AggregateFunction& function) {
  const bool is_min = function.kind == AggregateKind::kMin;
  const type::TypePtr& type = function.buffer.at(0).type;
  switch (type->kind()) {
    case Kind::kBoolean: return MakeExtreme<arrow::BooleanType, uint8_t>(is_min, type);
    case Kind::kByte: return MakeExtreme<arrow::Int8Type>(is_min, type);
    case Kind::kShort: return MakeExtreme<arrow::Int16Type>(is_min, type);
    case Kind::kInt: return MakeExtreme<arrow::Int32Type>(is_min, type);
    case Kind::kLong: return MakeExtreme<arrow::Int64Type>(is_min, type);
    case Kind::kFloat: return MakeExtreme<arrow::FloatType>(is_min, type);
    case Kind::kDouble: return MakeExtreme<arrow::DoubleType>(is_min, type);
    case Kind::kDate: return MakeExtreme<arrow::Date32Type>(is_min, type);
    case Kind::kTimestamp:
    case Kind::kTimestampNtz: return MakeExtreme<arrow::TimestampType>(is_min, type);
    case Kind::kString: return MakeExtreme<arrow::StringType, std::string>(is_min, type);
    case Kind::kBinary: return MakeExtreme<arrow::BinaryType, std::string>(is_min, type);
    case Kind::kDecimal: return MakeExtreme<arrow::Decimal128Type, Decimal128>(is_min, type);
    default:
      return UserError("TIDEMILL_UNSUPPORTED_AGGREGATE", "min and max over {} are not supported yet.", type->ToSql());
  }
}

}  // namespace

Result<std::unique_ptr<Accumulator>> Accumulator::Make(const AggregateFunction& function) {
  const Kind first = function.buffer.at(0).type->kind();
  switch (function.kind) {
    case AggregateKind::kCount: return std::make_unique<CountAccumulator>();
    case AggregateKind::kSum:
      if (first == Kind::kLong) return std::make_unique<LongSumAccumulator>(function.ansi);
      if (first == Kind::kDouble) return std::make_unique<DoubleSumAccumulator>();
      if (first == Kind::kDecimal) return std::make_unique<DecimalSumAccumulator>(*function.buffer[0].type);
      break;
    case AggregateKind::kAvg:
      if (first == Kind::kDouble) return std::make_unique<DoubleAverageAccumulator>();
      if (first == Kind::kDecimal) return std::make_unique<DecimalAverageAccumulator>(*function.buffer[0].type);
      break;
    case AggregateKind::kMin:
    case AggregateKind::kMax: return MakeMinMax(function);
  }
  return UserError("TIDEMILL_UNSUPPORTED_AGGREGATE", "This aggregate over {} is not supported yet.", function.buffer[0].type->ToSql());
}

}  // namespace tidemill::exec
