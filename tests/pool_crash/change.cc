#include "tests/pool_crash/change.h"

#include <cinttypes>
#include <cstdio>
#include <iterator>

#include "base/format.h"
#include "tests/support/from_environment.h"
#include "tests/support/verify_tree.h"

namespace ashlar::pmem {
namespace {

void EraseBetween(Model* model, const std::string& begin, const std::string& end) {
  if (model->key_comp()(begin, end))
    model->erase(model->lower_bound(begin), model->lower_bound(end));
}

}  // namespace

uint64_t Effort() { return FromEnvironment("ASHLAR_POOL_CRASH_EFFORT", 1); }
uint64_t FirstSeed() { return FromEnvironment("ASHLAR_POOL_CRASH_SEED", 1); }

std::string NumberKey(uint64_t number) {
  char key[32];
  snprintf(key, sizeof(key), "%020" PRIu64, number);
  return key;
}

Change PutOf(std::string key, std::string value) {
  return {.run = [=](PersistentTree* tree) { return tree->Put(key, value); },
          .apply = [=](Model* model) { (*model)[key] = value; }};
}

Change DeleteOf(std::string key) {
  return {.run = [=](PersistentTree* tree) { return tree->Delete(key); },
          .apply = [=](Model* model) { model->erase(key); }};
}

Change DeleteRangeOf(std::string begin, std::string end) {
  return {
      .run = [=](PersistentTree* tree) { return tree->DeleteRange(KeyRange::Between(begin, end)); },
      .apply = [=](Model* model) { EraseBetween(model, begin, end); }};
}

Change BatchOf(std::vector<BatchItem> items) {
  return {.run =
              [=](PersistentTree* tree) {
                WriteBatch batch;
                Status status;
                for (const BatchItem& item : items) {
                  if (!status.ok()) break;
                  switch (item.kind) {
                    case BatchItem::Kind::kPut: status = batch.Put(item.key, item.value); break;
                    case BatchItem::Kind::kDelete: status = batch.Delete(item.key); break;
                    case BatchItem::Kind::kDeleteRange:
                      status = batch.DeleteRange(item.key, item.value);
                      break;
                  }
                }
                return status.ok() ? tree->Write(batch) : status;
              },
          .apply =
              [=](Model* model) {
                for (const BatchItem& item : items) {
                  switch (item.kind) {
                    case BatchItem::Kind::kPut: (*model)[item.key] = item.value; break;
                    case BatchItem::Kind::kDelete: model->erase(item.key); break;
                    case BatchItem::Kind::kDeleteRange:
                      EraseBetween(model, item.key, item.value);
                      break;
                  }
                }
              }};
}

Change DefragmentOf() {
  return {.run = [](PersistentTree* tree) { return tree->Defragment(); }, .apply = [](Model*) {}};
}

std::string RandomValue(Random* random) {
  constexpr size_t kSizes[] = {0, 3, 15, 15, 15, 40, 40, 700};
  return std::string(random->OneIn(100) ? 17000 : kSizes[random->Uniform(std::size(kSizes))],
                     static_cast<char>('a' + random->Uniform(26)));
}

Change RandomChange(Random* random, bool growing) {
  const auto key = [&] {
    return random->OneIn(50) ? random->Bytes(random->Uniform(4)) : NumberKey(random->Uniform(200));
  };
  if (random->OneIn(40)) return DefragmentOf();
  if (random->OneIn(growing ? 30 : 10)) {
    const uint64_t begin = random->Uniform(200);
    return DeleteRangeOf(NumberKey(begin), NumberKey(begin + random->Uniform(growing ? 10 : 60)));
  }
  if (random->OneIn(8)) {
    std::vector<BatchItem> items;
    for (uint64_t i = 1 + random->Uniform(growing ? 40 : 10); i > 0; --i) {
      if (random->OneIn(growing ? 4 : 2)) {
        items.push_back({BatchItem::Kind::kDelete, key(), ""});
      } else {
        items.push_back({BatchItem::Kind::kPut, key(), RandomValue(random)});
      }
    }
    return BatchOf(std::move(items));
  }
  if (random->OneIn(growing ? 6 : 2)) return DeleteOf(key());
  return PutOf(key(), RandomValue(random));
}

// ---- Contents of a tree.

bool Holds(PersistentTree* tree, const Model& model) {
  const std::unique_ptr<Iterator> it = tree->NewIterator(ReadOptions());
  it->SeekToFirst();
  for (const auto& [key, value] : model) {
    if (!it->Valid() || it->key() != Slice(key) || it->value() != Slice(value)) return false;
    it->Next();
  }
  return !it->Valid() && it->status().ok();
}

Permitted AnyOf(std::vector<const Model*> models) {
  return [models = std::move(models)](PersistentTree* tree, Model* found) {
    for (const Model* model : models) {
      if (!Holds(tree, *model)) continue;
      if (found != nullptr) *found = *model;
      return true;
    }
    return false;
  };
}

namespace {

Problem CheckTakesChanges(PersistentTree* tree, Model model, Random* random) {
  const auto put = [&](const std::string& key, const std::string& value) {
    const Status status = tree->Put(key, value);
    if (status.ok()) model[key] = value;
    return status.ok() || status.IsNoSpace();
  };
  bool done = put("after the crash", "new");
  if (!model.empty()) {
    auto entry = model.begin();
    std::advance(entry, static_cast<ptrdiff_t>(random->Uniform(model.size())));
    const std::string key = entry->first;
    done = done && put(key, std::string(entry->second.size(), 'r'));
    done = done && tree->Delete(model.begin()->first).ok();
    model.erase(model.begin());
  }
  if (!done) return std::string("refuses a change after the recovery");
  return CheckTree(tree, AnyOf({&model}), nullptr);
}

}  // namespace

Problem CheckTree(PersistentTree* tree, const Permitted& permitted, Random* random) {
  Model found(KeyLess{tree->comparator()});
  if (!permitted(tree, random == nullptr ? nullptr : &found))
    return std::string("the entries are none of those that are permitted");
  const PersistentTreeStats stats = tree->Stats();
  const uint64_t entries = tree->Count(KeyRange::All());
  if (stats.entries != entries)
    return StrCat("counts ", stats.entries, " of ", entries, " entries");
  if (stats.used_bytes + stats.free_bytes != stats.pool_bytes)
    return std::string("used and free bytes are not the pool's");
  const Status verified = VerifyAndCheck(tree);
  if (!verified.ok()) return verified.ToString();
  return random == nullptr ? Problem() : CheckTakesChanges(tree, std::move(found), random);
}

}  // namespace ashlar::pmem
