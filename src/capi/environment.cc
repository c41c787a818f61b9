// Files, threads and rate limits.
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

rocksdb_ratelimiter_t* rocksdb_ratelimiter_create(int64_t rate_bytes_per_sec,
                                                  int64_t refill_period_us,
                                                  int32_t fairness) noexcept {
  return new rocksdb_ratelimiter_t{std::shared_ptr<ashlar::RateLimiter>(
      ashlar::NewGenericRateLimiter(rate_bytes_per_sec, refill_period_us, fairness))};
}
void rocksdb_ratelimiter_destroy(rocksdb_ratelimiter_t* limiter) noexcept { delete limiter; }
