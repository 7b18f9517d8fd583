#include "format/column_builder.h"

#include <arrow/array/util.h>
#include <arrow/buffer.h>
#include <arrow/type.h>

#include <cstring>
#include <limits>

namespace tidemill::format {

namespace {

using type::Kind;

/// Bytes of one value in the values buffer while it is built.
int WidthOf(Kind kind) {
  switch (kind) {
    case Kind::kBoolean:
    case Kind::kByte:
      return 1;
    case Kind::kShort:
      return 2;
    case Kind::kInt:
    case Kind::kFloat:
    case Kind::kDate:
    case Kind::kYearMonthInterval:
      return 4;
    case Kind::kLong:
    case Kind::kDouble:
    case Kind::kTimestamp:
    case Kind::kTimestampNtz:
    case Kind::kDayTimeInterval:
      return 8;
    case Kind::kDecimal:
      return 16;
    default:
      return 0;
  }
}

bool HasOffsets(Kind kind) {
  return kind == Kind::kString || kind == Kind::kBinary || kind == Kind::kArray || kind == Kind::kMap;
}

bool IsBytes(Kind kind) { return kind == Kind::kString || kind == Kind::kBinary; }

}  // namespace

ColumnBuilder::ColumnBuilder(type::TypePtr type, arrow::MemoryPool* pool)
    : type_(std::move(type)),
      arrow_type_(type_->ToArrow()),
      pool_(pool),
      width_(WidthOf(type_->kind())),
      has_offsets_(HasOffsets(type_->kind())),
      values_(pool),
      offsets_(pool),
      validity_(pool) {
  switch (type_->kind()) {
    case Kind::kStruct:
      for (const type::Field& field : type_->fields()) children_.emplace_back(field.type, pool);
      break;
    case Kind::kMap:
      children_.emplace_back(type_->key(), pool);
      [[fallthrough]];
    case Kind::kArray:
      children_.emplace_back(type_->element(), pool);
      break;
    default:
      break;
  }
}

Status ColumnBuilder::Reserve(int64_t rows) {
  ARROW_RETURN_NOT_OK(validity_.Reserve(rows));
  if (has_offsets_) ARROW_RETURN_NOT_OK(offsets_.Reserve(rows));
  return width_ == 0 ? Status::OK() : values_.Reserve(rows * width_);
}

Status ColumnBuilder::AppendNull() {
  static constexpr char kZeros[16] = {};
  if (width_ > 0) ARROW_RETURN_NOT_OK(values_.Append(kZeros, width_));
  if (has_offsets_) {
    int64_t end = IsBytes(type_->kind()) ? values_.length() : children_[0].length();
    ARROW_RETURN_NOT_OK(offsets_.Append(static_cast<int32_t>(end)));
  }
  if (type_->kind() == Kind::kStruct) {
    for (ColumnBuilder& child : children_) ARROW_RETURN_NOT_OK(child.AppendNull());
  }
  return validity_.Append(0);
}

Status ColumnBuilder::CloseBytes() {
  if (values_.length() > std::numeric_limits<int32_t>::max()) {
    return UserError("TIDEMILL_BATCH_TOO_LARGE", "strings of one batch of rows are larger than 2 GiB: {} bytes", values_.length());
  }
  ARROW_RETURN_NOT_OK(offsets_.Append(static_cast<int32_t>(values_.length())));
  return validity_.Append(1);
}

Status ColumnBuilder::AppendNested() {
  if (has_offsets_) ARROW_RETURN_NOT_OK(offsets_.Append(static_cast<int32_t>(children_[0].length())));
  return validity_.Append(1);
}

void ColumnBuilder::Truncate(int64_t length) {
  if (length == this->length()) {
    // A list's children may be ahead of its last closed row.
    if (has_offsets_ && !children_.empty()) {
      for (ColumnBuilder& child : children_) child.Truncate(length == 0 ? 0 : offsets_.data()[length - 1]);
    }
    if (type_->kind() == Kind::kStruct) {
      for (ColumnBuilder& child : children_) child.Truncate(length);
    }
    return;
  }
  int64_t end = has_offsets_ && length > 0 ? offsets_.data()[length - 1] : 0;
  validity_.bytes_builder()->Rewind(length);
  if (width_ > 0) values_.Rewind(length * width_);
  if (has_offsets_) {
    offsets_.bytes_builder()->Rewind(length * static_cast<int64_t>(sizeof(int32_t)));
    if (children_.empty()) values_.Rewind(end);
  }
  for (ColumnBuilder& child : children_) child.Truncate(has_offsets_ ? end : length);
}

Result<std::shared_ptr<arrow::Array>> ColumnBuilder::Finish() {
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::ArrayData> data, FinishData());
  return arrow::MakeArray(data);
}

Result<std::shared_ptr<arrow::Buffer>> PackBits(const uint8_t* bytes, int64_t length, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(std::unique_ptr<arrow::Buffer> bits, arrow::AllocateBuffer((length + 7) / 8, pool));
  uint8_t* out = bits->mutable_data();
  int64_t i = 0;
  for (; i + 8 <= length; i += 8) {
    // Eight bytes of 0 or 1: the product gathers their lowest bits, first byte lowest, in the top byte.
    uint64_t word;
    std::memcpy(&word, bytes + i, sizeof(word));
    *out++ = static_cast<uint8_t>((word * 0x0102040810204080ULL) >> 56);
  }
  if (i < length) {
    uint8_t last = 0;
    for (int bit = 0; i < length; ++i, ++bit) last |= static_cast<uint8_t>(bytes[i] << bit);
    *out = last;
  }
  return std::shared_ptr<arrow::Buffer>(std::move(bits));
}

Result<std::shared_ptr<arrow::Buffer>> ColumnBuilder::FinishValidity(int64_t* null_count) {
  const uint8_t* valid = validity_.data();
  int64_t count = 0;
  for (int64_t i = 0; i < length(); ++i) count += valid[i];
  *null_count = length() - count;
  if (*null_count == 0) return std::shared_ptr<arrow::Buffer>();
  return PackBits(valid, length(), pool_);
}

Result<std::shared_ptr<arrow::ArrayData>> ColumnBuilder::FinishData() {
  const int64_t rows = length();
  if (type_->kind() == Kind::kVoid) {
    validity_.Reset();
    return arrow::ArrayData::Make(arrow_type_, rows, {nullptr}, rows);
  }
  int64_t null_count = 0;
  std::vector<std::shared_ptr<arrow::Buffer>> buffers(1);
  ARROW_ASSIGN_OR_RAISE(buffers[0], FinishValidity(&null_count));
  validity_.Reset();
  if (has_offsets_) {
    ARROW_ASSIGN_OR_RAISE(std::unique_ptr<arrow::Buffer> offsets, arrow::AllocateBuffer((rows + 1) * sizeof(int32_t), pool_));
    auto* out = reinterpret_cast<int32_t*>(offsets->mutable_data());
    out[0] = 0;
    if (rows > 0) std::memcpy(out + 1, offsets_.data(), rows * sizeof(int32_t));
    buffers.push_back(std::move(offsets));
    offsets_.Reset();
  }
  if (type_->kind() == Kind::kBoolean) {
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> bits, PackBits(values_.data(), rows, pool_));
    buffers.push_back(std::move(bits));
    values_.Reset();
  } else if (width_ > 0 || IsBytes(type_->kind())) {
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> values, values_.Finish(/*shrink_to_fit=*/false));
    buffers.push_back(std::move(values));
  }
  std::vector<std::shared_ptr<arrow::ArrayData>> children;
  for (ColumnBuilder& child : children_) {
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::ArrayData> data, child.FinishData());
    children.push_back(std::move(data));
  }
  if (type_->kind() == Kind::kMap) {
    // Arrow keeps a map's entries as one struct child without nulls.
    int64_t entries = children[0]->length;
    auto entry_type = arrow_type_->field(0)->type();
    children = {arrow::ArrayData::Make(entry_type, entries, {nullptr}, std::move(children), 0)};
  }
  return arrow::ArrayData::Make(arrow_type_, rows, std::move(buffers), std::move(children), null_count);
}

}  // namespace tidemill::format
