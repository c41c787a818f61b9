#include "tests/pool_crash/crash_proof.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/format.h"
#include "pmem/pool.h"
#include "tests/pool_crash/together.h"

namespace ashlar::pmem {
namespace {

constexpr uint64_t kPoolId = 77;
// One of this many images is also changed after its recovery.
constexpr uint64_t kImagesPerChange = 8;
// One of this many recoveries that store is cut off in turn, until the operation has reached its
// limit.
constexpr uint64_t kRecoveriesPerCut = 16;
// For a recovery, this many times fewer images are checked than for an operation.
constexpr uint64_t kNestedShare = 16;

std::string Describe(const std::vector<size_t>& chosen) {
  std::string text;
  for (const size_t choice : chosen) text += StrCat(text.empty() ? "" : " ", choice);
  return text;
}

}  // namespace

CrashProof::CrashProof(const ProofOptions& options)
    : options_(options),
      random_(options.seed),
      memory_(options.pool_bytes, options.copy_order),
      model_(KeyLess{options.comparator}) {
  {
    RecordingMedium medium(&memory_);
    FormatPool(&medium, kPoolId, *options.comparator);
  }
  memory_.TakeEpochs();
  for (size_t level = 0; level < kLevels; ++level) {
    images_.push_back(std::make_unique<PoolMemory>(options.pool_bytes, options.copy_order));
    images_.back()->CopyFrom(memory_);
    images_.back()->KeepUndo();
  }
  const Problem problem = Reopen();
  ASHLAR_ASSERT(!problem);
}

CrashProof::~CrashProof() = default;

Result<std::unique_ptr<PersistentTree>> CrashProof::Open(PoolMemory* memory,
                                                         std::function<bool()> refuse,
                                                         MarkRun mark) {
  TreeConfig config = {.recovery = {.comparator = options_.comparator,
                                    .split_strategy = options_.split_strategy,
                                    .refuse_allocation = std::move(refuse)},
                       .mark = mark};
  return OpenTree(std::make_unique<RecordingMedium>(memory), std::move(config));
}

bool CrashProof::RefusesAllocation() {
  const bool by_turn = refuse_each_ != 0 && ++allocations_ % refuse_each_ == 0;
  const bool once = allocations_until_refusal_ != 0 && --allocations_until_refusal_ == 0;
  if (!by_turn && !once) return false;
  counts_.refused_allocations++;
  return true;
}

Problem CrashProof::Reopen() {
  tree_.reset();
  Result<std::unique_ptr<PersistentTree>> opened =
      Open(&memory_, [this] { return RefusesAllocation(); }, MarkRun::kAtOpen);
  if (!opened.ok()) return opened.status().ToString();
  tree_ = std::move(opened).value();
  return CheckTree(tree_.get(), AnyOf({&model_}), nullptr);
}

Problem CrashProof::ReopenWithBackgroundMark() {
  tree_.reset();
  Result<std::unique_ptr<PersistentTree>> opened = Open(&memory_, {}, MarkRun::kBackground);
  if (!opened.ok()) return opened.status().ToString();
  tree_ = std::move(opened).value();
  return {};
}

Status CrashProof::RunUnseen(const Change& change) {
  const Status status = change.run(tree_.get());
  if (status.ok()) change.apply(&model_);
  ForgetEpochs();
  costs_ = memory_.TakeCosts();
  return status;
}

// Adds the durable stores to the images without checking any.
void CrashProof::ForgetEpochs() {
  for (const Epoch& epoch : memory_.TakeEpochs()) {
    for (const PendingAt& pending : epoch.lines) {
      for (const std::unique_ptr<PoolMemory>& image : images_)
        image->SetLine(pending.offset, pending.durable_after);
    }
  }
  for (const std::unique_ptr<PoolMemory>& image : images_) image->ForgetUndo();
}

Problem CrashProof::Run(const Change& change, Status* status) {
  counts_.operations++;
  recoveries_cut_ = 0;
  memory_.TakeCosts();
  const Status done = change.run(tree_.get());
  if (status != nullptr) *status = done;
  costs_ = memory_.TakeCosts();
  const std::vector<std::string> findings = memory_.TakeFindings();
  if (!findings.empty()) return findings.front();
  const Model before = model_;
  if (done.ok()) change.apply(&model_);
  Problem problem = LookAtEpochs(0, memory_.TakeEpochs(),
                                 [&](const Epoch&) { return AnyOf({&before, &model_}); });
  if (problem) return problem;
  // Returned changes are durable.
  std::vector<Epoch> recovery;
  problem = LookAtImage(0, AnyOf({&model_}), &recovery);
  for (const std::unique_ptr<PoolMemory>& image : images_) image->ForgetUndo();
  return problem;
}

Problem CrashProof::RunTogether(const std::vector<std::vector<Change>>& writers,
                                const std::function<size_t(const std::string&)>& writer_of) {
  recoveries_cut_ = 0;
  TogetherRun together(writers, model_, writer_of);
  memory_.BeginTogether([&] { return together.Now(); }, options_.seed);
  const Status done = together.Run(tree_.get());
  const std::vector<Epoch> epochs = memory_.TakeEpochs();
  memory_.EndTogether();
  if (!done.ok()) return done.ToString();
  counts_.operations += together.changes();
  const std::vector<std::string> findings = memory_.TakeFindings();
  if (!findings.empty()) return findings.front();
  model_ = together.Final();
  for (const Epoch& epoch : epochs)
    counts_.shared_epochs += IsShared(epoch.progress) ? uint64_t{1} : 0;
  Problem problem = LookAtEpochs(
      0, epochs, [&](const Epoch& epoch) { return together.PermittedAt(epoch.progress); });
  if (problem) return problem;
  std::vector<Epoch> recovery;
  problem = LookAtImage(0, AnyOf({&model_}), &recovery);
  for (const std::unique_ptr<PoolMemory>& image : images_) image->ForgetUndo();
  return problem ? problem : CheckTree(tree_.get(), AnyOf({&model_}), nullptr);
}

// ---- Images.

// Advances the level's image to the durable state after the last of the epochs.
Problem CrashProof::LookAtEpochs(size_t level, const std::vector<Epoch>& epochs,
                                 const std::function<Permitted(const Epoch&)>& permitted_in) {
  for (size_t i = 0; i < epochs.size(); ++i) {
    if (Problem problem = LookAtEpoch(level, epochs[i], permitted_in(epochs[i])))
      return StrCat("epoch ", i, ": ", *problem);
    for (const PendingAt& pending : epochs[i].lines) {
      for (size_t above = level; above < images_.size(); ++above)
        images_[above]->SetLine(pending.offset, pending.durable_after);
    }
  }
  return {};
}

Problem CrashProof::LookAtEpoch(size_t level, const Epoch& epoch, const Permitted& permitted) {
  counts_.epochs++;
  const uint64_t images_max =
      level == 0 ? options_.images_per_epoch_max : options_.images_per_epoch_max / kNestedShare;
  const uint64_t samples =
      level == 0 ? options_.samples_per_epoch : options_.samples_per_epoch / kNestedShare;
  std::vector<LineChoices> lines;
  uint64_t images = 1;
  for (const PendingAt& pending : epoch.lines) {
    LineChoices choices = {.offset = pending.offset, .contents = {pending.line.durable}};
    for (size_t kept = 1; kept <= pending.line.stores.size(); ++kept) {
      const LineBytes bytes = pending.line.After(kept);
      if (bytes != choices.contents.back()) choices.contents.push_back(bytes);
    }
    if (choices.contents.size() == 1) continue;
    images = std::min(images * choices.contents.size(), images_max + 1);
    lines.push_back(std::move(choices));
  }
  std::vector<size_t> chosen(lines.size(), 0);
  const auto all_of = [&lines](size_t i) { return lines[i].contents.size() - 1; };
  if (images <= images_max) {
    counts_.whole_epochs++;
    for (;;) {
      if (Problem problem = LookAtChoice(level, lines, chosen, permitted)) return problem;
      size_t digit = 0;
      while (digit < lines.size() && chosen[digit] == all_of(digit)) chosen[digit++] = 0;
      if (digit == lines.size()) return {};
      chosen[digit]++;
    }
  }
  uint64_t seen = 0;
  const auto look = [&]() -> Problem {
    seen++;
    return LookAtChoice(level, lines, chosen, permitted);
  };
  const auto set_all = [&](bool present) {
    for (size_t i = 0; i < lines.size(); ++i) chosen[i] = present ? all_of(i) : 0;
  };
  for (const bool present : {false, true}) {
    set_all(present);
    if (Problem problem = look()) return problem;
    // Each line alone, then all but one. Of a large record's many lines, only the first ones.
    const size_t lines_max = std::min<size_t>(lines.size(), samples / 4);
    for (size_t i = 0; i < lines_max; ++i) {
      set_all(present);
      chosen[i] = present ? 0 : all_of(i);
      if (Problem problem = look()) return problem;
    }
  }
  while (seen < samples) {
    for (size_t i = 0; i < lines.size(); ++i) {
      const uint64_t kind = random_.Uniform(3);
      chosen[i] = kind == 0 ? 0 : (kind == 1 ? all_of(i) : random_.Uniform(all_of(i) + 1));
    }
    if (Problem problem = look()) return problem;
  }
  return {};
}

Problem CrashProof::LookAtChoice(size_t level, const std::vector<LineChoices>& lines,
                                 const std::vector<size_t>& chosen, const Permitted& permitted) {
  counts_.images++;
  if (level > 0) counts_.nested_images++;
  PoolMemory& image = *images_[level];
  const size_t mark = image.Mark();
  for (size_t i = 0; i < lines.size(); ++i) {
    if (chosen[i] != 0) image.SetLine(lines[i].offset, lines[i].contents[chosen[i]]);
  }
  std::vector<Epoch> recovery;
  Problem problem = LookAtImage(level, permitted, &recovery);
  image.Rollback(mark);
  const bool may_cut = !problem && !recovery.empty() && level + 1 < images_.size() &&
                       recoveries_cut_ < options_.recoveries_cut_max;
  if (may_cut && recoveries_that_store_++ % kRecoveriesPerCut == 0) {
    recoveries_cut_++;
    std::vector<size_t> marks;
    for (size_t above = level + 1; above < images_.size(); ++above) {
      marks.push_back(images_[above]->Mark());
      for (size_t i = 0; i < lines.size(); ++i)
        images_[above]->SetLine(lines[i].offset, lines[i].contents[chosen[i]]);
    }
    problem = LookAtEpochs(level + 1, recovery, [&](const Epoch&) { return permitted; });
    for (size_t above = level + 1; above < images_.size(); ++above)
      images_[above]->Rollback(marks[above - level - 1]);
  }
  if (problem) return StrCat("lines as after their stores ", Describe(chosen), ": ", *problem);
  return {};
}

// Undoes the changes of the recovery. The caller undoes the choice of stores.
Problem CrashProof::LookAtImage(size_t level, const Permitted& permitted,
                                std::vector<Epoch>* recovery) {
  PoolMemory& image = *images_[level];
  const size_t mark = image.Mark();
  Result<std::unique_ptr<PersistentTree>> opened = Open(&image, {}, MarkRun::kAtOpen);
  *recovery = image.TakeEpochs();
  Problem problem;
  if (!opened.ok()) {
    problem = StrCat("does not open: ", opened.status().ToString());
  } else {
    PersistentTree* const tree = opened.value().get();
    problem =
        CheckTree(tree, permitted, counts_.images % kImagesPerChange == 0 ? &random_ : nullptr);
    const Status closed = tree->Close();
    if (!problem && !closed.ok()) problem = closed.ToString();
  }
  image.Rollback(mark);
  const std::vector<std::string> findings = image.TakeFindings();
  if (!problem && !findings.empty()) problem = findings.front();
  return problem;
}

}  // namespace ashlar::pmem
