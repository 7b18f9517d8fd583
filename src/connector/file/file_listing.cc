#include "connector/file/file_listing.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "checkpoint/compactible_log.h"

namespace tidemill::connector {

namespace {

constexpr char kSinkLog[] = "_spark_metadata";
constexpr std::string_view kGlobCharacters = "*?[]{}";

/// `[abc]`, `[a-z]`, `[^a]` at glob[0]; sets `*length` to the class's length, 0 when it is not closed.
bool MatchesClass(std::string_view glob, char c, size_t* length) {
  const size_t close = glob.find(']', 1);
  *length = close == std::string_view::npos ? 0 : close + 1;
  if (*length == 0) return false;
  std::string_view body = glob.substr(1, close - 1);
  const bool negated = !body.empty() && (body[0] == '^' || body[0] == '!');
  if (negated) body.remove_prefix(1);
  bool found = false;
  for (size_t i = 0; i < body.size(); ++i) {
    if (i + 2 < body.size() && body[i + 1] == '-') {
      found |= body[i] <= c && c <= body[i + 2];
      i += 2;
    } else {
      found |= body[i] == c;
    }
  }
  return found != negated;
}

/// Globs without braces.
bool MatchesSimple(std::string_view glob, std::string_view name) {
  size_t g = 0;
  size_t n = 0;
  size_t star = std::string_view::npos;
  size_t star_name = 0;
  while (n < name.size()) {
    size_t class_length = 0;
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      star_name = n;
    } else if (g + 1 < glob.size() && glob[g] == '\\' && glob[g + 1] == name[n]) {
      g += 2;
      ++n;
    } else if (g < glob.size() && glob[g] == '[' && MatchesClass(glob.substr(g), name[n], &class_length)) {
      g += class_length;
      ++n;
    } else if (g < glob.size() && glob[g] != '[' && (glob[g] == '?' || glob[g] == name[n])) {
      ++g;
      ++n;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      n = ++star_name;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

/// The place of the `}` that closes the brace at `open`, npos when none does. `commas`: of those that part its alternatives.
size_t FindBraceEnd(std::string_view glob, size_t open, std::vector<size_t>* commas) {
  int depth = 0;
  for (size_t i = open; i < glob.size(); ++i) {
    if (glob[i] == '\\') ++i;
    else if (glob[i] == '{') ++depth;
    else if (glob[i] == ',' && depth == 1) commas->push_back(i);
    else if (glob[i] == '}' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

/// `x{a,b}` as `xa`, `xb`: one glob without braces for each choice of alternatives, which may hold slashes and braces themselves.
void ExpandBraces(const std::string& glob, std::vector<std::string>* out) {
  size_t open = 0;
  while (open < glob.size() && glob[open] != '{') open += glob[open] == '\\' ? 2 : 1;
  std::vector<size_t> cuts = {open};
  const size_t close = open < glob.size() ? FindBraceEnd(glob, open, &cuts) : std::string::npos;
  if (close == std::string::npos) {
    out->push_back(glob);
    return;
  }
  cuts.push_back(close);
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    ExpandBraces(glob.substr(0, open) + glob.substr(cuts[i] + 1, cuts[i + 1] - cuts[i] - 1) + glob.substr(close + 1), out);
  }
}

bool IsHidden(std::string_view name) {
  if (name.starts_with('.')) return true;
  if (name.starts_with('_') && name.find('=') == std::string_view::npos) return true;
  return name.ends_with("._COPYING_");
}

bool IsPartitionFolder(std::string_view name) {
  const size_t equals = name.find('=');
  return equals != std::string_view::npos && equals > 0;
}

class Lister {
 public:
  Lister(fs::FileSystem& file_system, const ListingOptions& options) : file_system_(file_system), options_(options) {}

  Status AddFolder(const std::string& folder) {
    ARROW_ASSIGN_OR_RAISE(const auto entries, file_system_.List(folder));
    if (!entries) return Status::OK();  // gone since its parent was listed
    for (const fs::FileInfo& entry : *entries) {
      if (IsHidden(entry.name)) continue;
      const std::string path = fs::Join(folder, entry.name);
      if (!entry.is_directory) {
        AddFile(path, entry);
      } else if (options_.recursive) {
        ARROW_RETURN_NOT_OK(AddFolder(path));
      } else if (IsPartitionFolder(entry.name)) {
        return UserError("TIDEMILL_UNSUPPORTED_FEATURE",
                         "{} looks like a partition column of the input, which is not supported yet. Read one such folder, or set recursiveFileLookup to read "
                         "the files below it without that column.",
                         path)
            .Path(path);
      }
    }
    return Status::OK();
  }

  void AddFile(const std::string& path, const fs::FileInfo& info) {
    if (options_.path_glob_filter && !MatchesGlob(*options_.path_glob_filter, info.name)) return;
    files_.push_back({path, info.size_bytes, info.modified_ms});
  }

  /// Expand the components of the path from `next` on below `folder`.
  Status AddGlob(const std::string& folder, const std::vector<std::string>& components, size_t next) {
    if (next == components.size()) return AddFolder(folder);
    const std::string& component = components[next];
    if (!HasGlob(component)) {
      const std::string path = fs::Join(folder, component);
      ARROW_ASSIGN_OR_RAISE(const auto info, file_system_.Stat(path));
      if (!info) return Status::OK();
      if (info->is_directory) return AddGlob(path, components, next + 1);
      if (next + 1 == components.size()) AddFile(path, *info);
      return Status::OK();
    }
    ARROW_ASSIGN_OR_RAISE(const auto entries, file_system_.List(folder));
    if (!entries) return Status::OK();
    for (const fs::FileInfo& entry : *entries) {
      if (IsHidden(entry.name) || !MatchesGlob(component, entry.name)) continue;
      const std::string path = fs::Join(folder, entry.name);
      if (entry.is_directory) {
        ARROW_RETURN_NOT_OK(AddGlob(path, components, next + 1));
      } else if (next + 1 == components.size()) {
        AddFile(path, entry);
      }
    }
    return Status::OK();
  }

  std::vector<ListedFile> Take() { return std::move(files_); }

 private:
  fs::FileSystem& file_system_;
  const ListingOptions& options_;
  std::vector<ListedFile> files_;
};

std::vector<std::string> ComponentsOf(const std::string& path) {
  std::vector<std::string> components;
  size_t begin = 1;
  while (begin < path.size()) {
    const size_t end = std::min(path.find('/', begin), path.size());
    if (end > begin) components.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return components;
}

/// A line of a file sink's log, of which `*added` says whether it adds its file; nullopt for a folder.
Result<std::optional<ListedFile>> ParseSinkLine(const std::string& line, const std::string& folder, bool* added) {
  const auto entry = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  // Fields of Spark's that are not about a file's place and time may be missing, but not be something else.
  const auto is = [&](const char* name, bool (nlohmann::json::*is_type)() const, bool absent) {
    return entry.contains(name) ? (entry[name].*is_type)() : absent;
  };
  using Json = nlohmann::json;
  if (!entry.is_object() || !is("path", &Json::is_string, false) || !is("size", &Json::is_number_integer, false) ||
      !is("modificationTime", &Json::is_number_integer, false) || !is("isDir", &Json::is_boolean, true) || !is("action", &Json::is_string, true)) {
    return ExternalError("TIDEMILL_MALFORMED_LOG",
                         "A line of the file sink's log {} names no file: {}. Restore the log from a copy, or write the output anew to another folder.", folder,
                         line.substr(0, 120))
        .Path(folder);
  }
  *added = entry.value("action", "add") == "add";
  if (entry.value("isDir", false)) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(std::string path, fs::LocalPath(entry["path"].get<std::string>(), "/"));
  return ListedFile{std::move(path), entry["size"].get<int64_t>(), entry["modificationTime"].get<int64_t>()};
}

/// What a file sink's log says its folder holds. The last line about a file counts; only old releases of Spark take files back.
Result<std::vector<ListedFile>> ReadSinkLog(fs::FileSystem& file_system, Clock& clock, const std::string& folder) {
  checkpoint::CompactibleLog log(file_system, clock, folder, {});
  ARROW_ASSIGN_OR_RAISE(const auto lines, log.AllLines());
  std::unordered_map<std::string, ListedFile> by_path;
  for (const std::string& line : lines) {
    bool added = false;
    ARROW_ASSIGN_OR_RAISE(std::optional<ListedFile> file, ParseSinkLine(line, folder, &added));
    if (!file) continue;
    if (added) {
      by_path.insert_or_assign(file->path, *file);
    } else {
      by_path.erase(file->path);
    }
  }
  std::vector<ListedFile> files;
  files.reserve(by_path.size());
  for (auto& [path, file] : by_path) files.push_back(std::move(file));
  return files;
}

Result<std::vector<ListedFile>> ListGlob(fs::FileSystem& file_system, const ListingOptions& options) {
  Lister lister(file_system, options);
  std::vector<std::string> globs;
  ExpandBraces(options.path, &globs);
  for (const std::string& glob : globs) ARROW_RETURN_NOT_OK(lister.AddGlob("/", ComponentsOf(glob), 0));
  std::vector<ListedFile> files = lister.Take();
  if (globs.size() > 1) {
    // Alternatives may overlap.
    std::sort(files.begin(), files.end(), [](const ListedFile& a, const ListedFile& b) { return a.path < b.path; });
    files.erase(std::unique(files.begin(), files.end(), [](const ListedFile& a, const ListedFile& b) { return a.path == b.path; }), files.end());
  }
  return files;
}

/// A path without a glob: a sink's folder, another folder, a file or nothing.
Result<std::vector<ListedFile>> ListPath(fs::FileSystem& file_system, Clock& clock, const ListingOptions& options) {
  Lister lister(file_system, options);
  ARROW_ASSIGN_OR_RAISE(const auto info, file_system.Stat(options.path));
  if (!info) return lister.Take();
  if (!info->is_directory) {
    lister.AddFile(options.path, *info);
    return lister.Take();
  }
  const std::string sink_log = fs::Join(options.path, kSinkLog);
  ARROW_ASSIGN_OR_RAISE(const auto log_info, file_system.Stat(sink_log));
  if (!log_info || !log_info->is_directory) {
    ARROW_RETURN_NOT_OK(lister.AddFolder(options.path));
    return lister.Take();
  }
  ARROW_ASSIGN_OR_RAISE(std::vector<ListedFile> files, ReadSinkLog(file_system, clock, sink_log));
  if (options.path_glob_filter) {
    std::erase_if(files, [&](const ListedFile& file) { return !MatchesGlob(*options.path_glob_filter, fs::BaseName(file.path)); });
  }
  return files;
}

}  // namespace

bool HasGlob(std::string_view path) { return path.find_first_of(kGlobCharacters) != std::string_view::npos; }

bool MatchesGlob(std::string_view glob, std::string_view name) {
  std::vector<std::string> globs;
  ExpandBraces(std::string(glob), &globs);
  return std::any_of(globs.begin(), globs.end(), [&](const std::string& one) { return MatchesSimple(one, name); });
}

Result<std::vector<ListedFile>> ListFiles(fs::FileSystem& file_system, Clock& clock, const ListingOptions& options) {
  ARROW_ASSIGN_OR_RAISE(std::vector<ListedFile> files,
                        HasGlob(options.path) ? ListGlob(file_system, options) : ListPath(file_system, clock, options));
  std::sort(files.begin(), files.end(),
            [](const ListedFile& a, const ListedFile& b) { return a.modified_ms != b.modified_ms ? a.modified_ms < b.modified_ms : a.path < b.path; });
  return files;
}

Result<bool> SourcePathExists(fs::FileSystem& file_system, const ListingOptions& options) {
  std::string path;
  for (const std::string& component : ComponentsOf(options.path)) {
    if (HasGlob(component)) break;
    path += "/" + component;
  }
  ARROW_ASSIGN_OR_RAISE(const auto info, file_system.Stat(path.empty() ? "/" : path));
  return info.has_value();
}

}  // namespace tidemill::connector
