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
  /// Where the source itself says which columns it has; empty: the user does.
  std::function<Result<type::Schema>(const std::map<std::string, std::string>& options)> own_schema;
  std::string provider;  ///< what Spark calls the class, for its errors; only with `own_schema`
  /// Checked when a table is defined or a query starts; names unknown options with their nearest neighbour.
  std::vector<std::string> known_options;  ///< lower case
  bool needs_checkpoint = true;            ///< false: console, noop, memory may use a temporary one
  bool append_only = false;                ///< the file sink
};

/// The columns of a table of `format`, given those that the user declared. Errors: _LEGACY_ERROR_TEMP_2242 where none may be declared.
Result<type::Schema> ColumnsOf(const Format& format, const std::map<std::string, std::string>& options, const type::Schema& declared);

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
