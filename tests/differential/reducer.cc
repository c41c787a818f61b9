#include "tests/differential/reducer.h"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/differential/text.h"

namespace ashlar::differential {

namespace {

class Reducer {
 public:
  Reducer(History history, const std::function<bool(const History&)>& diverges,
          std::chrono::seconds time)
      : history_(std::move(history)),
        diverges_(diverges),
        end_(std::chrono::steady_clock::now() + time) {}

  History Run() {
    ReduceLines();
    for (size_t i = 0; i < history_.size(); i++) ReduceWords(i);
    for (size_t i = 0; i < history_.size(); i++) ReduceOptions(i);
    ReduceLines();
    return std::move(history_);
  }

 private:
  bool IsLate() const { return std::chrono::steady_clock::now() >= end_; }

  bool Take(History candidate) {
    if (IsLate() || !diverges_(candidate)) return false;
    history_ = std::move(candidate);
    return true;
  }

  // Removes chunks of half the history down to one line, from the end, as later lines matter less.
  void ReduceLines() {
    for (size_t chunk = std::max<size_t>(history_.size() / 2, 1); chunk > 0; chunk /= 2) {
      for (size_t end = history_.size(); end > 0;) {
        const size_t start = end > chunk ? end - chunk : 0;
        History shorter(history_.begin(), history_.begin() + static_cast<ptrdiff_t>(start));
        shorter.insert(shorter.end(), history_.begin() + static_cast<ptrdiff_t>(end),
                       history_.end());
        Take(std::move(shorter));
        end = start;
      }
    }
  }

  // Removes operations of batches, keys of reads of many keys, and families of opens.
  void ReduceWords(size_t line) {
    const size_t fixed = history_[line].starts_with("open")    ? 5
                         : history_[line].starts_with("batch") ? 2
                                                               : 3;
    if (!history_[line].starts_with("open") && !history_[line].starts_with("batch") &&
        !history_[line].starts_with("many"))
      return;
    for (size_t count = 4; count > 0; count--) {
      for (size_t at = fixed; at < SplitWords(history_[line]).size();) {
        std::vector<std::string> words = SplitWords(history_[line]);
        const size_t end = std::min(at + count, words.size());
        words.erase(words.begin() + static_cast<ptrdiff_t>(at),
                    words.begin() + static_cast<ptrdiff_t>(end));
        if (!TakeLine(line, Join(words, ' '))) at++;
      }
    }
  }

  void ReduceOptions(size_t line) {
    if (!history_[line].starts_with("open") && !history_[line].starts_with("create")) return;
    for (size_t at = 0;;) {
      // A part ends at a ";" or "}"; it starts after a ";", "{", "|" or " ".
      const std::string text = history_[line];
      at = text.find_first_of(";{", at);
      if (at == std::string::npos) return;
      const size_t end = text.find_first_of(";{}| ", at + 1);
      const bool is_leaf = end == std::string::npos || text[end] != '{';
      std::string shorter = text;
      shorter.erase(at + (text[at] == '{' ? 1 : 0), (end == std::string::npos ? text.size() : end) -
                                                        at - (text[at] == '{' ? 1 : 0));
      if (!is_leaf || shorter == text || !TakeLine(line, shorter)) at++;
    }
  }

  bool TakeLine(size_t line, std::string text) {
    History changed = history_;
    changed[line] = std::move(text);
    return Take(std::move(changed));
  }

  static std::string Join(const std::vector<std::string>& words, char separator) {
    std::string text;
    for (const std::string& word : words) {
      if (!text.empty()) text += separator;
      text += word;
    }
    return text;
  }

  History history_;
  const std::function<bool(const History&)>& diverges_;
  const std::chrono::steady_clock::time_point end_;
};

}  // namespace

History Reduce(History history, const std::function<bool(const History&)>& diverges,
               std::chrono::seconds time) {
  return Reducer(std::move(history), diverges, time).Run();
}

}  // namespace ashlar::differential
