#pragma once

// The tables and views of a session, by name. Names are compared without case; `default` and `spark_catalog.default` in front of one change nothing.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "plan/analyzer.h"

namespace tidemill::query {

class SessionCatalog final : public plan::Catalog {
 public:
  /// Add a table. Errors: TABLE_OR_VIEW_ALREADY_EXISTS unless `if_not_exists`, with which the one that is there stays.
  Status AddTable(const std::vector<std::string>& name, plan::TableDescription table, bool if_not_exists);
  /// Add a temporary view over a data source. Errors: TEMP_TABLE_OR_VIEW_ALREADY_EXISTS unless `or_replace`.
  Status AddSourceView(const std::vector<std::string>& name, plan::TableDescription table, bool or_replace);
  /// Add a temporary view over an analysed plan. Errors: as AddSourceView.
  Status AddView(const std::vector<std::string>& name, plan::PlanPtr analyzed, bool or_replace);

  std::shared_ptr<const plan::TableDescription> FindTable(const std::vector<std::string>& name) const override;
  plan::PlanPtr FindView(const std::vector<std::string>& name) const override;
  std::vector<std::string> Names() const override;

 private:
  /// One name stands for a table or for a view, never for both.
  struct Entry {
    std::string name;  ///< as it was written
    std::shared_ptr<const plan::TableDescription> table;
    plan::PlanPtr view;
  };

  Status AddTemporary(const std::vector<std::string>& name, Entry entry, bool or_replace);
  const Entry* Find(const std::vector<std::string>& name) const;

  std::map<std::string, Entry> entries_;
};

/// "db.t" of {"db", "t"}.
std::string DottedName(const std::vector<std::string>& name);

}  // namespace tidemill::query
