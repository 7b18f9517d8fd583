#include "query/catalog.h"

#include <gtest/gtest.h>

namespace tidemill::query {
namespace {

plan::TableDescription Table(const std::string& format) { return {"t", format, {}, {}, false}; }

std::string ConditionOf(const Status& status) {
  const ErrorDetail* detail = ErrorDetail::Of(status);
  return detail == nullptr ? "" : detail->condition;
}

TEST(SessionCatalogTest, FindsNamesWithoutRegardToCase) {
  SessionCatalog catalog;
  ASSERT_TRUE(catalog.AddTable({"Events"}, Table("json"), false).ok());
  ASSERT_NE(catalog.FindTable({"eVENTS"}), nullptr);
  EXPECT_EQ(catalog.FindTable({"other"}), nullptr);
  EXPECT_EQ(catalog.FindView({"events"}), nullptr);
  EXPECT_EQ(catalog.Names(), std::vector<std::string>{"Events"});
}

TEST(SessionCatalogTest, TakesTheOnlyDatabaseAndCatalogAsImplied) {
  SessionCatalog catalog;
  ASSERT_TRUE(catalog.AddTable({"spark_catalog", "default", "t"}, Table("json"), false).ok());
  EXPECT_NE(catalog.FindTable({"t"}), nullptr);
  EXPECT_NE(catalog.FindTable({"DEFAULT", "t"}), nullptr);
  EXPECT_EQ(catalog.FindTable({"elsewhere", "t"}), nullptr);
}

TEST(SessionCatalogTest, RefusesASecondTableOfTheSameName) {
  SessionCatalog catalog;
  ASSERT_TRUE(catalog.AddTable({"t"}, Table("json"), false).ok());
  const Status again = catalog.AddTable({"T"}, Table("csv"), false);
  EXPECT_EQ(ConditionOf(again), "TABLE_OR_VIEW_ALREADY_EXISTS");
  EXPECT_EQ(ErrorDetail::Of(again)->parameters.at("relationName"), "`T`");
  ASSERT_TRUE(catalog.AddTable({"t"}, Table("csv"), true).ok());
  EXPECT_EQ(catalog.FindTable({"t"})->format, "json");
}

TEST(SessionCatalogTest, ReplacesAViewOnlyWhenAsked) {
  SessionCatalog catalog;
  ASSERT_TRUE(catalog.AddSourceView({"v"}, Table("json"), false).ok());
  EXPECT_EQ(ConditionOf(catalog.AddView({"v"}, std::make_shared<plan::LogicalPlan>(), false)), "TEMP_TABLE_OR_VIEW_ALREADY_EXISTS");
  const auto replacement = std::make_shared<plan::LogicalPlan>();
  ASSERT_TRUE(catalog.AddView({"v"}, replacement, true).ok());
  EXPECT_EQ(catalog.FindView({"v"}), replacement);
  EXPECT_EQ(catalog.FindTable({"v"}), nullptr);
}

}  // namespace
}  // namespace tidemill::query
