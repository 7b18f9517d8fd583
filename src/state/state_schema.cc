#include <functional>
#include <span>

#include "state/codecs_internal.h"
#include "state/operator_metadata.h"
#include "state/store_files.h"

namespace tidemill::state {
namespace {

using type::DataType;
using type::Kind;

// Version 2: UTF("v2"), key schema, value schema, each as a count of chunks (i32 BE) and that many UTF strings. Version 1: UTF("v1") and
// two UTF
// strings. UTF is Java's: a length (u16 BE) and modified UTF-8.
constexpr size_t kMaxChunkBytes = 65535;

/// Java's modified UTF-8 spells NUL as two bytes and a character beyond the first plane as two surrogates of three.
std::string ToModifiedUtf8(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    if (byte == 0) {
      out += "\xc0\x80";
    } else if (byte >= 0xf0 && i + 3 < text.size()) {
      const uint32_t code = (byte & 0x07u) << 18 | (text[i + 1] & 0x3fu) << 12 | (text[i + 2] & 0x3fu) << 6 | (text[i + 3] & 0x3fu);
      for (const uint32_t unit : {0xd800 + ((code - 0x10000) >> 10), 0xdc00 + ((code - 0x10000) & 0x3ff)}) {
        out += static_cast<char>(0xe0 | unit >> 12);
        out += static_cast<char>(0x80 | (unit >> 6 & 0x3f));
        out += static_cast<char>(0x80 | (unit & 0x3f));
      }
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

/// One UTF-16 unit of a three-byte sequence at `at`.
uint32_t UnitAt(std::string_view text, size_t at) {
  return (text[at] & 0x0fu) << 12 | (text[at + 1] & 0x3fu) << 6 | (text[at + 2] & 0x3fu);
}

std::string FromModifiedUtf8(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    if (byte == 0xc0 && i + 1 < text.size() && static_cast<uint8_t>(text[i + 1]) == 0x80) {
      out += '\0';
      ++i;
    } else if (byte == 0xed && i + 5 < text.size() && UnitAt(text, i) >= 0xd800 && UnitAt(text, i) < 0xdc00) {
      const uint32_t code = 0x10000 + ((UnitAt(text, i) - 0xd800) << 10) + (UnitAt(text, i + 3) & 0x3ff);
      out += static_cast<char>(0xf0 | code >> 18);
      out += static_cast<char>(0x80 | (code >> 12 & 0x3f));
      out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
      out += static_cast<char>(0x80 | (code & 0x3f));
      i += 5;
    } else {
      out += text[i];
    }
  }
  return out;
}

Result<std::string> ReadUtf(ByteReader& reader) {
  ARROW_ASSIGN_OR_RAISE(const std::string_view length, reader.Take(2, "a schema file"));
  ARROW_ASSIGN_OR_RAISE(const std::string_view text, reader.Take(LoadBig16(length.data()), "a schema file"));
  return std::string(text);
}

Result<std::string> ReadChunks(ByteReader& reader) {
  ARROW_ASSIGN_OR_RAISE(const std::string_view count_bytes, reader.Take(4, "a schema file"));
  std::string text;
  for (uint32_t left = LoadBig32(count_bytes.data()); left > 0; --left) {
    ARROW_ASSIGN_OR_RAISE(const std::string chunk, ReadUtf(reader));
    text += chunk;
  }
  return text;
}

void AppendUtf(std::string_view text, std::string* out) {
  AppendBig16(static_cast<uint16_t>(text.size()), out);
  out->append(text);
}

void AppendChunks(const std::string& json, std::string* out) {
  const std::string text = ToModifiedUtf8(json);
  AppendBig32(static_cast<uint32_t>((text.size() + kMaxChunkBytes - 1) / kMaxChunkBytes), out);
  for (size_t at = 0; at < text.size(); at += kMaxChunkBytes) AppendUtf(std::string_view(text).substr(at, kMaxChunkBytes), out);
}

type::TypePtr Nullable(const type::TypePtr& type);

std::vector<type::Field> NullableFields(const std::vector<type::Field>& fields) {
  std::vector<type::Field> out;
  for (const type::Field& field : fields) out.push_back({field.name, Nullable(field.type), true, field.metadata_json});
  return out;
}

type::TypePtr Nullable(const type::TypePtr& type) {
  switch (type->kind()) {
    case Kind::kStruct:
      return type::Struct(NullableFields(type->fields()));
    case Kind::kArray:
      return type::Array(Nullable(type->element()), true);
    case Kind::kMap:
      return type::Map(Nullable(type->key()), Nullable(type->element()), true);
    default:
      return type;
  }
}

bool Fits(const std::vector<type::Field>& stored, const std::vector<type::Field>& wanted);

/// Equal types without regard to names; what is stored as nullable may be wanted otherwise, but not the reverse: rows written from now
/// on could
/// hold a null that the recorded schema excludes.
bool Fits(const DataType& stored, const DataType& wanted) {
  if (stored.kind() != wanted.kind()) return false;
  switch (stored.kind()) {
    case Kind::kDecimal:
      return stored.precision() == wanted.precision() && stored.scale() == wanted.scale();
    case Kind::kStruct:
      return Fits(stored.fields(), wanted.fields());
    case Kind::kMap:
      if (!Fits(*stored.key(), *wanted.key())) return false;
      [[fallthrough]];
    case Kind::kArray:
      return Fits(*stored.element(), *wanted.element()) && (stored.contains_null() || !wanted.contains_null());
    default:
      return true;
  }
}

bool Fits(const std::vector<type::Field>& stored, const std::vector<type::Field>& wanted) {
  if (stored.size() != wanted.size()) return false;
  for (size_t i = 0; i < stored.size(); ++i) {
    if (!Fits(*stored[i].type, *wanted[i].type) || (!stored[i].nullable && wanted[i].nullable)) return false;
  }
  return true;
}

std::string SchemaPath(const std::string& state_root, int64_t operator_id, const std::string& store_name) {
  return StoreDirectory(state_root, operator_id, 0, store_name) + "/_metadata/schema";
}

Status Incompatible(const char* part, const char* condition, const type::Schema& stored, const type::Schema& wanted,
                    const std::string& path) {
  return UserError(condition,
                   "Provided {0} schema does not match existing state {0} schema. Existing: {1}. Provided: {2}. The query was changed in a "
                   "way that its state "
                   "in {3} does not allow. To go on with it, restore the query; to force it, set "
                   "spark.sql.streaming.stateStore.stateSchemaCheck to false, which risks "
                   "wrong results.",
                   part, stored.AsStruct()->ToString(), wanted.AsStruct()->ToString(), path)
      .Param(fmt::format("stored{}Schema", part[0] == 'k' ? "Key" : "Value"), stored.ToJson())
      .Param(fmt::format("new{}Schema", part[0] == 'k' ? "Key" : "Value"), wanted.ToJson())
      .Path(path);
}

}  // namespace

Result<StateSchema> ParseStateSchema(std::string_view bytes) {
  ByteReader reader(bytes);
  ARROW_ASSIGN_OR_RAISE(const std::string version, ReadUtf(reader));
  if (version != "v1" && version != "v2")
    return Status::Invalid("schema files of versions v1 and v2 are understood, this one says '", version, "'");
  std::string json[2];
  for (std::string& text : json) {
    ARROW_ASSIGN_OR_RAISE(const std::string modified, version == "v1" ? ReadUtf(reader) : ReadChunks(reader));
    text = FromModifiedUtf8(modified);
  }
  StateSchema schema;
  ARROW_ASSIGN_OR_RAISE(schema.key, type::Schema::FromJson(json[0]));
  ARROW_ASSIGN_OR_RAISE(schema.value, type::Schema::FromJson(json[1]));
  return schema;
}

std::string PrintStateSchema(const StateSchema& schema) {
  std::string out;
  AppendUtf("v2", &out);
  AppendChunks(type::Schema{NullableFields(schema.key.fields)}.ToJson(), &out);
  AppendChunks(type::Schema{NullableFields(schema.value.fields)}.ToJson(), &out);
  return out;
}

Result<std::optional<StateSchema>> ReadStateSchema(fs::FileSystem& file_system, const std::string& state_root, int64_t operator_id,
                                                   const std::string& store_name) {
  const std::string path = SchemaPath(state_root, operator_id, store_name);
  const Result<std::string> bytes = file_system.Read(path);
  if (fs::IsNotFound(bytes.status())) return std::nullopt;
  ARROW_RETURN_NOT_OK(bytes.status());
  Result<StateSchema> schema = ParseStateSchema(*bytes);
  if (schema.ok()) return std::move(*schema);
  return ExternalError("STDS_FAILED_TO_READ_STATE_SCHEMA",
                       "The state schema file {} cannot be read: {}. Restore it from a backup, or remove it: it is written again from the "
                       "query when it "
                       "is missing.",
                       path, schema.status().message())
      .Param("stateCheckpointLocation", state_root)
      .Path(path);
}

Status CheckOrWriteStateSchema(fs::FileSystem& file_system, const std::string& state_root, int64_t operator_id,
                               const std::string& store_name, const StateSchema& schema) {
  ARROW_ASSIGN_OR_RAISE(const auto stored, ReadStateSchema(file_system, state_root, operator_id, store_name));
  const std::string path = SchemaPath(state_root, operator_id, store_name);
  if (!stored) return file_system.CreateIfAbsent(path, PrintStateSchema(schema)).status();
  if (!Fits(stored->key.fields, schema.key.fields)) {
    return Incompatible("key", "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE", stored->key, schema.key, path);
  }
  if (!Fits(stored->value.fields, schema.value.fields)) {
    return Incompatible("value", "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE", stored->value, schema.value, path);
  }
  // It may be there and not on disk: an attempt that failed, or a process that died, between its link and its sync.
  return file_system.MakeDurable(std::span(&path, 1));
}

}  // namespace tidemill::state
