#include "state/operator_metadata.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

namespace tidemill::state {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kVersion1 = "v1";
constexpr std::string_view kVersion2 = "v2";

std::optional<int64_t> ParseId(std::string_view name) {
  int64_t id = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
  if (name.empty() || error != std::errc() || end != name.data() + name.size() || id < 0) return std::nullopt;
  return id;
}

std::string MetadataDirectory(const std::string& state_root, int64_t operator_id) {
  return fmt::format("{}/{}/_metadata", state_root, operator_id);
}
std::string MetadataPath(const std::string& state_root, int64_t operator_id) {
  return fs::Join(MetadataDirectory(state_root, operator_id), "metadata");
}

/// The newest file of version 2; nullopt when there is none.
Result<std::optional<std::string>> NewestVersion2(fs::FileSystem& file_system, const std::string& state_root, int64_t operator_id) {
  const std::string directory = fs::Join(MetadataDirectory(state_root, operator_id), "v2");
  ARROW_ASSIGN_OR_RAISE(const auto entries, file_system.List(directory));
  std::optional<int64_t> newest;
  for (const fs::FileInfo& entry : entries.value_or(std::vector<fs::FileInfo>{})) {
    const auto id = ParseId(entry.name);
    if (id && (!newest || *id > *newest)) newest = id;
  }
  if (!newest) return std::nullopt;
  return fs::Join(directory, std::to_string(*newest));
}

}  // namespace

Result<OperatorMetadata> ParseOperatorMetadata(std::string_view text) {
  const size_t line_end = text.find('\n');
  const std::string_view version = text.substr(0, line_end);
  if (version != kVersion1 && version != kVersion2) {
    return ExternalError("STDS_FAILED_TO_READ_OPERATOR_METADATA", "Operator metadata begin with '{}'; versions v1 and v2 are understood.",
                         version);
  }
  if (line_end == std::string_view::npos)
    return ExternalError("STDS_FAILED_TO_READ_OPERATOR_METADATA", "Operator metadata end after their version.");
  const Json json = Json::parse(text.substr(line_end + 1), nullptr, /*allow_exceptions=*/false);
  OperatorMetadata metadata;
  try {
    const Json& info = json.at("operatorInfo");
    metadata.operator_id = info.at("operatorId").get<int64_t>();
    metadata.operator_name = info.at("operatorName").get<std::string>();
    for (const Json& store : json.at("stateStoreInfo")) {
      metadata.stores.push_back(
          {store.at("storeName").get<std::string>(), store.at("numColsPrefixKey").get<int>(), store.at("numPartitions").get<int>()});
    }
  } catch (const Json::exception& error) {
    return ExternalError("STDS_FAILED_TO_READ_OPERATOR_METADATA", "Operator metadata are damaged: {}", error.what());
  }
  return metadata;
}

std::string PrintOperatorMetadata(const OperatorMetadata& metadata) {
  Json stores = Json::array();
  for (const StoreInfo& store : metadata.stores) {
    stores.push_back(
        {{"storeName", store.store_name}, {"numColsPrefixKey", store.num_cols_prefix_key}, {"numPartitions", store.num_partitions}});
  }
  const Json json = {{"operatorInfo", {{"operatorId", metadata.operator_id}, {"operatorName", metadata.operator_name}}},
                     {"stateStoreInfo", stores}};
  return fmt::format("{}\n{}", kVersion1, json.dump());
}

Result<std::vector<OperatorMetadata>> ReadOperatorMetadata(fs::FileSystem& file_system, const std::string& state_root) {
  std::vector<OperatorMetadata> operators;
  ARROW_ASSIGN_OR_RAISE(const auto entries, file_system.List(state_root));
  for (const fs::FileInfo& entry : entries.value_or(std::vector<fs::FileInfo>{})) {
    const auto id = ParseId(entry.name);
    if (!id || !entry.is_directory) continue;
    ARROW_ASSIGN_OR_RAISE(const auto newest, NewestVersion2(file_system, state_root, *id));
    const std::string path = newest.value_or(MetadataPath(state_root, *id));
    const Result<std::string> text = file_system.Read(path);
    if (fs::IsNotFound(text.status())) continue;
    ARROW_RETURN_NOT_OK(text.status());
    Result<OperatorMetadata> metadata = ParseOperatorMetadata(*text);
    if (!metadata.ok()) return WithContext(metadata.status(), path);
    operators.push_back(std::move(*metadata));
  }
  std::sort(operators.begin(), operators.end(), [](const auto& a, const auto& b) { return a.operator_id < b.operator_id; });
  return operators;
}

Status WriteOperatorMetadata(fs::FileSystem& file_system, const std::string& state_root, const std::vector<OperatorMetadata>& operators) {
  for (const OperatorMetadata& metadata : operators) {
    ARROW_ASSIGN_OR_RAISE(const auto newest, NewestVersion2(file_system, state_root, metadata.operator_id));
    if (newest) continue;
    // Written once and never replaced; the comparison with the plan is the caller's.
    ARROW_RETURN_NOT_OK(
        file_system.CreateIfAbsent(MetadataPath(state_root, metadata.operator_id), PrintOperatorMetadata(metadata)).status());
  }
  return Status::OK();
}

}  // namespace tidemill::state
