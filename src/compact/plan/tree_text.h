// TreeText: a tree written as text, for the tests of the pickers.
//
//   L0: 9[a-f 10] 8[c-k 10 busy]        a line per level; file number, [smallest user key - largest
//                                       user key, bytes, attributes]
//   L1: 5[a-c 20 marked] 4[d-z 20 del=90/100 seq=1-40 age=500 born=700]
//
// Attributes: busy (being compacted), marked, del=deletions/entries, versions=snapshot versions,
// seq=smallest-largest; age and born are the unix seconds of the oldest data and of the file;
// hidden=sequence, covers=bytes@level (FileMetaData::Coverage); open (the file ends before its
// largest key, with a range tombstone). Without seq both sequences of a file are its number.
// Levels not named are empty.
#pragma once

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/assert.h"
#include "compact/plan/compaction_plan.h"

namespace ashlar {

class TreeText {
 public:
  TreeText(const std::string& text, Level num_levels) : levels_(num_levels) {
    std::istringstream lines(text);
    std::string line;
    while (std::getline(lines, line)) ParseLine(line);
  }

  TreeView View() const {
    TreeView view;
    view.comparator = KeyComparator(BytewiseComparator());
    for (const auto& level : levels_) view.levels.emplace_back(level);
    return view;
  }
  FileMetaData* File(uint64_t number) const {
    for (const auto& file : files_) {
      if (file->number == number) return file.get();
    }
    return nullptr;
  }

 private:
  static uint64_t Number(const std::string& text) { return std::stoull(text); }

  void ParseLine(const std::string& line) {
    const size_t start = line.find('L');
    if (start == std::string::npos) return;
    const size_t colon = line.find(':');
    const auto level = static_cast<size_t>(Number(line.substr(start + 1, colon - start - 1)));
    size_t at = colon + 1;
    while (true) {
      const size_t open = line.find('[', at);
      if (open == std::string::npos) break;
      const size_t close = line.find(']', open);
      ParseFile(level, Number(line.substr(at, open - at)), line.substr(open + 1, close - open - 1));
      at = close + 1;
    }
  }

  void ParseFile(size_t level, uint64_t number, const std::string& body) {
    auto file = std::make_unique<FileMetaData>();
    std::istringstream words(body);
    std::string range;
    std::string word;
    words >> range >> file->file_bytes;
    file->number = number;
    file->smallest_sequence = file->largest_sequence = number;
    const size_t dash = range.find('-');
    file->largest = MakeInternalKey(range.substr(dash + 1), 0, ValueType::kValue);
    while (words >> word) SetAttribute(word, file.get());
    file->smallest =
        MakeInternalKey(range.substr(0, dash), file->largest_sequence, ValueType::kValue);
    if (!file->excludes_largest()) {
      file->largest =
          MakeInternalKey(range.substr(dash + 1), file->smallest_sequence, ValueType::kValue);
    }
    levels_[level].push_back(file.get());
    files_.push_back(std::move(file));
  }

  static void SetAttribute(const std::string& word, FileMetaData* file) {
    const std::string name = word.substr(0, word.find('='));
    const std::string value = word.substr(std::min(word.size(), name.size() + 1));
    if (name == "busy") {
      file->being_compacted = true;
    } else if (name == "marked") {
      file->marked_for_compaction = true;
    } else if (name == "hidden") {
      file->coverage.hidden_since = Number(value);
    } else if (name == "covers") {
      file->coverage.covered_bytes = Number(value.substr(0, value.find('@')));
      file->coverage.counted_at_level =
          static_cast<Level>(Number(value.substr(value.find('@') + 1)));
    } else if (name == "open") {
      file->largest = MakeInternalKey(ExtractUserKey(file->largest), kSequenceNumberMax,
                                      ValueType::kRangeDeletion);
    } else if (name == "del") {
      file->deletions = Number(value.substr(0, value.find('/')));
      file->entries = Number(value.substr(value.find('/') + 1));
    } else if (name == "versions") {
      file->snapshot_versions = Number(value);
    } else if (name == "seq") {
      file->smallest_sequence = Number(value.substr(0, value.find('-')));
      file->largest_sequence = Number(value.substr(value.find('-') + 1));
    } else if (name == "age") {
      file->oldest_ancestor_unix_seconds = Number(value);
    } else if (name == "born") {
      file->creation_unix_seconds = Number(value);
    } else {
      ASHLAR_ASSERT(false);
    }
  }

  std::vector<std::vector<FileMetaData*>> levels_;
  std::vector<std::unique_ptr<FileMetaData>> files_;
};

}  // namespace ashlar
