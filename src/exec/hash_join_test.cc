#include "exec/hash_join.h"

#include <arrow/array.h>
#include <arrow/json/from_string.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exec/join_condition.h"
#include "exec/static_table.h"
#include "expr/function/resolve.h"

namespace tidemill::exec {
namespace {

using expr::ExprPtr;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::vector<ExprPtr> Attributes(std::string_view ddl) {
  std::vector<ExprPtr> attributes;
  for (const type::Field& field : type::ParseDdl(ddl).ValueOrDie().fields) attributes.push_back(expr::Attribute(field, expr::NewExprId()));
  return attributes;
}

std::shared_ptr<arrow::RecordBatch> Batch(const std::vector<ExprPtr>& attributes, std::string_view rows) {
  const auto type = arrow::struct_(ArrowSchemaOf(attributes)->fields());
  return arrow::RecordBatch::FromStructArray(arrow::json::ArrayFromJSONString(type, rows).ValueOrDie()).ValueOrDie();
}

ExprPtr Call(const char* name, ExprPtr a, ExprPtr b) {
  const ExprPtr call = expr::UnresolvedCall(name, {a, b});
  return expr::ResolveCall(*call, {a, b}, {}).ValueOrDie();
}

/// Joins a stream (k STRING, v INT) with names: a → Ann, b → Bob, b → Bea, null → Nil.
class HashJoinTest : public ::testing::Test {
 protected:
  std::vector<std::string> Join(JoinKind join, const ExprPtr& condition, std::string_view rows, bool stream_is_left = true) {
    JoinCondition split = SplitJoinCondition(condition, stream_, names_);
    StaticTable table(names_, split.static_keys);
    EXPECT_TRUE(table.Load({Batch(names_, R"([["a", "Ann"], ["b", "Bob"]])"), Batch(names_, R"([["b", "Bea"], [null, "Nil"]])")}).ok());
    RowOperatorSpec spec;
    spec.kind = RowOperatorKind::kHashJoin;
    spec.input = stream_;
    spec.output = stream_is_left ? stream_ : names_;
    if (join == JoinKind::kInner || join == JoinKind::kOuter) {
      const std::vector<ExprPtr>& right = stream_is_left ? names_ : stream_;
      spec.output.insert(spec.output.end(), right.begin(), right.end());
    }
    spec.static_table = &table;
    spec.join = join;
    spec.stream_is_left = stream_is_left;
    spec.keys = split.stream_keys;
    spec.condition = split.rest.empty() ? nullptr : split.rest[0];
    auto made = MakeHashJoin(spec).ValueOrDie();
    std::vector<std::string> joined;
    EXPECT_TRUE(made->Push(Batch(stream_, rows), [&](const std::shared_ptr<arrow::RecordBatch>& batch) {
      EXPECT_TRUE(batch->ValidateFull().ok());
      for (int64_t row = 0; row < batch->num_rows(); ++row) {
        std::string text;
        for (const auto& column : batch->columns()) text += (text.empty() ? "" : " ") + column->GetScalar(row).ValueOrDie()->ToString();
        joined.push_back(text);
      }
      return Status::OK();
    }).ok());
    return joined;
  }

  const std::vector<ExprPtr> stream_ = Attributes("k STRING, v INT");
  const std::vector<ExprPtr> names_ = Attributes("id STRING, name STRING");
  const ExprPtr same_key_ = Call("=", stream_[0], names_[0]);
  static constexpr char kRows[] = R"([["b", 1], ["c", 2], [null, 3], ["a", 4]])";
};

TEST_F(HashJoinTest, EachKind) {
  EXPECT_THAT(Join(JoinKind::kInner, same_key_, kRows), ElementsAre("b 1 b Bob", "b 1 b Bea", "a 4 a Ann"));
  EXPECT_THAT(Join(JoinKind::kOuter, same_key_, kRows),
              UnorderedElementsAre("b 1 b Bob", "b 1 b Bea", "a 4 a Ann", "c 2 null null", "null 3 null null"));
  EXPECT_THAT(Join(JoinKind::kSemi, same_key_, kRows), ElementsAre("b 1", "a 4"));
  EXPECT_THAT(Join(JoinKind::kAnti, same_key_, kRows), ElementsAre("c 2", "null 3"));
}

TEST_F(HashJoinTest, TheStreamMayBeOnTheRight) {
  EXPECT_THAT(Join(JoinKind::kOuter, Call("=", names_[0], stream_[0]), R"([["a", 1], ["x", 2]])", /*stream_is_left=*/false),
              ElementsAre("a Ann a 1", "null null x 2"));
}

TEST_F(HashJoinTest, WhatIsNoEqualityIsAskedOfEachPair) {
  const ExprPtr condition = Call("and", same_key_, Call("<", names_[1], expr::LiteralString("Bf")));
  EXPECT_THAT(Join(JoinKind::kInner, condition, kRows), ElementsAre("b 1 b Bea", "a 4 a Ann"));
  const ExprPtr nobody = Call("and", same_key_, Call("<", names_[1], expr::LiteralString("A")));
  EXPECT_THAT(Join(JoinKind::kOuter, nobody, R"([["b", 1]])"), ElementsAre("b 1 null null"));
  EXPECT_THAT(Join(JoinKind::kAnti, nobody, R"([["b", 1]])"), ElementsAre("b 1"));
  EXPECT_THAT(Join(JoinKind::kSemi, nobody, R"([["b", 1]])"), IsEmpty());
}

TEST_F(HashJoinTest, WithoutAKeyEveryPairIsTried) {
  EXPECT_EQ(Join(JoinKind::kInner, nullptr, kRows).size(), 16u);
  EXPECT_THAT(Join(JoinKind::kInner, Call("<", stream_[0], names_[0]), R"([["a", 1]])"), ElementsAre("a 1 b Bob", "a 1 b Bea"));
}

}  // namespace
}  // namespace tidemill::exec
