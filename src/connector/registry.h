#pragma once

// Which formats exist. Filled in by cli/main.cc (and by tests): no self-registration.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "connector/sink.h"
#include "connector/source.h"

namespace tidemill::connector {

struct Format {
  std::function<Result<std::unique_ptr<Source>>(const SourceContext&)> make_source;  ///< empty: no streamed reading
  std::function<Result<std::unique_ptr<Sink>>(const SinkContext&)> make_sink;        ///< empty: no streamed writing
  /// Checked when a table is defined or a query starts; names unknown options with their nearest neighbour.
  std::vector<std::string> known_options;  ///< lower case
  bool needs_checkpoint = true;            ///< false: console, noop, memory may use a temporary one
  bool append_only = false;                ///< the file sink
};

class Registry {
 public:
  void Add(const std::string& name, Format format);
  /// Errors: DATA_SOURCE_NOT_FOUND with the nearest known name.
  Result<const Format*> Find(const std::string& name) const;
  std::vector<std::string> Names() const;

 private:
  std::map<std::string, Format> formats_;
};

}  // namespace tidemill::connector
