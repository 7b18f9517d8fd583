#pragma once

// The error idiom of the engine: Arrow's Status and Result<T>, re-exported, with a detail that says whose fault an error is, whether to
// try again, and which Spark error class clients match on.
//
//   return UserError("PATH_NOT_FOUND", "Path does not exist: {}", path).Param("path", path);

#include <arrow/result.h>
#include <arrow/status.h>
#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tidemill {

using arrow::Result;
using arrow::Status;

/// Whose fault an error is: the text or data the user gave, the world outside (disk, permission), or ours.
enum class Fault { kUser, kExternal, kInternal };

/// May the batch be run again? Only kLater is repeated by the loop (I/O, a dead worker).
enum class Retry { kNever, kLater };

/// What an error carries besides its message. Travels as arrow::StatusDetail; found again by ErrorDetail::Of().
struct ErrorDetail final : public arrow::StatusDetail {
  Fault fault = Fault::kInternal;
  Retry retry = Retry::kNever;
  std::string condition;                          ///< Spark's error class ("DIVIDE_BY_ZERO") or ours ("TIDEMILL_…"); empty: none.
  std::map<std::string, std::string> parameters;  ///< Spark's message parameters, by Spark's names.
  std::string path;                               ///< The file the error is about; empty: none.
  std::optional<int64_t> batch_id;                ///< Filled in by the loop.
  std::optional<int64_t> operator_id;
  std::optional<int32_t> partition;

  const char* type_id() const override { return "tidemill::ErrorDetail"; }
  std::string ToString() const override;
  /// The detail of `status`, or nullptr for a foreign error.
  static const ErrorDetail* Of(const Status& status);
};

/// An error under construction: converts to Status and to any Result<T>.
class Error {
 public:
  Error(Fault fault, Retry retry, std::string condition, std::string message);
  Error&& Param(std::string name, std::string value) &&;
  Error&& Path(std::string path) &&;
  Error&& Partition(int32_t partition) &&;
  Error&& Operator(int64_t operator_id) &&;
  operator Status() const&;  // NOLINT: the point of the class
  template <typename T>
  operator Result<T>() const& {  // NOLINT
    return static_cast<Status>(*this);
  }

 private:
  std::shared_ptr<ErrorDetail> detail_;
  std::string message_;
};

/// The user's text, options or data are wrong. Never repeated.
template <typename... Args>
Error UserError(std::string condition, fmt::format_string<Args...> format, Args&&... args) {
  return Error(Fault::kUser, Retry::kNever, std::move(condition), fmt::format(format, std::forward<Args>(args)...));
}
/// The world outside failed in a way that repeating cannot cure (permission, a damaged file).
template <typename... Args>
Error ExternalError(std::string condition, fmt::format_string<Args...> format, Args&&... args) {
  return Error(Fault::kExternal, Retry::kNever, std::move(condition), fmt::format(format, std::forward<Args>(args)...));
}
/// The world outside failed and may work next time (I/O error, full disk). The loop repeats the batch.
template <typename... Args>
Error RetryableError(std::string condition, fmt::format_string<Args...> format, Args&&... args) {
  return Error(Fault::kExternal, Retry::kLater, std::move(condition), fmt::format(format, std::forward<Args>(args)...));
}
/// A bug of ours.
template <typename... Args>
Error InternalError(fmt::format_string<Args...> format, Args&&... args) {
  return Error(Fault::kInternal, Retry::kNever, "INTERNAL_ERROR", fmt::format(format, std::forward<Args>(args)...));
}

/// True when the loop may run the batch again after `status`.
bool IsRetryable(const Status& status);
/// `status` with `context` put in front of its message; the detail stays.
Status WithContext(const Status& status, std::string_view context);
/// `status` with batch id set in its detail.
Status WithBatch(const Status& status, int64_t batch_id);

}  // namespace tidemill
