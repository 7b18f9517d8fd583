#include "sql/statement_parser.h"

#include <strings.h>

#include <array>
#include <utility>

#include "base/config.h"

namespace tidemill::sql {

namespace {

constexpr int kMaxTypeNesting = 100;

// Statements of Spark's that are none of ours, so that they are refused by name and not as bad syntax.
constexpr std::array<std::string_view, 27> kForeignStatements = {
    "INSERT",  "DROP",    "ALTER", "SHOW",    "DESCRIBE", "DESC",   "EXPLAIN", "USE",      "CACHE",
    "UNCACHE", "REFRESH", "MSCK",  "ANALYZE", "MERGE",    "UPDATE", "DELETE",  "TRUNCATE", "LOAD",
    "ADD",     "LIST",    "RESET", "DECLARE", "EXECUTE",  "CALL",   "COMMENT", "REPLACE",  "BEGIN"};

// Text as the schema reader takes it, which knows backslashes but not doubled quotes.
std::string QuoteString(const std::string& text) {
  std::string quoted = "'";
  for (char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

// One value, or that a clause came twice.
template <typename T>
Status SetOnce(std::optional<T>* slot, T value, const char* clause, const expr::Origin& origin) {
  if (slot->has_value()) {
    return AtPlace(
        UserError("DUPLICATE_CLAUSES", "Found duplicate clauses: {}. Please, remove one of them.", clause).Param("clauseName", clause),
        origin);
  }
  *slot = std::move(value);
  return Status::OK();
}

// The path of LOCATION is an option like any other.
Status AddLocation(const std::optional<std::string>& location, plan::Options* options, const expr::Origin& origin) {
  if (!location) return Status::OK();
  if (options->emplace("path", *location).second) return Status::OK();
  return AtPlace(UserError("_LEGACY_ERROR_TEMP_0032",
                           "Duplicated table paths found: '{}' and '{}'. LOCATION and the case insensitive key 'path' in OPTIONS are all "
                           "used to indicate the "
                           "custom table path, you can only specify one of them.",
                           options->at("path"), *location)
                     .Param("pathOne", options->at("path"))
                     .Param("pathTwo", *location),
                 origin);
}

}  // namespace

Result<std::vector<Statement>> StatementParser::ParseAll() {
  std::vector<Statement> statements;
  while (true) {
    while (cursor_.AcceptSymbol(";")) {
    }
    if (cursor_.AtEnd()) break;
    ARROW_ASSIGN_OR_RAISE(Statement statement, ParseStatement());
    if (!cursor_.AtEnd() && !cursor_.Peek().IsSymbol(";")) return cursor_.Unexpected();
    statements.push_back(std::move(statement));
  }
  ARROW_RETURN_NOT_OK(cursor_.ExpectEnd());  // a text that is no SQL ends early, too
  return statements;
}

Result<Statement> StatementParser::ParseStatement() {
  Statement statement;
  statement.origin = cursor_.Peek().origin;
  if (cursor_.Peek().Is("SET")) {
    ARROW_ASSIGN_OR_RAISE(statement.node, ParseSet());
  } else if (cursor_.Peek().Is("CREATE")) {
    ARROW_RETURN_NOT_OK(ParseCreate(&statement));
  } else if (queries_.AtQuery()) {
    ARROW_ASSIGN_OR_RAISE(plan::PlanPtr query, queries_.ParseQuery());
    statement.node = QueryStatement{std::move(query)};
  } else {
    return UnknownStatement();
  }
  statement.text = std::string(cursor_.TextFrom(statement.origin.start));
  statement.origin.stop = cursor_.previous().origin.stop;
  return statement;
}

Status StatementParser::UnknownStatement() {
  for (std::string_view word : kForeignStatements) {
    if (cursor_.Peek().Is(word)) return UnsupportedSyntax("Statement " + std::string(word), cursor_.Peek().origin);
  }
  return cursor_.Unexpected();
}

// SET key [= value], SET TIME ZONE text: the value is what stands there, to the end of the statement.
Result<SetStatement> StatementParser::ParseSet() {
  Token word = cursor_.Next();
  Token rest = cursor_.RestOfStatement();
  std::string text = rest.value;
  constexpr std::string_view kTimeZone = "TIME ZONE ";
  if (text.size() > kTimeZone.size() && strncasecmp(text.data(), kTimeZone.data(), kTimeZone.size()) == 0) {
    std::string zone = text.substr(kTimeZone.size());
    bool quoted = zone.size() > 2 && zone.front() == '\'' && zone.back() == '\'';
    return SetStatement{conf::kSessionTimeZone, quoted ? zone.substr(1, zone.size() - 2) : zone};
  }
  size_t equals = text.find('=');
  SetStatement set;
  set.key = text.substr(0, equals);
  set.key.erase(set.key.find_last_not_of(" \t\r\n") + 1);
  if (equals != std::string::npos) {
    size_t begin = text.find_first_not_of(" \t\r\n", equals + 1);
    set.value = begin == std::string::npos ? "" : text.substr(begin);
  }
  if (set.key.size() > 1 && set.key.front() == '`' && set.key.back() == '`') set.key = set.key.substr(1, set.key.size() - 2);
  bool one_word = set.key.find_first_of(" \t\r\n`'\"") == std::string::npos;
  if (one_word && (!set.key.empty() || equals == std::string::npos)) return set;
  std::string error = "Expected format is 'SET', 'SET key', or 'SET key=value'.";
  return AtPlace(UserError("INVALID_SET_SYNTAX",
                           "{} If you want to include special characters in key, please use backquotes, e.g., SET `key`=value.", error),
                 word.origin);
}

Status StatementParser::ParseCreate(Statement* statement) {
  expr::Origin origin = cursor_.Next().origin;
  if (cursor_.AcceptWords({"STREAMING", "TABLE"})) {
    ARROW_ASSIGN_OR_RAISE(statement->node, ParseCreateStreamingTable());
    return Status::OK();
  }
  if (cursor_.Accept("TABLE")) {
    ARROW_ASSIGN_OR_RAISE(statement->node, ParseCreateTable());
    return Status::OK();
  }
  bool or_replace = cursor_.AcceptWords({"OR", "REPLACE"});
  if (or_replace && cursor_.Peek().Is("TABLE")) return UnsupportedSyntax("CREATE OR REPLACE TABLE", origin);
  if (cursor_.Peek().Is("GLOBAL")) return UnsupportedSyntax("CREATE GLOBAL TEMPORARY VIEW", origin);
  bool temporary = cursor_.Accept("TEMPORARY") || cursor_.Accept("TEMP");
  if (cursor_.Accept("VIEW")) return ParseCreateView(or_replace, temporary, statement);
  // Spark has no OR REPLACE for the others, so there it stays bad syntax.
  for (const char* kind : {"MATERIALIZED", "FLOW", "FUNCTION", "DATABASE", "SCHEMA", "EXTERNAL", "NAMESPACE"}) {
    if (!or_replace && cursor_.Peek().Is(kind)) return UnsupportedSyntax(std::string("CREATE ") + kind, origin);
  }
  return cursor_.Unexpected();
}

Result<bool> StatementParser::ParseIfNotExists() {
  if (!cursor_.Accept("IF")) return false;
  ARROW_RETURN_NOT_OK(cursor_.Expect("NOT"));
  ARROW_RETURN_NOT_OK(cursor_.Expect("EXISTS"));
  return true;
}

// ( columns ): the words between the brackets, without comments, are a schema.
Result<type::Schema> StatementParser::ParseColumns() {
  expr::Origin origin = cursor_.Peek().origin;
  ARROW_RETURN_NOT_OK(cursor_.ExpectSymbol("("));
  std::string text;
  int open = 0;
  while (open > 0 || !cursor_.Peek().IsSymbol(")")) {
    if (cursor_.AtEnd() || cursor_.Peek().IsSymbol(";")) return cursor_.Unexpected();
    Token token = cursor_.Next();
    bool opens = token.IsSymbol("(") || token.IsSymbol("<");
    open += opens ? 1 : token.IsSymbol(")") || token.IsSymbol(">") ? -1 : 0;
    if (open > kMaxTypeNesting)
      return AtPlace(UserError("TIDEMILL_QUERY_TOO_DEEP", "The type is nested deeper than {} levels.", kMaxTypeNesting), token.origin);
    text += text.empty() ? "" : " ";
    text += token.kind == TokenKind::kString ? QuoteString(token.value) : std::string(token.text);
  }
  cursor_.Next();
  Result<type::Schema> schema = type::ParseDdl(text);
  return schema.ok() ? schema : AtPlace(schema.status(), origin);
}

Result<StatementParser::Clauses> StatementParser::ParseClauses() {
  Clauses clauses;
  while (true) {
    ARROW_ASSIGN_OR_RAISE(bool found, ParseClause(&clauses));
    if (!found) return clauses;
  }
}

Result<bool> StatementParser::ParseClause(Clauses* clauses) {
  expr::Origin origin = cursor_.Peek().origin;
  if (cursor_.Accept("USING")) {
    ARROW_ASSIGN_OR_RAISE(std::vector<std::string> name, cursor_.ExpectName());
    std::string format;
    for (const std::string& part : name) format += (format.empty() ? "" : ".") + part;
    ARROW_RETURN_NOT_OK(SetOnce(&clauses->format, std::move(format), "USING", origin));
  } else if (cursor_.Accept("OPTIONS")) {
    ARROW_ASSIGN_OR_RAISE(plan::Options options, ParseOptions(cursor_));
    ARROW_RETURN_NOT_OK(SetOnce(&clauses->options, std::move(options), "OPTIONS", origin));
  } else if (cursor_.Accept("TBLPROPERTIES")) {
    ARROW_ASSIGN_OR_RAISE(plan::Options properties, ParseOptions(cursor_));
    ARROW_RETURN_NOT_OK(SetOnce(&clauses->properties, std::move(properties), "TBLPROPERTIES", origin));
  } else if (cursor_.Accept("LOCATION") || cursor_.Accept("COMMENT")) {
    bool is_location = cursor_.previous().Is("LOCATION");
    if (cursor_.Peek().kind != TokenKind::kString) return cursor_.Unexpected();
    std::string text = cursor_.Next().value;
    ARROW_RETURN_NOT_OK(
        SetOnce(is_location ? &clauses->location : &clauses->comment, std::move(text), is_location ? "LOCATION" : "COMMENT", origin));
  } else if (cursor_.Peek().Is("PARTITIONED") || cursor_.Peek().Is("CLUSTERED") || cursor_.Peek().Is("CLUSTER")) {
    return UnsupportedSyntax(std::string(cursor_.Peek().text) + " BY", origin);
  } else {
    return false;
  }
  return true;
}

Result<CreateTableStatement> StatementParser::ParseCreateTable() {
  CreateTableStatement table;
  ARROW_ASSIGN_OR_RAISE(table.if_not_exists, ParseIfNotExists());
  expr::Origin origin = cursor_.Peek().origin;
  ARROW_ASSIGN_OR_RAISE(table.name, cursor_.ExpectName());
  if (cursor_.Peek().IsSymbol("(")) {
    ARROW_ASSIGN_OR_RAISE(table.schema, ParseColumns());
  }
  ARROW_ASSIGN_OR_RAISE(Clauses clauses, ParseClauses());
  if (cursor_.Peek().Is("AS") || queries_.AtQuery())
    return UnsupportedSyntax("CREATE TABLE … AS (write CREATE STREAMING TABLE … AS)", cursor_.Peek().origin);
  table.format = clauses.format.value_or("parquet");  // Spark's default source
  table.options = std::move(clauses.options).value_or(plan::Options{});
  ARROW_RETURN_NOT_OK(AddLocation(clauses.location, &table.options, origin));
  return table;
}

// CREATE … VIEW v AS query, and CREATE … TEMPORARY VIEW v [(columns)] USING format OPTIONS (…).
Status StatementParser::ParseCreateView(bool or_replace, bool temporary, Statement* statement) {
  ARROW_ASSIGN_OR_RAISE(bool if_not_exists, ParseIfNotExists());
  expr::Origin origin = cursor_.Peek().origin;
  ARROW_ASSIGN_OR_RAISE(std::vector<std::string> name, cursor_.ExpectName());
  if (cursor_.Accept("AS")) {
    if (if_not_exists) return UnsupportedSyntax("CREATE VIEW IF NOT EXISTS", origin);
    ARROW_ASSIGN_OR_RAISE(plan::PlanPtr query, queries_.ParseQuery());
    statement->node = CreateViewStatement{std::move(name), or_replace, std::move(query)};
    return Status::OK();
  }
  if (!temporary) return cursor_.Peek().IsSymbol("(") ? UnsupportedSyntax("Column names of a view", origin) : cursor_.Unexpected();
  CreateTableStatement table;
  if (cursor_.Peek().IsSymbol("(")) {
    ARROW_ASSIGN_OR_RAISE(table.schema, ParseColumns());
  }
  if (!cursor_.Peek().Is("USING")) return cursor_.Unexpected();
  ARROW_ASSIGN_OR_RAISE(Clauses clauses, ParseClauses());
  table.name = std::move(name);
  table.format = *clauses.format;
  table.options = std::move(clauses.options).value_or(plan::Options{});
  table.temporary_view = true;
  table.or_replace = or_replace;
  table.if_not_exists = if_not_exists;
  ARROW_RETURN_NOT_OK(AddLocation(clauses.location, &table.options, origin));
  statement->node = std::move(table);
  return Status::OK();
}

Result<CreateStreamingTableStatement> StatementParser::ParseCreateStreamingTable() {
  CreateStreamingTableStatement table;
  ARROW_ASSIGN_OR_RAISE(table.if_not_exists, ParseIfNotExists());
  expr::Origin origin = cursor_.Peek().origin;
  ARROW_ASSIGN_OR_RAISE(table.name, cursor_.ExpectName());
  if (cursor_.Peek().IsSymbol("("))
    return UnsupportedSyntax("Columns of a streaming table (they come from its query)", cursor_.Peek().origin);
  ARROW_ASSIGN_OR_RAISE(Clauses clauses, ParseClauses());
  if (clauses.format) table.format = *clauses.format;
  table.properties = std::move(clauses.properties).value_or(plan::Options{});
  table.has_options = clauses.options.has_value() || clauses.location.has_value();
  for (const auto& [key, value] : clauses.options.value_or(plan::Options{})) {
    if (table.properties.emplace(key, value).second) continue;
    return AtPlace(UserError("DUPLICATE_KEY", "Key `{}` stands in TBLPROPERTIES and in OPTIONS.", key).Param("keyColumn", "`" + key + "`"),
                   origin);
  }
  ARROW_RETURN_NOT_OK(AddLocation(clauses.location, &table.properties, origin));
  if (cursor_.AtEnd() || cursor_.Peek().IsSymbol(";")) return UnsupportedSyntax("CREATE STREAMING TABLE without a query", origin);
  ARROW_RETURN_NOT_OK(cursor_.Expect("AS"));
  ARROW_ASSIGN_OR_RAISE(table.query, queries_.ParseQuery());
  return table;
}

}  // namespace tidemill::sql
