#include "plan/column_metadata.h"

#include <nlohmann/json.hpp>

namespace tidemill::plan {

namespace {

// Persisted: Spark writes both keys into the schema files of a state store.
constexpr char kWatermarkDelay[] = "spark.watermarkDelayMs";
constexpr char kTimeWindow[] = "spark.timeWindow";

// Metadata comes from Spark's or our own schema text, so anything but an object is taken as empty.
nlohmann::json Parse(std::string_view text) {
  nlohmann::json object = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  return object.is_object() ? object : nlohmann::json::object();
}

}  // namespace

std::optional<int64_t> WatermarkDelayMs(std::string_view metadata_json) {
  if (metadata_json.find(kWatermarkDelay) == std::string_view::npos) return std::nullopt;
  nlohmann::json object = Parse(metadata_json);
  auto found = object.find(kWatermarkDelay);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<int64_t>();
}

std::string WithWatermarkDelay(std::string_view metadata_json, std::optional<int64_t> delay_ms) {
  nlohmann::json object = Parse(metadata_json);
  if (delay_ms) {
    object[kWatermarkDelay] = *delay_ms;
  } else {
    object.erase(kWatermarkDelay);
  }
  return object.dump();
}

bool IsTimeWindow(std::string_view metadata_json) {
  nlohmann::json object = Parse(metadata_json);
  auto found = object.find(kTimeWindow);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

std::string WithTimeWindow(std::string_view metadata_json, bool is_window) {
  nlohmann::json object = Parse(metadata_json);
  if (is_window) {
    object[kTimeWindow] = true;
  } else {
    object.erase(kTimeWindow);
  }
  return object.dump();
}

}  // namespace tidemill::plan
