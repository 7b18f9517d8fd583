#pragma once

// SQL text to statements; queries inside become unresolved plans. The grammar that is understood: docs/sql.md.

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "plan/logical_plan.h"

namespace tidemill::sql {

/// SET key = value; without value: show.
struct SetStatement {
  std::string key;
  std::optional<std::string> value;
};
/// CREATE TABLE [IF NOT EXISTS] t (schema) USING f OPTIONS (…), and CREATE [OR REPLACE] TEMPORARY VIEW v [(schema)] USING f OPTIONS (…).
struct CreateTableStatement {
  std::vector<std::string> name;
  type::Schema schema;
  std::string format;
  plan::Options options;
  bool if_not_exists = false;
  bool temporary_view = false;
  bool or_replace = false;
};
/// CREATE STREAMING TABLE [IF NOT EXISTS] t [USING f] [TBLPROPERTIES (…)] [OPTIONS (…)] AS query.
struct CreateStreamingTableStatement {
  std::vector<std::string> name;
  std::string format = "parquet";
  plan::Options properties;  ///< TBLPROPERTIES and OPTIONS together
  bool has_options = false;  ///< OPTIONS (…) was used: our extension
  bool if_not_exists = false;
  plan::PlanPtr query;
};
/// CREATE [OR REPLACE] TEMPORARY VIEW v AS query.
struct CreateViewStatement {
  std::vector<std::string> name;
  bool or_replace = false;
  plan::PlanPtr query;
};
/// A bare query.
struct QueryStatement {
  plan::PlanPtr query;
};

struct Statement {
  std::variant<SetStatement, CreateTableStatement, CreateStreamingTableStatement, CreateViewStatement, QueryStatement> node;
  expr::Origin origin;
  std::string text;  ///< its own text, without the semicolon
};

/// All statements of a file. Errors: PARSE_SYNTAX_ERROR with Spark's parameters (error, hint), and "line" and "column" in the detail.
Result<std::vector<Statement>> ParseScript(std::string_view text);
/// One query, as `spark.sql` takes it.
Result<plan::PlanPtr> ParseQuery(std::string_view text);
/// One expression, as `expr(…)` takes it.
Result<expr::ExprPtr> ParseExpression(std::string_view text);
/// The error with file name, line, column, the source line and a caret, for a terminal.
std::string RenderError(const Status& error, std::string_view file_name, std::string_view text);

}  // namespace tidemill::sql
