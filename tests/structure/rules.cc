#include "tests/structure/rules.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string_view>

namespace ashlar::structure {
namespace {

// A folder that is not listed here is a violation. A new layer first gets its place in the order.
const std::map<std::string, int, std::less<>> kLayers = {
    {"base", 1},     {"platform", 2},    {"filesystem", 3}, {"observe", 3}, {"execute", 4},
    {"key", 4},      {"config", 4},      {"cache", 5},      {"wal", 5},     {"ranges", 5},
    {"space", 5},    {"environment", 5}, {"memtable", 6},   {"table", 6},   {"iterate", 7},
    {"manifest", 7}, {"compact", 8},     {"lsm", 9},        {"pmem", 9},    {"api", 10},
    {"backup", 10},  {"repair", 10},     {"ttl", 10},       {"capi", 11},
};

std::string At(const SourceFile& file, size_t line_number, std::string_view what) {
  return file.path + ":" + std::to_string(line_number) + ": " + std::string(what);
}

std::string_view FirstComponent(std::string_view path) { return path.substr(0, path.find('/')); }

// "base" for "src/base/coding.h"; empty for files directly in src/ and elsewhere.
std::string_view LayerOf(const SourceFile& file) {
  if (!file.IsIn("src")) return {};
  const std::string_view below =
      std::string_view(file.path).substr(std::string_view("src/").size());
  return below.find('/') == std::string_view::npos ? std::string_view() : FirstComponent(below);
}

bool IsIdentifierCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// True if `word` is in `line` with no identifier character on either side.
bool ContainsWord(std::string_view line, std::string_view word) {
  for (size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const size_t end = at + word.size();
    const bool starts = at == 0 || !IsIdentifierCharacter(line[at - 1]);
    const bool ends = end == line.size() || !IsIdentifierCharacter(line[end]);
    if (starts && ends) return true;
  }
  return false;
}

// True if the line has `object.member` or `object->member`, whatever the object. A designated
// initialiser, `.member = value`, does not count.
bool AccessesMember(std::string_view line, std::string_view member) {
  for (size_t at = line.find(member); at != std::string_view::npos;
       at = line.find(member, at + 1)) {
    const size_t end = at + member.size();
    if (end < line.size() && IsIdentifierCharacter(line[end])) continue;
    const std::string_view before = line.substr(0, at);
    if (before.ends_with("->")) return true;
    if (!before.ends_with('.') || before.size() < 2) continue;
    const char object = before[before.size() - 2];
    if (IsIdentifierCharacter(object) || object == ')' || object == ']') return true;
  }
  return false;
}

void EraseAll(std::string_view text, std::string* line) {
  for (size_t at = line->find(text); at != std::string::npos; at = line->find(text, at))
    line->erase(at, text.size());
}

// The sources whose counters must be listed. Tests and the tables of C and of texts only name them.
bool IsPartOfTheEngine(const SourceFile& file) {
  return file.IsCode() && file.IsIn("src") && !file.IsTest() && !file.IsIn("src/capi") &&
         file.path != "src/observe/statistics_texts.cc";
}

// Adds the identifiers that begin with a capital letter in code, but not those in comments.
void AddConstantsOf(const SourceFile& file, std::set<std::string_view>* out) {
  for (const std::string& text : file.lines) {
    const std::string_view line = std::string_view(text).substr(0, text.find("//"));
    for (size_t at = 0; at < line.size();) {
      size_t end = at;
      while (end < line.size() && IsIdentifierCharacter(line[end])) ++end;
      if (end > at && line[at] >= 'A' && line[at] <= 'Z') out->insert(line.substr(at, end - at));
      at = std::max(end, at + 1);
    }
  }
}

// The rules contain the words that they forbid, and so do their tests.
bool IsThisSuite(const SourceFile& file) { return file.IsIn("tests/structure"); }

const SourceFile* FindFile(const SourceTree& tree, std::string_view path) {
  const auto found = std::find_if(tree.files.begin(), tree.files.end(),
                                  [path](const SourceFile& file) { return file.path == path; });
  return found == tree.files.end() ? nullptr : &*found;
}

std::string TextOf(const SourceFile& file) {
  std::string text;
  for (const std::string& line : file.lines) text += line + '\n';
  return text;
}

// Returns the text from the first `begin` up to the next `end`, or none if either is missing.
std::string Part(const std::string& text, std::string_view begin, std::string_view end) {
  const size_t from = text.find(begin);
  const size_t to = text.find(end, from == std::string::npos ? 0 : from);
  if (from == std::string::npos || to == std::string::npos) return {};
  return text.substr(from, to - from);
}

void ForbidWords(const SourceFile& file, const std::vector<std::string_view>& words,
                 std::string_view why, Violations* out) {
  for (size_t i = 0; i < file.lines.size(); i++) {
    for (const std::string_view word : words) {
      if (ContainsWord(file.lines[i], word))
        out->push_back(At(file, i + 1, std::string(word) + ": " + std::string(why)));
    }
  }
}

void CheckLayerInclude(const SourceFile& file, const Include& include, Violations* out) {
  const std::string_view layer = LayerOf(file);
  const std::string_view target = FirstComponent(include.target);
  if (target == "ashlar" || target == layer) return;
  if (layer == "capi") {
    out->push_back(
        At(file, include.line_number, "the C interface is written on the public headers alone"));
    return;
  }
  if (file.IsTest() &&
      (include.target.starts_with("tests/support/") || target == "gtest" || target == "gmock"))
    return;
  const auto from = kLayers.find(layer);
  const auto to = kLayers.find(target);
  if (to == kLayers.end()) {
    out->push_back(At(file, include.line_number, "\"" + include.target + "\" is in no layer"));
  } else if (from != kLayers.end() && to->second >= from->second) {
    out->push_back(At(file, include.line_number,
                      std::string(layer) + " (" + std::to_string(from->second) +
                          ") may not include " + std::string(target) + " (" +
                          std::to_string(to->second) + ")"));
  }
}

// Returns the file that a quoted include names, or null. The name is relative to include/, to src/
// or to the root.
const SourceFile* Resolve(const std::map<std::string_view, const SourceFile*>& by_path,
                          const std::string& target) {
  for (const char* root : {"include/", "src/", ""}) {
    const auto found = by_path.find(root + target);
    if (found != by_path.end()) return found->second;
  }
  return nullptr;
}

std::map<std::string_view, const SourceFile*> IndexByPath(const SourceTree& tree) {
  std::map<std::string_view, const SourceFile*> by_path;
  for (const SourceFile& file : tree.files) by_path.emplace(file.path, &file);
  return by_path;
}

using Graph = std::map<std::string, std::set<std::string>>;

// Reports one cycle for each edge on which a depth-first search returns to a node of its path.
Violations FindCycles(const Graph& graph) {
  Violations out;
  std::set<std::string> done;
  std::vector<std::string> path;
  const std::function<void(const std::string&)> visit = [&](const std::string& node) {
    const auto inside = std::find(path.begin(), path.end(), node);
    if (inside != path.end()) {
      std::string text = "cycle: ";
      for (auto step = inside; step != path.end(); ++step) text += *step + " -> ";
      out.push_back(text + node);
      return;
    }
    if (done.contains(node)) return;
    path.push_back(node);
    if (const auto edges = graph.find(node); edges != graph.end()) {
      for (const std::string& next : edges->second) visit(next);
    }
    path.pop_back();
    done.insert(node);
  };
  for (const auto& [node, edges] : graph) visit(node);
  return out;
}

// Returns "src/lsm/reader" for src/lsm/reader.h and src/lsm/reader.cc.
std::string PairOf(const SourceFile& file) { return file.path.substr(0, file.path.rfind('.')); }

// True if `from` may include `to` back, because they are one component split for its length.
bool IsHalfOfOneComponent(const std::string& from, const std::string& to) {
  static const std::set<std::pair<std::string_view, std::string_view>> kHalves = {
      {"src/base/compression_codec", "src/base/compression"},
      {"src/memtable/entry_tree_node", "src/memtable/entry_tree"},
      {"src/memtable/memtable_cursor", "src/memtable/memtable"},
      {"src/platform/thread_system", "src/platform/thread"},
      {"src/platform/windows/windows_path", "src/platform/windows/windows_error"},
      {"src/table/blockbased/table_cursor", "src/table/blockbased/block_based_table"},
      {"src/table/plain/plain_table_cursor", "src/table/plain/plain_table"}};
  return kHalves.contains({from, to});
}

bool IsOperatingSystemHeader(std::string_view name) {
  static const std::set<std::string_view> kNames = {
      "aio.h",      "dirent.h",  "dlfcn.h",   "execinfo.h", "fcntl.h",   "io.h",      "libgen.h",
      "liburing.h", "mntent.h",  "poll.h",    "process.h",  "pthread.h", "pwd.h",     "sched.h",
      "spawn.h",    "syscall.h", "termios.h", "unistd.h",   "windows.h", "winsock2.h"};
  return kNames.contains(name) || name.starts_with("sys/") || name.starts_with("linux/") ||
         name.starts_with("asm/") || name.starts_with("bits/");
}

// The C headers that a public header may need if it is also valid C.
bool IsStandardCHeader(std::string_view name) {
  return name == "stdbool.h" || name == "stddef.h" || name == "stdint.h";
}

// The columns of a line of UTF-8, counted in code points.
size_t Columns(std::string_view line) {
  return static_cast<size_t>(std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

// True if the line cannot be broken, because it is one word, such as a link, after the mark of a
// comment or of a list item.
bool IsOneWord(std::string_view line) {
  const size_t begin = std::min(line.find_first_not_of(' '), line.size());
  return line.find(' ', begin + 3) == std::string_view::npos;
}

// True if the line has too many columns and can be broken.
bool IsTooLong(std::string_view line) {
  return Columns(line) > kLineColumnsMax && !IsOneWord(line);
}

std::string TooLong(const SourceFile& file, size_t line) {
  return At(file, line + 1, "longer than " + std::to_string(kLineColumnsMax) + " columns");
}

void CheckLinesOf(const SourceFile& file, Violations* out) {
  for (size_t i = 0; i < file.lines.size(); i++) {
    const std::string& line = file.lines[i];
    if (line.find('\t') != std::string::npos) out->push_back(At(file, i + 1, "a tab"));
    if (line.find('\r') != std::string::npos) out->push_back(At(file, i + 1, "a carriage return"));
    if (line.ends_with(' ')) out->push_back(At(file, i + 1, "blanks at the end of the line"));
    if (IsTooLong(line)) out->push_back(TooLong(file, i));
  }
}

// Returns whether a line of a document belongs to a list item, which begins above it with no
// unindented line of text in between.
bool InList(const SourceFile& file, size_t line) {
  while (line > 0) {
    const std::string& before = file.lines[--line];
    const size_t begin = before.find_first_not_of(' ');
    if (begin == std::string::npos) continue;
    const std::string_view text = std::string_view(before).substr(begin);
    const size_t digits = text.find_first_not_of("0123456789");
    if (text.starts_with("- ") || text.starts_with("* ") ||
        (digits > 0 && digits != std::string_view::npos && text.substr(digits).starts_with(". ")))
      return true;
    if (begin == 0) return false;
  }
  return false;
}

// Returns the condition of the assertion that begins on a line, without quoted text; empty if none.
std::string ConditionOfAssertion(const SourceFile& file, size_t line) {
  std::string_view rest = file.lines[line];
  size_t start = std::string_view::npos;
  for (const std::string_view macro : {"ASHLAR_ASSERT(", "ASHLAR_DCHECK("}) {
    const size_t found = rest.find(macro);
    if (found != std::string_view::npos) start = std::min(start, found + macro.size());
  }
  if (start == std::string_view::npos || rest.starts_with("#define")) return "";
  rest.remove_prefix(start);
  std::string condition;
  int depth = 1;
  bool in_text = false;
  while (depth > 0) {
    for (const char c : rest) {
      if (c == '"') in_text = !in_text;
      if (in_text) continue;
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      if (depth == 0) break;
      condition += c;
    }
    if (++line >= file.lines.size()) break;
    rest = file.lines[line];
  }
  return condition;
}

}  // namespace

Violations CheckLayers(const SourceTree& tree) {
  Violations out;
  for (const SourceFile& file : tree.files) {
    const std::string_view layer = LayerOf(file);
    if (!layer.empty() && kLayers.find(layer) == kLayers.end())
      out.push_back(At(file, 1, "src/" + std::string(layer) + " has no layer number"));
    for (const Include& include : ParseIncludes(file)) {
      if (!layer.empty()) {
        if (!include.angled) CheckLayerInclude(file, include, &out);
      } else if (file.IsIn("include")) {
        // include/rocksdb includes include/ashlar, never the reverse.
        const bool own = !include.angled &&
                         (include.target.starts_with("ashlar/") ||
                          (file.IsIn("include/rocksdb") && include.target.starts_with("rocksdb/")));
        const bool standard =
            include.angled && (include.target.find_first_of("/.") == std::string::npos ||
                               IsStandardCHeader(include.target));
        if (!own && !standard)
          out.push_back(
              At(file, include.line_number,
                 "a public header includes only the standard library and public headers"));
      } else if (file.IsIn("examples") && !include.angled &&
                 !include.target.starts_with("ashlar/")) {
        out.push_back(At(file, include.line_number, "an example includes only public headers"));
      }
    }
  }
  return out;
}

Violations CheckIncludesExist(const SourceTree& tree) {
  Violations out;
  const auto by_path = IndexByPath(tree);
  for (const SourceFile& file : tree.files) {
    for (const Include& include : ParseIncludes(file)) {
      const std::string_view top = FirstComponent(include.target);
      const bool external = include.angled || top == "gtest" || top == "gmock" ||
                            IsThisSuite(file) || file.IsIn("examples");
      if (!external && Resolve(by_path, include.target) == nullptr) {
        out.push_back(
            At(file, include.line_number,
               "\"" + include.target + "\" is not a file of the tree; write <> for others'"));
      }
    }
  }
  return out;
}

Violations CheckNoHeaderCycles(const SourceTree& tree) {
  Graph graph;
  const auto by_path = IndexByPath(tree);
  for (const SourceFile& file : tree.files) {
    if (!file.IsHeader()) continue;
    for (const Include& include : ParseIncludes(file)) {
      const SourceFile* target = include.angled ? nullptr : Resolve(by_path, include.target);
      if (target != nullptr) graph[file.path].insert(target->path);
    }
  }
  return FindCycles(graph);
}

Violations CheckNoPairCycles(const SourceTree& tree) {
  Graph graph;
  const auto by_path = IndexByPath(tree);
  for (const SourceFile& file : tree.files) {
    if (!file.IsIn("src") || file.IsTest()) continue;
    const std::string pair = PairOf(file);
    for (const Include& include : ParseIncludes(file)) {
      const SourceFile* target = include.angled ? nullptr : Resolve(by_path, include.target);
      if (target == nullptr || PairOf(*target) == pair) continue;
      if (!IsHalfOfOneComponent(pair, PairOf(*target))) graph[pair].insert(PairOf(*target));
    }
  }
  return FindCycles(graph);
}

Violations CheckNoFolderCycles(const SourceTree& tree) {
  Graph graph;
  const auto by_path = IndexByPath(tree);
  for (const SourceFile& file : tree.files) {
    if (!file.IsIn("src") || file.IsTest()) continue;
    for (const Include& include : ParseIncludes(file)) {
      const SourceFile* target = include.angled ? nullptr : Resolve(by_path, include.target);
      if (target != nullptr && target->Folder() != file.Folder())
        graph[std::string(file.Folder())].insert(std::string(target->Folder()));
    }
  }
  return FindCycles(graph);
}

Violations CheckOperatingSystem(const SourceTree& tree) {
  Violations out;
  for (const SourceFile& file : tree.files) {
    // One example uses two processes and a pipe, and is not built for Windows.
    const bool is_posix = file.path == "examples/replication.cc";
    const bool library =
        file.IsIn("src") || file.IsIn("include") || (file.IsIn("examples") && !is_posix);
    if (!file.IsCode() || file.IsIn("src/platform") || IsThisSuite(file)) continue;
    // The tools and the tests that run processes use terminals, signals and children directly. The
    // library uses src/platform.
    if (library) {
      for (const Include& include : ParseIncludes(file)) {
        if (IsOperatingSystemHeader(include.target)) {
          out.push_back(
              At(file, include.line_number, "<" + include.target + "> belongs to src/platform"));
        }
      }
    }
    ForbidWords(file, {"_WIN32", "_WIN64", "__linux__", "__unix__", "__APPLE__"},
                "operating systems are told apart in src/platform only", &out);
  }
  return out;
}

Violations CheckLines(const SourceTree& tree) {
  Violations out;
  for (const SourceFile& file : tree.files) {
    if (file.IsCode()) CheckLinesOf(file, &out);
  }
  for (const SourceFile& file : tree.texts) CheckLinesOf(file, &out);
  return out;
}

Violations CheckDocuments(const SourceTree& tree) {
  Violations out;
  for (const SourceFile& file : tree.files) {
    if (!file.IsDocument()) continue;
    bool in_code = false;
    for (size_t i = 0; i < file.lines.size(); i++) {
      const std::string& line = file.lines[i];
      const size_t begin = std::min(line.find_first_not_of(' '), line.size());
      if (line.compare(begin, 3, "```") == 0) in_code = !in_code;
      // Rows of tables and code cannot be wrapped.
      const bool is_row = line.compare(begin, 1, "|") == 0;
      const bool is_code = in_code || (begin >= 4 && !InList(file, i));
      if (IsTooLong(line) && !is_row && !is_code) out.push_back(TooLong(file, i));
    }
  }
  return out;
}

Violations CheckBanners(const SourceTree& tree) {
  Violations out;
  for (const SourceFile& file : tree.files) {
    if (!file.IsCode()) continue;
    size_t banner = 0;
    for (size_t i = 0; i < file.lines.size(); i++) {
      banner = file.lines[i].starts_with("//") ? banner + 1 : 0;
      if (banner == kBannerLinesMax + 1)
        out.push_back(At(file, i + 1,
                         "a banner of more than " + std::to_string(kBannerLinesMax) +
                             " lines: move its argument to the folder's README.md"));
    }
  }
  return out;
}

Violations CheckNoLeftovers(const SourceTree& tree) {
  Violations out;
  for (const SourceFile& file : tree.files) {
    if (!IsThisSuite(file))
      ForbidWords(file, {"TODO", "FIXME", "XXX", "HACK"}, "finish it or leave it out", &out);
  }
  return out;
}

Violations CheckLocks(const SourceTree& tree) {
  Violations out;
  for (const SourceFile& file : tree.files) {
    const bool checked = (file.IsIn("src") || file.IsIn("tools")) && !file.IsIn("src/platform");
    if (!checked || !file.IsCode()) continue;
    ForbidWords(file,
                {"std::mutex", "std::shared_mutex", "std::recursive_mutex",
                 "std::condition_variable", "std::lock_guard", "std::unique_lock"},
                "use platform/mutex.h", &out);
    // One compiler implements these with a wait that loses wake-ups.
    ForbidWords(file,
                {"std::latch", "std::barrier", "std::counting_semaphore", "std::binary_semaphore",
                 "notify_one", "notify_all"},
                "use platform/mutex.h or platform/futex.h", &out);
  }
  for (const SourceFile& file : tree.files) {
    // Schedules run on Linux only.
    const bool checked = file.IsIn("tests") && file.path != "tests/support/gate.h" &&
                         !file.IsIn("tests/structure") && !file.IsIn("tests/schedule");
    if (!checked || !file.IsCode()) continue;
    ForbidWords(file,
                {"std::latch", "std::barrier", "std::counting_semaphore", "std::binary_semaphore",
                 "notify_one", "notify_all"},
                "use tests/support/gate.h, which loses no wake-up under Windows", &out);
  }
  return out;
}

Violations CheckAssertions(const SourceTree& tree) {
  constexpr std::string_view kChanges[] = {"++",       "--",    "insert(", "erase(", "emplace",
                                           "exchange", "push_", "pop_",    "fetch_", "reset(",
                                           "release(", ".Take", ">Take",   "clear(", " = "};
  Violations out;
  for (const SourceFile& file : tree.files) {
    if (!file.IsIn("src") || !file.IsCode() || file.IsTest()) continue;
    for (size_t i = 0; i < file.lines.size(); i++) {
      const std::string condition = ConditionOfAssertion(file, i);
      for (const std::string_view change : kChanges) {
        if (condition.find(change) != std::string::npos)
          out.push_back(
              At(file, i + 1,
                 "an assertion with \"" + std::string(change) + "\": a condition changes nothing"));
      }
    }
  }
  return out;
}

Violations CheckPaths(const SourceTree& tree) {
  Violations out;
  for (const SourceFile& file : tree.files) {
    // Tests work in directories with names of their own choice.
    const bool checked = (file.IsIn("src") || file.IsIn("tools")) && !file.IsIn("src/platform");
    if (!checked || !file.IsCode() || file.IsTest()) continue;
    ForbidWords(
        file,
        {"std::filesystem", "std::ifstream", "std::ofstream", "std::fstream", "std::filebuf",
         "std::rename", "std::remove_all", "<filesystem>", "<fstream>", "fopen", "freopen"},
        "takes names in the code page of Windows; use platform/file.h or platform/program.h", &out);
  }
  return out;
}

Violations CheckGuardedMembers(const SourceTree& tree) {
  // A public struct has a member of the same name.
  const std::map<std::string, std::string_view, std::less<>> of_another_struct = {
      {"src/backup/checkpoint.cc", "table.being_compacted"},
      {"src/lsm/properties.cc", "out->being_compacted"}};
  Violations out;
  for (const SourceFile& file : tree.files) {
    // These are the class, its pickers, and the functions that require the lock.
    const bool user = file.path == "src/table/file_metadata.h" || file.IsIn("src/compact/plan") ||
                      file.path == "src/manifest/file_marks.h";
    const bool without_lock = file.path == "src/compact/plan/range_coverage.cc";
    if ((user && !without_lock) || !file.IsIn("src") || !file.IsCode()) continue;
    for (size_t i = 0; i < file.lines.size(); i++) {
      std::string line = file.lines[i];
      if (const auto own = of_another_struct.find(file.path); own != of_another_struct.end())
        EraseAll(own->second, &line);
      if (without_lock) EraseAll("->coverage.hidden_since != 0", &line);
      for (const std::string_view member : {"being_compacted", "coverage", "counted_at_level"}) {
        if (AccessesMember(line, member))
          out.push_back(At(file, i + 1, std::string(member) + ": use manifest/file_marks.h"));
      }
    }
  }
  return out;
}

Violations CheckHeaderShape(const SourceTree& tree) {
  Violations out;
  for (const SourceFile& file : tree.files) {
    if (!file.IsHeader()) continue;
    const auto is_comment = [](const std::string& line) { return line.starts_with("//"); };
    const auto code =
        std::find_if_not(file.lines.begin(), file.lines.end(),
                         [&](const std::string& line) { return line.empty() || is_comment(line); });
    if (file.lines.empty() || !is_comment(file.lines.front()))
      out.push_back(At(file, 1, "a header opens with what it is for"));
    if (code == file.lines.end() || *code != "#pragma once")
      out.push_back(At(file, 1, "#pragma once stands before all code"));
  }
  return out;
}

Violations CheckFolderReadme(const SourceTree& tree) {
  std::set<std::string> with_code;
  std::set<std::string> with_readme;
  for (const SourceFile& file : tree.files) {
    // The public headers are their own documentation.
    if (file.IsIn("include")) continue;
    if (file.IsCode()) with_code.insert(std::string(file.Folder()));
    if (file.Name() == "README.md") with_readme.insert(std::string(file.Folder()));
  }
  Violations out;
  std::set_difference(with_code.begin(), with_code.end(), with_readme.begin(), with_readme.end(),
                      std::back_inserter(out));
  for (std::string& folder : out) folder += ": a folder with code has a README.md";
  return out;
}

Violations CheckOptionLists(const SourceTree& tree) {
  const SourceFile* const table = FindFile(tree, "src/config/option_table.cc");
  const SourceFile* const document = FindFile(tree, "docs/compatibility.md");
  Violations out;
  if (table == nullptr || document == nullptr) return out;
  const std::string text = TextOf(*document);
  const std::string_view honoured = "**Honoured**, by subject";
  const std::string_view refused = "**Refused** unless";
  const std::string_view accepted = "**Accepted**, without effect";
  const std::map<std::string, std::string> lists = {
      {"Honoured", Part(text, honoured, refused)},
      {"Refused", Part(text, refused, accepted)},
      {"Accepted", Part(text, accepted, "**Counters and events.**")}};

  const std::string rows = TextOf(*table);
  const std::regex row("ASHLAR_OPTION\\(\\s*(\\w+),\\s*k(Honoured|Refused|Accepted)");
  for (std::sregex_iterator it(rows.begin(), rows.end(), row), end; it != end; ++it) {
    const std::string name = (*it)[1];
    const std::string kind = (*it)[2];
    if (lists.at(kind).find('`' + name + '`') != std::string::npos) continue;
    const auto line_number = std::count(rows.begin(), rows.begin() + it->position(), '\n') + 1;
    out.push_back(At(*table, static_cast<size_t>(line_number),
                     name + " is not in the list \"" + kind + "\" of " + document->path));
  }
  return out;
}

Violations CheckCounterLists(const SourceTree& tree) {
  const SourceFile* const header = FindFile(tree, "include/ashlar/statistics.h");
  const SourceFile* const document = FindFile(tree, "docs/observability.md");
  Violations out;
  if (header == nullptr || document == nullptr) return out;
  std::set<std::string_view> counted;
  for (const SourceFile& file : tree.files) {
    if (IsPartOfTheEngine(file)) AddConstantsOf(file, &counted);
  }
  const std::string text = TextOf(*document);
  const std::regex enumerator("  ([A-Z][A-Z0-9_]+)( = \\w+)?,");
  for (size_t i = 0; i < header->lines.size(); ++i) {
    std::smatch match;
    if (!std::regex_match(header->lines[i], match, enumerator)) continue;
    const std::string name = match[1];
    if (name.ends_with("_ENUM_MAX")) continue;
    const bool is_counted = counted.contains(name);
    const bool is_named = text.find('`' + name + '`') != std::string::npos;
    if (is_counted && !is_named)
      out.push_back(At(*header, i + 1, name + " is counted, and not in " + document->path));
    if (is_named && !is_counted)
      out.push_back(At(*header, i + 1, name + " is in " + document->path + ", and not counted"));
  }
  return out;
}

}  // namespace ashlar::structure
