#include "lsm/read_view.h"

#include <utility>

namespace ashlar {

ReadView::ReadView(Args args)
    : active(std::move(args.active)),
      immutable(std::move(args.immutable)),
      version(args.version),
      prefix_extractor(std::move(args.prefix_extractor)),
      number(args.number),
      pins(&ReadView::Delete, this) {
  version->Ref();
}

ReadView::~ReadView() { version->Unref(); }

void ReadView::Delete(void* self) { delete static_cast<ReadView*>(self); }

}  // namespace ashlar
