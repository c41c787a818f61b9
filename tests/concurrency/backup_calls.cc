#include "tests/concurrency/backup_calls.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/backup_engine.h"
#include "base/format.h"
#include "tests/support/expect_ok.h"

namespace ashlar {
namespace {

// Returns null after a failure, which fails the test.
std::unique_ptr<BackupEngine> OpenEngine(const CallArgs& args, const std::string& directory) {
  BackupEngine* opened = nullptr;
  EXPECT_OK(BackupEngine::Open(args.scene->env(), BackupEngineOptions(directory), &opened));
  return std::unique_ptr<BackupEngine>(opened);
}

std::string OwnDirectory(const CallArgs& args) { return StrCat("/backups", args.thread); }

std::vector<BackupInfo> Infos(const BackupEngine& engine) {
  std::vector<BackupInfo> infos;
  engine.GetBackupInfo(&infos);
  return infos;
}

}  // namespace

void MakeBackup(const CallArgs& args) {
  const Scene::Versions floor = args.scene->Floor();
  const auto backup = std::make_shared<Scene::RunningBackup>();
  backup->engine = OpenEngine(args, OwnDirectory(args));
  if (backup->engine == nullptr) return;
  BackupEngine* const engine = backup->engine.get();
  args.scene->SetRunningBackup(backup);
  const Status created = engine->CreateNewBackup(args.db(), args.random->OneIn(2));
  args.scene->SetRunningBackup(nullptr);
  if (created.IsIncomplete() && backup->is_stopped.load()) return;
  if (!args.scene->Succeeded(created)) return;
  const std::string path = StrCat("/restored", args.thread);
  ASSERT_OK(engine->RestoreDBFromLatestBackup(path, path));
  args.scene->CheckAndRemoveCopy(path, floor);
  EXPECT_OK(engine->PurgeOldBackups(1));
}

void StopBackup(const CallArgs& args) {
  if (const auto running = args.scene->running_backup(); running != nullptr) {
    running->is_stopped.store(true);
    running->engine->StopBackup();
    return;
  }
  const std::unique_ptr<BackupEngine> engine = OpenEngine(args, OwnDirectory(args));
  if (engine == nullptr) return;
  engine->StopBackup();
  const Status created = engine->CreateNewBackup(args.db());
  EXPECT_TRUE(created.IsIncomplete()) << created.ToString();
}

void VerifyBackup(const CallArgs& args) {
  const std::unique_ptr<BackupEngine> engine = OpenEngine(args, Scene::kSharedBackups);
  if (engine == nullptr) return;
  if (Infos(*engine).empty())
    args.scene->Succeeded(engine->CreateNewBackup(args.db()), {Status::kIOError});
  for (const BackupInfo& listed : Infos(*engine)) {
    BackupInfo info;
    EXPECT_OK(engine->GetBackupInfo(listed.backup_id, &info));
    EXPECT_EQ(info.size, listed.size);
    EXPECT_EQ(info.number_files, listed.number_files);
    // NotFound: another engine has deleted it.
    args.scene->Succeeded(engine->VerifyBackup(listed.backup_id, args.random->OneIn(2)),
                          {Status::kNotFound});
  }
}

void RestoreBackup(const CallArgs& args) {
  const std::unique_ptr<BackupEngine> engine = OpenEngine(args, Scene::kSharedBackups);
  if (engine == nullptr) return;
  if (Infos(*engine).empty())
    args.scene->Succeeded(engine->CreateNewBackup(args.db()), {Status::kIOError});
  const std::vector<BackupInfo> infos = Infos(*engine);
  if (infos.empty()) return;
  const BackupID id = infos[args.random->Uniform(infos.size())].backup_id;
  const std::string path = StrCat("/restored-shared", args.thread);
  // NotFound: another engine has deleted it.
  if (!args.scene->Succeeded(engine->RestoreDBFromBackup(id, path, path), {Status::kNotFound}))
    return;
  args.scene->CheckAndRemoveCopy(path, Scene::Versions{});
}

// Keeps the newest ones, so that no number names two backups.
void DeleteBackup(const CallArgs& args) {
  constexpr size_t kKept = 2;
  const std::unique_ptr<BackupEngine> engine = OpenEngine(args, Scene::kSharedBackups);
  if (engine == nullptr) return;
  args.scene->Succeeded(engine->CreateNewBackup(args.db()), {Status::kIOError});
  const std::vector<BackupInfo> infos = Infos(*engine);
  for (size_t i = 0; i + kKept < infos.size(); ++i) {
    args.scene->Succeeded(engine->DeleteBackup(infos[i].backup_id),
                          {Status::kNotFound, Status::kIOError});
  }
  args.scene->Succeeded(engine->GarbageCollect(), {Status::kIOError});
}

// ---- On one engine.

namespace {

void CreateOnOneEngine(const CallArgs& args, BackupEngine* engine) {
  const Scene::Versions floor = args.scene->Floor();
  CreateBackupOptions options;
  options.flush_before_backup = args.random->OneIn(2);
  BackupID id = 0;
  ASSERT_OK(engine->CreateNewBackup(options, args.db(), &id));
  const std::string path = StrCat("/created", args.thread);
  // NotFound: it was purged.
  if (args.scene->Succeeded(engine->RestoreDBFromBackup(id, path, path), {Status::kNotFound}))
    args.scene->CheckAndRemoveCopy(path, floor);
}

void InspectOnOneEngine(const CallArgs& args, BackupEngine* engine) {
  BackupID last = 0;
  for (const BackupInfo& listed : Infos(*engine)) {
    EXPECT_GT(listed.backup_id, last);
    last = listed.backup_id;
    EXPECT_GT(listed.number_files, 0U);
    BackupInfo info;
    if (!args.scene->Succeeded(engine->GetBackupInfo(listed.backup_id, &info), {Status::kNotFound}))
      continue;
    EXPECT_EQ(info.size, listed.size);
    EXPECT_EQ(info.number_files, listed.number_files);
  }
  BackupInfo latest;
  if (args.scene->Succeeded(engine->GetLatestBackupInfo(&latest), {Status::kNotFound})) {
    EXPECT_GE(latest.backup_id, last);
  }
  std::vector<BackupID> damaged;
  engine->GetCorruptedBackups(&damaged);
  EXPECT_TRUE(damaged.empty());
}

void VerifyOnOneEngine(const CallArgs& args, BackupEngine* engine) {
  for (const BackupInfo& listed : Infos(*engine)) {
    args.scene->Succeeded(engine->VerifyBackup(listed.backup_id, args.random->OneIn(2)),
                          {Status::kNotFound});
  }
}

void RestoreOnOneEngine(const CallArgs& args, BackupEngine* engine) {
  const std::string path = StrCat("/restored", args.thread);
  if (args.scene->Succeeded(engine->RestoreDBFromLatestBackup(path, path), {Status::kNotFound}))
    args.scene->CheckAndRemoveCopy(path, Scene::Versions{});
}

void PurgeOnOneEngine(const CallArgs& args, BackupEngine* engine) {
  constexpr uint32_t kKept = 2;
  const std::vector<BackupInfo> infos = Infos(*engine);
  if (infos.size() > kKept && args.random->OneIn(2)) {
    args.scene->Succeeded(engine->DeleteBackup(infos.front().backup_id), {Status::kNotFound});
    EXPECT_OK(engine->GarbageCollect());
  }
  EXPECT_OK(engine->PurgeOldBackups(kKept));
}

}  // namespace

const std::vector<EngineCall>& EngineCalls() {
  static const std::vector<EngineCall> kCalls = {
      {"CreateNewBackup", CreateOnOneEngine}, {"GetBackupInfo", InspectOnOneEngine},
      {"VerifyBackup", VerifyOnOneEngine},    {"RestoreDBFromLatestBackup", RestoreOnOneEngine},
      {"PurgeOldBackups", PurgeOnOneEngine},
  };
  return kCalls;
}

}  // namespace ashlar
