#include "connector/file/file_format.h"

#include <algorithm>

#include "connector/file/file_sink.h"
#include "connector/file/file_source.h"
#include "connector/file/file_source_options.h"
#include "format/json_options.h"

namespace tidemill::connector {

void RegisterFileFormats(Registry& registry) {
  Format json;
  json.make_source = MakeJsonFileSource;
  json.make_sink = MakeJsonFileSink;
  for (const auto& names : {FileSourceOptions::Known(), format::JsonOptions::Known(), JsonFileSinkOptions()}) {
    json.known_options.insert(json.known_options.end(), names.begin(), names.end());
  }
  std::sort(json.known_options.begin(), json.known_options.end());
  json.known_options.erase(std::unique(json.known_options.begin(), json.known_options.end()), json.known_options.end());
  json.append_only = true;
  registry.Add("json", std::move(json));
}

}  // namespace tidemill::connector
