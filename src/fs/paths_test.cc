#include <gtest/gtest.h>

#include "fs/file_system.h"

namespace tidemill::fs {
namespace {

std::string Local(std::string_view text) { return LocalPath(text, "/base").ValueOr("refused"); }

TEST(PathsTest, PartsOfAPath) {
  EXPECT_EQ(Join("/a", "b"), "/a/b");
  EXPECT_EQ(Join("/", "b"), "/b");
  EXPECT_EQ(Parent("/a/b"), "/a");
  EXPECT_EQ(Parent("/a"), "/");
  EXPECT_EQ(BaseName("/a/b"), "b");
}

TEST(PathsTest, WhatUsersWriteBecomesAPlainPath) {
  EXPECT_EQ(Local("/a/b"), "/a/b");
  EXPECT_EQ(Local("a/b/"), "/base/a/b");
  EXPECT_EQ(Local("./a/../b"), "/base/b");
  EXPECT_EQ(Local("file:/a"), "/a");
  EXPECT_EQ(Local("file:///a%20b"), "/a b");
  EXPECT_EQ(Local("file://localhost/a"), "/a");
  EXPECT_EQ(Local("/a%20b"), "/a%20b");
  EXPECT_EQ(Local("//a//b"), "/a/b");
  EXPECT_EQ(Local("file:///100%"), "/100%");
}

TEST(PathsTest, ForeignStorageIsRefusedByName) {
  const Status status = LocalPath("s3a://bucket/x", "/base").status();
  EXPECT_NE(status.message().find("s3a storage is not supported yet"), std::string::npos) << status;
  for (const char* text : {"hdfs://h/a", "gs://b/a", "file:a", "file://host/a", ""}) EXPECT_EQ(Local(text), "refused") << text;
}

TEST(PathsTest, UrisAreEscapedAsJavaDoes) {
  EXPECT_EQ(ToFileUri("/a b"), "file:///a%20b");
  EXPECT_EQ(ToFileUri("/100%"), "file:///100%25");
  EXPECT_EQ(ToFileUri("/k=1/a+b:c;d,e@f&g$"), "file:///k=1/a+b:c;d,e@f&g$");
  EXPECT_EQ(ToFileUri("/a#b?c[d]{e}\"|\\^`<>"), "file:///a%23b%3Fc%5Bd%5D%7Be%7D%22%7C%5C%5E%60%3C%3E");
  EXPECT_EQ(ToFileUri("/gr\xc3\xbc\xc3\x9f"), "file:///gr\xc3\xbc\xc3\x9f");
  EXPECT_EQ(ToFileUri("/a\xc2\xa0" "b"), "file:///a%C2%A0b");
}

TEST(PathsTest, UrisComeBackAsTheyWere) {
  for (const char* path : {"/a b", "/100%", "/a#b?", "/%20", "/gr\xc3\xbc\xc3\x9f"}) EXPECT_EQ(Local(ToFileUri(path)), path);
}

}  // namespace
}  // namespace tidemill::fs
