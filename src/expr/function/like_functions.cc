// LIKE and ILIKE: % any characters, _ one, \ takes the next as it is.

#include <arrow/array/array_binary.h>
#include <arrow/type.h>

#include <string>
#include <string_view>
#include <vector>

#include "expr/function/coercion_internal.h"
#include "expr/function/registry_internal.h"

namespace tidemill::expr {

namespace {

enum class TokenKind { kByte, kOne, kAny };
struct Token {
  TokenKind kind;
  char byte = 0;
};

class LikePattern {
 public:
  static Result<LikePattern> Make(std::string_view pattern, bool ignore_case) {
    LikePattern compiled;
    compiled.ignore_case_ = ignore_case;
    for (size_t i = 0; i < pattern.size(); ++i) {
      char c = pattern[i];
      if (c == '%') {
        if (compiled.tokens_.empty() || compiled.tokens_.back().kind != TokenKind::kAny) compiled.tokens_.push_back({TokenKind::kAny});
        continue;
      }
      if (c == '_') {
        compiled.tokens_.push_back({TokenKind::kOne});
        continue;
      }
      if (c == '\\') {
        if (++i == pattern.size()) return Bad(pattern, "INVALID_FORMAT.ESC_AT_THE_END", "the escape character stands at its end");
        c = pattern[i];
        if (c != '%' && c != '_' && c != '\\')
          return Bad(pattern, "INVALID_FORMAT.ESC_IN_THE_MIDDLE", "the escape character may stand only before %, _ or itself");
      }
      compiled.tokens_.push_back({TokenKind::kByte, compiled.Fold(c)});
    }
    return compiled;
  }

  // Greedy with one place to come back to: after a %, a mismatch lets that % take one byte more.
  bool Matches(std::string_view text) const {
    size_t at = 0, token = 0;
    size_t retry_token = tokens_.size() + 1, retry_at = 0;
    while (at < text.size()) {
      if (token < tokens_.size() && tokens_[token].kind == TokenKind::kAny) {
        retry_token = ++token;
        retry_at = at;
      } else if (token < tokens_.size() && tokens_[token].kind == TokenKind::kOne) {
        ++at;
        while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
        ++token;
      } else if (token < tokens_.size() && tokens_[token].byte == Fold(text[at])) {
        ++at;
        ++token;
      } else if (retry_token <= tokens_.size()) {
        token = retry_token;
        at = ++retry_at;
      } else {
        return false;
      }
    }
    while (token < tokens_.size() && tokens_[token].kind == TokenKind::kAny) ++token;
    return token == tokens_.size();
  }

 private:
  static Error Bad(std::string_view pattern, std::string condition, std::string_view why) {
    return UserError(std::move(condition), "The pattern '{}' is invalid: {}.", pattern, why)
        .Param("format", "'" + std::string(pattern) + "'");
  }
  char Fold(char c) const { return ignore_case_ && c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

  std::vector<Token> tokens_;
  bool ignore_case_ = false;
};

Result<Bound> BindLike(CallSite& call) {
  ARROW_RETURN_NOT_OK(ExpectType(call, 0, type::String()));
  ARROW_RETURN_NOT_OK(ExpectType(call, 1, type::String()));
  return Bound{type::Boolean(), call.AnyNullable()};
}

Result<Kernel> CompileLike(const Expression& call) {
  const bool ignore_case = call.name == "ilike";
  return Kernel([ignore_case](std::span<const Column> arguments, int64_t rows) -> Result<ArrayPtr> {
    const auto& texts = static_cast<const arrow::StringArray&>(*arguments[0].array);
    const auto& patterns = static_cast<const arrow::StringArray&>(*arguments[1].array);
    ARROW_ASSIGN_OR_RAISE(const Validity validity, IntersectValidity(arguments, rows));
    if (validity.null_count == rows) return AllNull(arrow::boolean(), rows);
    LikePattern pattern;
    if (arguments[1].constant) {
      ARROW_ASSIGN_OR_RAISE(pattern, LikePattern::Make(patterns.GetView(0), ignore_case));
    }
    ARROW_ASSIGN_OR_RAISE(auto bits, AllocateBits(rows));
    for (int64_t row = 0; row < rows; ++row) {
      if (!validity.IsValid(row)) continue;
      if (!arguments[1].constant) {
        ARROW_ASSIGN_OR_RAISE(pattern, LikePattern::Make(patterns.GetView(row), ignore_case));
      }
      if (pattern.Matches(texts.GetView(arguments[0].Index(row)))) bits->mutable_data()[row >> 3] |= static_cast<uint8_t>(1 << (row & 7));
    }
    return MakeFixed(arrow::boolean(), rows, std::move(bits), validity);
  });
}

constexpr Function kFunctions[] = {
    {"like", 2, 2, BindLike, CompileLike, Failing::kAlways},
    {"ilike", 2, 2, BindLike, CompileLike, Failing::kAlways},
};

}  // namespace

std::span<const Function> LikeFunctions() { return kFunctions; }

}  // namespace tidemill::expr
