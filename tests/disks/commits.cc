#include "tests/disks/commits.h"

#include <cstring>

#include "base/format.h"
#include "base/random.h"

namespace ashlar::disks {

namespace {

constexpr uint64_t kDeletedAfter = 50;  // commits
constexpr uint64_t kValueBytesMax = 2000;

std::string KeyOf(uint64_t thread, uint64_t n) {
  const std::string digits = StrCat(n);
  return StrCat("t", thread, "/", std::string(9 - digits.size(), '0'), digits);
}

// Returns bytes that no codec and no file system can compress.
std::string ValueOf(uint64_t thread, uint64_t n, size_t family) {
  Random random(thread << 40 ^ n << 4 ^ family);
  std::string value(static_cast<size_t>(random.Uniform(kValueBytesMax)), '\0');
  for (size_t at = 0; at < value.size(); at += sizeof(uint64_t)) {
    const uint64_t word = random.Next();
    std::memcpy(value.data() + at, &word, std::min(sizeof(word), value.size() - at));
  }
  return value;
}

bool IsDeletedAfter(uint64_t n, uint64_t commits) {
  return n + kDeletedAfter <= commits && (n + kDeletedAfter) % 3 == 0;
}

Status Wrong(size_t family, const std::string& key, const char* what) {
  return Status::Corruption(StrCat("family ", family, ", key ", key), what);
}

// Removes from the contents the entries that the commits of a thread left there.
Status TakeCommits(size_t family, uint64_t thread, uint64_t commits, Contents* contents) {
  contents->erase(LastKey(thread));
  for (uint64_t n = 1; n <= commits; ++n) {
    if (IsDeletedAfter(n, commits)) continue;
    const auto entry = contents->find(KeyOf(thread, n));
    if (entry == contents->end()) return Wrong(family, KeyOf(thread, n), "is missing");
    if (entry->second != ValueOf(thread, n, family))
      return Wrong(family, entry->first, "has another value");
    contents->erase(entry);
  }
  return Status::OK();
}

}  // namespace

std::string LastKey(uint64_t thread) { return StrCat("t", thread, "/last"); }

std::vector<Change> CommitOf(uint64_t thread, uint64_t n) {
  std::vector<Change> changes;
  for (size_t family = 0; family < kFamilies; ++family) {
    changes.push_back({family, true, LastKey(thread), StrCat(n)});
    changes.push_back({family, true, KeyOf(thread, n), ValueOf(thread, n, family)});
    if (n > kDeletedAfter && n % 3 == 0)
      changes.push_back({family, false, KeyOf(thread, n - kDeletedAfter), ""});
  }
  return changes;
}

Status FindCommits(std::array<Contents, kFamilies>* families, Found* found) {
  *found = {};
  for (size_t family = 0; family < kFamilies; ++family) {
    Contents& contents = (*families)[family];
    const size_t all = contents.size();
    std::erase_if(contents,
                  [](const auto& entry) { return entry.first.starts_with(kIngestedPrefix); });
    found->ingested += all - contents.size();
    for (uint64_t thread = 0; thread < kThreads; ++thread) {
      const auto last = contents.find(LastKey(thread));
      uint64_t commits = 0;
      if (last != contents.end() && !ParseUint64(last->second, &commits))
        return Wrong(family, last->first, "is no number");
      if (family > 0 && commits != found->commits[thread])
        return Wrong(family, LastKey(thread), "has another number than the first family");
      found->commits[thread] = commits;
      if (Status s = TakeCommits(family, thread, commits, &contents); !s.ok()) return s;
    }
    if (!contents.empty()) return Wrong(family, contents.begin()->first, "was never written");
  }
  return Status::OK();
}

}  // namespace ashlar::disks
