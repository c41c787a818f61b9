// Files, threads, rate limits and space limits.
#include "capi/handles.h"
#include "capi/transfer.h"

using ashlar::Env;

rocksdb_env_t* rocksdb_create_default_env(void) noexcept {
  return new rocksdb_env_t{Env::Default(), false};
}
rocksdb_env_t* rocksdb_create_mem_env(void) noexcept {
  return new rocksdb_env_t{ashlar::NewMemEnv(Env::Default()), true};
}
void rocksdb_env_destroy(rocksdb_env_t* env) noexcept {
  if (env->owned) delete env->rep;
  delete env;
}
void rocksdb_create_dir_if_missing(rocksdb_env_t* env, const char* path, char** errptr) noexcept {
  ashlar::capi::Check(errptr, env->rep->CreateDirIfMissing(path));
}

void rocksdb_env_set_background_threads(rocksdb_env_t* env, int number) noexcept {
  env->rep->SetBackgroundThreads(number);
}
int rocksdb_env_get_background_threads(rocksdb_env_t* env) noexcept {
  return env->rep->GetBackgroundThreads();
}
void rocksdb_env_set_high_priority_background_threads(rocksdb_env_t* env, int number) noexcept {
  env->rep->SetBackgroundThreads(number, Env::HIGH);
}
int rocksdb_env_get_high_priority_background_threads(rocksdb_env_t* env) noexcept {
  return env->rep->GetBackgroundThreads(Env::HIGH);
}
void rocksdb_env_set_low_priority_background_threads(rocksdb_env_t* env, int number) noexcept {
  env->rep->SetBackgroundThreads(number, Env::LOW);
}
int rocksdb_env_get_low_priority_background_threads(rocksdb_env_t* env) noexcept {
  return env->rep->GetBackgroundThreads(Env::LOW);
}
void rocksdb_env_set_bottom_priority_background_threads(rocksdb_env_t* env, int number) noexcept {
  env->rep->SetBackgroundThreads(number, Env::BOTTOM);
}
int rocksdb_env_get_bottom_priority_background_threads(rocksdb_env_t* env) noexcept {
  return env->rep->GetBackgroundThreads(Env::BOTTOM);
}
void rocksdb_env_join_all_threads(rocksdb_env_t* env) noexcept { env->rep->WaitForJoin(); }
void rocksdb_env_lower_thread_pool_io_priority(rocksdb_env_t* env) noexcept {
  env->rep->LowerThreadPoolIOPriority();
}
void rocksdb_env_lower_high_priority_thread_pool_io_priority(rocksdb_env_t* env) noexcept {
  env->rep->LowerThreadPoolIOPriority(Env::HIGH);
}
void rocksdb_env_lower_thread_pool_cpu_priority(rocksdb_env_t* env) noexcept {
  env->rep->LowerThreadPoolCPUPriority();
}
void rocksdb_env_lower_high_priority_thread_pool_cpu_priority(rocksdb_env_t* env) noexcept {
  env->rep->LowerThreadPoolCPUPriority(Env::HIGH);
}

rocksdb_ratelimiter_t* rocksdb_ratelimiter_create_with_mode(int64_t rate_bytes_per_sec,
                                                            int64_t refill_period_us,
                                                            int32_t fairness, int mode,
                                                            bool auto_tuned) noexcept {
  using Mode = ashlar::RateLimiter::Mode;
  const Mode known = mode == 0 ? Mode::kReadsOnly : mode == 2 ? Mode::kAllIo : Mode::kWritesOnly;
  return new rocksdb_ratelimiter_t{
      std::shared_ptr<ashlar::RateLimiter>(ashlar::NewGenericRateLimiter(
          rate_bytes_per_sec, refill_period_us, fairness, known, auto_tuned))};
}
rocksdb_ratelimiter_t* rocksdb_ratelimiter_create_auto_tuned(int64_t rate_bytes_per_sec,
                                                             int64_t refill_period_us,
                                                             int32_t fairness) noexcept {
  return rocksdb_ratelimiter_create_with_mode(rate_bytes_per_sec, refill_period_us, fairness, 1,
                                              true);
}
rocksdb_ratelimiter_t* rocksdb_ratelimiter_create(int64_t rate_bytes_per_sec,
                                                  int64_t refill_period_us,
                                                  int32_t fairness) noexcept {
  return rocksdb_ratelimiter_create_with_mode(rate_bytes_per_sec, refill_period_us, fairness, 1,
                                              false);
}
void rocksdb_ratelimiter_destroy(rocksdb_ratelimiter_t* limiter) noexcept { delete limiter; }

rocksdb_sst_file_manager_t* rocksdb_sst_file_manager_create(rocksdb_env_t* env) noexcept {
  return new rocksdb_sst_file_manager_t{
      std::shared_ptr<ashlar::SstFileManager>(ashlar::NewSstFileManager(env->rep))};
}
void rocksdb_sst_file_manager_destroy(rocksdb_sst_file_manager_t* manager) noexcept {
  delete manager;
}
void rocksdb_sst_file_manager_set_max_allowed_space_usage(rocksdb_sst_file_manager_t* manager,
                                                          uint64_t max_allowed_space) noexcept {
  manager->rep->SetMaxAllowedSpaceUsage(max_allowed_space);
}
void rocksdb_sst_file_manager_set_compaction_buffer_size(rocksdb_sst_file_manager_t* manager,
                                                         uint64_t compaction_buffer_size) noexcept {
  manager->rep->SetCompactionBufferSize(compaction_buffer_size);
}
bool rocksdb_sst_file_manager_is_max_allowed_space_reached(
    rocksdb_sst_file_manager_t* manager) noexcept {
  return manager->rep->IsMaxAllowedSpaceReached();
}
bool rocksdb_sst_file_manager_is_max_allowed_space_reached_including_compactions(
    rocksdb_sst_file_manager_t* manager) noexcept {
  return manager->rep->IsMaxAllowedSpaceReachedIncludingCompactions();
}
uint64_t rocksdb_sst_file_manager_get_total_size(rocksdb_sst_file_manager_t* manager) noexcept {
  return manager->rep->GetTotalSize();
}
int64_t rocksdb_sst_file_manager_get_delete_rate_bytes_per_second(
    rocksdb_sst_file_manager_t* manager) noexcept {
  return manager->rep->GetDeleteRateBytesPerSecond();
}
void rocksdb_sst_file_manager_set_delete_rate_bytes_per_second(rocksdb_sst_file_manager_t* manager,
                                                               int64_t delete_rate) noexcept {
  manager->rep->SetDeleteRateBytesPerSecond(delete_rate);
}
double rocksdb_sst_file_manager_get_max_trash_db_ratio(
    rocksdb_sst_file_manager_t* manager) noexcept {
  return manager->rep->GetMaxTrashDBRatio();
}
void rocksdb_sst_file_manager_set_max_trash_db_ratio(rocksdb_sst_file_manager_t* manager,
                                                     double ratio) noexcept {
  manager->rep->SetMaxTrashDBRatio(ratio);
}
uint64_t rocksdb_sst_file_manager_get_total_trash_size(
    rocksdb_sst_file_manager_t* manager) noexcept {
  return manager->rep->GetTotalTrashSize();
}

rocksdb_write_buffer_manager_t* rocksdb_write_buffer_manager_create(size_t buffer_size,
                                                                    bool allow_stall) noexcept {
  return rocksdb_write_buffer_manager_create_with_cache(buffer_size, nullptr, allow_stall);
}
rocksdb_write_buffer_manager_t* rocksdb_write_buffer_manager_create_with_cache(
    size_t buffer_size, const rocksdb_cache_t* cache, bool allow_stall) noexcept {
  return new rocksdb_write_buffer_manager_t{std::make_shared<ashlar::WriteBufferManager>(
      buffer_size, cache == nullptr ? nullptr : cache->rep, allow_stall)};
}
void rocksdb_write_buffer_manager_destroy(rocksdb_write_buffer_manager_t* manager) noexcept {
  delete manager;
}
bool rocksdb_write_buffer_manager_enabled(rocksdb_write_buffer_manager_t* manager) noexcept {
  return manager->rep->enabled();
}
bool rocksdb_write_buffer_manager_cost_to_cache(rocksdb_write_buffer_manager_t* manager) noexcept {
  return manager->rep->cost_to_cache();
}
size_t rocksdb_write_buffer_manager_memory_usage(rocksdb_write_buffer_manager_t* manager) noexcept {
  return manager->rep->memory_usage();
}
size_t rocksdb_write_buffer_manager_mutable_memtable_memory_usage(
    rocksdb_write_buffer_manager_t* manager) noexcept {
  return manager->rep->mutable_memtable_memory_usage();
}
size_t rocksdb_write_buffer_manager_dummy_entries_in_cache_usage(
    rocksdb_write_buffer_manager_t* manager) noexcept {
  return manager->rep->dummy_entries_in_cache_usage();
}
size_t rocksdb_write_buffer_manager_buffer_size(rocksdb_write_buffer_manager_t* manager) noexcept {
  return manager->rep->buffer_size();
}
void rocksdb_write_buffer_manager_set_buffer_size(rocksdb_write_buffer_manager_t* manager,
                                                  size_t new_size) noexcept {
  manager->rep->SetBufferSize(new_size);
}
void rocksdb_write_buffer_manager_set_allow_stall(rocksdb_write_buffer_manager_t* manager,
                                                  bool new_allow_stall) noexcept {
  manager->rep->SetAllowStall(new_allow_stall);
}
