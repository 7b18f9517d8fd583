#include "base/status.h"

#include <utility>

namespace tidemill {

namespace {

arrow::StatusCode CodeOf(const ErrorDetail& detail) {
  switch (detail.fault) {
    case Fault::kUser:
      return arrow::StatusCode::Invalid;
    case Fault::kExternal:
      return arrow::StatusCode::IOError;
    case Fault::kInternal:
      break;
  }
  return arrow::StatusCode::UnknownError;
}

}  // namespace

std::string ErrorDetail::ToString() const {
  std::string text = condition.empty() ? std::string("[no condition]") : fmt::format("[{}]", condition);
  text += fault == Fault::kUser ? " user" : fault == Fault::kExternal ? " external" : " internal";
  text += retry == Retry::kLater ? ", retry later" : ", never retry";
  if (!path.empty()) text += fmt::format(", path {}", path);
  if (batch_id) text += fmt::format(", batch {}", *batch_id);
  if (operator_id) text += fmt::format(", operator {}", *operator_id);
  if (partition) text += fmt::format(", partition {}", *partition);
  return text;
}

const ErrorDetail* ErrorDetail::Of(const Status& status) {
  return dynamic_cast<const ErrorDetail*>(status.detail().get());
}

Error::Error(Fault fault, Retry retry, std::string condition, std::string message)
    : detail_(std::make_shared<ErrorDetail>()), message_(std::move(message)) {
  detail_->fault = fault;
  detail_->retry = retry;
  detail_->condition = std::move(condition);
}

Error&& Error::Param(std::string name, std::string value) && {
  detail_->parameters[std::move(name)] = std::move(value);
  return std::move(*this);
}

Error&& Error::Path(std::string path) && {
  detail_->path = std::move(path);
  return std::move(*this);
}

Error&& Error::Partition(int32_t partition) && {
  detail_->partition = partition;
  return std::move(*this);
}

Error&& Error::Operator(int64_t operator_id) && {
  detail_->operator_id = operator_id;
  return std::move(*this);
}

Error::operator Status() const& { return Status(CodeOf(*detail_), message_, detail_); }

bool IsRetryable(const Status& status) {
  const ErrorDetail* detail = ErrorDetail::Of(status);
  return detail != nullptr && detail->retry == Retry::kLater;
}

Status WithContext(const Status& status, std::string_view context) {
  if (status.ok()) return status;
  return Status(status.code(), fmt::format("{}: {}", context, status.message()), status.detail());
}

Status WithBatch(const Status& status, int64_t batch_id) {
  if (status.ok()) return status;
  // A foreign error gets a detail of ours, so that whoever reports it finds the batch in one place.
  const ErrorDetail* found = ErrorDetail::Of(status);
  if (found == nullptr && status.detail() != nullptr) return status;
  auto detail = found != nullptr ? std::make_shared<ErrorDetail>(*found) : std::make_shared<ErrorDetail>();
  detail->batch_id = batch_id;
  return Status(status.code(), status.message(), std::move(detail));
}

}  // namespace tidemill
