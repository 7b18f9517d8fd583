#include "connector/registry.h"

#include <gtest/gtest.h>

namespace tidemill::connector {
namespace {

TEST(RegistryTest, NamesAreFoundInAnyCase) {
  Registry registry;
  registry.Add("json", {.append_only = true});
  ASSERT_TRUE(registry.Find("JSON").ok());
  EXPECT_TRUE(registry.Find("Json").ValueOrDie()->append_only);
}

TEST(RegistryTest, AnUnknownNameNamesTheNearest) {
  Registry registry;
  registry.Add("json", {});
  registry.Add("console", {});
  Status status = registry.Find("jsn").status();
  ASSERT_FALSE(status.ok());
  const ErrorDetail* detail = ErrorDetail::Of(status);
  ASSERT_NE(detail, nullptr);
  EXPECT_EQ(detail->condition, "DATA_SOURCE_NOT_FOUND");
  EXPECT_EQ(detail->parameters.at("provider"), "jsn");
  EXPECT_NE(status.message().find("Did you mean `json`"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace tidemill::connector
