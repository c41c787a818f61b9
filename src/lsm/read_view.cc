#include "lsm/read_view.h"

#include <utility>

namespace ashlar {

ReadView::ReadView(MemTableRef active_table, std::vector<MemTableRef> immutable_tables, Version* current, uint64_t view_number)
    : active(std::move(active_table)), immutable(std::move(immutable_tables)), version(current), number(view_number), pins(&ReadView::Delete, this) {
  version->Ref();
}

ReadView::~ReadView() { version->Unref(); }

void ReadView::Delete(void* self) { delete static_cast<ReadView*>(self); }

}  // namespace ashlar
