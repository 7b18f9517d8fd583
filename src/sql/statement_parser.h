#pragma once

// Statements: SET, CREATE …, and bare queries.

#include <string>
#include <vector>

#include "sql/cursor.h"
#include "sql/parser.h"
#include "sql/query_parser.h"

namespace tidemill::sql {

class StatementParser {
 public:
  explicit StatementParser(std::string_view text) : cursor_(text), queries_(cursor_) {}

  Result<std::vector<Statement>> ParseAll();

 private:
  // The clauses of CREATE, which come in any order.
  struct Clauses {
    std::optional<std::string> format;
    std::optional<plan::Options> options;
    std::optional<plan::Options> properties;
    std::optional<std::string> location;
    std::optional<std::string> comment;
  };

  Result<Statement> ParseStatement();
  Result<SetStatement> ParseSet();
  Status ParseCreate(Statement* statement);
  Result<CreateTableStatement> ParseCreateTable();
  Status ParseCreateView(bool or_replace, bool temporary, Statement* statement);
  Result<CreateStreamingTableStatement> ParseCreateStreamingTable();
  Result<bool> ParseIfNotExists();
  Result<type::Schema> ParseColumns();
  Result<Clauses> ParseClauses();
  Result<bool> ParseClause(Clauses* clauses);
  Status UnknownStatement();

  Cursor cursor_;
  QueryParser queries_;
};

}  // namespace tidemill::sql
