#include "expr/function/evaluator.h"

#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>
#include <arrow/compute/api_vector.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/util/bitmap_ops.h>

#include <utility>

#include "expr/function/registry_internal.h"
#include "expr/function/resolve.h"

namespace tidemill::expr {

namespace {

// One step of a compiled expression.
class Node {
 public:
  virtual ~Node() = default;
  virtual Result<Column> Evaluate(const arrow::RecordBatch& batch) = 0;
};
using NodePtr = std::unique_ptr<Node>;

class ColumnNode final : public Node {
 public:
  explicit ColumnNode(int index) : index_(index) {}
  Result<Column> Evaluate(const arrow::RecordBatch& batch) override { return Column{batch.column(index_), false}; }

 private:
  int index_;
};

class ConstantNode final : public Node {
 public:
  explicit ConstantNode(ArrayPtr value) : value_(std::move(value)) {}
  Result<Column> Evaluate(const arrow::RecordBatch&) override { return Column{value_, true}; }

 private:
  ArrayPtr value_;
};

class KernelNode final : public Node {
 public:
  KernelNode(Kernel kernel, std::vector<NodePtr> arguments)
      : kernel_(std::move(kernel)), arguments_(std::move(arguments)), columns_(arguments_.size()) {}

  Result<Column> Evaluate(const arrow::RecordBatch& batch) override {
    bool constant = true;
    for (size_t i = 0; i < arguments_.size(); ++i) {
      ARROW_ASSIGN_OR_RAISE(columns_[i], arguments_[i]->Evaluate(batch));
      constant = constant && columns_[i].constant;
    }
    ARROW_ASSIGN_OR_RAISE(ArrayPtr result, kernel_(columns_, constant ? 1 : batch.num_rows()));
    return Column{std::move(result), constant};
  }

 private:
  Kernel kernel_;
  std::vector<NodePtr> arguments_;
  std::vector<Column> columns_;
};

// Rows of `batch` at `positions`.
Result<std::shared_ptr<arrow::RecordBatch>> TakeRows(const arrow::RecordBatch& batch, const std::vector<int32_t>& positions) {
  const auto indices = std::make_shared<arrow::Int32Array>(static_cast<int64_t>(positions.size()), arrow::Buffer::Wrap(positions));
  arrow::ArrayVector columns;
  for (const ArrayPtr& column : batch.columns()) {
    ARROW_ASSIGN_OR_RAISE(columns.emplace_back(), arrow::compute::Take(*column, *indices, arrow::compute::TakeOptions::NoBoundsCheck()));
  }
  return arrow::RecordBatch::Make(batch.schema(), static_cast<int64_t>(positions.size()), std::move(columns));
}

// An expression that some rows may be kept away from: SQL promises that the branch not chosen raises no error.
struct Branch {
  NodePtr node;
  bool may_fail = false;

  // The value of every row of `batch`, needed only for rows at `positions`; position_of[i] says where row positions[i] is found in the
  // result.
  Result<Column> EvaluateFor(const arrow::RecordBatch& batch, const std::vector<int32_t>& positions, bool* compact) const {
    *compact = may_fail && static_cast<int64_t>(positions.size()) < batch.num_rows();
    if (!*compact) return node->Evaluate(batch);
    ARROW_ASSIGN_OR_RAISE(auto rows, TakeRows(batch, positions));
    return node->Evaluate(*rows);
  }
};

// Puts a result together from several arrays: row by row, an index into all of them laid end to end.
class RowChooser {
 public:
  explicit RowChooser(int64_t rows) : indices_(static_cast<size_t>(rows), -1) {}

  void Choose(const Column& column, const std::vector<int32_t>& positions, bool compact) {
    for (size_t i = 0; i < positions.size(); ++i) {
      const int64_t index = column.constant ? 0 : (compact ? static_cast<int64_t>(i) : positions[i]);
      indices_[static_cast<size_t>(positions[i])] = end_ + index;
    }
    end_ += column.array->length();
    parts_.push_back(column.array);
  }

  // Rows that nobody chose are null.
  Result<ArrayPtr> Finish(const std::shared_ptr<arrow::DataType>& type) {
    const auto rows = static_cast<int64_t>(indices_.size());
    if (parts_.empty()) return AllNull(type, rows);
    ARROW_ASSIGN_OR_RAISE(ArrayPtr all, arrow::Concatenate(parts_));
    ARROW_ASSIGN_OR_RAISE(auto valid, PackBits(rows, [&](int64_t row) { return indices_[static_cast<size_t>(row)] >= 0; }));
    for (int64_t& index : indices_) index = std::max<int64_t>(index, 0);
    const auto indices = std::make_shared<arrow::Int64Array>(rows, arrow::Buffer::Wrap(indices_), std::move(valid));
    return arrow::compute::Take(*all, *indices, arrow::compute::TakeOptions::NoBoundsCheck());
  }

 private:
  std::vector<int64_t> indices_;
  arrow::ArrayVector parts_;
  int64_t end_ = 0;
};

std::vector<int32_t> AllPositions(int64_t rows) {
  std::vector<int32_t> positions(static_cast<size_t>(rows));
  for (size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<int32_t>(i);
  return positions;
}

bool IsTrue(const Column& column, int64_t row) {
  if (column.array->type_id() == arrow::Type::NA || column.IsNull(row)) return false;
  return static_cast<const arrow::BooleanArray&>(*column.array).Value(column.Index(row));
}

// CASE WHEN and IF: conditions in turn, each only over the rows that none before it took.
class CaseNode final : public Node {
 public:
  CaseNode(std::vector<Branch> conditions, std::vector<Branch> values, std::shared_ptr<arrow::DataType> type)
      : conditions_(std::move(conditions)), values_(std::move(values)), type_(std::move(type)) {}

  Result<Column> Evaluate(const arrow::RecordBatch& batch) override {
    std::vector<int32_t> open = AllPositions(batch.num_rows());
    RowChooser chooser(batch.num_rows());
    for (size_t i = 0; i < values_.size() && !open.empty(); ++i) {
      std::vector<int32_t> taken;
      if (i < conditions_.size()) {
        ARROW_RETURN_NOT_OK(Split(conditions_[i], batch, &open, &taken));
      } else {
        taken.swap(open);  // ELSE
      }
      if (taken.empty()) continue;
      bool compact = false;
      ARROW_ASSIGN_OR_RAISE(const Column value, values_[i].EvaluateFor(batch, taken, &compact));
      chooser.Choose(value, taken, compact);
    }
    ARROW_ASSIGN_OR_RAISE(ArrayPtr result, chooser.Finish(type_));
    return Column{std::move(result), false};
  }

 private:
  static Status Split(const Branch& condition, const arrow::RecordBatch& batch, std::vector<int32_t>* open, std::vector<int32_t>* taken) {
    bool compact = false;
    ARROW_ASSIGN_OR_RAISE(const Column truth, condition.EvaluateFor(batch, *open, &compact));
    std::vector<int32_t> left;
    for (size_t i = 0; i < open->size(); ++i) {
      const int32_t position = (*open)[i];
      (IsTrue(truth, compact ? static_cast<int64_t>(i) : position) ? *taken : left).push_back(position);
    }
    open->swap(left);
    return Status::OK();
  }

  std::vector<Branch> conditions_;
  std::vector<Branch> values_;  // one more than conditions_ with ELSE
  std::shared_ptr<arrow::DataType> type_;
};

// The first argument that is not null.
class CoalesceNode final : public Node {
 public:
  CoalesceNode(std::vector<Branch> values, std::shared_ptr<arrow::DataType> type) : values_(std::move(values)), type_(std::move(type)) {}

  Result<Column> Evaluate(const arrow::RecordBatch& batch) override {
    std::vector<int32_t> open = AllPositions(batch.num_rows());
    RowChooser chooser(batch.num_rows());
    for (size_t v = 0; v < values_.size() && !open.empty(); ++v) {
      bool compact = false;
      ARROW_ASSIGN_OR_RAISE(const Column value, values_[v].EvaluateFor(batch, open, &compact));
      if (v == 0 && !value.constant && value.array->null_count() == 0) return value;
      std::vector<int32_t> left;
      for (size_t i = 0; i < open.size(); ++i) {
        if (value.IsNull(compact ? static_cast<int64_t>(i) : open[i])) left.push_back(open[i]);
      }
      // Chosen by all that were open: who found a null is overwritten by the next value, or stays null.
      chooser.Choose(value, open, compact);
      open.swap(left);
    }
    ARROW_ASSIGN_OR_RAISE(ArrayPtr result, chooser.Finish(type_));
    return Column{std::move(result), false};
  }

 private:
  std::vector<Branch> values_;
  std::shared_ptr<arrow::DataType> type_;
};

// AND / OR over a right side that may fail: it sees only rows that the left side does not decide.
class ShortCircuitNode final : public Node {
 public:
  ShortCircuitNode(bool conjunction, NodePtr left, Branch right, Kernel combine)
      : conjunction_(conjunction), left_(std::move(left)), right_(std::move(right)), combine_(std::move(combine)) {}

  Result<Column> Evaluate(const arrow::RecordBatch& batch) override {
    const int64_t rows = batch.num_rows();
    ARROW_ASSIGN_OR_RAISE(const Column left, left_->Evaluate(batch));
    const BooleanWords words = LoadBooleans(left, rows);
    std::vector<int32_t> open;
    for (int64_t row = 0; row < rows; ++row) {
      const bool known = ((words.valid[static_cast<size_t>(row / 64)] >> (row % 64)) & 1) != 0;
      const bool value = ((words.values[static_cast<size_t>(row / 64)] >> (row % 64)) & 1) != 0;
      if (!known || value == conjunction_) open.push_back(static_cast<int32_t>(row));
    }
    bool compact = false;
    RowChooser chooser(rows);
    if (!open.empty()) {
      ARROW_ASSIGN_OR_RAISE(const Column right, right_.EvaluateFor(batch, open, &compact));
      chooser.Choose(right, open, compact);
    }
    ARROW_ASSIGN_OR_RAISE(ArrayPtr right, chooser.Finish(arrow::boolean()));
    const Column both[] = {left, {std::move(right), false}};
    ARROW_ASSIGN_OR_RAISE(ArrayPtr result, combine_(both, rows));
    return Column{std::move(result), false};
  }

 private:
  bool conjunction_;
  NodePtr left_;
  Branch right_;
  Kernel combine_;
};

class Compiler {
 public:
  explicit Compiler(const std::vector<ExprPtr>& input) : input_(input) {}

  Result<NodePtr> Compile(const ExprPtr& expression) {
    switch (expression->kind) {
      case ExprKind::kLiteral:
        return Constant(*expression);
      case ExprKind::kAttribute:
        return InputColumn(*expression);
      case ExprKind::kAlias:
        return Compile(expression->children[0]);
      case ExprKind::kCast: {
        ARROW_ASSIGN_OR_RAISE(Kernel kernel, CompileCast(*expression));
        return KernelOver(std::move(kernel), expression->children);
      }
      case ExprKind::kCall:
        return Call(expression);
      default:
        return InternalError("{} is not resolved and cannot be evaluated", expression->ToSql());
    }
  }

 private:
  static Result<NodePtr> Constant(const Expression& literal) {
    ARROW_ASSIGN_OR_RAISE(ArrayPtr value, arrow::MakeArrayFromScalar(*literal.value, 1));
    return NodePtr(std::make_unique<ConstantNode>(std::move(value)));
  }

  Result<NodePtr> InputColumn(const Expression& attribute) {
    for (size_t i = 0; i < input_.size(); ++i) {
      if (input_[i]->id == attribute.id) return NodePtr(std::make_unique<ColumnNode>(static_cast<int>(i)));
    }
    return InternalError("Column {} is not among the input columns", attribute.ToString());
  }

  Result<NodePtr> KernelOver(Kernel kernel, const std::vector<ExprPtr>& children) {
    std::vector<NodePtr> arguments;
    for (const ExprPtr& child : children) {
      ARROW_ASSIGN_OR_RAISE(arguments.emplace_back(), Compile(child));
    }
    return NodePtr(std::make_unique<KernelNode>(std::move(kernel), std::move(arguments)));
  }

  Result<Branch> MakeBranch(const ExprPtr& expression) {
    Branch branch;
    branch.may_fail = MayFail(*expression);
    ARROW_ASSIGN_OR_RAISE(branch.node, Compile(expression));
    return branch;
  }

  Result<NodePtr> Case(const Expression& call) {
    std::vector<Branch> conditions;
    std::vector<Branch> values;
    for (size_t i = 0; i < call.children.size(); ++i) {
      const bool is_condition = i % 2 == 0 && i + 1 < call.children.size();
      ARROW_ASSIGN_OR_RAISE((is_condition ? conditions : values).emplace_back(), MakeBranch(call.children[i]));
    }
    return NodePtr(std::make_unique<CaseNode>(std::move(conditions), std::move(values), call.type->ToArrow()));
  }

  Result<NodePtr> Coalesce(const Expression& call) {
    std::vector<Branch> values;
    for (const ExprPtr& child : call.children) {
      ARROW_ASSIGN_OR_RAISE(values.emplace_back(), MakeBranch(child));
    }
    return NodePtr(std::make_unique<CoalesceNode>(std::move(values), call.type->ToArrow()));
  }

  // nullif(a, b) is IF(a = b, NULL, a), and between two comparisons; names and messages keep the short form.
  Result<NodePtr> NullIf(const Expression& call) {
    ARROW_ASSIGN_OR_RAISE(ExprPtr equal, ResolveCall(*UnresolvedCall("=", {}), call.children, call.context));
    return Case(*MakeResolvedCall("if", {std::move(equal), LiteralNull(call.type), call.children[0]}, call.type, true, call.context));
  }

  Result<NodePtr> Between(const Expression& call) {
    ARROW_ASSIGN_OR_RAISE(ExprPtr low, ResolveCall(*UnresolvedCall(">=", {}), {call.children[0], call.children[1]}, call.context));
    ARROW_ASSIGN_OR_RAISE(ExprPtr high, ResolveCall(*UnresolvedCall("<=", {}), {call.children[0], call.children[2]}, call.context));
    ARROW_ASSIGN_OR_RAISE(ExprPtr both, ResolveCall(*UnresolvedCall("and", {}), {std::move(low), std::move(high)}, call.context));
    return Compile(both);
  }

  Result<NodePtr> Call(const ExprPtr& expression) {
    const Expression& call = *expression;
    if (call.name == "when" || call.name == "if") return Case(call);
    if (call.name == "coalesce" || call.name == "ifnull" || call.name == "nvl") return Coalesce(call);
    if (call.name == "nullif") return NullIf(call);
    if (call.name == "between") return Between(call);
    const Function* function = FindFunction(call.name);
    if (function == nullptr || function->compile == nullptr) return InternalError("Nothing evaluates {} here", call.ToSql());
    ARROW_ASSIGN_OR_RAISE(Kernel kernel, function->compile(call));
    if ((call.name == "and" || call.name == "or") && MayFail(*call.children[1])) {
      ARROW_ASSIGN_OR_RAISE(NodePtr left, Compile(call.children[0]));
      ARROW_ASSIGN_OR_RAISE(Branch right, MakeBranch(call.children[1]));
      return NodePtr(std::make_unique<ShortCircuitNode>(call.name == "and", std::move(left), std::move(right), std::move(kernel)));
    }
    return KernelOver(std::move(kernel), call.children);
  }

  const std::vector<ExprPtr>& input_;
};

class CompiledEvaluator final : public Evaluator {
 public:
  CompiledEvaluator(NodePtr root, std::shared_ptr<arrow::DataType> type) : root_(std::move(root)), type_(std::move(type)) {}

  Result<std::shared_ptr<arrow::Array>> Evaluate(const arrow::RecordBatch& batch) override {
    if (batch.num_rows() == 0) return arrow::MakeEmptyArray(type_);
    ARROW_ASSIGN_OR_RAISE(Column column, root_->Evaluate(batch));
    if (!column.constant || batch.num_rows() == 1) return std::move(column.array);
    ARROW_ASSIGN_OR_RAISE(auto value, column.array->GetScalar(0));
    return arrow::MakeArrayFromScalar(*value, batch.num_rows());
  }

 private:
  NodePtr root_;
  std::shared_ptr<arrow::DataType> type_;
};

}  // namespace

Result<std::unique_ptr<Evaluator>> Evaluator::Make(const ExprPtr& expression, const std::vector<ExprPtr>& input) {
  if (!expression->resolved()) return InternalError("{} is not resolved and cannot be evaluated", expression->ToSql());
  ARROW_ASSIGN_OR_RAISE(NodePtr root, Compiler(input).Compile(expression));
  return std::unique_ptr<Evaluator>(std::make_unique<CompiledEvaluator>(std::move(root), expression->type->ToArrow()));
}

}  // namespace tidemill::expr
