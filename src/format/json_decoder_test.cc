#include "format/json_decoder.h"

#include <arrow/array.h>
#include <arrow/memory_pool.h>
#include <arrow/pretty_print.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>
#include <gtest/gtest.h>

namespace tidemill::format {
namespace {

/// Decodes `lines` and shows each row as its values that are not null: "s=x i=1".
class Decoding {
 public:
  explicit Decoding(std::string_view ddl, JsonOptions options = {}) : fields_(type::ParseDdl(ddl).ValueOrDie().fields), options_(std::move(options)) {}

  Result<std::shared_ptr<arrow::RecordBatch>> Decode(std::string text) {
    if (text.empty() || text.back() != '\n') text += '\n';
    const size_t size = text.size();
    text.append(kJsonPadding, '\0');
    ARROW_ASSIGN_OR_RAISE(std::unique_ptr<JsonDecoder> decoder, JsonDecoder::Make(fields_, options_, arrow::default_memory_pool()));
    const char* p = text.data();
    while (p < text.data() + size) {
      ARROW_ASSIGN_OR_RAISE(p, decoder->Decode(p, text.data() + size, 1'000'000));
    }
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::RecordBatch> batch, decoder->Finish());
    ARROW_RETURN_NOT_OK(batch->ValidateFull());
    return batch;
  }

  std::vector<std::string> Rows(const std::string& text) {
    auto decoded = Decode(text);
    if (!decoded.ok()) return {decoded.status().ToString()};
    std::vector<std::string> rows;
    for (int64_t row = 0; row < (*decoded)->num_rows(); ++row) {
      std::string shown;
      for (int i = 0; i < (*decoded)->num_columns(); ++i) {
        if ((*decoded)->column(i)->IsNull(row)) continue;
        shown += (shown.empty() ? "" : " ") + fields_[i].name + "=" + (*decoded)->column(i)->GetScalar(row).ValueOrDie()->ToString();
      }
      rows.push_back(shown);
    }
    return rows;
  }

 private:
  std::vector<type::Field> fields_;
  JsonOptions options_;
};

using Rows = std::vector<std::string>;

// The expectations of this file were compared with Spark 4.3.0 reading the same lines.

TEST(JsonDecoderTest, MissingAndNullFieldsAreNull) {
  Decoding decoding("s STRING, i INT");
  EXPECT_EQ(decoding.Rows("{\"s\":\"a\",\"i\":1}\n\n   \n{\"i\":null}\r\n{\"s\":\"b\"}\r{\"i\":2}"), (Rows{"s=a i=1", "", "s=b", "i=2"}));
}

TEST(JsonDecoderTest, TextOfOtherValuesIsTakenAsWritten) {
  Decoding decoding("s STRING");
  EXPECT_EQ(decoding.Rows(R"({"s":1.50}
{"s":{"a" : 1, "b":[1, 2]}}
{"s":true}
{"s":123456789012345678901234567890.10}
{"s":"esc\u0041\ud800\ud83d\ude00"})"),
            (Rows{"s=1.50", "s={\"a\" : 1, \"b\":[1, 2]}", "s=true", "s=123456789012345678901234567890.10", "s=escA?\U0001F600"}));
}

TEST(JsonDecoderTest, NumbersMustFitTheirType) {
  Decoding decoding("by TINYINT, sh SMALLINT, i INT, lo BIGINT, d DOUBLE, fl FLOAT");
  EXPECT_EQ(decoding.Rows(R"({"by":200,"sh":40000,"i":3000000000,"lo":9999999999999999999,"fl":1.5})"), (Rows{"by=-56 fl=1.5"}));
  EXPECT_EQ(decoding.Rows(R"({"by":-129,"sh":"5","i":1.0,"lo":1e2,"fl":"x"})"), (Rows{""}));
  EXPECT_EQ(decoding.Rows(R"({"i":-0,"lo":-9223372036854775808,"d":1e400,"fl":"-INF"})"), (Rows{"i=0 lo=-9223372036854775808 d=inf fl=-inf"}));
  EXPECT_EQ(decoding.Rows(R"({"d":"NaN","fl":+INF,"i":""})"), (Rows{"d=nan fl=inf"}));
}

TEST(JsonDecoderTest, DecimalsAreRoundedHalfUp) {
  Decoding decoding("d DECIMAL(10,2)");
  EXPECT_EQ(decoding.Rows(R"({"d":"1,234.5"}
{"d":1.005}
{"d":-1.005}
{"d":1e2}
{"d":"-5"}
{"d":12345678901.5}
{"d":"abc"}
{"d":0.000000000000000000000000000000000000000000000000001})"),
            (Rows{"d=1234.50", "d=1.01", "d=-1.01", "d=100.00", "d=-5.00", "", "", "d=0.00"}));
}

TEST(JsonDecoderTest, OtherScalars) {
  Decoding decoding("bo BOOLEAN, bi BINARY, dt DATE");
  EXPECT_EQ(decoding.Rows(R"({"bo":true,"bi":"aGVsbG8=","dt":"2024-01-01"}
{"bo":"true","bi":"!!!","dt":5}
{"bo":false,"bi":"","dt":"123"})"),
            (Rows{"bo=true bi=hello dt=2024-01-01", "", "bo=false bi= dt=1970-05-04"}));
}

TEST(JsonDecoderTest, Timestamps) {
  Decoding decoding("ts TIMESTAMP, n TIMESTAMP_NTZ");
  EXPECT_EQ(decoding.Rows(R"({"ts":"2024-01-01 00:00:00"}
{"ts":1700000000}
{"ts":"2024-01-01T00:00:00.123456Z"}
{"ts":1.5}
{"ts":"garbage"}
{"n":"2024-01-01 00:00:00Z"}
{"n":"2024-01-01 00:00:00"})"),
            (Rows{"ts=2024-01-01 00:00:00.000000Z", "ts=2023-11-14 22:13:20.000000Z", "ts=2024-01-01 00:00:00.123456Z", "", "", "",
                  "n=2024-01-01 00:00:00.000000"}));
}

TEST(JsonDecoderTest, NestedValuesKeepWhatCanBeRead) {
  Decoding decoding("a ARRAY<INT>, m MAP<STRING, INT>, st STRUCT<x: INT, y: STRING>, sa ARRAY<STRUCT<x: INT>>, i INT, _corrupt_record STRING");
  auto Show = [&](const std::string& line) {
    auto batch = decoding.Decode(line).ValueOrDie();
    std::string shown;
    for (int i = 0; i < 5; ++i) {
      if (!batch->column(i)->IsNull(0)) shown += batch->column(i)->GetScalar(0).ValueOrDie()->ToString() + ";";
    }
    return shown + (batch->column(5)->IsNull(0) ? "" : " corrupt");
  };
  EXPECT_EQ(Show(R"({"a":[1, 2],"i":1})"), "list<item: int32>[1, 2];1;");
  EXPECT_EQ(Show(R"({"a":[1,"x",2],"i":1})"), "1; corrupt") << "one bad element makes the array null";
  EXPECT_EQ(Show(R"({"m":{"a":1,"b":"x"},"i":1})"), "1; corrupt");
  EXPECT_EQ(Show(R"({"m":[],"st":[],"a":{},"i":1})"), "1; corrupt");
  EXPECT_EQ(Show(R"({"a":[],"i":1})"), "list<item: int32>[];1;");
  EXPECT_EQ(Show(R"({"st":{"x":"bad","y":"q"},"i":1})"), "{x:int32 = null, y:string = q};1; corrupt");
  EXPECT_EQ(Show(R"({"sa":[{"x":1},{"x":"bad"},{"x":3}],"i":1})"),
            "list<item: struct<x: int32>>[{x:int32 = 1}, {x:int32 = null}, {x:int32 = 3}];1; corrupt");
}

TEST(JsonDecoderTest, APartlyReadableLineKeepsItsOtherFields) {
  Decoding decoding("s STRING, i INT, _corrupt_record STRING");
  EXPECT_EQ(decoding.Rows(R"({"s":"a","i":"x"})"), (Rows{R"(s=a _corrupt_record={"s":"a","i":"x"})"}));
}

TEST(JsonDecoderTest, AMalformedLineIsAllNull) {
  Decoding decoding("s STRING, i INT, _corrupt_record STRING");
  EXPECT_EQ(decoding.Rows("{\"s\":\"a\",\"i\":1}\ngarbage\n{\"s\":\"unt\nnull\n5\n{\"i\":6,\"s\":garbage}\n{\"s\":\"\xff\",\"i\":1}\n{\"s\":\"trail\"} garbage"),
            (Rows{"s=a i=1", "_corrupt_record=garbage", "_corrupt_record={\"s\":\"unt", "_corrupt_record=null", "_corrupt_record=5",
                  "_corrupt_record={\"i\":6,\"s\":garbage}", "_corrupt_record={\"s\":\"\ufffd\",\"i\":1}", "s=trail"}));
}

TEST(JsonDecoderTest, AnArrayIsARowAnElement) {
  Decoding decoding("s STRING, i INT, _corrupt_record STRING");
  EXPECT_EQ(decoding.Rows("[{\"s\":\"a\"},{\"i\":2}]\n[]\n[{\"s\":\"q\"},5]\n"), (Rows{"s=a", "i=2", "_corrupt_record=[{\"s\":\"q\"},5]"}));
  const std::string partial = R"([{"s":"r1"},{"i":"x"}])";
  EXPECT_EQ(decoding.Rows(partial), (Rows{"s=r1 _corrupt_record=" + partial, "_corrupt_record=" + partial}));
}

TEST(JsonDecoderTest, AByteOrderMarkBeforeALineSaysNothing) {
  const std::string mark = "\xef\xbb\xbf";
  Decoding decoding("s STRING, _corrupt_record STRING");
  EXPECT_EQ(decoding.Rows(mark + "{\"s\":\"a\"}\n" + mark + "[{\"s\":\"b\"}]\n" + mark + " {\"s\":\"c\"}\n" + mark + " \n"), (Rows{"s=a", "s=b", "s=c"}));
  // Alone, twice, or not in front, it is text; and what is malformed is kept as it was written.
  const Rows malformed = {mark, mark + mark + "{}", " " + mark + "{}", mark + "x", mark + "[1]"};
  for (const std::string& line : malformed) EXPECT_EQ(decoding.Rows(line), Rows{"_corrupt_record=" + line});
}

TEST(JsonDecoderTest, AMalformedArrayKeepsTheBlanksBeforeIt) {
  EXPECT_EQ(Decoding("s STRING, _corrupt_record STRING").Rows(" [1]"), Rows{"_corrupt_record= [1]"});
}

TEST(JsonDecoderTest, DropMalformedLeavesLinesOut) {
  JsonOptions options;
  options.mode = ParseMode::kDropMalformed;
  Decoding decoding("s STRING, i INT, a ARRAY<INT>", options);
  EXPECT_EQ(decoding.Rows("{\"s\":\"a\"}\ngarbage\n{\"s\":\"b\",\"i\":\"x\",\"a\":[1,2]}\n{\"s\":\"c\"}"), (Rows{"s=a", "s=c"}));
}

TEST(JsonDecoderTest, FailFastNamesTheRecord) {
  JsonOptions options;
  options.mode = ParseMode::kFailFast;
  Decoding decoding("s STRING, i INT", options);
  EXPECT_EQ(decoding.Rows(R"({"s":"a"})"), (Rows{"s=a"}));
  Status status = decoding.Decode("{\"s\":\"a\"}\ngarbage").status();
  const ErrorDetail* detail = ErrorDetail::Of(status);
  ASSERT_NE(detail, nullptr) << status;
  EXPECT_EQ(detail->condition, "MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION");
  EXPECT_EQ(detail->parameters.at("badRecord"), "[null,null]");
}

TEST(JsonDecoderTest, TheCorruptColumnAloneIsRefused) {
  Status status = Decoding("_corrupt_record STRING").Decode("{}").status();
  ASSERT_NE(ErrorDetail::Of(status), nullptr);
  EXPECT_EQ(ErrorDetail::Of(status)->condition, "UNSUPPORTED_FEATURE.QUERY_ONLY_CORRUPT_RECORD_COLUMN");
}

TEST(JsonDecoderTest, StopsAtTheWantedNumberOfRows) {
  std::string text = "{\"i\":1}\n{\"i\":2}\n{\"i\":3}\n";
  const size_t size = text.size();
  text.append(kJsonPadding, '\0');
  auto decoder = JsonDecoder::Make(type::ParseDdl("i INT").ValueOrDie().fields, {}, arrow::default_memory_pool()).ValueOrDie();
  const char* rest = decoder->Decode(text.data(), text.data() + size, 2).ValueOrDie();
  EXPECT_EQ(decoder->row_count(), 2);
  EXPECT_EQ(std::string_view(rest, 7), "{\"i\":3}");
  EXPECT_EQ(decoder->Finish().ValueOrDie()->num_rows(), 2);
  EXPECT_EQ(decoder->row_count(), 0);
}

}  // namespace
}  // namespace tidemill::format
