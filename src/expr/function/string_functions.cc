// Functions over strings. Lengths and positions count characters, not bytes.

#include <arrow/array.h>
#include <arrow/array/builder_binary.h>
#include <arrow/array/util.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>

#include "expr/function/coercion_internal.h"
#include "expr/function/registry_internal.h"

namespace tidemill::expr {

namespace {

using type::Kind;

std::string_view Text(const Column& column, int64_t row) {
  return static_cast<const arrow::BinaryArray&>(*column.array).GetView(column.Index(row));
}

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

int32_t CharacterCount(std::string_view text) {
  return static_cast<int32_t>(std::count_if(text.begin(), text.end(), [](char c) { return !IsContinuation(c); }));
}

// Byte position of character number `index`, or the end.
size_t ByteOf(std::string_view text, int64_t index) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if (!IsContinuation(text[at]) && index-- == 0) break;
  }
  return at;
}

template <size_t kCount>
Result<Bound> BindStrings(CallSite& call) {
  for (size_t i = 0; i < std::min(kCount, call.children.size()); ++i) ARROW_RETURN_NOT_OK(ExpectType(call, i, type::String()));
  return Bound{type::String(), call.AnyNullable()};
}

Result<Bound> BindStringTest(CallSite& call) {
  ARROW_RETURN_NOT_OK(BindStrings<2>(call));
  return Bound{type::Boolean(), call.AnyNullable()};
}

Result<Bound> BindLength(CallSite& call) {
  if (call.TypeOf(0).kind() != Kind::kBinary) ARROW_RETURN_NOT_OK(ExpectType(call, 0, type::String()));
  return Bound{type::Int(), call.children[0]->nullable};
}

Result<Bound> BindConcat(CallSite& call) {
  // Binary stays binary when there is nothing else; everything else is text.
  const bool binary = !call.children.empty() && std::all_of(call.children.begin(), call.children.end(),
                                                            [](const ExprPtr& child) { return child->type->kind() == Kind::kBinary; });
  if (!binary) {
    for (size_t i = 0; i < call.children.size(); ++i) ARROW_RETURN_NOT_OK(ExpectType(call, i, type::String()));
  }
  return Bound{binary ? type::Binary() : type::String(), call.AnyNullable()};
}

Result<Bound> BindSubstring(CallSite& call) {
  ARROW_RETURN_NOT_OK(ExpectType(call, 0, type::String()));
  for (size_t i = 1; i < call.children.size(); ++i) {
    if (call.TypeOf(i).kind() == Kind::kLong) return UnexpectedInputType(call, i, "\"INT\"");
    ARROW_RETURN_NOT_OK(ExpectType(call, i, type::Int()));
  }
  return Bound{type::String(), call.AnyNullable()};
}

// A string per row: `append(row, &text)` adds it to an empty `text`.
template <typename Append>
Result<ArrayPtr> BuildStrings(std::span<const Column> arguments, int64_t rows, const std::shared_ptr<arrow::DataType>& type,
                              Append append) {
  ARROW_ASSIGN_OR_RAISE(const Validity validity, IntersectValidity(arguments, rows));
  arrow::BinaryBuilder builder;
  ARROW_RETURN_NOT_OK(builder.Reserve(rows));
  std::string text;
  for (int64_t row = 0; row < rows; ++row) {
    if (!validity.IsValid(row)) {
      ARROW_RETURN_NOT_OK(builder.AppendNull());
      continue;
    }
    text.clear();
    append(row, &text);
    ARROW_RETURN_NOT_OK(builder.Append(text));
  }
  ARROW_ASSIGN_OR_RAISE(const ArrayPtr bytes, builder.Finish());
  auto data = bytes->data()->Copy();
  data->type = type;
  return arrow::MakeArray(data);
}

using StringFunction = void (*)(std::span<const Column>, int64_t, std::string*);

template <StringFunction kAppend>
Result<Kernel> CompileString(const Expression& call) {
  return Kernel([type = call.type->ToArrow()](std::span<const Column> arguments, int64_t rows) {
    return BuildStrings(arguments, rows, type, [arguments](int64_t row, std::string* text) { kAppend(arguments, row, text); });
  });
}

void Concat(std::span<const Column> arguments, int64_t row, std::string* out) {
  for (const Column& column : arguments) *out += Text(column, row);
}

void Slice(std::string_view text, int64_t position, int64_t length, std::string* out) {
  // From 1; 0 means 1 as well; negative counts from the end. What sticks out is cut off.
  const int64_t count = CharacterCount(text);
  const int64_t start = position > 0 ? position - 1 : (position < 0 ? count + position : 0);
  const int64_t end = std::min(count, length >= std::numeric_limits<int32_t>::max() ? count : start + length);
  if (length <= 0 || start >= end || end <= 0) return;
  const size_t from = ByteOf(text, std::max<int64_t>(start, 0));
  const size_t to = ByteOf(text, end);
  *out += text.substr(from, to - from);
}

void Substring(std::span<const Column> arguments, int64_t row, std::string* out) {
  const auto number = [&](size_t i) { return RawValues<int32_t>(*arguments[i].array)[arguments[i].Index(row)]; };
  Slice(Text(arguments[0], row), number(1), arguments.size() > 2 ? number(2) : std::numeric_limits<int32_t>::max(), out);
}

// Cut from either end while the character is one of `set` (a space when not given).
void Trim(std::span<const Column> arguments, int64_t row, bool left, bool right, std::string* out) {
  std::string_view text = Text(arguments[0], row);
  const std::string_view set = arguments.size() > 1 ? Text(arguments[1], row) : std::string_view(" ");
  const auto in_set = [set](std::string_view character) {
    const size_t found = set.find(character);
    return found != std::string_view::npos;
  };
  while (left && !text.empty()) {
    const size_t size = ByteOf(text, 1);
    if (!in_set(text.substr(0, size))) break;
    text.remove_prefix(size);
  }
  while (right && !text.empty()) {
    size_t start = text.size() - 1;
    while (start > 0 && IsContinuation(text[start])) --start;
    if (!in_set(text.substr(start))) break;
    text = text.substr(0, start);
  }
  *out += text;
}
void TrimBoth(std::span<const Column> arguments, int64_t row, std::string* out) { Trim(arguments, row, true, true, out); }
void TrimLeft(std::span<const Column> arguments, int64_t row, std::string* out) { Trim(arguments, row, true, false, out); }
void TrimRight(std::span<const Column> arguments, int64_t row, std::string* out) { Trim(arguments, row, false, true, out); }

void Replace(std::span<const Column> arguments, int64_t row, std::string* out) {
  const std::string_view text = Text(arguments[0], row);
  const std::string_view search = Text(arguments[1], row);
  const std::string_view by = arguments.size() > 2 ? Text(arguments[2], row) : std::string_view();
  size_t from = 0;
  while (!search.empty()) {
    const size_t found = text.find(search, from);
    if (found == std::string_view::npos) break;
    out->append(text, from, found - from);
    *out += by;
    from = found + search.size();
  }
  out->append(text, from);
}

// Case of one code point: the alphabets whose capitals and small letters lie at a fixed distance. Others stay as they are.
char32_t ChangeCase(char32_t c, bool upper) {
  if (upper) {
    if ((c >= 'a' && c <= 'z') || (c >= 0xE0 && c <= 0xFE && c != 0xF7) || (c >= 0x3B1 && c <= 0x3C9 && c != 0x3C2) ||
        (c >= 0x430 && c <= 0x44F))
      return c - 32;
    if (c >= 0x450 && c <= 0x45F) return c - 80;
    if (c == 0xFF) return 0x178;
    if (c >= 0x100 && c <= 0x137 && c != 0x131 && (c & 1) == 1) return c - 1;
  } else {
    if ((c >= 'A' && c <= 'Z') || (c >= 0xC0 && c <= 0xDE && c != 0xD7) || (c >= 0x391 && c <= 0x3A9) || (c >= 0x410 && c <= 0x42F))
      return c + 32;
    if (c >= 0x400 && c <= 0x40F) return c + 80;
    if (c == 0x178) return 0xFF;
    if (c >= 0x100 && c <= 0x137 && c != 0x130 && (c & 1) == 0) return c + 1;
  }
  return c;
}

template <bool kUpper>
void ChangeTextCase(std::span<const Column> arguments, int64_t row, std::string* out) {
  const std::string_view text = Text(arguments[0], row);
  for (size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    if (lead < 0x80) {
      *out += static_cast<char>(ChangeCase(lead, kUpper));
      ++at;
    } else if ((lead & 0xE0) == 0xC0 && at + 1 < text.size()) {
      const char32_t c = ChangeCase(((lead & 0x1Fu) << 6) | (static_cast<unsigned char>(text[at + 1]) & 0x3Fu), kUpper);
      *out += static_cast<char>(0xC0 | (c >> 6));
      *out += static_cast<char>(0x80 | (c & 0x3F));
      at += 2;
    } else {
      *out += text[at++];
    }
  }
}

// part `n` from 1, negative from the end, of text cut at a separator; empty when there is no such part.
void SplitPart(std::span<const Column> arguments, int64_t row, std::string* out) {
  const std::string_view text = Text(arguments[0], row);
  const std::string_view separator = Text(arguments[1], row);
  int64_t part = RawValues<int32_t>(*arguments[2].array)[arguments[2].Index(row)];
  std::vector<std::string_view> parts;
  size_t from = 0;
  while (!separator.empty()) {
    const size_t found = text.find(separator, from);
    if (found == std::string_view::npos) break;
    parts.push_back(text.substr(from, found - from));
    from = found + separator.size();
  }
  parts.push_back(text.substr(from));
  const auto count = static_cast<int64_t>(parts.size());
  if (part < 0) part += count + 1;
  if (part >= 1 && part <= count) *out += parts[static_cast<size_t>(part - 1)];
}

Result<Bound> BindSplitPart(CallSite& call) {
  ARROW_RETURN_NOT_OK(BindStrings<2>(call));
  ARROW_RETURN_NOT_OK(ExpectType(call, 2, type::Int()));
  return Bound{type::String(), call.AnyNullable()};
}

Result<Kernel> CompileSplitPart(const Expression& call) {
  ARROW_ASSIGN_OR_RAISE(Kernel split, CompileString<SplitPart>(call));
  return Kernel([split](std::span<const Column> arguments, int64_t rows) -> Result<ArrayPtr> {
    ARROW_ASSIGN_OR_RAISE(const Validity validity, IntersectValidity(arguments, rows));
    for (int64_t row = 0; row < rows; ++row) {
      if (validity.IsValid(row) && RawValues<int32_t>(*arguments[2].array)[arguments[2].Index(row)] == 0) {
        return UserError("INVALID_INDEX_OF_ZERO", "The index 0 is invalid: parts are counted from 1, or from -1 at the end.");
      }
    }
    return split(arguments, rows);
  });
}

Result<Kernel> CompileLength(const Expression& call) {
  const bool bytes = call.children[0]->type->kind() == Kind::kBinary || call.name == "octet_length";
  return Kernel([bytes](std::span<const Column> arguments, int64_t rows) {
    const Column& column = arguments[0];
    return ConvertFixed<int32_t>(
        column, rows, arrow::int32(),
        [&](int64_t row, int32_t* out) {
          *out = bytes ? static_cast<int32_t>(Text(column, row).size()) : CharacterCount(Text(column, row));
          return true;
        },
        [](int64_t) { return Status::OK(); });
  });
}

bool StartsWith(std::string_view text, std::string_view part) { return text.substr(0, part.size()) == part; }
bool EndsWith(std::string_view text, std::string_view part) {
  return text.size() >= part.size() && text.substr(text.size() - part.size()) == part;
}
bool Contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

template <bool (*kTest)(std::string_view, std::string_view)>
Result<Kernel> CompileTest(const Expression&) {
  return Kernel([](std::span<const Column> arguments, int64_t rows) -> Result<ArrayPtr> {
    ARROW_ASSIGN_OR_RAISE(const Validity validity, IntersectValidity(arguments, rows));
    if (validity.null_count == rows) return AllNull(arrow::boolean(), rows);
    ARROW_ASSIGN_OR_RAISE(auto bits, PackBits(rows, [&](int64_t row) { return kTest(Text(arguments[0], row), Text(arguments[1], row)); }));
    return MakeFixed(arrow::boolean(), rows, std::move(bits), validity);
  });
}

constexpr Function kFunctions[] = {
    {"concat", 0, -1, BindConcat, CompileString<Concat>},
    {"||", 2, 2, BindConcat, CompileString<Concat>},
    {"upper", 1, 1, BindStrings<1>, CompileString<ChangeTextCase<true>>},
    {"ucase", 1, 1, BindStrings<1>, CompileString<ChangeTextCase<true>>},
    {"lower", 1, 1, BindStrings<1>, CompileString<ChangeTextCase<false>>},
    {"lcase", 1, 1, BindStrings<1>, CompileString<ChangeTextCase<false>>},
    {"length", 1, 1, BindLength, CompileLength},
    {"char_length", 1, 1, BindLength, CompileLength},
    {"character_length", 1, 1, BindLength, CompileLength},
    {"len", 1, 1, BindLength, CompileLength},
    {"octet_length", 1, 1, BindLength, CompileLength},
    {"substring", 2, 3, BindSubstring, CompileString<Substring>},
    {"substr", 2, 3, BindSubstring, CompileString<Substring>},
    {"trim", 1, 1, BindStrings<1>, CompileString<TrimBoth>},
    {"ltrim", 1, 1, BindStrings<1>, CompileString<TrimLeft>},
    {"rtrim", 1, 1, BindStrings<1>, CompileString<TrimRight>},
    {"btrim", 1, 2, BindStrings<2>, CompileString<TrimBoth>},
    {"replace", 2, 3, BindStrings<3>, CompileString<Replace>},
    {"split_part", 3, 3, BindSplitPart, CompileSplitPart, Failing::kAlways},
    {"startswith", 2, 2, BindStringTest, CompileTest<StartsWith>},
    {"endswith", 2, 2, BindStringTest, CompileTest<EndsWith>},
    {"contains", 2, 2, BindStringTest, CompileTest<Contains>},
};

}  // namespace

std::span<const Function> StringFunctions() { return kFunctions; }

}  // namespace tidemill::expr
