#pragma once

// A place in SQL text that the parsers share: what comes next, and errors that point at it.

#include <deque>
#include <initializer_list>
#include <string>
#include <string_view>

#include "sql/token.h"

namespace tidemill::sql {

class Cursor {
 public:
  /// `text` outlives the cursor.
  explicit Cursor(std::string_view text) : text_(text), lexer_(text) {}

  /// The token `ahead` places further on. Where the text is no SQL, kEnd; Unexpected() then tells why.
  const Token& Peek(size_t ahead = 0);
  Token Next();
  /// Take the next token if it is this keyword (upper case) or symbol.
  bool Accept(std::string_view keyword);
  bool AcceptSymbol(std::string_view symbol);
  /// Take these keywords if all of them come next, in this order.
  bool AcceptWords(std::initializer_list<std::string_view> keywords);
  Status Expect(std::string_view keyword);
  Status ExpectSymbol(std::string_view symbol);
  /// PARSE_SYNTAX_ERROR at the next token. A word that is nearly a keyword, there or just before, is pointed out.
  Status Unexpected();
  /// An identifier: a quoted one, or any word that is not reserved.
  Result<std::string> ExpectIdentifier();
  /// What stands behind a dot: any word will do.
  Result<std::string> ExpectPart();
  /// Dotted identifiers.
  Result<std::vector<std::string>> ExpectName();
  bool AtIdentifier(size_t ahead = 0);
  /// May the next token be an alias without AS?
  bool AtImplicitAlias();
  bool AtEnd() { return Peek().kind == TokenKind::kEnd; }
  /// OK at the end of the text; the error where something else stands, or where the text is no SQL.
  Status ExpectEnd();

  Token RestOfStatement();
  /// The text from one byte offset to the end of the token taken last.
  std::string_view TextFrom(int start) const { return text_.substr(start, previous_.origin.stop - start); }
  const Token& previous() const { return previous_; }

  /// Recursion of the parsers, and so the height of what they build, is bounded.
  class Nesting {
   public:
    explicit Nesting(Cursor& cursor) : cursor_(cursor) { ++cursor_.nesting_; }
    ~Nesting() { --cursor_.nesting_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    Cursor& cursor_;
  };
  Status CheckNesting();

 private:
  std::string_view text_;
  Lexer lexer_;
  std::deque<Token> ahead_;
  Token previous_;
  Status lexer_error_;
  int nesting_ = 0;
};

/// "This is SQL of Spark's, but not understood yet": condition TIDEMILL_UNSUPPORTED_SYNTAX with the feature's name.
Status UnsupportedSyntax(std::string feature, const expr::Origin& origin);
/// `status` with line and column of `origin` added.
Status AtPlace(const Status& status, const expr::Origin& origin);

}  // namespace tidemill::sql
