// OptionChanges: changes of options and of the set of families, and the OPTIONS file that records
// them.
//
//   SetOptions, SetDBOptions --> options of families and of the database --> WriteOptionsFile
//   CreateFamily, DropFamily --> MANIFEST, table of families --> RecordFamilyOptions
//
// I1: changes of options are serialised with the file that records them, so the newest file has the
//     newest options.
// I2: a family comes or goes between two groups of writes, and only while no error is latched.
// I3: no OPTIONS file is written after Stop.
//
// Thread safety: all methods from any thread, without locks.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ashlar/options.h"
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

  Status CreateFamily(const ColumnFamilyOptions& options, const std::string& name);
  // The parts of CreateFamily, for calls that create a family with tables.
  // Checks the options of a new family and completes them.
  Result<ColumnFamilyOptions> CompleteNewOptions(const ColumnFamilyOptions& options,
                                                 const std::string& name) const;
  struct NewFamily {
    std::unique_ptr<PendingInstall> install;
    std::shared_ptr<ColumnFamily> family;
    std::unique_ptr<FamilyTable> families;  // with the new one
  };
  // For exclusive tasks: nothing is written yet. Takes the new files of `tables` (null: none).
  Result<NewFamily> PrepareFamily(const ColumnFamilyOptions& completed, const std::string& name,
                                  VersionEdit* tables) ASHLAR_REQUIRES(kManifestMutex);
  // install_failed: the error is to be latched after the manifest mutex is released, because
  // listeners run.
  Status PublishFamily(NewFamily prepared, bool* install_failed) ASHLAR_REQUIRES(kManifestMutex);
  Status DropFamily(const std::shared_ptr<ColumnFamily>& family);
  // The OPTIONS file after families came or went: written now, or soon where there are many.
  Status RecordFamilyOptions();
  Status WriteOptionsFile();
  // LOCK is about to be released. A job of RecordFamilyOptions has ended before
  // (BackgroundWork::Stop).
  void Stop();

 private:
  // The parts of a creation and a drop under the manifest mutex. install_failed: as above.
  Status AddFamily(const ColumnFamilyOptions& completed, const std::string& name,
                   bool* install_failed);
  Status RemoveFamily(const std::shared_ptr<ColumnFamily>& family, bool* install_failed);

  DatabaseState* const state_;
  BackgroundWork& background_;
  CommitPipeline& commit_;
  Mutex options_file_mutex_;  // I1
  bool options_file_closed_ ASHLAR_GUARDED_BY(options_file_mutex_) = false;
  // A job that writes the OPTIONS file waits for its turn.
  bool options_job_queued_ ASHLAR_GUARDED_BY(kDatabaseMutex) = false;
};

}  // namespace ashlar
