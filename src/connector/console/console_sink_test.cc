#include "connector/console/console_sink.h"

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

#include <sstream>

#include "connector/console/table_text.h"
#include "fs/local_file_system.h"

namespace tidemill::connector {
namespace {

const type::Schema kSchema{{{"k", type::String()}, {"v", type::Long()}}};

std::shared_ptr<arrow::RecordBatch> Rows(const std::vector<std::pair<std::optional<std::string>, int64_t>>& rows) {
  arrow::StringBuilder keys;
  arrow::Int64Builder values;
  for (const auto& [key, value] : rows) {
    EXPECT_TRUE((key ? keys.Append(*key) : keys.AppendNull()).ok());
    EXPECT_TRUE(values.Append(value).ok());
  }
  return arrow::RecordBatch::Make(kSchema.ToArrow(), static_cast<int64_t>(rows.size()), {keys.Finish().ValueOrDie(), values.Finish().ValueOrDie()});
}

/// What a sink may ask for; the console touches none of it.
struct Surroundings {
  std::unique_ptr<fs::SystemCalls> calls = fs::MakePosixCalls();
  std::unique_ptr<fs::FileSystem> files = fs::MakeLocalFileSystem(*calls);
  SystemClock clock;
};

TEST(Table, AlignsRightCutsLongCellsAndPrintsNull) {
  const auto table = FormatTable(kSchema, {Rows({{"value 00 that is long", 0}, {std::nullopt, 12345}})}, {}).ValueOrDie();
  EXPECT_EQ(table,
            "+--------------------+-----+\n"
            "|                   k|    v|\n"
            "+--------------------+-----+\n"
            "|value 00 that is ...|    0|\n"
            "|                NULL|12345|\n"
            "+--------------------+-----+\n"
            "\n");
}

TEST(Table, SaysWhenRowsWereLeftOut) {
  TableOptions options;
  options.max_rows = 1;
  const auto table = FormatTable(kSchema, {Rows({{"a", 1}}), Rows({{"b", 2}})}, options).ValueOrDie();
  EXPECT_EQ(table, "+---+---+\n|  k|  v|\n+---+---+\n|  a|  1|\n+---+---+\nonly showing top 1 row\n");
}

TEST(Table, AlignsWholeCellsLeftAndEscapesLineBreaks) {
  TableOptions options;
  options.truncate = 0;
  const auto table = FormatTable(kSchema, {Rows({{"a line\nand another one of it", 1}})}, options).ValueOrDie();
  EXPECT_NE(table.find("|a line\\nand another one of it|1  |\n"), std::string::npos) << table;
}

TEST(Table, CountsCharactersNotBytes) {
  const auto table = FormatTable(kSchema, {Rows({{"größe", 1}, {"東京", 2}})}, {}).ValueOrDie();
  EXPECT_NE(table.find("|größe|  1|\n| 東京|  2|\n"), std::string::npos) << table;
}

TEST(Console, PrintsEachBatchUnderItsNumberEmptyOnesToo) {
  Registry registry;
  RegisterConsoleFormats(registry);
  std::ostringstream out;
  Config config;
  Surroundings around;
  const SinkContext context{*around.files, around.clock, config, kSchema, {{"numrows", "5"}}, "/", out};
  const auto sink = registry.Find("console").ValueOrDie()->make_sink(context).ValueOrDie();
  const auto writer = sink->OpenWriter(7, 0).ValueOrDie();
  ASSERT_TRUE(writer->Write(*Rows({{"a", 1}})).ok());
  std::vector<WriterResult> results;
  results.push_back(writer->Finish().ValueOrDie());
  ASSERT_TRUE(sink->Commit(7, std::move(results)).ok());
  ASSERT_TRUE(sink->Commit(8, {}).ok());
  const std::string rule(43, '-');
  EXPECT_EQ(out.str(), rule + "\nBatch: 7\n" + rule + "\n+---+---+\n|  k|  v|\n+---+---+\n|  a|  1|\n+---+---+\n\n" + rule + "\nBatch: 8\n" + rule +
                           "\n+---+---+\n|  k|  v|\n+---+---+\n+---+---+\n\n");
}

TEST(Console, RefusesOptionsThatAreNoNumber) {
  Registry registry;
  RegisterConsoleFormats(registry);
  std::ostringstream out;
  Config config;
  Surroundings around;
  for (const auto& [name, value] : std::map<std::string, std::string>{{"numrows", "many"}, {"truncate", "perhaps"}}) {
    const SinkContext context{*around.files, around.clock, config, kSchema, {{name, value}}, "/", out};
    EXPECT_FALSE(registry.Find("console").ValueOrDie()->make_sink(context).ok()) << name;
  }
}

}  // namespace
}  // namespace tidemill::connector
