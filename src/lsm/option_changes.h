// OptionChanges: changes of options and of the set of families, and the OPTIONS file that records
// them.
//
//   SetOptions, SetDBOptions --> options of families and of the database --> WriteOptionsFile
//   CreateFamily, DropFamily --> MANIFEST, table of families --> RecordFamilyOptions
//
// I1: changes of options are serialised with the file that records them, so the newest file has the
//     newest options.
// I2: a family is created or dropped between two groups of writes, and only if no error is latched.
// I3: after Stop, no OPTIONS file is written, and no pause of RecordFamilyOptions accesses the
//     database, which may be destroyed before the executor.
// I4: the number of families created or dropped since the newest file is less than a quarter of
//     those that it lists, or 0 if they are few, unless a write failed. Each file lists all
//     families, so writing one for each change would have a quadratic cost.
// I5: every family has the current options of the database. They change under the manifest mutex,
//     which a creation holds from reading them to publishing the family.
//
// Thread safety: all methods from any thread, without locks.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ashlar/options.h"
#include "base/function_ref.h"
#include "base/result.h"
#include "lsm/lsm_core.h"

namespace ashlar {

class OptionChanges {
 public:
  explicit OptionChanges(LsmCore* core);
  OptionChanges(const OptionChanges&) = delete;
  OptionChanges& operator=(const OptionChanges&) = delete;

  using OptionTexts = std::unordered_map<std::string, std::string>;
  Status SetOptions(const std::shared_ptr<ColumnFamily>& family, const OptionTexts& new_options);
  Status SetDBOptions(const OptionTexts& new_options);

  // Creates a family and returns it.
  Result<std::shared_ptr<ColumnFamily>> CreateFamily(const ColumnFamilyOptions& options,
                                                     const std::string& name);
  // Changes the set of families, unless an error is latched (I2). Requires: an exclusive request.
  // If `change` sets *install_failed, its error is latched after it has released the manifest
  // mutex, because listeners run.
  using FamilyChange = FunctionRef<Status(bool* install_failed)>;
  Status LeaderChangeFamilies(std::string_view during, FamilyChange change);
  // The parts of CreateFamily, also for calls that create a family with tables.
  // Checks the options of a new family and completes them.
  Result<ColumnFamilyOptions> CompleteNewOptions(const ColumnFamilyOptions& options,
                                                 const std::string& name) const;
  struct NewFamily {
    std::unique_ptr<PendingInstall> install;
    std::shared_ptr<ColumnFamily> family;
    std::unique_ptr<FamilyTable> families;  // with the new one
  };
  // Requires: an exclusive request. Writes nothing yet. Takes the new files of `tables`, if any.
  Result<NewFamily> PrepareFamily(const ColumnFamilyOptions& completed, const std::string& name,
                                  VersionEdit* tables) ASHLAR_REQUIRES(kManifestMutex);
  // Call in the change of LeaderChangeFamilies, with the install_failed of that change.
  Status PublishFamily(NewFamily prepared, bool* install_failed) ASHLAR_REQUIRES(kManifestMutex);
  Status DropFamily(const std::shared_ptr<ColumnFamily>& family);
  // Writes the OPTIONS file after families were created or dropped. Does so now if I4 requires it
  // or no job begins any more, otherwise after a pause, in RecordPending, or with an earlier write.
  Status RecordFamilyOptions();
  // Writes the OPTIONS file if the newest one misses a family or lists a dropped one.
  Status RecordPending();
  Status WriteOptionsFile();
  // Requires: LOCK is still held, and the job of RecordFamilyOptions has ended
  // (BackgroundWork::Stop).
  void Stop();

 private:
  // The parts of a creation and a drop under the manifest mutex. install_failed: as above.
  Status AddFamily(const ColumnFamilyOptions& completed, const std::string& name,
                   std::shared_ptr<ColumnFamily>* added, bool* install_failed);
  Status RemoveFamily(const std::shared_ptr<ColumnFamily>& family, bool* install_failed);

  // The state of pauses that wait in the executor and may outlive the database there. Its mutex is
  // taken before the database mutex.
  struct Pauses {
    Mutex mutex;
    bool stopped ASHLAR_GUARDED_BY(mutex) = false;
  };
  // Changes nothing if it throws.
  void InstallDBOptions(const DBOptions& changed);
  Status WriteNewestOptions();
  bool MayRecordLater() const ASHLAR_REQUIRES(kDatabaseMutex);
  // Returns false if the executor takes no job.
  bool RecordLater() ASHLAR_REQUIRES(kDatabaseMutex);
  void EndPause();

  DatabaseState* const state_;
  BackgroundWork& background_;
  CommitPipeline& commit_;
  Mutex options_file_mutex_;  // I1
  bool options_file_closed_ ASHLAR_GUARDED_BY(options_file_mutex_) = false;
  const std::shared_ptr<Pauses> pauses_ = std::make_shared<Pauses>();
  // I4: of the newest OPTIONS file.
  uint64_t recorded_families_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;
  uint64_t unrecorded_changes_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;
  // A pause, or the job that follows it, is queued in the executor.
  bool is_queued_ ASHLAR_GUARDED_BY(kDatabaseMutex) = false;
};

}  // namespace ashlar
