// Listeners that a C program implements with functions.
#include <cstdint>
#include <memory>

#include "capi/callback_state.h"
#include "capi/handles.h"
#include "capi/transfer.h"

using ashlar::DB;
using ashlar::Status;
using ashlar::capi::CallbackState;
using ashlar::capi::Rep;
using ashlar::capi::Wrap;

namespace {

// A null function means that the program ignores the event.
struct ListenerFunctions {
  on_flush_begin_cb flush_begin;
  on_flush_completed_cb flush_completed;
  on_compaction_begin_cb compaction_begin;
  on_compaction_completed_cb compaction_completed;
  on_subcompaction_begin_cb subcompaction_begin;
  on_subcompaction_completed_cb subcompaction_completed;
  on_external_file_ingested_cb external_file_ingested;
  on_background_error_cb background_error;
  on_stall_conditions_changed_cb stall_conditions_changed;
  on_memtable_sealed_cb memtable_sealed;
};

class CListener final : public ashlar::EventListener {
 public:
  CListener(void* state, void (*destructor)(void*), const ListenerFunctions& functions)
      : state_(state, destructor), functions_(functions) {}

  void OnFlushBegin(DB* db, const ashlar::FlushJobInfo& info) override {
    Call(functions_.flush_begin, db, info);
  }
  void OnFlushCompleted(DB* db, const ashlar::FlushJobInfo& info) override {
    Call(functions_.flush_completed, db, info);
  }
  void OnCompactionBegin(DB* db, const ashlar::CompactionJobInfo& info) override {
    Call(functions_.compaction_begin, db, info);
  }
  void OnCompactionCompleted(DB* db, const ashlar::CompactionJobInfo& info) override {
    Call(functions_.compaction_completed, db, info);
  }
  void OnSubcompactionBegin(const ashlar::SubcompactionJobInfo& info) override {
    Call(functions_.subcompaction_begin, info);
  }
  void OnSubcompactionCompleted(const ashlar::SubcompactionJobInfo& info) override {
    Call(functions_.subcompaction_completed, info);
  }
  void OnExternalFileIngested(DB* db, const ashlar::ExternalFileIngestionInfo& info) override {
    Call(functions_.external_file_ingested, db, info);
  }
  void OnBackgroundError(ashlar::BackgroundErrorReason reason, Status* error) override {
    if (functions_.background_error != nullptr)
      functions_.background_error(state_.get(), static_cast<uint32_t>(reason), Wrap(error));
  }
  void OnStallConditionsChanged(const ashlar::WriteStallInfo& info) override {
    Call(functions_.stall_conditions_changed, info);
  }
  void OnMemTableSealed(const ashlar::MemTableInfo& info) override {
    Call(functions_.memtable_sealed, info);
  }

 private:
  template <typename Function, typename Info>
  void Call(Function function, DB* db, const Info& info) const {
    if (function == nullptr) return;
    rocksdb_t calling{.owned = nullptr, .rep = db, .default_family = db->DefaultColumnFamily()};
    function(state_.get(), &calling, Wrap(&info));
  }
  template <typename Function, typename Info>
  void Call(Function function, const Info& info) const {
    if (function != nullptr) function(state_.get(), Wrap(&info));
  }

  const CallbackState state_;
  const ListenerFunctions functions_;
};

}  // namespace

rocksdb_eventlistener_t* rocksdb_eventlistener_create(
    void* state, void (*destructor)(void* state), on_flush_begin_cb on_flush_begin,
    on_flush_completed_cb on_flush_completed, on_compaction_begin_cb on_compaction_begin,
    on_compaction_completed_cb on_compaction_completed,
    on_subcompaction_begin_cb on_subcompaction_begin,
    on_subcompaction_completed_cb on_subcompaction_completed,
    on_external_file_ingested_cb on_external_file_ingested,
    on_background_error_cb on_background_error,
    on_stall_conditions_changed_cb on_stall_conditions_changed,
    on_memtable_sealed_cb on_memtable_sealed) noexcept {
  const ListenerFunctions functions{.flush_begin = on_flush_begin,
                                    .flush_completed = on_flush_completed,
                                    .compaction_begin = on_compaction_begin,
                                    .compaction_completed = on_compaction_completed,
                                    .subcompaction_begin = on_subcompaction_begin,
                                    .subcompaction_completed = on_subcompaction_completed,
                                    .external_file_ingested = on_external_file_ingested,
                                    .background_error = on_background_error,
                                    .stall_conditions_changed = on_stall_conditions_changed,
                                    .memtable_sealed = on_memtable_sealed};
  return Wrap(static_cast<ashlar::EventListener*>(new CListener(state, destructor, functions)));
}
void rocksdb_eventlistener_destroy(rocksdb_eventlistener_t* listener) noexcept {
  delete Rep(listener);
}
void rocksdb_options_add_eventlistener(rocksdb_options_t* options,
                                       rocksdb_eventlistener_t* listener) noexcept {
  options->rep.listeners.push_back(std::shared_ptr<ashlar::EventListener>(Rep(listener)));
}

void rocksdb_status_ptr_get_error(rocksdb_status_ptr_t* status, char** errptr) noexcept {
  ashlar::capi::Check(errptr, *Rep(status));
}
void rocksdb_reset_status(rocksdb_status_ptr_t* status) noexcept { *Rep(status) = Status::OK(); }
