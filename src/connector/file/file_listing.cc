#include "connector/file/file_listing.h"

#include <algorithm>
#include <nlohmann/json.hpp>

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

/// What a file sink's log says its folder holds.
Result<std::vector<ListedFile>> ReadSinkLog(fs::FileSystem& file_system, Clock& clock, const std::string& folder) {
  checkpoint::CompactibleLog log(file_system, clock, folder, {});
  ARROW_ASSIGN_OR_RAISE(const auto lines, log.AllLines());
  std::vector<ListedFile> files;
  for (const std::string& line : lines) {
    const auto entry = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!entry.is_object() || !entry.contains("path") || !entry["path"].is_string()) {
      return ExternalError("TIDEMILL_MALFORMED_LOG", "A line of the file sink's log {} names no file: {}", folder, line.substr(0, 120)).Path(folder);
    }
    if (entry.value("action", "add") != "add" || entry.value("isDir", false)) continue;
    ARROW_ASSIGN_OR_RAISE(std::string path, fs::LocalPath(entry["path"].get<std::string>(), "/"));
    files.push_back({std::move(path), entry.value("size", int64_t{0}), entry.value("modificationTime", int64_t{0})});
  }
  return files;
}

}  // namespace

bool HasGlob(std::string_view path) { return path.find_first_of(kGlobCharacters) != std::string_view::npos; }

bool MatchesGlob(std::string_view glob, std::string_view name) {
  const size_t open = glob.find('{');
  const size_t close = open == std::string_view::npos ? open : glob.find('}', open);
  if (close == std::string_view::npos) return MatchesSimple(glob, name);
  // {a,b}: one of the alternatives.
  std::string_view alternatives = glob.substr(open + 1, close - open - 1);
  for (;;) {
    const size_t comma = std::min(alternatives.find(','), alternatives.size());
    const std::string one = std::string(glob.substr(0, open)) + std::string(alternatives.substr(0, comma)) + std::string(glob.substr(close + 1));
    if (MatchesGlob(one, name)) return true;
    if (comma == alternatives.size()) return false;
    alternatives.remove_prefix(comma + 1);
  }
}

Result<std::vector<ListedFile>> ListFiles(fs::FileSystem& file_system, Clock& clock, const ListingOptions& options) {
  std::vector<ListedFile> files;
  Lister lister(file_system, options);
  if (HasGlob(options.path)) {
    ARROW_RETURN_NOT_OK(lister.AddGlob("/", ComponentsOf(options.path), 0));
    files = lister.Take();
  } else {
    ARROW_ASSIGN_OR_RAISE(const auto info, file_system.Stat(options.path));
    const std::string sink_log = fs::Join(options.path, kSinkLog);
    std::optional<fs::FileInfo> log_info;
    if (info && info->is_directory) {
      ARROW_ASSIGN_OR_RAISE(log_info, file_system.Stat(sink_log));
    }
    if (log_info && log_info->is_directory) {
      ARROW_ASSIGN_OR_RAISE(files, ReadSinkLog(file_system, clock, sink_log));
    } else if (info && !info->is_directory) {
      lister.AddFile(options.path, *info);
      files = lister.Take();
    } else {
      ARROW_RETURN_NOT_OK(lister.AddFolder(options.path));
      files = lister.Take();
    }
  }
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
