#include "state/operator_metadata.h"

#include <gtest/gtest.h>

#include "fs/local_file_system.h"
#include "state/test_store_internal.h"
#include "testing/simulated_disk.h"

namespace tidemill::state {
namespace {

constexpr char kVersion1[] =
    "v1\n"
    R"({"operatorInfo":{"operatorId":0,"operatorName":"stateStoreSave"},"stateStoreInfo":[{"storeName":"default","numColsPrefixKey":0,"numPartitions":5}]})";
constexpr char kVersion2[] =
    "v2\n"
    R"({"operatorInfo":{"operatorId":0,"operatorName":"transformWithStateExec"},"stateStoreInfo":[{"storeName":"default","numColsPrefixKey":0,"numPartitions":5,"stateSchemaFilePaths":["/a"]}],"operatorPropertiesJson":"{}"})";

std::string Condition(const Status& status) { return ErrorDetail::Of(status) == nullptr ? "" : ErrorDetail::Of(status)->condition; }

TEST(OperatorMetadataTest, IsSparksText) {
  const OperatorMetadata metadata = ParseOperatorMetadata(kVersion1).ValueOrDie();
  EXPECT_EQ(metadata.operator_name, "stateStoreSave");
  EXPECT_EQ(metadata.stores[0].num_partitions, 5);
  EXPECT_EQ(PrintOperatorMetadata(metadata), kVersion1);
  EXPECT_EQ(ParseOperatorMetadata(kVersion2).ValueOrDie().operator_name, "transformWithStateExec");
}

TEST(OperatorMetadataTest, RefusesWhatItDoesNotUnderstand) {
  for (const char* text : {"", "v1", "v3\n{}", "v1\n{", "v1\n{}", "v1\n{\"operatorInfo\":{\"operatorId\":\"x\"}}"}) {
    EXPECT_EQ(Condition(ParseOperatorMetadata(text).status()), "STDS_FAILED_TO_READ_OPERATOR_METADATA") << text;
  }
}

TEST(OperatorMetadataTest, IsWrittenOnceAndFoundById) {
  TemporaryFolder folder;
  EXPECT_TRUE(ReadOperatorMetadata(folder.file_system(), folder.path() + "/none").ValueOrDie().empty());
  const OperatorMetadata one{1, "dedupe", {{"default", 0, 3}}};
  OperatorMetadata zero{0, "stateStoreSave", {{"default", 0, 3}}};
  ASSERT_TRUE(WriteOperatorMetadata(folder.file_system(), folder.path(), {one, zero}).ok());
  zero.operator_name = "another";
  ASSERT_TRUE(WriteOperatorMetadata(folder.file_system(), folder.path(), {zero}).ok());
  const auto found = ReadOperatorMetadata(folder.file_system(), folder.path()).ValueOrDie();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].operator_name, "stateStoreSave");
  EXPECT_EQ(found[1].operator_name, "dedupe");
}

StateSchema CountSchema() { return {{{{"k", type::String()}}}, {{{"count", type::Long()}}}}; }

TEST(StateSchemaTest, BeginsAsSparksFilesDo) {
  const std::string bytes = PrintStateSchema(CountSchema());
  EXPECT_EQ(bytes.substr(0, 10), std::string("\x00\x02v2\x00\x00\x00\x01\x00\x57", 10));
  EXPECT_EQ(bytes.substr(10, 0x57), R"({"type":"struct","fields":[{"name":"k","type":"string","nullable":true,"metadata":{}}]})");
  const StateSchema parsed = ParseStateSchema(bytes).ValueOrDie();
  EXPECT_EQ(parsed.key.fields[0].name, "k");
  EXPECT_EQ(parsed.value.fields[0].type->kind(), type::Kind::kLong);
}

TEST(StateSchemaTest, SurvivesLongSchemasAndRareCharacters) {
  StateSchema schema = CountSchema();
  for (int i = 0; i < 3000; ++i) schema.value.fields.push_back({fmt::format("column {} \xf0\x9f\x8c\x8a é", i), type::Long()});
  const StateSchema parsed = ParseStateSchema(PrintStateSchema(schema)).ValueOrDie();
  ASSERT_EQ(parsed.value.size(), schema.value.size());
  EXPECT_EQ(parsed.value.fields[3000].name, schema.value.fields[3000].name);
}

TEST(StateSchemaTest, ReadsVersion1AndRefusesOthers) {
  const auto utf = [](const std::string& text) {
    return std::string{static_cast<char>(text.size() >> 8), static_cast<char>(text.size())} + text;
  };
  const std::string json = CountSchema().key.ToJson();
  EXPECT_EQ(ParseStateSchema(utf("v1") + utf(json) + utf(json)).ValueOrDie().value.fields[0].name, "k");
  EXPECT_FALSE(ParseStateSchema(utf("v3") + utf(json) + utf(json)).ok());
  const std::string good = PrintStateSchema(CountSchema());
  for (size_t bytes = 0; bytes < good.size(); ++bytes) EXPECT_FALSE(ParseStateSchema(good.substr(0, bytes)).ok()) << bytes;
}

TEST(StateSchemaTest, IsWrittenWhenAbsentAndComparedWhenPresent) {
  TemporaryFolder folder;
  fs::FileSystem& file_system = folder.file_system();
  const auto check = [&](const StateSchema& schema) {
    return Condition(CheckOrWriteStateSchema(file_system, folder.path(), 0, "default", schema));
  };
  EXPECT_FALSE(ReadStateSchema(file_system, folder.path(), 0, "default").ValueOrDie().has_value());
  EXPECT_EQ(check(CountSchema()), "");
  EXPECT_TRUE(folder.Exists("0/0/_metadata/schema"));
  EXPECT_TRUE(ReadStateSchema(file_system, folder.path(), 0, "default").ValueOrDie()->key.fields[0].nullable);

  StateSchema renamed = CountSchema();
  renamed.key.fields[0].name = "other";
  renamed.value.fields[0].nullable = false;
  EXPECT_EQ(check(renamed), "");
  StateSchema other_key = CountSchema();
  other_key.key.fields[0].type = type::Long();
  EXPECT_EQ(check(other_key), "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE");
  StateSchema other_value = CountSchema();
  other_value.value.fields.push_back({"sum", type::Double()});
  EXPECT_EQ(check(other_value), "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE");

  folder.WriteFile("0/0/_metadata/schema", "garbage");
  EXPECT_EQ(check(CountSchema()), "STDS_FAILED_TO_READ_STATE_SCHEMA");
}

TEST(StateSchemaTest, AStoredColumnThatIsNeverNullMayNotBecomeNullable) {
  TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() + "/0/0/_metadata");
  StateSchema strict = CountSchema();
  strict.value.fields[0].nullable = false;
  std::string bytes = PrintStateSchema(strict);
  // What is written here is always nullable; Spark's own files need not be.
  const size_t at = bytes.rfind("\"nullable\":true");
  bytes.replace(at, 15, "\"nullable\":false");
  const size_t value_length = bytes.rfind("{\"type\":\"struct\"") - 1;
  bytes[value_length] = static_cast<char>(bytes[value_length] + 1);
  folder.WriteFile("0/0/_metadata/schema", bytes);
  EXPECT_EQ(Condition(CheckOrWriteStateSchema(folder.file_system(), folder.path(), 0, "default", strict)), "");
  EXPECT_EQ(Condition(CheckOrWriteStateSchema(folder.file_system(), folder.path(), 0, "default", CountSchema())),
            "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE");
}

// The process dies between linking the schema and syncing its folder; the next one finds it there and goes on; then the power goes.
TEST(StateSchemaTest, AStoredSchemaLastsOnceItWasReliedOn) {
  testing::SimulatedDisk disk;
  disk.Inject({.fault = testing::Fault::kCrashAfter, .kind = "link"});
  EXPECT_FALSE(CheckOrWriteStateSchema(*fs::MakeLocalFileSystem(disk), "/state", 0, "default", CountSchema()).ok());
  disk.Reboot(testing::Survival::kPageCache);
  EXPECT_TRUE(CheckOrWriteStateSchema(*fs::MakeLocalFileSystem(disk), "/state", 0, "default", CountSchema()).ok());
  disk.Reboot(testing::Survival::kNothingUnsynced);
  EXPECT_TRUE(disk.Content("/state/0/0/_metadata/schema").has_value());
}

}  // namespace
}  // namespace tidemill::state
