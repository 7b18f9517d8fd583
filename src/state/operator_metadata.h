#pragma once

// R/state/<op>/_metadata/metadata (version 1; 2 is read) and the binary state schema file R/state/<op>/0/_metadata/schema (versions 1
// and 2). docs/formats/state-schema.md.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "fs/file_system.h"
#include "type/data_type.h"

namespace tidemill::state {

struct StoreInfo {
  std::string store_name = "default";
  int num_cols_prefix_key = 0;
  int num_partitions = 0;
};

struct OperatorMetadata {
  int64_t operator_id = 0;
  std::string operator_name;  ///< "stateStoreSave", …
  std::vector<StoreInfo> stores;
};

Result<OperatorMetadata> ParseOperatorMetadata(std::string_view text);
std::string PrintOperatorMetadata(const OperatorMetadata& metadata);
/// All operators below R/state that have metadata, by id; empty for a 3.x checkpoint.
Result<std::vector<OperatorMetadata>> ReadOperatorMetadata(fs::FileSystem& file_system, const std::string& state_root);
/// Create the file of each operator that lacks one.
Status WriteOperatorMetadata(fs::FileSystem& file_system, const std::string& state_root, const std::vector<OperatorMetadata>& operators);

struct StateSchema {
  type::Schema key;
  type::Schema value;
};

Result<StateSchema> ParseStateSchema(std::string_view bytes);
/// Version 2, all columns nullable, so that every release can go on from it.
std::string PrintStateSchema(const StateSchema& schema);
Result<std::optional<StateSchema>> ReadStateSchema(fs::FileSystem& file_system, const std::string& state_root, int64_t operator_id,
                                                   const std::string& store_name);
/// Compare with what is stored (types equal ignoring names, nullability compatible) or write it when absent. Errors:
/// STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE / STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE.
Status CheckOrWriteStateSchema(fs::FileSystem& file_system, const std::string& state_root, int64_t operator_id,
                               const std::string& store_name, const StateSchema& schema);

}  // namespace tidemill::state
