#include "exec/group_table.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace tidemill::exec {
namespace {

row::RowBatch RowsOf(const std::vector<std::string>& keys) {
  row::RowBatch rows;
  rows.offsets.push_back(0);
  for (const std::string& key : keys) {
    rows.bytes.insert(rows.bytes.end(), key.begin(), key.end());
    rows.offsets.push_back(static_cast<uint32_t>(rows.bytes.size()));
  }
  return rows;
}

std::vector<uint32_t> Number(GroupTable& table, const std::vector<std::string>& keys) {
  const row::RowBatch rows = RowsOf(keys);
  std::vector<uint64_t> hashes;
  HashRows(rows, &hashes);
  std::vector<uint32_t> ids(keys.size());
  table.FindOrInsert(rows, hashes, ids);
  return ids;
}

TEST(GroupTable, NumbersKeysInOrderOfFirstAppearance) {
  GroupTable table;
  EXPECT_EQ(Number(table, {"a", "b", "a", "", "b"}), (std::vector<uint32_t>{0, 1, 0, 2, 1}));
  EXPECT_EQ(Number(table, {"", "c"}), (std::vector<uint32_t>{2, 3}));
  EXPECT_EQ(table.size(), 4);
  EXPECT_EQ(table.key(3), "c");
}

TEST(GroupTable, GrowsAndFindsEveryKeyAgain) {
  GroupTable table;
  std::vector<std::string> keys;
  for (int i = 0; i < 20000; ++i) keys.push_back("key-" + std::to_string(i * 7919));
  const auto first = Number(table, keys);
  const auto second = Number(table, keys);
  EXPECT_EQ(first, second);
  EXPECT_EQ(table.size(), 20000);
  for (uint32_t i = 0; i < first.size(); ++i) ASSERT_EQ(table.key(first[i]), keys[i]);
}

TEST(GroupTable, ForgetsAllGroupsOnClear) {
  GroupTable table;
  Number(table, {"a", "b"});
  table.Clear();
  EXPECT_EQ(table.size(), 0);
  EXPECT_EQ(Number(table, {"b"}), (std::vector<uint32_t>{0}));
}

TEST(GroupTable, TellsKeysWithEqualTagsApart) {
  // Forged hashes: all keys collide, only their bytes differ.
  GroupTable table;
  const row::RowBatch rows = RowsOf({"x", "y", "x"});
  const std::vector<uint64_t> hashes(3, 42);
  std::vector<uint32_t> ids(3);
  table.FindOrInsert(rows, hashes, ids);
  EXPECT_EQ(ids, (std::vector<uint32_t>{0, 1, 0}));
}

}  // namespace
}  // namespace tidemill::exec
