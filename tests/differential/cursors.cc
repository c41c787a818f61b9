// The iterators of Database.
#include "tests/differential/callbacks.h"
#include "tests/differential/database.h"
#include "tests/differential/text.h"

namespace ashlar::differential {

namespace {

constexpr int kWalkSteps = 10;

const char* const kUndefined = "undefined";

bool Has(const std::string& flags, char flag) { return flags.find(flag) != std::string::npos; }

}  // namespace

std::string Database::NewCursor(const Words& words) {
  Family* const family = FindFamily(words[2]);
  if (family == nullptr) return "no family";
  const std::string &slot = words[1], &flags = words[4], &lower = words[5], &upper = words[6];
  if (lower != "-" && upper != "-" &&
      CompareKeys(family->comparator, Unescape(lower), Unescape(upper)) > 0)
    return "inverted";
  ReadOptions* const options = functions_.readoptions_create();
  if (!SetSnapshot(words[3], options)) {
    functions_.readoptions_destroy(options);
    return "no snapshot";
  }
  DropCursor(slot);
  // A release without the setter uses total order, which shows the same keys.
  const bool automatic = Has(flags, 'a');
  const bool total =
      Has(flags, 't') || (automatic && functions_.readoptions_set_auto_prefix_mode == nullptr);
  auto cursor = std::make_unique<Cursor>(Cursor{
      .iterator = nullptr,
      .options = options,
      .lower = Unescape(lower),
      .upper = Unescape(upper),
      .has_lower = lower != "-",
      .has_snapshot = words[3] != "-",
      .handle = family->handle,
      .comparator = family->comparator,
      .prefix_bytes = total || automatic ? 0 : family->prefix_bytes,
  });
  if (lower != "-")
    functions_.readoptions_set_iterate_lower_bound(options, cursor->lower.data(),
                                                   cursor->lower.size());
  if (upper != "-")
    functions_.readoptions_set_iterate_upper_bound(options, cursor->upper.data(),
                                                   cursor->upper.size());
  functions_.readoptions_set_total_order_seek(options, total);
  if (automatic && !total) functions_.readoptions_set_auto_prefix_mode(options, 1);
  functions_.readoptions_set_prefix_same_as_start(options, Has(flags, 'p') && !total && !automatic);
  functions_.readoptions_set_fill_cache(options, !Has(flags, 'c'));
  cursor->iterator = functions_.create_iterator_cf(db_, options, family->handle);
  cursors_[slot] = std::move(cursor);
  return "ok";
}

void Database::DropCursor(const std::string& slot) {
  const auto found = cursors_.find(slot);
  if (found == cursors_.end()) return;
  functions_.iter_destroy(found->second->iterator);
  functions_.readoptions_destroy(found->second->options);
  cursors_.erase(found);
}

std::string Database::Move(const Words& words) {
  const auto found = cursors_.find(words[1]);
  if (found == cursors_.end()) return "no iterator";
  if (words[2] != "drop") return MoveCursor(words, found->second.get());
  DropCursor(words[1]);
  return "ok";
}

std::string Database::MoveCursor(const Words& words, Cursor* cursor) {
  const std::string& move = words[2];
  const std::string key = words.size() > 3 ? Unescape(words[3]) : std::string();
  if (move == "refresh") return Refresh(cursor);
  if (move == "seek") return Seek(key, cursor);
  if (move == "next" || move == "forward")
    return Walk(move == "next" ? 1 : kWalkSteps, true, cursor);
  // With prefixes, only forward iteration from a seek is defined.
  if (cursor->prefix_bytes > 0) return kUndefined;
  if (move == "prev" || move == "backward")
    return Walk(move == "prev" ? 1 : kWalkSteps, false, cursor);
  if (move == "first") {
    functions_.iter_seek_to_first(cursor->iterator);
  } else if (move == "last") {
    functions_.iter_seek_to_last(cursor->iterator);
  } else if (move == "seekprev") {
    functions_.iter_seek_for_prev(cursor->iterator, key.data(), key.size());
  } else {
    return "not understood";
  }
  return Position(*cursor);
}

std::string Database::Seek(const std::string& key, Cursor* cursor) {
  if (cursor->prefix_bytes > 0) {
    // If the lower bound replaces the key, releases differ in the prefix that they look for.
    if (key.size() < cursor->prefix_bytes ||
        (cursor->has_lower && CompareKeys(cursor->comparator, key, cursor->lower) < 0))
      return kUndefined;
    cursor->prefix = key.substr(0, cursor->prefix_bytes);
  }
  functions_.iter_seek(cursor->iterator, key.data(), key.size());
  return Position(*cursor);
}

std::string Database::Walk(int steps, bool forward, Cursor* cursor) {
  std::string answer = "walk";
  for (int i = 0; i < steps; i++) {
    const std::string position = Position(*cursor);
    if (!position.starts_with("at ")) return answer + " from " + position;
    if (forward) {
      functions_.iter_next(cursor->iterator);
    } else {
      functions_.iter_prev(cursor->iterator);
    }
    answer += " " + Position(*cursor);
  }
  return answer;
}

std::string Database::Refresh(Cursor* cursor) {
  // Releases differ in the effect of a refresh on the options' snapshot and on a dropped family.
  bool exists = false;
  for (const auto& [name, family] : families_) exists |= family.handle == cursor->handle;
  if (cursor->has_snapshot || !exists) return kUndefined;
  cursor->prefix.clear();
  if (functions_.iter_refresh != nullptr) {
    char* error = nullptr;
    functions_.iter_refresh(cursor->iterator, &error);
    return Outcome(error);
  }
  functions_.iter_destroy(cursor->iterator);
  cursor->iterator = functions_.create_iterator_cf(db_, cursor->options, cursor->handle);
  return "ok";
}

std::string Database::Position(const Cursor& cursor) const {
  if (functions_.iter_valid(cursor.iterator) == 0) {
    char* error = nullptr;
    functions_.iter_get_error(cursor.iterator, &error);
    return error == nullptr ? "end" : Outcome(error);
  }
  size_t key_bytes = 0, value_bytes = 0;
  const char* const key = functions_.iter_key(cursor.iterator, &key_bytes);
  const char* const value = functions_.iter_value(cursor.iterator, &value_bytes);
  if (cursor.prefix_bytes > 0 && !std::string_view(key, key_bytes).starts_with(cursor.prefix))
    return "end";
  return "at " + Escape({key, key_bytes}) + " " + Describe({value, value_bytes});
}

}  // namespace ashlar::differential
