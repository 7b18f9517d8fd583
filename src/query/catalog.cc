#include "query/catalog.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace tidemill::query {

namespace {

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// The key of a name: lower case, without the parts that name the only catalog and the only database.
std::string Key(const std::vector<std::string>& name) {
  std::vector<std::string> parts;
  for (const std::string& part : name) parts.push_back(Lower(part));
  if (parts.size() == 3 && parts[0] == "spark_catalog") parts.erase(parts.begin());
  if (parts.size() == 2 && parts[0] == "default") parts.erase(parts.begin());
  return DottedName(parts);
}

/// As Spark's messages print a name: each part in backticks.
std::string Quoted(const std::vector<std::string>& name) {
  std::string text;
  for (const std::string& part : name) text += (text.empty() ? "`" : ".`") + part + "`";
  return text;
}

}  // namespace

std::string DottedName(const std::vector<std::string>& name) {
  std::string text;
  for (const std::string& part : name) text += (text.empty() ? "" : ".") + part;
  return text;
}

Status SessionCatalog::AddTable(const std::vector<std::string>& name, plan::TableDescription table, bool if_not_exists) {
  const auto [position, added] =
      entries_.try_emplace(Key(name), Entry{DottedName(name), std::make_shared<plan::TableDescription>(std::move(table)), nullptr});
  if (added || if_not_exists) return Status::OK();
  return UserError("TABLE_OR_VIEW_ALREADY_EXISTS", "A table or view {} is defined already; choose another name or write IF NOT EXISTS", Quoted(name))
      .Param("relationName", Quoted(name));
}

Status SessionCatalog::AddSourceView(const std::vector<std::string>& name, plan::TableDescription table, bool or_replace) {
  return AddTemporary(name, Entry{DottedName(name), std::make_shared<plan::TableDescription>(std::move(table)), nullptr}, or_replace);
}

Status SessionCatalog::AddView(const std::vector<std::string>& name, plan::PlanPtr analyzed, bool or_replace) {
  return AddTemporary(name, Entry{DottedName(name), nullptr, std::move(analyzed)}, or_replace);
}

Status SessionCatalog::AddTemporary(const std::vector<std::string>& name, Entry entry, bool or_replace) {
  if (!or_replace && Find(name) != nullptr) {
    return UserError("TEMP_TABLE_OR_VIEW_ALREADY_EXISTS", "A temporary view {} is defined already; choose another name or write OR REPLACE", Quoted(name))
        .Param("relationName", Quoted(name));
  }
  entries_.insert_or_assign(Key(name), std::move(entry));
  return Status::OK();
}

const SessionCatalog::Entry* SessionCatalog::Find(const std::vector<std::string>& name) const {
  const auto found = entries_.find(Key(name));
  return found == entries_.end() ? nullptr : &found->second;
}

std::shared_ptr<const plan::TableDescription> SessionCatalog::FindTable(const std::vector<std::string>& name) const {
  const Entry* entry = Find(name);
  return entry == nullptr ? nullptr : entry->table;
}

plan::PlanPtr SessionCatalog::FindView(const std::vector<std::string>& name) const {
  const Entry* entry = Find(name);
  return entry == nullptr ? nullptr : entry->view;
}

std::vector<std::string> SessionCatalog::Names() const {
  std::vector<std::string> names;
  for (const auto& [key, entry] : entries_) names.push_back(entry.name);
  return names;
}

}  // namespace tidemill::query
