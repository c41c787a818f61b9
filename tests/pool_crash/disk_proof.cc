#include "tests/pool_crash/disk_proof.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/format.h"
#include "pmem/log_replay.h"
#include "pmem/logged_medium.h"
#include "pmem/pool.h"
#include "tests/pool_crash/together.h"

namespace ashlar::pmem {
namespace {

constexpr uint64_t kPoolId = 77;
constexpr uint64_t kImagesPerChange = 8;
// For a recovery, this many times fewer images are checked than for an operation.
constexpr uint64_t kNestedShare = 4;

// A medium whose stores go to a string, used for formatting.
class StringMedium final : public Medium {
 public:
  explicit StringMedium(std::string* pool)
      : Medium("new", pool->data(), pool->size()), pool_(*pool) {}
  DurabilityClass durability_class() const override { return DurabilityClass::kLogged; }

 private:
  void Begin(PoolOperation* /*operation*/) override {}
  void Store(PoolOperation* /*operation*/, PoolOffset to, uint64_t word) override {
    memcpy(pool_.data() + to, &word, sizeof(word));
  }
  void Copy(PoolOperation* /*operation*/, PoolOffset to, const char* from, size_t n) override {
    memcpy(pool_.data() + to, from, n);
  }
  void Flush(PoolOffset /*from*/, size_t /*n*/) override {}
  void Fence() override {}
  void Commit(PoolOperation* /*operation*/) override {}
  void End(PoolOperation* /*operation*/) override {}
  Status AwaitDurable(PoolOperation* /*operation*/) override { return Status::OK(); }

  std::string& pool_;
};

std::string SectorOf(const std::string& file, uint64_t index) {
  std::string bytes =
      index * kSectorBytes < file.size() ? file.substr(index * kSectorBytes, kSectorBytes) : "";
  bytes.resize(kSectorBytes, '\0');
  return bytes;
}

}  // namespace

std::string FormattedPool(uint64_t pool_bytes, uint64_t pool_id) {
  std::string pool(pool_bytes, '\0');
  StringMedium medium(&pool);
  FormatPool(&medium, pool_id, *BytewiseComparator());
  return pool;
}

DiskProof::DiskProof(const DiskProofOptions& options)
    : options_(options), random_(options.seed), disk_(options.pool_bytes) {
  DiskContents fresh;
  fresh.pool = FormattedPool(options.pool_bytes, kPoolId);
  const auto format = [&](CrashDisk* disk) {
    for (uint64_t sector = 0; sector < options.pool_bytes / kSectorBytes; ++sector)
      disk->SetPoolSector(sector, SectorOf(fresh.pool, sector));
  };
  format(&disk_);
  for (size_t level = 0; level < kLevels; ++level) {
    levels_.push_back({.disk = std::make_unique<CrashDisk>(options.pool_bytes), .durable = fresh});
    format(levels_.back().disk.get());
  }
  Result<std::unique_ptr<PersistentTree>> opened = Open(&disk_);
  ASHLAR_ASSERT(opened.ok());
  tree_ = std::move(opened).value();
  unsynced_.push_back(model_);
  for (const DiskEpoch& epoch : disk_.TakeEpochs()) Advance(0, epoch);
}

DiskProof::~DiskProof() = default;

Result<std::unique_ptr<PersistentTree>> DiskProof::Open(CrashDisk* disk) {
  std::unique_ptr<PoolStorage> storage = disk->NewStorage();
  ASHLAR_RETURN_IF_ERROR(ReplayLog(storage.get(), {.pool_id = kPoolId}));
  ASHLAR_ASSIGN_OR_RETURN(
      std::unique_ptr<Medium> medium,
      LoggedMedium::Create(std::move(storage), {.pool_id = kPoolId,
                                                .sync = options_.sync,
                                                .log_bytes_max = options_.log_bytes_max,
                                                .private_bytes_max = options_.private_bytes_max,
                                                .pages_per_step = options_.pages_per_step}));
  TreeConfig config = {.recovery = {.comparator = BytewiseComparator(),
                                    .split_strategy = {},
                                    .refuse_allocation = {}},
                       .mark = MarkRun::kAtOpen};
  return OpenTree(std::move(medium), std::move(config));
}

Problem DiskProof::Run(const Change& change, Status* status) {
  counts_.operations++;
  recoveries_cut_ = 0;
  const Status done = change.run(tree_.get());
  if (status != nullptr) *status = done;
  const Model before = model_;
  if (done.ok()) change.apply(&model_);
  const std::vector<DiskEpoch> epochs = disk_.TakeEpochs();
  if (!options_.sync) {
    unsynced_.push_back(model_);
    Problem problem = LookAtEpochs(0, epochs, [&](const DiskEpoch& epoch, size_t) {
      std::vector<const Model*> models;
      for (const Model& model : unsynced_) models.push_back(&model);
      // The checkpoint is durable.
      if (epoch.end == DiskEpoch::End::kPoolSynced)
        unsynced_.erase(unsynced_.begin(), unsynced_.end() - 1);
      return AnyOf(std::move(models));
    });
    return problem;
  }
  // The change's record is durable after the log's first sync.
  bool record_is_durable = false;
  Problem problem = LookAtEpochs(0, epochs, [&](const DiskEpoch& epoch, size_t) {
    const bool was_durable = std::exchange(
        record_is_durable, record_is_durable || epoch.end == DiskEpoch::End::kLogSynced);
    return was_durable ? AnyOf({&model_}) : AnyOf({&before, &model_});
  });
  if (problem) return problem;
  return LookAtImage(0, {}, levels_[0].durable.log, AnyOf({&model_}));
}

Problem DiskProof::RunTogether(const std::vector<std::vector<Change>>& writers,
                               const std::function<size_t(const std::string&)>& writer_of) {
  recoveries_cut_ = 0;
  TogetherRun together(writers, model_, writer_of);
  disk_.SetProgress([&] { return together.Now(); });
  const Status done = together.Run(tree_.get());
  const std::vector<DiskEpoch> epochs = disk_.TakeEpochs();
  disk_.SetProgress({});
  if (!done.ok()) return done.ToString();
  counts_.operations += together.changes();
  model_ = together.Final();
  for (const DiskEpoch& epoch : epochs)
    counts_.shared_epochs += IsShared(epoch.progress) ? uint64_t{1} : 0;
  Problem problem = LookAtEpochs(0, epochs, [&](const DiskEpoch& epoch, size_t) {
    return together.PermittedAt(epoch.progress);
  });
  if (problem) return problem;
  problem = LookAtImage(0, {}, levels_[0].durable.log, AnyOf({&model_}));
  return problem ? problem : CheckTree(tree_.get(), AnyOf({&model_}), nullptr);
}

Problem DiskProof::Reopen() {
  recoveries_cut_ = 0;
  const Status closed = tree_->Close();
  if (!closed.ok()) return closed.ToString();
  tree_.reset();
  Result<std::unique_ptr<PersistentTree>> opened = Open(&disk_);
  if (!opened.ok()) return opened.status().ToString();
  tree_ = std::move(opened).value();
  if (Problem problem = LookAtEpochs(0, disk_.TakeEpochs(),
                                     [&](const DiskEpoch&, size_t) { return AnyOf({&model_}); }))
    return problem;
  return CheckTree(tree_.get(), AnyOf({&model_}), nullptr);
}

Status DiskProof::OpenDamaged(const std::function<void(DiskContents*)>& damage, Problem* problem) {
  Level& level = levels_[0];
  DiskContents damaged = level.durable;
  damage(&damaged);
  std::map<uint64_t, std::string> sectors;
  for (uint64_t sector = 0; sector < damaged.pool.size() / kSectorBytes; ++sector) {
    if (damaged.pool.compare(sector * kSectorBytes, kSectorBytes, level.durable.pool,
                             sector * kSectorBytes, kSectorBytes) != 0)
      sectors[sector] = SectorOf(damaged.pool, sector);
  }
  counts_.images++;
  level.disk->SetContents(level.durable, sectors, damaged.log);
  Result<std::unique_ptr<PersistentTree>> opened = Open(level.disk.get());
  const Status status = opened.status();
  if (status.ok()) {
    *problem = CheckTree(opened.value().get(), AnyOf({&model_}), nullptr);
    const Status closed = opened.value()->Close();
    if (!*problem && !closed.ok()) *problem = closed.ToString();
  }
  level.disk->SetContents(level.durable, {}, std::nullopt);
  return status;
}

// ---- Epochs.

// Advances the level's disk to the durable state after the last of the epochs.
Problem DiskProof::LookAtEpochs(size_t level, const std::vector<DiskEpoch>& epochs,
                                const PermittedIn& permitted_in) {
  for (size_t i = 0; i < epochs.size(); ++i) {
    if (Problem problem = LookAtEpoch(level, epochs[i], permitted_in(epochs[i], i)))
      return StrCat("epoch ", i, ": ", *problem);
    Advance(level, epochs[i]);
  }
  return {};
}

void DiskProof::Advance(size_t level, const DiskEpoch& epoch) {
  if (level == 0 && epoch.end == DiskEpoch::End::kLogRemoved && levels_[0].durable.log)
    old_log_ = *levels_[0].durable.log;
  for (size_t above = level; above < levels_.size(); ++above) {
    levels_[above].durable.Finish(epoch);
    if (epoch.end != DiskEpoch::End::kPoolSynced) continue;
    for (const DiskWrite& write : epoch.writes) {
      if (write.file != DiskFile::kPool) continue;
      for (uint64_t sector = write.offset / kSectorBytes;
           sector * kSectorBytes < write.offset + write.bytes.size(); ++sector) {
        levels_[above].disk->SetPoolSector(sector, SectorOf(levels_[above].durable.pool, sector));
      }
    }
  }
}

std::vector<DiskProof::Sector> DiskProof::SectorsOf(size_t level, const DiskEpoch& epoch) const {
  const DiskContents& durable = levels_[level].durable;
  std::map<std::pair<DiskFile, uint64_t>, Sector> sectors;
  for (size_t n = 0; n < epoch.writes.size(); ++n) {
    const DiskWrite& write = epoch.writes[n];
    if (write.file == DiskFile::kLog && !durable.log) continue;
    for (uint64_t at = write.offset; at < write.offset + write.bytes.size();) {
      const uint64_t index = at / kSectorBytes;
      const uint64_t end = std::min((index + 1) * kSectorBytes, write.offset + write.bytes.size());
      Sector& sector = sectors[{write.file, index}];
      if (sector.versions.empty()) {
        const std::string& file = write.file == DiskFile::kPool ? durable.pool : *durable.log;
        sector = {
            .file = write.file, .index = index, .versions = {SectorOf(file, index)}, .writes = {}};
      }
      std::string next = sector.versions.back();
      next.replace(at % kSectorBytes, end - at, write.bytes, at - write.offset, end - at);
      if (next != sector.versions.back()) {
        sector.versions.push_back(std::move(next));
        sector.writes.push_back(n);
      }
      at = end;
    }
  }
  std::vector<Sector> changed;
  for (auto& [at, sector] : sectors) {
    if (sector.versions.size() > 1) changed.push_back(std::move(sector));
  }
  return changed;
}

Problem DiskProof::LookAtEpoch(size_t level, const DiskEpoch& epoch, const Permitted& permitted) {
  using End = DiskEpoch::End;
  counts_.epochs++;
  if (epoch.end == End::kPoolSynced) counts_.checkpoints++;
  // Before the call that makes or removes the log returns, the log's name is durable or not yet.
  if (epoch.end == End::kLogCreated) {
    const std::string over_old =
        epoch.created +
        (old_log_.size() > epoch.created.size() ? old_log_.substr(epoch.created.size()) : "");
    for (const std::string& log : {epoch.created, over_old}) {
      if (Problem problem = LookAtImage(level, {}, log, permitted))
        return StrCat("with a new log: ", *problem);
    }
  }
  if (epoch.end == End::kLogRemoved) {
    if (Problem problem = LookAtImage(level, {}, std::nullopt, permitted))
      return StrCat("without the log: ", *problem);
  }
  if (Problem problem = LookAtSectors(level, epoch, SectorsOf(level, epoch), permitted))
    return problem;
  return LookAtCutLogs(level, epoch, permitted);
}

Problem DiskProof::LookAtSectors(size_t level, const DiskEpoch& epoch,
                                 const std::vector<Sector>& sectors, const Permitted& permitted) {
  const uint64_t share = level == 0 ? 1 : kNestedShare;
  const uint64_t images_max = options_.images_per_epoch_max / share;
  uint64_t images = 1;
  for (const Sector& sector : sectors)
    images = std::min(images * sector.versions.size(), images_max + 1);
  std::vector<size_t> chosen(sectors.size(), 0);
  const auto last_of = [&](size_t i) { return sectors[i].versions.size() - 1; };
  if (images <= images_max) {
    for (;;) {
      if (Problem problem = LookAtChoice(level, sectors, chosen, permitted)) return problem;
      size_t digit = 0;
      while (digit < sectors.size() && chosen[digit] == last_of(digit)) chosen[digit++] = 0;
      if (digit == sectors.size()) return {};
      chosen[digit]++;
    }
  }
  const uint64_t samples = options_.samples_per_epoch / share;
  for (const bool present : {false, true}) {
    for (size_t alone = 0; alone <= std::min<size_t>(sectors.size(), samples); ++alone) {
      for (size_t i = 0; i < sectors.size(); ++i) chosen[i] = present ? last_of(i) : 0;
      // The first choice has no exception.
      if (alone > 0) {
        const size_t i = sectors.size() <= samples ? alone - 1 : random_.Uniform(sectors.size());
        chosen[i] = present ? 0 : last_of(i);
      }
      if (Problem problem = LookAtChoice(level, sectors, chosen, permitted)) return problem;
    }
  }
  for (size_t writes = 1; writes < epoch.writes.size(); writes += share) {
    for (size_t i = 0; i < sectors.size(); ++i) {
      chosen[i] =
          static_cast<size_t>(std::count_if(sectors[i].writes.begin(), sectors[i].writes.end(),
                                            [&](size_t n) { return n < writes; }));
    }
    if (Problem problem = LookAtChoice(level, sectors, chosen, permitted)) return problem;
  }
  for (uint64_t sample = 0; sample < samples; ++sample) {
    for (size_t i = 0; i < sectors.size(); ++i)
      chosen[i] = random_.Uniform(sectors[i].versions.size());
    if (Problem problem = LookAtChoice(level, sectors, chosen, permitted)) return problem;
  }
  return {};
}

// Checks the log on a disk that writes in order, which has a prefix of the written bytes.
Problem DiskProof::LookAtCutLogs(size_t level, const DiskEpoch& epoch, const Permitted& permitted) {
  if (!levels_[level].durable.log || level > 0) return {};
  std::string log = *levels_[level].durable.log;
  for (const DiskWrite& write : epoch.writes) {
    if (write.file != DiskFile::kLog) continue;
    for (size_t bytes = options_.bytes_per_cut; bytes < write.bytes.size();
         bytes += options_.bytes_per_cut) {
      std::string cut = log;
      cut.resize(std::max(cut.size(), static_cast<size_t>(write.offset)), '\0');
      cut.replace(write.offset, bytes, write.bytes, 0, bytes);
      if (Problem problem = LookAtImage(level, {}, cut, permitted))
        return StrCat("log cut after ", bytes, " bytes: ", *problem);
    }
    log.resize(std::max(log.size(), static_cast<size_t>(write.offset)), '\0');
    log.replace(write.offset, write.bytes.size(), write.bytes);
  }
  return {};
}

Problem DiskProof::LookAtChoice(size_t level, const std::vector<Sector>& sectors,
                                const std::vector<size_t>& chosen, const Permitted& permitted) {
  std::map<uint64_t, std::string> pool;
  std::optional<std::string> log = levels_[level].durable.log;
  for (size_t i = 0; i < sectors.size(); ++i) {
    if (chosen[i] == 0) continue;
    const Sector& sector = sectors[i];
    if (sector.file == DiskFile::kPool) {
      pool[sector.index] = sector.versions[chosen[i]];
    } else {
      log->resize(std::max<size_t>(log->size(), (sector.index + 1) * kSectorBytes), '\0');
      log->replace(sector.index * kSectorBytes, kSectorBytes, sector.versions[chosen[i]]);
    }
  }
  // The blocks after a log's end may be those of an older one.
  if (log && log->size() < old_log_.size() && random_.OneIn(2)) log->append(old_log_, log->size());
  if (Problem problem = LookAtImage(level, pool, log, permitted)) {
    std::string text;
    for (size_t i = 0; i < sectors.size(); ++i) {
      text += StrCat(sectors[i].file == DiskFile::kPool ? " pool " : " log ", sectors[i].index, ":",
                     chosen[i]);
    }
    return StrCat("sectors in versions", text, ": ", *problem);
  }
  return {};
}

Problem DiskProof::LookAtImage(size_t level, const std::map<uint64_t, std::string>& sectors,
                               const std::optional<std::string>& log, const Permitted& permitted) {
  counts_.images++;
  if (level > 0) counts_.nested_images++;
  Level& here = levels_[level];
  here.disk->SetContents(here.durable, sectors, log);
  Result<std::unique_ptr<PersistentTree>> opened = Open(here.disk.get());
  if (!opened.ok()) return StrCat("does not open: ", opened.status().ToString());
  const std::vector<DiskEpoch> recovery = here.disk->TakeEpochs();
  Problem problem = CheckTree(opened.value().get(), permitted,
                              counts_.images % kImagesPerChange == 0 ? &random_ : nullptr);
  const Status closed = opened.value()->Close();
  if (!problem && !closed.ok()) problem = closed.ToString();
  here.disk->SetContents(here.durable, {}, std::nullopt);
  const bool stores = std::any_of(recovery.begin(), recovery.end(), [](const DiskEpoch& epoch) {
    return epoch.end == DiskEpoch::End::kPoolSynced;
  });
  if (problem || !stores || level + 1 == levels_.size() ||
      recoveries_cut_ >= options_.recoveries_cut_max)
    return problem;
  recoveries_cut_++;
  Level& next = levels_[level + 1];
  const DiskContents kept = next.durable;
  std::set<uint64_t> changed;
  for (const auto& [sector, bytes] : sectors) {
    next.durable.pool.replace(sector * kSectorBytes, kSectorBytes, bytes);
    next.disk->SetPoolSector(sector, bytes);
    changed.insert(sector);
  }
  next.durable.log = log;
  problem = LookAtEpochs(level + 1, recovery, [&](const DiskEpoch&, size_t) { return permitted; });
  for (const DiskEpoch& epoch : recovery) {
    for (const DiskWrite& write : epoch.writes) {
      if (write.file != DiskFile::kPool) continue;
      for (uint64_t sector = write.offset / kSectorBytes;
           sector * kSectorBytes < write.offset + write.bytes.size(); ++sector)
        changed.insert(sector);
    }
  }
  next.durable = kept;
  for (const uint64_t sector : changed)
    next.disk->SetPoolSector(sector, SectorOf(kept.pool, sector));
  return problem ? StrCat("recovery cut off: ", *problem) : problem;
}

}  // namespace ashlar::pmem
