#pragma once

// A small catalog for the tests of this folder: table `e` of events, streaming views `sv` (the same columns) and `r` (another clock).

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "plan/analyzer.h"

namespace tidemill::plan {

class TestCatalog : public Catalog {
 public:
  TestCatalog() {
    Add("e", "ts TIMESTAMP, k STRING, v INT", false);
    Add("sv", "ts TIMESTAMP, k STRING, v INT", true);
    Add("r", "rt TIMESTAMP_NTZ, k STRING, s STRUCT<a: INT, b: STRING>", true);
  }
  std::shared_ptr<const TableDescription> FindTable(const std::vector<std::string>& name) const override {
    auto found = tables_.find(name.back());
    return found == tables_.end() ? nullptr : found->second;
  }
  PlanPtr FindView(const std::vector<std::string>& name) const override {
    auto found = views_.find(name.back());
    return found == views_.end() ? nullptr : found->second;
  }
  std::vector<std::string> Names() const override { return {"e", "sv", "r", "events"}; }
  void AddView(const std::string& name, PlanPtr plan) { views_[name] = std::move(plan); }

 private:
  void Add(const std::string& name, const char* ddl, bool is_view) {
    auto table = std::make_shared<TableDescription>();
    table->name = name;
    table->format = "json";
    table->schema = type::ParseDdl(ddl).ValueOrDie();
    table->is_streaming_view = is_view;
    tables_[name] = std::move(table);
  }

  std::map<std::string, std::shared_ptr<const TableDescription>> tables_;
  std::map<std::string, PlanPtr> views_;
};

}  // namespace tidemill::plan
