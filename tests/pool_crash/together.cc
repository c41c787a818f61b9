#include "tests/pool_crash/together.h"

#include "base/assert.h"
#include "platform/thread.h"

namespace ashlar::pmem {

TogetherRun::TogetherRun(const std::vector<std::vector<Change>>& writers, const Model& before,
                         std::function<size_t(const std::string&)> writer_of)
    : writer_of_(std::move(writer_of)) {
  for (const std::vector<Change>& changes : writers) {
    Writer& writer = writers_.emplace_back();
    writer.changes = &changes;
    writer.states.emplace_back(before.key_comp());
  }
  for (const auto& [key, value] : before) writers_[writer_of_(key)].states[0][key] = value;
  for (Writer& writer : writers_) {
    for (const Change& change : *writer.changes)
      writer.states.push_back(change.After(writer.states.back()));
  }
}

Status TogetherRun::Run(PersistentTree* tree) {
  std::vector<Thread> threads;
  for (Writer& writer : writers_) {
    Result<Thread> thread = Thread::Start({.name = "writer"}, [&writer, tree] {
      for (const Change& change : *writer.changes) {
        writer.begun.fetch_add(1);
        writer.status = change.run(tree);
        if (!writer.status.ok()) return;
        writer.returned.fetch_add(1);
      }
    });
    ASHLAR_ASSERT(thread.ok());
    threads.push_back(std::move(thread).value());
  }
  for (Thread& thread : threads) thread.Join();
  for (const Writer& writer : writers_) ASHLAR_RETURN_IF_ERROR(writer.status);
  return Status::OK();
}

Progress TogetherRun::Now() const {
  Progress progress;
  for (const Writer& writer : writers_) {
    const size_t returned = writer.returned.load();
    progress.push_back({.returned = returned, .begun = writer.begun.load()});
  }
  return progress;
}

std::vector<Model> TogetherRun::Split(PersistentTree* tree) const {
  std::vector<Model> parts;
  for (const Writer& writer : writers_) parts.emplace_back(writer.states[0].key_comp());
  const std::unique_ptr<Iterator> it = tree->NewIterator(ReadOptions());
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    const std::string key = it->key().ToString();
    parts[writer_of_(key)][key] = it->value().ToString();
  }
  return parts;
}

Permitted TogetherRun::PermittedAt(const Progress& progress) const {
  return [this, progress](PersistentTree* tree, Model* found) {
    std::vector<Model> parts = Split(tree);
    for (size_t i = 0; i < parts.size(); ++i) {
      bool permitted = false;
      for (size_t n = progress[i].returned; n <= progress[i].begun && !permitted; ++n)
        permitted = parts[i] == writers_[i].states[n];
      if (!permitted) return false;
      if (found != nullptr) found->merge(parts[i]);
    }
    return true;
  };
}

Model TogetherRun::Final() const {
  Model all(writers_[0].states[0].key_comp());
  for (const Writer& writer : writers_)
    all.insert(writer.states.back().begin(), writer.states.back().end());
  return all;
}

size_t TogetherRun::changes() const {
  size_t count = 0;
  for (const Writer& writer : writers_) count += writer.changes->size();
  return count;
}

}  // namespace ashlar::pmem
