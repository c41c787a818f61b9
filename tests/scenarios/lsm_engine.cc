#include "ashlar/db.h"
#include "ashlar/env.h"
#include "tests/scenarios/engine.h"

namespace ashlar::scenarios {
namespace {

class LsmEngine final : public Engine {
 public:
  Status Open(const OpenRequest& request) override {
    db_.reset();
    options_.env = env_.get();
    options_.comparator = request.comparator;
    options_.create_if_missing = request.create_if_missing;
    options_.error_if_exists = request.error_if_exists;
    options_.compression = kNoCompression;
    options_.write_buffer_size = 128 << 10;
    options_.target_file_size_base = 64 << 10;
    options_.max_bytes_for_level_base = 256 << 10;
    return DB::Open(options_, path_, &db_);
  }
  Status Close() override { return db_->Close(); }
  Status OpenAgain() override {
    std::unique_ptr<DB> second;
    return DB::Open(options_, path_, &second);
  }

  Status Put(const Slice& key, const Slice& value) override {
    return db_->Put(WriteOptions(), key, value);
  }
  Status Delete(const Slice& key) override { return db_->Delete(WriteOptions(), key); }
  Status Write(WriteBatch* batch) override { return db_->Write(WriteOptions(), batch); }
  Status Get(const ReadOptions& options, const Slice& key, PinnableSlice* value) override {
    return db_->Get(options, db_->DefaultColumnFamily(), key, value);
  }
  std::vector<Status> MultiGet(const std::vector<Slice>& keys,
                               std::vector<PinnableSlice>* values) override {
    std::vector<Status> statuses(keys.size());
    values->clear();
    values->resize(keys.size());
    db_->MultiGet(ReadOptions(), db_->DefaultColumnFamily(), keys.size(), keys.data(),
                  values->data(), statuses.data());
    return statuses;
  }
  std::unique_ptr<Iterator> NewIterator(const ReadOptions& options) override {
    return std::unique_ptr<Iterator>(db_->NewIterator(options));
  }

  const Snapshot* GetSnapshot() override { return db_->GetSnapshot(); }
  void ReleaseSnapshot(const Snapshot* snapshot) override { db_->ReleaseSnapshot(snapshot); }

  Status Rearrange(uint64_t choice) override {
    return choice % 2 == 0 ? db_->Flush(FlushOptions())
                           : db_->CompactRange(CompactRangeOptions(), nullptr, nullptr);
  }
  Status Verify() override { return db_->VerifyChecksum(); }

 private:
  const std::string path_ = "/db";
  // In memory, because on a disk the syncs of so many small tables would take most of a minute.
  const std::unique_ptr<Env> env_{NewMemEnv(Env::Default())};
  Options options_;
  std::unique_ptr<DB> db_;
};

}  // namespace

std::unique_ptr<Engine> MakeLsm(const std::string& /*folder*/) {
  return std::make_unique<LsmEngine>();
}

}  // namespace ashlar::scenarios
