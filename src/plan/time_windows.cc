// window(time, window [, slide [, start]]) to columns.
//
// Before that, window_time(w) becomes a column of its own, so that it keeps the watermark of w; window(w, …) means window(window_time(w), …).
//
//   tumbling:  Project [time_window(ts, w, w, start, 0) AS window, child.*]          sliding:  Filter <the time is in the window>
//              +- Filter isnotnull(ts)                                                         +- Expand, one projection per window a time can be in
//
// A window of a plain column keeps the column's metadata, hence its watermark; a window of any other expression does not.

#include <arrow/scalar.h>

#include <cstdlib>
#include <limits>
#include <utility>

#include "expr/function/resolve.h"
#include "expr/interval.h"
#include "plan/analyzer_internal.h"
#include "plan/column_metadata.h"
#include "plan/expression_tree.h"

namespace tidemill::plan {

using expr::Expression;
using expr::ExprKind;
using expr::ExprPtr;

namespace {

constexpr char kWindowColumn[] = "window";
// A row is copied once per window it is in; this is where a slip of the pen (a day sliding by a millisecond) is no longer a query.
constexpr int64_t kMaxWindowsPerRow = 100'000;

// One window(…) call, durations in microseconds.
struct TimeWindow {
  ExprPtr time;
  int64_t window = 0;
  int64_t slide = 0;
  int64_t start = 0;

  std::string ToSql() const { return fmt::format("window({}, {}, {}, {})", time->ToSql(), window, slide, start); }
  bool Equals(const TimeWindow& other) const {
    return window == other.window && slide == other.slide && start == other.start && expr::SameExpression(*time, *other.time);
  }
};

bool IsWindowTimeCall(const Expression& node) { return node.kind == ExprKind::kCall && node.name == "window_time" && !node.resolved(); }
bool IsWindowCall(const Expression& node) { return node.kind == ExprKind::kCall && node.name == "window" && !node.resolved(); }

Result<int64_t> Duration(const Expression& argument) {
  bool is_cast = argument.kind == ExprKind::kCast;
  if (argument.kind == ExprKind::kLiteral && argument.value != nullptr && argument.value->is_valid) {
    switch (argument.type->kind()) {
      case type::Kind::kInt:
        return static_cast<const arrow::Int32Scalar&>(*argument.value).value;
      case type::Kind::kLong:
        return static_cast<const arrow::Int64Scalar&>(*argument.value).value;
      case type::Kind::kString: {
        std::string text = static_cast<const arrow::StringScalar&>(*argument.value).value->ToString();
        bool has_months = false;
        ARROW_ASSIGN_OR_RAISE(int64_t micros, expr::ParseIntervalMicros(text, &has_months));
        if (!has_months) return micros;
        return UserError("_LEGACY_ERROR_TEMP_3231", "Intervals greater than a month is not supported ({}).", text).Param("interval", text);
      }
      default:
        break;
    }
  }
  return UserError("_LEGACY_ERROR_TEMP_1207", "The duration and time inputs to window must be an integer, long or string literal{}.",
                   is_cast ? ", not a cast" : "");
}

Status OutOfRange(const TimeWindow& window, const char* name, int64_t value) {
  std::string range = fmt::format("(0, {}]", std::numeric_limits<int64_t>::max());
  return UserError("DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE",
                   "Cannot resolve {} due to data type mismatch: The `{}` must be between {} (current value = {}L).",
                   QuoteSql(window.ToSql()), name, range, value)
      .Param("sqlExpr", QuoteSql(window.ToSql()))
      .Param("exprName", QuoteName({name}))
      .Param("valueRange", range)
      .Param("currentValue", fmt::format("{}L", value));
}

Status Constraint(const TimeWindow& window, const char* left, int64_t left_value, const char* constraint, const char* right,
                  int64_t right_value) {
  return UserError("DATATYPE_MISMATCH.PARAMETER_CONSTRAINT_VIOLATION",
                   "Cannot resolve {} due to data type mismatch: The `{}`({}L) must be {} the `{}`({}L).", QuoteSql(window.ToSql()), left,
                   left_value, constraint, right, right_value)
      .Param("sqlExpr", QuoteSql(window.ToSql()))
      .Param("leftExprName", QuoteName({left}))
      .Param("leftExprValue", fmt::format("{}L", left_value))
      .Param("constraint", constraint)
      .Param("rightExprName", QuoteName({right}))
      .Param("rightExprValue", fmt::format("{}L", right_value));
}

Status CheckDurations(const TimeWindow& window) {
  if (window.window <= 0) return OutOfRange(window, "window_duration", window.window);
  if (window.slide <= 0) return OutOfRange(window, "slide_duration", window.slide);
  if (window.slide > window.window) return Constraint(window, "slide_duration", window.slide, "<=", "window_duration", window.window);
  int64_t start = std::abs(window.start);
  if (start >= window.slide) return Constraint(window, "abs(start_time)", start, "<", "slide_duration", window.slide);
  if (window.window / window.slide < kMaxWindowsPerRow) return Status::OK();
  return UserError("TIDEMILL_TOO_MANY_WINDOWS", "{} puts each row into {} windows; at most {} are allowed.", window.ToSql(),
                   window.window / window.slide, kMaxWindowsPerRow);
}

// The time argument as a timestamp: text is cast.
Result<ExprPtr> TimeArgument(const ExprPtr& argument, const NameScope& scope, const AnalysisFrame& frame) {
  ARROW_ASSIGN_OR_RAISE(ExprPtr time, ResolveExpression(argument, scope, frame));
  switch (time->type->kind()) {
    case type::Kind::kTimestamp:
    case type::Kind::kTimestampNtz:
      return time;
    case type::Kind::kString:
    case type::Kind::kDate:
    case type::Kind::kVoid:
      return expr::ResolveCast(std::move(time), type::Timestamp(), false, frame.context, argument->origin);
    default:
      break;
  }
  return UserError("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE",
                   "Cannot resolve \"window({})\" due to data type mismatch: The first parameter requires the (\"TIMESTAMP\" or "
                   "\"TIMESTAMP WITHOUT TIME "
                   "ZONE\") type, however {} has the type {}.",
                   time->ToSql(), QuoteSql(time->ToSql()), QuoteSql(time->type->ToSql()))
      .Param("sqlExpr", QuoteSql("window(" + time->ToSql() + ")"))
      .Param("paramIndex", "first")
      .Param("requiredType", "(\"TIMESTAMP\" or \"TIMESTAMP WITHOUT TIME ZONE\")")
      .Param("inputSql", QuoteSql(time->ToSql()))
      .Param("inputType", QuoteSql(time->type->ToSql()));
}

Result<TimeWindow> ResolveWindowCall(const Expression& call, const NameScope& scope, const AnalysisFrame& frame) {
  const std::vector<ExprPtr>& arguments = call.children;
  if (arguments.size() < 2 || arguments.size() > 4) {
    return UserError("WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "The `window` requires [2, 3, 4] parameters but the actual number is {}.",
                     arguments.size())
        .Param("functionName", "`window`")
        .Param("expectedNum", "[2, 3, 4]")
        .Param("actualNum", std::to_string(arguments.size()));
  }
  TimeWindow window;
  ARROW_ASSIGN_OR_RAISE(window.window, Duration(*arguments[1]));
  window.slide = window.window;
  if (arguments.size() > 2) {
    ARROW_ASSIGN_OR_RAISE(window.slide, Duration(*arguments[2]));
  }
  if (arguments.size() > 3) {
    ARROW_ASSIGN_OR_RAISE(window.start, Duration(*arguments[3]));
  }
  ARROW_ASSIGN_OR_RAISE(window.time, TimeArgument(arguments[0], scope, frame));
  ARROW_RETURN_NOT_OK(CheckDurations(window));
  return window;
}

// Window number `index` of a time, counted backwards from the one that starts last.
Result<ExprPtr> WindowStructOf(const TimeWindow& window, int64_t index, const AnalysisFrame& frame) {
  return expr::ResolveCall(*expr::UnresolvedCall("time_window", {}),
                           {window.time, expr::LiteralLong(window.window), expr::LiteralLong(window.slide), expr::LiteralLong(window.start),
                            expr::LiteralLong(index)},
                           frame.context);
}

Result<ExprPtr> Call(const std::string& name, std::vector<ExprPtr> arguments, const AnalysisFrame& frame) {
  return expr::ResolveCall(*expr::UnresolvedCall(name, {}), std::move(arguments), frame.context);
}

Result<PlanPtr> Tumbling(const PlanPtr& child, const TimeWindow& window, const ExprPtr& column, const AnalysisFrame& frame) {
  ARROW_ASSIGN_OR_RAISE(ExprPtr has_time, Call("isnotnull", {window.time}, frame));
  auto alias = std::make_shared<Expression>(*expr::UnresolvedAlias(nullptr, kWindowColumn));
  ARROW_ASSIGN_OR_RAISE(ExprPtr value, WindowStructOf(window, 0, frame));
  alias->children = {std::move(value)};
  alias->id = column->id;
  alias->type = column->type;
  alias->nullable = column->nullable;
  alias->metadata_json = column->metadata_json;
  std::vector<ExprPtr> columns = {alias};
  columns.insert(columns.end(), child->output.begin(), child->output.end());
  return MakeProject(MakeFilter(child, std::move(has_time)), std::move(columns));
}

Result<PlanPtr> Sliding(const PlanPtr& child, const TimeWindow& window, const ExprPtr& column, const AnalysisFrame& frame) {
  auto expand = std::make_shared<LogicalPlan>();
  expand->kind = PlanKind::kExpand;
  expand->children = {child};
  int64_t count = window.window / window.slide + (window.window % window.slide != 0 ? 1 : 0);
  for (int64_t index = 0; index < count; ++index) {
    ARROW_ASSIGN_OR_RAISE(ExprPtr value, WindowStructOf(window, index, frame));
    std::vector<ExprPtr> projection = {std::move(value)};
    projection.insert(projection.end(), child->output.begin(), child->output.end());
    expand->projections.push_back(std::move(projection));
  }
  expand->output = {column};
  expand->output.insert(expand->output.end(), child->output.begin(), child->output.end());
  if (window.window % window.slide == 0) {
    ARROW_ASSIGN_OR_RAISE(ExprPtr has_time, Call("isnotnull", {window.time}, frame));
    return MakeFilter(std::move(expand), std::move(has_time));
  }
  // The window that starts first may have ended before the time when slides do not divide the window.
  ARROW_ASSIGN_OR_RAISE(ExprPtr start, Call("getfield", {column, expr::LiteralString("start")}, frame));
  ARROW_ASSIGN_OR_RAISE(ExprPtr end, Call("getfield", {column, expr::LiteralString("end")}, frame));
  ARROW_ASSIGN_OR_RAISE(ExprPtr after_start, Call(">=", {window.time, std::move(start)}, frame));
  ARROW_ASSIGN_OR_RAISE(ExprPtr before_end, Call("<", {window.time, std::move(end)}, frame));
  return MakeFilter(std::move(expand), JoinConjuncts({std::move(after_start), std::move(before_end)}));
}

// Makes columns of the window_time(w) calls of one node.
class WindowTimeColumns {
 public:
  WindowTimeColumns(const PlanPtr& child, const AnalysisFrame& frame)
      : child_(child), frame_(frame), scope_(child->output, frame.case_sensitive) {}

  Result<PlanPtr> Lower(std::vector<ExprPtr>* expressions) {
    Status failure;
    auto replace = [&](const ExprPtr& node) -> ExprPtr {
      bool is_time = IsWindowTimeCall(*node);
      if (!failure.ok() || !(is_time || IsWindowCall(*node)) || node->children.empty()) return nullptr;
      Result<ExprPtr> column = ColumnOf(node->children[0], /*must=*/is_time);
      if (!column.ok()) failure = AtOrigin(column.status(), node->origin);
      if (!column.ok() || *column == nullptr) return nullptr;
      if (is_time) return *column;
      std::vector<ExprPtr> arguments = node->children;
      arguments[0] = *column;
      return expr::WithChildren(node, std::move(arguments));
    };
    for (ExprPtr& expression : *expressions) expression = Rewrite(expression, replace);
    ARROW_RETURN_NOT_OK(failure);
    if (columns_.empty()) return child_;
    std::vector<ExprPtr> all = columns_;
    all.insert(all.end(), child_->output.begin(), child_->output.end());
    return MakeProject(child_, std::move(all));
  }

 private:
  // The column for window_time(argument); nullptr when the argument is no window and need not be one.
  Result<ExprPtr> ColumnOf(const ExprPtr& argument, bool must) {
    if (!must && argument->kind != ExprKind::kUnresolvedAttribute) return nullptr;
    ARROW_ASSIGN_OR_RAISE(ExprPtr window, ResolveExpression(argument, scope_, frame_));
    bool is_window = window->kind == ExprKind::kAttribute && IsTimeWindow(window->metadata_json);
    if (!is_window && !must) return nullptr;
    if (!is_window) {
      std::string text = "window_time(" + window->ToString() + ")";
      return UserError("_LEGACY_ERROR_TEMP_3101", "The input is not a correct window column: {}", text).Param("windowTime", text);
    }
    for (const ExprPtr& known : columns_) {
      if (References({known}).count(window->id) > 0) return ToAttribute(known);
    }
    ARROW_ASSIGN_OR_RAISE(ExprPtr time, Call("window_time", {window}, frame_));
    auto alias = std::make_shared<Expression>(*expr::UnresolvedAlias(time, time->ToSql()));
    alias->id = expr::NewExprId();
    alias->type = time->type;
    alias->nullable = time->nullable;
    alias->metadata_json = WithTimeWindow(window->metadata_json, false);
    columns_.push_back(alias);
    return ToAttribute(alias);
  }

  const PlanPtr& child_;
  const AnalysisFrame& frame_;
  NameScope scope_;
  std::vector<ExprPtr> columns_;
};

Status RefuseSessionWindows(const std::vector<ExprPtr>& expressions) {
  for (const ExprPtr& expression : expressions) {
    bool session =
        AnyNode(*expression, [](const Expression& node) { return node.kind == ExprKind::kCall && node.name == "session_window"; });
    if (session) return Unsupported("session_window", expression->origin);
  }
  return Status::OK();
}

}  // namespace

Result<PlanPtr> LowerTimeWindow(const PlanPtr& input, const AnalysisFrame& frame, std::vector<ExprPtr>* expressions) {
  ARROW_RETURN_NOT_OK(RefuseSessionWindows(*expressions));
  ARROW_ASSIGN_OR_RAISE(PlanPtr child, WindowTimeColumns(input, frame).Lower(expressions));
  NameScope scope(child->output, frame.case_sensitive);
  std::optional<TimeWindow> window;
  ExprPtr column;
  Status failure;
  auto replace = [&](const ExprPtr& node) -> ExprPtr {
    if (!failure.ok() || !IsWindowCall(*node)) return nullptr;
    Result<TimeWindow> found = ResolveWindowCall(*node, scope, frame);
    if (found.ok() && window && !window->Equals(*found)) {
      found = UserError("_LEGACY_ERROR_TEMP_1039",
                        "Multiple time/session window expressions would result in a cartesian product of rows, therefore they are "
                        "currently not supported.");
    }
    if (!found.ok()) {
      failure = AtOrigin(found.status(), node->origin);
      return node;
    }
    if (!window) {
      window = *found;
      std::string metadata = WithTimeWindow(found->time->kind == ExprKind::kAttribute ? found->time->metadata_json : "{}", true);
      // The operator below drops rows without a time in every case but that of windows that overlap, where the filter comes after.
      bool nullable = found->window != found->slide;
      column = expr::Attribute(type::Field{kWindowColumn, type::WindowStruct(found->time->type), nullable, std::move(metadata)},
                               expr::NewExprId());
    }
    return column;
  };
  for (ExprPtr& expression : *expressions) expression = Rewrite(expression, replace);
  ARROW_RETURN_NOT_OK(failure);
  if (!window) return child;
  return window->window == window->slide ? Tumbling(child, *window, column, frame) : Sliding(child, *window, column, frame);
}

}  // namespace tidemill::plan
