#include "cli/error_report.h"

#include "sql/parser.h"

namespace tidemill::cli {

namespace {

constexpr char kLocked[] = "TIDEMILL_CHECKPOINT_LOCKED";

bool IsLocked(const ErrorDetail& detail) {
  const auto inner = detail.parameters.find("innerCondition");
  return detail.condition == kLocked || (inner != detail.parameters.end() && inner->second == kLocked);
}

}  // namespace

std::string ReportError(const Status& error, std::string_view file_name, std::string_view text) {
  const ErrorDetail* detail = ErrorDetail::Of(error);
  if (detail != nullptr && detail->parameters.contains("line")) {
    std::string rendered = sql::RenderError(error, file_name, text);
    if (rendered.empty() || rendered.back() != '\n') rendered += '\n';
    return rendered;
  }
  if (detail == nullptr || detail->condition.empty()) return fmt::format("error: {}\n", error.message());
  return fmt::format("error: [{}] {}\n", detail->condition, error.message());
}

ExitCode CodeOfPlanError(const Status& error) {
  const ErrorDetail* detail = ErrorDetail::Of(error);
  if (detail != nullptr && IsLocked(*detail)) return ExitCode::kLocked;
  return detail != nullptr && detail->fault == Fault::kUser ? ExitCode::kInvalidJob : ExitCode::kFailed;
}

ExitCode CodeOfRunError(const Status& error) {
  const ErrorDetail* detail = ErrorDetail::Of(error);
  return detail != nullptr && IsLocked(*detail) ? ExitCode::kLocked : ExitCode::kFailed;
}

}  // namespace tidemill::cli
