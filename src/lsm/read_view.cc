#include "lsm/read_view.h"

#include <utility>

#include "base/assert.h"

namespace ashlar {

ReadView::ReadView(Args args)
    : active(std::move(args.active)),
      immutable(std::move(args.immutable)),
      version(args.version),
      prefix_extractor(std::move(args.prefix_extractor)),
      number(args.number),
      pins(args.epochs, &ReadView::Delete, this),
      live_views_(args.live_views) {
  ASHLAR_ASSERT(active != nullptr && version != nullptr);  // I1
  for (size_t i = 0; i < immutable.size(); ++i) {
    const MemTable& newer = i == 0 ? *active : *immutable[i - 1];
    ASHLAR_ASSERT(newer.id() > immutable[i]->id());  // newest first: a read ends at the first hit
  }
  version->Ref();
  live_views_->fetch_add(1, std::memory_order_relaxed);
}

ReadView::~ReadView() { version->Unref(); }

const PinOps ReadView::kPinOps = {
    .acquire = [](void* view) { static_cast<ReadView*>(view)->pins.Acquire(); },
    .release =
        [](void* view, void*) {
          SharedCount& pins = static_cast<ReadView*>(view)->pins;
          EpochDomain& epochs = pins.epochs();
          pins.Release();
          epochs.Reclaim();
        },
};

// The count decreases last, because the memtables are dropped into the database's epoch domain.
void ReadView::Delete(void* self) {
  auto* const view = static_cast<ReadView*>(self);
  std::atomic<int64_t>* const live_views = view->live_views_;
  delete view;
  const int64_t views = live_views->fetch_sub(1, std::memory_order_release);
  ASHLAR_ASSERT(views > 0);  // this one was counted
}

}  // namespace ashlar
