#include "compact/run/entry_filter.h"

#include <exception>
#include <new>
#include <string_view>

#include "base/format.h"

namespace ashlar {

namespace {

// Runs `call`. Returns a Status that names the object of the program if `call` throws.
template <typename Object, typename Function>
Status CatchExceptions(std::string_view kind, const Object& object, Function&& call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& thrown) {
    return Status::InvalidArgument(
        StrCat("the ", kind, " ", object.Name(), " threw: ", thrown.what()));
  } catch (...) {
    return Status::InvalidArgument(StrCat("the ", kind, " ", object.Name(), " threw"));
  }
}

}  // namespace

Status EntryFilter::Make(const FilterSource& source, std::optional<EntryFilter>* result) {
  result->reset();
  if (source.shared != nullptr) {
    result->emplace(EntryFilter(source, nullptr));
    return Status::OK();
  }
  if (source.factory == nullptr) return Status::OK();
  return CatchExceptions("compaction filter factory", *source.factory, [&] {
    if (!source.factory->ShouldFilterTableFileCreation(source.context.reason)) return Status::OK();
    std::unique_ptr<CompactionFilter> made = source.factory->CreateCompactionFilter(source.context);
    if (made != nullptr) result->emplace(EntryFilter(source, std::move(made)));
    return Status::OK();
  });
}

Status EntryFilter::Ask(const Slice& user_key, CompactionFilter::ValueType type, const Slice& value,
                        Verdict* verdict) {
  using Decision = CompactionFilter::Decision;
  new_value_.clear();
  skip_until_.clear();
  Decision decision = Decision::kUndetermined;
  const Status asked = CatchExceptions("compaction filter", *filter_, [&] {
    decision = filter_->FilterV3(level_, user_key, type, &value, nullptr, &new_value_,
                                 &new_columns_, &skip_until_);
    return Status::OK();
  });
  if (!asked.ok()) return asked;
  switch (decision) {
    case Decision::kKeep: *verdict = Verdict::kKeep; return asked;
    case Decision::kRemove: *verdict = Verdict::kRemove; return asked;
    case Decision::kPurge: *verdict = Verdict::kPurge; return asked;
    case Decision::kChangeValue: *verdict = Verdict::kChangeValue; return asked;
    case Decision::kRemoveAndSkipUntil: *verdict = Verdict::kSkip; return asked;
    case Decision::kIOError:
      return Status::IOError(StrCat("the compaction filter ", filter_->Name(), " reported it"));
    case Decision::kChangeBlobIndex:
    case Decision::kChangeWideColumnEntity:
    case Decision::kUndetermined: break;
  }
  return Refuse(decision);
}

Status EntryFilter::Refuse(CompactionFilter::Decision decision) const {
  return Status::InvalidArgument(
      StrCat("the compaction filter ", filter_->Name(), " returned the decision ",
             static_cast<int>(decision),
             ", which is not possible for values and operands; return kKeep, kRemove, kPurge, "
             "kChangeValue, kRemoveAndSkipUntil or kIOError"));
}

}  // namespace ashlar
