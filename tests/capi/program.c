// The C interface as a C program sees it: compiled as C11, linked with the library, one function
// per scenario. Ends with 0, or names the first check that failed.
//
//   capi_program DIRECTORY     removed first
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/capi/program.h"

const char* directory;
rocksdb_options_t* options;
rocksdb_readoptions_t* readoptions;
rocksdb_writeoptions_t* writeoptions;

void Fail(const char* check, const char* file, int line, const char* detail) {
  fprintf(stderr, "%s:%d: %s%s%s\n", file, line, check, detail == NULL ? "" : ": ",
          detail == NULL ? "" : detail);
  exit(1);
}

void ExpectError(char** error, const char* part, const char* file, int line) {
  if (*error == NULL || strstr(*error, part) == NULL)
    Fail(part, file, line, *error == NULL ? "no error" : *error);
  rocksdb_free(*error);
  *error = NULL;
}

int Equal(const char* bytes, size_t size, const char* text) {
  return bytes != NULL && size == strlen(text) && memcmp(bytes, text, size) == 0;
}

void Put(rocksdb_t* db, const char* key, const char* value) {
  char* error = NULL;
  rocksdb_put(db, writeoptions, key, strlen(key), value, strlen(value), &error);
  CHECK_OK(error);
}

// `value` null: the key is expected to be absent. All ways to read one value must agree.
static void ExpectGetLine(rocksdb_t* db, const rocksdb_readoptions_t* how, const char* key,
                          const char* value, int line) {
  char* error = NULL;
  size_t size = 99;
  char* const copy = rocksdb_get(db, how, key, strlen(key), &size, &error);
  CHECK_OK(error);
  if ((copy == NULL) != (value == NULL)) Fail(key, __FILE__, line, "rocksdb_get");
  if (value == NULL) {
    CHECK(size == 0);
  } else if (!Equal(copy, size, value)) {
    Fail(key, __FILE__, line, "another value");
  }
  rocksdb_free(copy);

  rocksdb_pinnableslice_t* const pinned = rocksdb_get_pinned(db, how, key, strlen(key), &error);
  CHECK_OK(error);
  if ((pinned == NULL) != (value == NULL)) Fail(key, __FILE__, line, "rocksdb_get_pinned");
  if (pinned != NULL) {
    const char* const bytes = rocksdb_pinnableslice_value(pinned, &size);
    CHECK(Equal(bytes, size, value));
    rocksdb_pinnableslice_destroy(pinned);
  }

  char buffer[4];
  unsigned char found = 99;
  const unsigned char copied = rocksdb_get_into_buffer(db, how, key, strlen(key), buffer,
                                                       sizeof buffer, &size, &found, &error);
  CHECK_OK(error);
  CHECK(found == (value != NULL));
  CHECK(size == (value == NULL ? 0 : strlen(value)));
  CHECK(copied == (value != NULL && size <= sizeof buffer));
  if (copied) CHECK(Equal(buffer, size, value));
}
#define EXPECT_GET(db, key, value) ExpectGetLine(db, readoptions, key, value, __LINE__)

rocksdb_t* OpenEmpty(void) {
  char* error = NULL;
  rocksdb_destroy_db(options, directory, &error);
  CHECK_OK(error);
  rocksdb_t* const db = rocksdb_open(options, directory, &error);
  CHECK_OK(error);
  CHECK(db != NULL);
  return db;
}

static void ReadsBackWhatWasWritten(void) {
  rocksdb_t* const db = OpenEmpty();
  char* error = NULL;
  Put(db, "granite", "igneous");
  Put(db, "empty", "");
  EXPECT_GET(db, "granite", "igneous");
  EXPECT_GET(db, "empty", "");
  EXPECT_GET(db, "missing", NULL);
  rocksdb_delete(db, writeoptions, "granite", 7, &error);
  CHECK_OK(error);
  EXPECT_GET(db, "granite", NULL);
  rocksdb_singledelete(db, writeoptions, "empty", 5, &error);
  CHECK_OK(error);
  EXPECT_GET(db, "empty", NULL);
  rocksdb_close(db);
}

static void AnErrorReplacesTheOneBefore(void) {
  char* error = NULL;
  rocksdb_options_t* const must_exist = rocksdb_options_create();
  rocksdb_destroy_db(options, directory, &error);
  CHECK_OK(error);
  CHECK(rocksdb_open(must_exist, directory, &error) == NULL);
  CHECK(error != NULL && strstr(error, "Invalid argument") != NULL);
  CHECK(rocksdb_open(must_exist, "/nonexistent/directory", &error) == NULL);
  EXPECT_ERROR(error, "/nonexistent/directory");
  // A refused option can be set, and is named by the open.
  rocksdb_options_set_create_if_missing(must_exist, 1);
  rocksdb_options_set_unordered_write(must_exist, 1);
  CHECK(rocksdb_open(must_exist, directory, &error) == NULL);
  EXPECT_ERROR(error, "unordered_write");
  rocksdb_options_destroy(must_exist);
}

static void PinnedValuesOutliveTheirKeys(void) {
  rocksdb_t* const db = OpenEmpty();
  char* error = NULL;
  size_t size = 0;
  Put(db, "k", "first");
  rocksdb_pinnableslice_t* const pinned = rocksdb_get_pinned(db, readoptions, "k", 1, &error);
  rocksdb_pinnable_handle_t* const handle = rocksdb_get_pinned_v2(db, readoptions, "k", 1, &error);
  CHECK_OK(error);
  Put(db, "k", "second");
  CHECK(Equal(rocksdb_pinnableslice_value(pinned, &size), 5, "first") && size == 5);
  CHECK(Equal(rocksdb_pinnable_handle_get_value(handle, &size), 5, "first") && size == 5);
  EXPECT_GET(db, "k", "second");
  rocksdb_pinnableslice_destroy(pinned);
  rocksdb_pinnable_handle_destroy(handle);
  CHECK(rocksdb_pinnableslice_value(NULL, &size) == NULL && size == 0);
  rocksdb_close(db);
}

// The records of a batch as text: "put k v, ".
struct Walk {
  char text[512];
};
static void Append(void* state, const char* word, uint32_t family, const char* key, size_t key_size,
                   const char* value, size_t value_size) {
  struct Walk* const walk = state;
  const size_t used = strlen(walk->text);
  snprintf(walk->text + used, sizeof walk->text - used, "%s%u %.*s%s%.*s, ", word, (unsigned)family,
           (int)key_size, key, value == NULL ? "" : " ", (int)value_size,
           value == NULL ? "" : value);
}
static void OnPut(void* state, const char* key, size_t key_size, const char* value,
                  size_t value_size) {
  Append(state, "put", 0, key, key_size, value, value_size);
}
static void OnDeleted(void* state, const char* key, size_t key_size) {
  Append(state, "del", 0, key, key_size, NULL, 0);
}
static void OnPutCf(void* state, uint32_t family, const char* key, size_t key_size,
                    const char* value, size_t value_size) {
  Append(state, "put", family, key, key_size, value, value_size);
}
static void OnDeletedCf(void* state, uint32_t family, const char* key, size_t key_size) {
  Append(state, "del", family, key, key_size, NULL, 0);
}
static void OnMergeCf(void* state, uint32_t family, const char* key, size_t key_size,
                      const char* value, size_t value_size) {
  Append(state, "merge", family, key, key_size, value, value_size);
}

static void OnLogData(void* state, const char* blob, size_t blob_size) {
  Append(state, "log", 0, blob, blob_size, NULL, 0);
}

static void LogDataOfBatchesIsReportedAmongTheRecords(void) {
  rocksdb_writebatch_t* const batch = rocksdb_writebatch_create();
  rocksdb_writebatch_put_log_data(batch, "first", 5);
  rocksdb_writebatch_put(batch, "a", 1, "1", 1);
  rocksdb_writebatch_delete_range(batch, "b", 1, "c", 1);
  rocksdb_writebatch_put_log_data(batch, "", 0);
  rocksdb_writebatch_delete(batch, "d", 1);
  struct Walk walk = {""};
  rocksdb_writebatch_iterate_ld(batch, &walk, OnPut, OnDeleted, OnLogData);
  CHECK(strcmp(walk.text, "log0 first, put0 a 1, log0 , del0 d, ") == 0);

  rocksdb_writebatch_merge(batch, "m", 1, "op", 2);
  memset(&walk, 0, sizeof walk);
  rocksdb_writebatch_iterate_cf_ld(batch, &walk, OnPutCf, OnDeletedCf, OnMergeCf, OnLogData);
  CHECK(strcmp(walk.text, "log0 first, put0 a 1, log0 , del0 d, merge0 m op, ") == 0);
  // A null function passes it over.
  memset(&walk, 0, sizeof walk);
  rocksdb_writebatch_iterate_ld(batch, &walk, OnPut, OnDeleted, NULL);
  CHECK(strcmp(walk.text, "put0 a 1, del0 d, ") == 0);
  rocksdb_writebatch_destroy(batch);
}

static void BatchesAreAppliedAsAWhole(void) {
  rocksdb_t* const db = OpenEmpty();
  char* error = NULL;
  Put(db, "gone", "x");
  rocksdb_writebatch_t* const batch = rocksdb_writebatch_create();
  rocksdb_writebatch_put(batch, "a", 1, "1", 1);
  const char* const key_parts[] = {"long", "key"};
  const size_t key_sizes[] = {4, 3};
  const char* const value_parts[] = {"in", "", "pieces"};
  const size_t value_sizes[] = {2, 0, 6};
  rocksdb_writebatch_putv(batch, 2, key_parts, key_sizes, 3, value_parts, value_sizes);
  rocksdb_writebatch_delete(batch, "gone", 4);
  rocksdb_writebatch_set_save_point(batch);
  rocksdb_writebatch_put(batch, "undone", 6, "1", 1);
  rocksdb_writebatch_rollback_to_save_point(batch, &error);
  CHECK_OK(error);
  rocksdb_writebatch_rollback_to_save_point(batch, &error);
  EXPECT_ERROR(error, "NotFound");
  CHECK(rocksdb_writebatch_count(batch) == 3);

  struct Walk walk = {""};
  rocksdb_writebatch_iterate(batch, &walk, OnPut, OnDeleted);
  CHECK(strcmp(walk.text, "put0 a 1, put0 longkey inpieces, del0 gone, ") == 0);

  // The bytes of a batch make the same batch again.
  size_t size = 0;
  const char* const data = rocksdb_writebatch_data(batch, &size);
  rocksdb_writebatch_t* const again = rocksdb_writebatch_create_from(data, size);
  rocksdb_writebatch_merge(again, "m", 1, "op", 2);
  memset(&walk, 0, sizeof walk);
  rocksdb_writebatch_iterate_cf(again, &walk, OnPutCf, OnDeletedCf, OnMergeCf);
  CHECK(strcmp(walk.text, "put0 a 1, put0 longkey inpieces, del0 gone, merge0 m op, ") == 0);
  rocksdb_writebatch_destroy(again);

  // No callback is for a range deletion; the records after it are reported.
  rocksdb_writebatch_t* const with_range = rocksdb_writebatch_create();
  rocksdb_writebatch_put(with_range, "a", 1, "1", 1);
  rocksdb_writebatch_delete_range(with_range, "b", 1, "c", 1);
  rocksdb_writebatch_put(with_range, "d", 1, "2", 1);
  memset(&walk, 0, sizeof walk);
  rocksdb_writebatch_iterate(with_range, &walk, OnPut, OnDeleted);
  CHECK(strcmp(walk.text, "put0 a 1, put0 d 2, ") == 0);
  memset(&walk, 0, sizeof walk);
  rocksdb_writebatch_iterate_cf(with_range, &walk, OnPutCf, OnDeletedCf, OnMergeCf);
  CHECK(strcmp(walk.text, "put0 a 1, put0 d 2, ") == 0);
  rocksdb_writebatch_destroy(with_range);

  rocksdb_write(db, writeoptions, batch, &error);
  CHECK_OK(error);
  EXPECT_GET(db, "longkey", "inpieces");
  EXPECT_GET(db, "gone", NULL);
  EXPECT_GET(db, "undone", NULL);
  rocksdb_writebatch_clear(batch);
  CHECK(rocksdb_writebatch_count(batch) == 0);
  rocksdb_writebatch_destroy(batch);
  rocksdb_close(db);
}

static void ARecordThatDoesNotFitFailsTheWrite(void) {
  rocksdb_t* const db = OpenEmpty();
  char* error = NULL;
  rocksdb_writebatch_t* const batch = rocksdb_writebatch_create_with_params(0, 30, 0, 0);
  rocksdb_writebatch_put(batch, "small", 5, "1", 1);
  rocksdb_writebatch_put(batch, "large", 5, "0123456789012345678901234567890123456789", 40);
  CHECK(rocksdb_writebatch_count(batch) == 1);
  rocksdb_write(db, writeoptions, batch, &error);
  EXPECT_ERROR(error, "exceed its limit");
  EXPECT_GET(db, "small", NULL);
  rocksdb_writebatch_clear(batch);
  rocksdb_writebatch_put(batch, "small", 5, "1", 1);
  rocksdb_write(db, writeoptions, batch, &error);
  CHECK_OK(error);
  EXPECT_GET(db, "small", "1");
  rocksdb_writebatch_destroy(batch);
  rocksdb_close(db);
}

static void ARollbackTakesARefusedRecordBack(void) {
  static const char kLarge[] = "0123456789012345678901234567890123456789";
  rocksdb_t* const db = OpenEmpty();
  char* error = NULL;
  rocksdb_writebatch_t* const batch = rocksdb_writebatch_create_with_params(0, 40, 0, 0);
  rocksdb_writebatch_set_save_point(batch);
  rocksdb_writebatch_put(batch, "kept", 4, "1", 1);
  rocksdb_writebatch_set_save_point(batch);
  rocksdb_writebatch_put(batch, "large", 5, kLarge, sizeof kLarge);
  rocksdb_writebatch_rollback_to_save_point(batch, &error);
  CHECK_OK(error);
  rocksdb_write(db, writeoptions, batch, &error);
  CHECK_OK(error);
  EXPECT_GET(db, "kept", "1");
  // A save point after the refused record does not take it back.
  rocksdb_writebatch_put(batch, "large", 5, kLarge, sizeof kLarge);
  rocksdb_writebatch_set_save_point(batch);
  rocksdb_writebatch_rollback_to_save_point(batch, &error);
  CHECK_OK(error);
  rocksdb_write(db, writeoptions, batch, &error);
  EXPECT_ERROR(error, "exceed its limit");
  // Nor does one that takes the place of one before it.
  rocksdb_writebatch_pop_save_point(batch, &error);
  CHECK_OK(error);
  rocksdb_writebatch_set_save_point(batch);
  rocksdb_writebatch_rollback_to_save_point(batch, &error);
  CHECK_OK(error);
  rocksdb_write(db, writeoptions, batch, &error);
  EXPECT_ERROR(error, "exceed its limit");
  rocksdb_writebatch_destroy(batch);
  rocksdb_close(db);
}

static void ABatchWithAChecksumIsVerified(void) {
  rocksdb_t* const db = OpenEmpty();
  char* error = NULL;
  size_t size = 0;
  rocksdb_writebatch_t* const batch = rocksdb_writebatch_create_with_params(0, 0, 8, 0);
  rocksdb_writebatch_put(batch, "granite", 7, "igneous", 7);
  rocksdb_writebatch_verify_checksum(batch, &error);
  CHECK_OK(error);
  // As memory that is damaged.
  char* const bytes = (char*)rocksdb_writebatch_data(batch, &size);
  bytes[size - 1] = 'z';
  rocksdb_writebatch_verify_checksum(batch, &error);
  EXPECT_ERROR(error, "checksum");
  rocksdb_write(db, writeoptions, batch, &error);
  EXPECT_ERROR(error, "checksum");
  EXPECT_GET(db, "granite", NULL);
  bytes[size - 1] = 's';
  rocksdb_write(db, writeoptions, batch, &error);
  CHECK_OK(error);
  EXPECT_GET(db, "granite", "igneous");
  rocksdb_writebatch_destroy(batch);

  rocksdb_writebatch_t* const without = rocksdb_writebatch_create();
  rocksdb_writebatch_put(without, "k", 1, "v", 1);
  rocksdb_writebatch_verify_checksum(without, &error);
  CHECK_OK(error);
  rocksdb_writebatch_destroy(without);
  rocksdb_close(db);
}

static void ManyKeysAreReadAtOnce(void) {
  enum { kMany = 200 };  // more than fit on the stack
  rocksdb_t* const db = OpenEmpty();
  char names[kMany][8];
  const char* keys[kMany];
  size_t key_sizes[kMany];
  char* values[kMany];
  size_t value_sizes[kMany];
  char* errors[kMany];
  rocksdb_pinnableslice_t* pinned[kMany];
  rocksdb_slice_t slices[kMany];
  rocksdb_column_family_handle_t* const family = rocksdb_get_default_column_family_handle(db);
  const rocksdb_column_family_handle_t* families[kMany];
  for (int i = 0; i < kMany; ++i) {
    snprintf(names[i], sizeof names[i], "key%03d", i);
    keys[i] = names[i];
    key_sizes[i] = strlen(names[i]);
    slices[i].data = keys[i];
    slices[i].size = key_sizes[i];
    families[i] = family;
    if (i % 3 != 0) Put(db, names[i], names[i] + 3);
  }
  for (int count = 2; count <= kMany; count += kMany - 2) {
    const size_t n = (size_t)count;
    for (int form = 0; form < 4; ++form) {
      memset(errors, 0xff, sizeof errors);
      if (form == 0)
        rocksdb_multi_get(db, readoptions, n, keys, key_sizes, values, value_sizes, errors);
      if (form == 1)
        rocksdb_multi_get_cf(db, readoptions, families, n, keys, key_sizes, values, value_sizes,
                             errors);
      if (form == 2)
        rocksdb_batched_multi_get_cf(db, readoptions, family, n, keys, key_sizes, pinned, errors,
                                     1);
      if (form == 3)
        rocksdb_batched_multi_get_cf_slice(db, readoptions, family, n, slices, pinned, errors, 0);
      for (int i = 0; i < count; ++i) {
        CHECK(errors[i] == NULL);
        if (form >= 2) {
          CHECK((pinned[i] == NULL) == (i % 3 == 0));
          if (pinned[i] == NULL) continue;
          const char* const bytes = rocksdb_pinnableslice_value(pinned[i], &value_sizes[i]);
          CHECK(Equal(bytes, value_sizes[i], names[i] + 3));
          rocksdb_pinnableslice_destroy(pinned[i]);
        } else if (i % 3 == 0) {
          CHECK(values[i] == NULL && value_sizes[i] == 0);
        } else {
          CHECK(Equal(values[i], value_sizes[i], names[i] + 3));
          rocksdb_free(values[i]);
        }
      }
    }
  }
  char* value = NULL;
  size_t size = 0;
  unsigned char found = 99;
  CHECK(rocksdb_key_may_exist(db, readoptions, "key001", 6, &value, &size, NULL, 0, &found) == 1);
  CHECK(found == 1 && Equal(value, size, "001"));
  rocksdb_free(value);
  CHECK(rocksdb_key_may_exist(db, readoptions, "key001", 6, NULL, NULL, NULL, 0, NULL) == 1);
  CHECK(rocksdb_key_may_exist(db, readoptions, "key000", 6, &value, &size, NULL, 0, &found) == 0);
  CHECK(found == 1 && size == 0);
  rocksdb_free(value);
  rocksdb_column_family_handle_destroy(family);
  rocksdb_close(db);
}

static void ReadsMayIgnoreRangeDeletions(void) {
  rocksdb_t* const db = OpenEmpty();
  char* error = NULL;
  size_t size = 0;
  Put(db, "a", "1");
  rocksdb_column_family_handle_t* const family = rocksdb_get_default_column_family_handle(db);
  rocksdb_delete_range_cf(db, writeoptions, family, "a", 1, "b", 1, &error);
  CHECK_OK(error);
  rocksdb_readoptions_t* const ignoring = rocksdb_readoptions_create();
  CHECK(rocksdb_readoptions_get_ignore_range_deletions(ignoring) == 0);
  rocksdb_readoptions_set_ignore_range_deletions(ignoring, 1);
  CHECK(rocksdb_readoptions_get_ignore_range_deletions(ignoring) == 1);
  CHECK(rocksdb_get(db, readoptions, "a", 1, &size, &error) == NULL);
  CHECK_OK(error);
  char* const value = rocksdb_get(db, ignoring, "a", 1, &size, &error);
  CHECK_OK(error);
  CHECK(Equal(value, size, "1"));
  rocksdb_free(value);
  rocksdb_readoptions_destroy(ignoring);
  rocksdb_column_family_handle_destroy(family);
  rocksdb_close(db);
}

static void IteratorsWalkBothWays(void) {
  rocksdb_t* const db = OpenEmpty();
  char* error = NULL;
  size_t size = 0;
  Put(db, "a", "1");
  Put(db, "b", "2");
  Put(db, "c", "3");
  rocksdb_iterator_t* const it = rocksdb_create_iterator(db, readoptions);
  CHECK(!rocksdb_iter_valid(it));
  rocksdb_iter_seek_to_first(it);
  CHECK(rocksdb_iter_valid(it) && Equal(rocksdb_iter_key(it, &size), 1, "a") && size == 1);
  rocksdb_iter_next(it);
  CHECK(Equal(rocksdb_iter_value(it, &size), 1, "2") && size == 1);
  rocksdb_iter_prev(it);
  const rocksdb_slice_t key = rocksdb_iter_key_slice(it);
  const rocksdb_slice_t value = rocksdb_iter_value_slice(it);
  CHECK(Equal(key.data, key.size, "a") && Equal(value.data, value.size, "1"));
  rocksdb_iter_seek(it, "bb", 2);
  CHECK(Equal(rocksdb_iter_key(it, &size), 1, "c"));
  rocksdb_iter_seek_for_prev(it, "bb", 2);
  CHECK(Equal(rocksdb_iter_key(it, &size), 1, "b"));
  rocksdb_iter_seek_to_last(it);
  CHECK(Equal(rocksdb_iter_key(it, &size), 1, "c"));
  rocksdb_iter_next(it);
  CHECK(!rocksdb_iter_valid(it));
  rocksdb_iter_get_error(it, &error);
  CHECK_OK(error);
  // The state is the one of its creation, until it is refreshed.
  Put(db, "d", "4");
  rocksdb_iter_seek(it, "d", 1);
  CHECK(!rocksdb_iter_valid(it));
  rocksdb_iter_refresh(it, &error);
  CHECK_OK(error);
  rocksdb_iter_seek(it, "d", 1);
  CHECK(rocksdb_iter_valid(it));
  rocksdb_iter_destroy(it);

  rocksdb_readoptions_t* const bounded = rocksdb_readoptions_create();
  rocksdb_readoptions_set_iterate_lower_bound(bounded, "b", 1);
  rocksdb_readoptions_set_iterate_upper_bound(bounded, "d", 1);
  rocksdb_iterator_t* const inside = rocksdb_create_iterator(db, bounded);
  rocksdb_iter_seek_to_first(inside);
  CHECK(Equal(rocksdb_iter_key(inside, &size), 1, "b"));
  rocksdb_iter_seek_to_last(inside);
  CHECK(Equal(rocksdb_iter_key(inside, &size), 1, "c"));
  rocksdb_iter_destroy(inside);
  rocksdb_readoptions_set_iterate_lower_bound(bounded, NULL, 0);
  rocksdb_iterator_t* const from_start = rocksdb_create_iterator(db, bounded);
  rocksdb_iter_seek_to_first(from_start);
  CHECK(Equal(rocksdb_iter_key(from_start, &size), 1, "a"));
  rocksdb_iter_destroy(from_start);
  // A refused option is the iterator's error.
  rocksdb_readoptions_set_read_tier(bounded, 2);
  rocksdb_iterator_t* const refused = rocksdb_create_iterator(db, bounded);
  rocksdb_iter_seek_to_first(refused);
  CHECK(!rocksdb_iter_valid(refused));
  rocksdb_iter_get_error(refused, &error);
  EXPECT_ERROR(error, "kPersistedTier");
  rocksdb_iter_destroy(refused);
  rocksdb_readoptions_destroy(bounded);
  rocksdb_close(db);
}

// Of the filter below: asked tables, and whether the destructor has run.
typedef struct FilterState {
  uint64_t entries;
  int asked;
  int destroyed;
} FilterState;

static unsigned char HasAsManyEntries(void* state, const rocksdb_table_properties_t* table) {
  FilterState* const filter = state;
  size_t size = 0;
  ++filter->asked;
  const char* const family = rocksdb_table_properties_column_family_name(table, &size);
  CHECK(Equal(family, size, "default"));
  CHECK(rocksdb_table_properties_raw_key_size(table) > 0);
  const size_t collected = rocksdb_table_properties_user_collected_properties_count(table);
  CHECK(rocksdb_table_properties_user_collected_properties_key_at(table, collected, &size) == NULL);
  CHECK(size == 0);
  return rocksdb_table_properties_num_entries(table) == filter->entries;
}

static void DestroyFilter(void* state) { ++((FilterState*)state)->destroyed; }

static void IteratorsLeaveTablesOut(void) {
  rocksdb_t* const db = OpenEmpty();
  char* error = NULL;
  size_t size = 0;
  rocksdb_flushoptions_t* const flush = rocksdb_flushoptions_create();
  Put(db, "a", "1");
  rocksdb_flush(db, flush, &error);
  CHECK_OK(error);
  Put(db, "b", "2");
  Put(db, "c", "3");
  rocksdb_flush(db, flush, &error);
  CHECK_OK(error);
  rocksdb_flushoptions_destroy(flush);

  FilterState filter = {1, 0, 0};
  rocksdb_readoptions_t* const filtered = rocksdb_readoptions_create();
  CHECK(!rocksdb_readoptions_has_table_filter(filtered));
  rocksdb_readoptions_set_table_filter(filtered, &filter, DestroyFilter, HasAsManyEntries);
  CHECK(rocksdb_readoptions_has_table_filter(filtered));
  rocksdb_iterator_t* const it = rocksdb_create_iterator(db, filtered);
  rocksdb_iter_seek_to_first(it);
  CHECK(rocksdb_iter_valid(it) && Equal(rocksdb_iter_key(it, &size), 1, "a"));
  rocksdb_iter_next(it);
  CHECK(!rocksdb_iter_valid(it));
  CHECK(filter.asked >= 2);
  // The iterator has its share of the state.
  rocksdb_readoptions_clear_table_filter(filtered);
  CHECK(!rocksdb_readoptions_has_table_filter(filtered));
  CHECK(filter.destroyed == 0);
  rocksdb_iter_destroy(it);
  CHECK(filter.destroyed == 1);

  FilterState replaced = {2, 0, 0};
  rocksdb_readoptions_set_table_filter(filtered, &replaced, DestroyFilter, HasAsManyEntries);
  rocksdb_readoptions_set_table_filter(filtered, &filter, NULL, HasAsManyEntries);
  CHECK(replaced.destroyed == 1);
  rocksdb_readoptions_destroy(filtered);
  CHECK(filter.destroyed == 1);
  rocksdb_close(db);
}

static void SnapshotsLookBack(void) {
  rocksdb_t* const db = OpenEmpty();
  Put(db, "k", "old");
  const rocksdb_snapshot_t* const snapshot = rocksdb_create_snapshot(db);
  CHECK(rocksdb_snapshot_get_sequence_number(snapshot) == rocksdb_get_latest_sequence_number(db));
  Put(db, "k", "new");
  CHECK(rocksdb_get_latest_sequence_number(db) ==
        rocksdb_snapshot_get_sequence_number(snapshot) + 1);
  rocksdb_readoptions_t* const back = rocksdb_readoptions_create();
  rocksdb_readoptions_set_snapshot(back, snapshot);
  ExpectGetLine(db, back, "k", "old", __LINE__);
  rocksdb_readoptions_set_snapshot(back, NULL);
  ExpectGetLine(db, back, "k", "new", __LINE__);
  rocksdb_readoptions_destroy(back);
  rocksdb_release_snapshot(db, snapshot);
  rocksdb_close(db);
}

// A primary with these three families, and its secondaries.
static void SecondariesFollow(const char* const* names, const rocksdb_options_t* const* all) {
  char* error = NULL;
  size_t size = 0;
  char own[600];
  snprintf(own, sizeof(own), "%s-secondary", directory);
  rocksdb_column_family_handle_t* of_primary[3];
  rocksdb_t* const primary =
      rocksdb_open_column_families(options, directory, 3, names, all, of_primary, &error);
  CHECK_OK(error);
  rocksdb_column_family_handle_t* handles[2];
  rocksdb_t* secondary = rocksdb_open_as_secondary_column_families(options, directory, own, 2,
                                                                   names, all, handles, &error);
  CHECK_OK(error);
  rocksdb_put_cf(primary, writeoptions, of_primary[1], "later", 5, "written", 7, &error);
  CHECK_OK(error);
  CHECK(rocksdb_get_cf(secondary, readoptions, handles[1], "later", 5, &size, &error) == NULL);
  rocksdb_try_catch_up_with_primary(secondary, &error);
  CHECK_OK(error);
  char* const copy = rocksdb_get_cf(secondary, readoptions, handles[1], "later", 5, &size, &error);
  CHECK(Equal(copy, size, "written"));
  rocksdb_free(copy);
  rocksdb_put(secondary, writeoptions, "k", 1, "v", 1, &error);
  EXPECT_ERROR(error, "secondary");
  for (int i = 0; i < 2; ++i) rocksdb_column_family_handle_destroy(handles[i]);
  rocksdb_close(secondary);
  secondary = rocksdb_open_as_secondary(options, directory, own, &error);
  CHECK_OK(error);
  rocksdb_try_catch_up_with_primary(secondary, &error);
  CHECK_OK(error);
  rocksdb_close(secondary);
  rocksdb_try_catch_up_with_primary(primary, &error);
  EXPECT_ERROR(error, "OpenAsSecondary");
  CHECK(rocksdb_open_as_secondary(options, directory, directory, &error) == NULL);
  EXPECT_ERROR(error, "directory");
  for (int i = 0; i < 3; ++i) rocksdb_column_family_handle_destroy(of_primary[i]);
  rocksdb_close(primary);
}

static void FamiliesComeAndGo(void) {
  char* error = NULL;
  size_t size = 0;
  rocksdb_t* db = OpenEmpty();
  rocksdb_column_family_handle_t* const one =
      rocksdb_create_column_family(db, options, "one", &error);
  CHECK_OK(error);
  CHECK(rocksdb_create_column_family(db, options, "one", &error) == NULL);
  EXPECT_ERROR(error, "one");
  const char* const two_names[] = {"two", "three"};
  rocksdb_column_family_handle_t** const two =
      rocksdb_create_column_families(db, options, 2, two_names, &size, &error);
  CHECK_OK(error);
  CHECK(size == 2);
  char* const name = rocksdb_column_family_handle_get_name(two[1], &size);
  CHECK(strcmp(name, "three") == 0 && size == 5 &&
        rocksdb_column_family_handle_get_id(two[1]) == 3);
  rocksdb_free(name);

  rocksdb_put_cf(db, writeoptions, one, "k", 1, "in one", 6, &error);
  rocksdb_put_cf(db, writeoptions, two[0], "k", 1, "in two", 6, &error);
  rocksdb_put_cf(db, writeoptions, two[0], "l", 1, "x", 1, &error);
  rocksdb_delete_cf(db, writeoptions, two[0], "l", 1, &error);
  CHECK_OK(error);
  EXPECT_GET(db, "k", NULL);
  char* copy = rocksdb_get_cf(db, readoptions, one, "k", 1, &size, &error);
  CHECK(Equal(copy, size, "in one"));
  rocksdb_free(copy);
  CHECK(rocksdb_get_cf(db, readoptions, two[0], "l", 1, &size, &error) == NULL);
  rocksdb_column_family_handle_t* both[] = {one, two[0]};
  rocksdb_iterator_t* iterators[2];
  rocksdb_create_iterators(db, readoptions, both, iterators, 2, &error);
  CHECK_OK(error);
  for (int i = 0; i < 2; ++i) {
    rocksdb_iter_seek_to_first(iterators[i]);
    CHECK(Equal(rocksdb_iter_value(iterators[i], &size), 6, i == 0 ? "in one" : "in two"));
    rocksdb_iter_destroy(iterators[i]);
  }
  rocksdb_flushoptions_t* const flush = rocksdb_flushoptions_create();
  rocksdb_flush_cfs(db, flush, both, 2, &error);
  CHECK_OK(error);
  rocksdb_flushoptions_destroy(flush);

  rocksdb_drop_column_family(db, two[1], &error);
  CHECK_OK(error);
  rocksdb_put_cf(db, writeoptions, two[1], "k", 1, "v", 1, &error);
  EXPECT_ERROR(error, "olumn family dropped");
  rocksdb_column_family_handle_destroy(one);
  rocksdb_column_family_handle_destroy(two[0]);
  rocksdb_column_family_handle_destroy(two[1]);
  rocksdb_create_column_families_destroy(two);
  rocksdb_close(db);

  char** const list = rocksdb_list_column_families(options, directory, &size, &error);
  CHECK_OK(error);
  CHECK(size == 3 && strcmp(list[0], "default") == 0 && strcmp(list[1], "one") == 0 &&
        strcmp(list[2], "two") == 0);
  const rocksdb_options_t* all[] = {options, options, options};
  rocksdb_column_family_handle_t* handles[3];
  db = rocksdb_open_column_families(options, directory, 3, (const char* const*)list, all, handles,
                                    &error);
  CHECK_OK(error);
  copy = rocksdb_get_cf(db, readoptions, handles[2], "k", 1, &size, &error);
  CHECK(Equal(copy, size, "in two"));
  rocksdb_free(copy);
  for (int i = 0; i < 3; ++i) rocksdb_column_family_handle_destroy(handles[i]);
  rocksdb_close(db);

  db = rocksdb_open_for_read_only_column_families(options, directory, 2, (const char* const*)list,
                                                  all, handles, 0, &error);
  CHECK_OK(error);
  rocksdb_put_cf(db, writeoptions, handles[1], "k", 1, "v", 1, &error);
  EXPECT_ERROR(error, "Not implemented");
  for (int i = 0; i < 2; ++i) rocksdb_column_family_handle_destroy(handles[i]);
  rocksdb_close(db);
  SecondariesFollow((const char* const*)list, all);
  db = rocksdb_open(options, directory, &error);
  CHECK(db == NULL);
  EXPECT_ERROR(error, "one");
  rocksdb_list_column_families_destroy(list, 3);
  CHECK(rocksdb_list_column_families(options, "/nonexistent/directory", &size, &error) == NULL &&
        size == 0);
  EXPECT_ERROR(error, "/nonexistent/directory");
}

static void ListsAllFiles(rocksdb_t* db) {
  char* error = NULL;
  rocksdb_livefiles_storage_info_options_t* const how =
      rocksdb_livefiles_storage_info_options_create();
  rocksdb_livefiles_storage_info_options_set_include_checksum_info(how, 1);
  rocksdb_livefiles_storage_info_t* const files =
      rocksdb_get_livefiles_storage_info(db, how, &error);
  CHECK_OK(error);
  rocksdb_livefiles_storage_info_options_set_atomic_flush(how, 1);
  CHECK(rocksdb_get_livefiles_storage_info(db, how, &error) == NULL);
  EXPECT_ERROR(error, "atomic_flush");
  rocksdb_livefiles_storage_info_options_destroy(how);
  size_t size = 0;
  CHECK(rocksdb_livefiles_storage_info_count(files) > 3);
  CHECK(strncmp(rocksdb_livefiles_storage_info_relative_filename(files, 0), "MANIFEST-", 9) == 0 &&
        strcmp(rocksdb_livefiles_storage_info_directory(files, 0), directory) == 0);
  CHECK(rocksdb_livefiles_storage_info_file_number(files, 0) > 0 &&
        rocksdb_livefiles_storage_info_file_type(files, 0) == 3 &&
        rocksdb_livefiles_storage_info_size(files, 0) > 0 &&
        rocksdb_livefiles_storage_info_temperature(files, 0) == 0 &&
        rocksdb_livefiles_storage_info_trim_to_size(files, 0));
  CHECK(strcmp(rocksdb_livefiles_storage_info_file_checksum(files, 0), "") == 0 &&
        strcmp(rocksdb_livefiles_storage_info_file_checksum_func_name(files, 0), "Unknown") == 0);
  CHECK(strncmp(rocksdb_livefiles_storage_info_replacement_contents(files, 1, &size), "MANIFEST-",
                9) == 0 &&
        size == rocksdb_livefiles_storage_info_size(files, 1));
  rocksdb_livefiles_storage_info_destroy(files);
}

static void TablesAreFlushedCompactedAndDescribed(void) {
  rocksdb_t* const db = OpenEmpty();
  char* error = NULL;
  size_t size = 0;
  uint64_t number = 0;
  rocksdb_flushoptions_t* const flush = rocksdb_flushoptions_create();
  rocksdb_flushoptions_set_wait(flush, 1);
  for (int i = 0; i < 3; ++i) {
    Put(db, "a", "1");
    Put(db, "z", "2");
    rocksdb_flush(db, flush, &error);
    CHECK_OK(error);
  }
  rocksdb_flushoptions_destroy(flush);
  char* const text = rocksdb_property_value(db, "rocksdb.num-files-at-level0");
  CHECK(strcmp(text, "3") == 0);
  rocksdb_free(text);
  CHECK(rocksdb_property_int(db, "rocksdb.estimate-num-keys", &number) == 0 && number > 0);
  CHECK(rocksdb_property_value(db, "rocksdb.no-such-property") == NULL);
  CHECK(rocksdb_property_int(db, "rocksdb.no-such-property", &number) == -1);

  const rocksdb_livefiles_t* const files = rocksdb_livefiles(db);
  CHECK(rocksdb_livefiles_count(files) == 3);
  CHECK(strcmp(rocksdb_livefiles_column_family_name(files, 0), "default") == 0);
  CHECK(rocksdb_livefiles_level(files, 0) == 0 && rocksdb_livefiles_size(files, 0) > 0 &&
        rocksdb_livefiles_entries(files, 0) == 2);
  CHECK(strstr(rocksdb_livefiles_name(files, 0), ".sst") != NULL &&
        strcmp(rocksdb_livefiles_directory(files, 0), directory) == 0);
  CHECK(Equal(rocksdb_livefiles_smallestkey(files, 0, &size), 1, "a") &&
        Equal(rocksdb_livefiles_largestkey(files, 0, &size), 1, "z"));
  CHECK(rocksdb_livefiles_smallest_seqno(files, 0) < rocksdb_livefiles_largest_seqno(files, 0) &&
        rocksdb_livefiles_deletions(files, 0) == 0);
  rocksdb_livefiles_destroy(files);
  ListsAllFiles(db);

  rocksdb_compact_range(db, NULL, 0, NULL, 0);
  rocksdb_wait_for_compact_options_t* const wait = rocksdb_wait_for_compact_options_create();
  rocksdb_wait_for_compact(db, wait, &error);
  CHECK_OK(error);
  rocksdb_wait_for_compact_options_destroy(wait);

  rocksdb_column_family_metadata_t* const family = rocksdb_get_column_family_metadata(db);
  CHECK(rocksdb_column_family_metadata_get_file_count(family) == 1 &&
        rocksdb_column_family_metadata_get_size(family) > 0);
  char* name = rocksdb_column_family_metadata_get_name(family);
  CHECK(strcmp(name, "default") == 0);
  rocksdb_free(name);
  const size_t levels = rocksdb_column_family_metadata_get_level_count(family);
  size_t tables = 0;
  for (size_t i = 0; i < levels; ++i) {
    rocksdb_level_metadata_t* const level =
        rocksdb_column_family_metadata_get_level_metadata(family, i);
    for (size_t j = 0; j < rocksdb_level_metadata_get_file_count(level); ++j) {
      rocksdb_sst_file_metadata_t* const file =
          rocksdb_level_metadata_get_sst_file_metadata(level, j);
      ++tables;
      CHECK(rocksdb_level_metadata_get_level(level) > 0);
      CHECK(rocksdb_sst_file_metadata_get_size(file) == rocksdb_level_metadata_get_size(level));
      name = rocksdb_sst_file_metadata_get_relative_filename(file);
      CHECK(strstr(name, ".sst") != NULL);
      rocksdb_free(name);
      name = rocksdb_sst_file_metadata_get_largestkey(file, &size);
      CHECK(Equal(name, size, "z"));
      rocksdb_free(name);
      rocksdb_sst_file_metadata_destroy(file);
    }
    CHECK(rocksdb_level_metadata_get_sst_file_metadata(
              level, rocksdb_level_metadata_get_file_count(level)) == NULL);
    rocksdb_level_metadata_destroy(level);
  }
  CHECK(tables == 1);
  CHECK(rocksdb_column_family_metadata_get_level_metadata(family, levels) == NULL);
  rocksdb_column_family_metadata_destroy(family);

  const char* const starts[] = {"a", "x"};
  const char* const limits[] = {"zz", "y"};
  const size_t start_sizes[] = {1, 1};
  const size_t limit_sizes[] = {2, 1};
  uint64_t sizes[2] = {0, 99};
  rocksdb_approximate_sizes(db, 2, starts, start_sizes, limits, limit_sizes, sizes, &error);
  CHECK_OK(error);
  CHECK(sizes[0] > 0 && sizes[1] == 0);
  Put(db, "x1", "in memory");
  rocksdb_column_family_handle_t* const handle = rocksdb_get_default_column_family_handle(db);
  rocksdb_approximate_sizes_cf_with_flags(db, handle, 2, starts, start_sizes, limits, limit_sizes,
                                          rocksdb_size_approximation_flags_include_memtable, sizes,
                                          &error);
  CHECK_OK(error);
  CHECK(sizes[1] > 0);
  rocksdb_column_family_handle_destroy(handle);

  rocksdb_memory_consumers_t* const consumers = rocksdb_memory_consumers_create();
  rocksdb_memory_consumers_add_db(consumers, db);
  rocksdb_memory_usage_t* const usage = rocksdb_approximate_memory_usage_create(consumers, &error);
  CHECK(rocksdb_approximate_memory_usage_get_mem_table_total(usage) > 0);
  CHECK(rocksdb_approximate_memory_usage_get_cache_total(usage) == 0);
  rocksdb_approximate_memory_usage_destroy(usage);
  rocksdb_memory_consumers_destroy(consumers);
  rocksdb_verify_checksum(db, &error);
  rocksdb_flush_wal(db, 1, &error);
  rocksdb_pause_background_work(db, &error);
  rocksdb_continue_background_work(db, &error);
  rocksdb_disable_file_deletions(db, &error);
  rocksdb_enable_file_deletions(db, &error);
  CHECK_OK(error);
  char* const identity = rocksdb_get_db_identity(db, &size);
  CHECK(size > 0 && strlen(identity) == size);
  rocksdb_free(identity);
  rocksdb_close(db);
}

static void CanceledWorkIsRefused(void) {
  rocksdb_t* const db = OpenEmpty();
  char* error = NULL;
  rocksdb_cancel_all_background_work(db, 1);
  Put(db, "a", "1");
  rocksdb_flushoptions_t* const flush = rocksdb_flushoptions_create();
  rocksdb_flush(db, flush, &error);
  EXPECT_ERROR(error, "background work has ended");
  rocksdb_flushoptions_destroy(flush);
  rocksdb_close(db);
}

static void CheckpointsAreMade(void) {
  char* error = NULL;
  char copy[512];
  snprintf(copy, sizeof copy, "%s.copy", directory);
  rocksdb_destroy_db(options, copy, &error);
  CHECK_OK(error);
  rocksdb_t* db = OpenEmpty();
  Put(db, "k", "first");
  rocksdb_checkpoint_t* const checkpoint = rocksdb_checkpoint_object_create(db, &error);
  CHECK_OK(error);
  rocksdb_checkpoint_create(checkpoint, copy, 0, &error);
  CHECK_OK(error);
  rocksdb_checkpoint_create(checkpoint, copy, 0, &error);
  EXPECT_ERROR(error, "exists");
  rocksdb_checkpoint_object_destroy(checkpoint);
  Put(db, "k", "second");
  rocksdb_close(db);
  db = rocksdb_open(options, copy, &error);
  CHECK_OK(error);
  EXPECT_GET(db, "k", "first");
  rocksdb_close(db);
  rocksdb_destroy_db(options, copy, &error);
  CHECK_OK(error);
}

// The list, through the functions that read one and those that make one.
static rocksdb_livefiles_t* CopyOfFiles(const rocksdb_livefiles_t* files) {
  rocksdb_livefiles_t* const copy = rocksdb_livefiles_create();
  for (int i = 0; i < rocksdb_livefiles_count(files); ++i) {
    rocksdb_livefile_t* const file = rocksdb_livefile_create();
    size_t size = 0;
    rocksdb_livefile_set_column_family_name(file, rocksdb_livefiles_column_family_name(files, i));
    rocksdb_livefile_set_level(file, rocksdb_livefiles_level(files, i));
    rocksdb_livefile_set_name(file, rocksdb_livefiles_name(files, i));
    rocksdb_livefile_set_directory(file, rocksdb_livefiles_directory(files, i));
    rocksdb_livefile_set_size(file, rocksdb_livefiles_size(files, i));
    const char* key = rocksdb_livefiles_smallestkey(files, i, &size);
    rocksdb_livefile_set_smallest_key(file, key, size);
    key = rocksdb_livefiles_largestkey(files, i, &size);
    rocksdb_livefile_set_largest_key(file, key, size);
    rocksdb_livefile_set_smallest_seqno(file, rocksdb_livefiles_smallest_seqno(files, i));
    rocksdb_livefile_set_largest_seqno(file, rocksdb_livefiles_largest_seqno(files, i));
    rocksdb_livefile_set_num_entries(file, rocksdb_livefiles_entries(files, i));
    rocksdb_livefile_set_num_deletions(file, rocksdb_livefiles_deletions(files, i));
    rocksdb_livefiles_add(copy, file);
  }
  CHECK(rocksdb_livefiles_count(copy) == rocksdb_livefiles_count(files));
  for (int i = 0; i < rocksdb_livefiles_count(copy); ++i) {
    size_t size = 0;
    CHECK(strcmp(rocksdb_livefiles_column_family_name(copy, i), "default") == 0);
    CHECK(Equal(rocksdb_livefiles_smallestkey(copy, i, &size), 1, "k"));
    CHECK(Equal(rocksdb_livefiles_largestkey(copy, i, &size), 1, "k"));
    CHECK(rocksdb_livefiles_entries(copy, i) == 1 && rocksdb_livefiles_deletions(copy, i) == 0);
  }
  rocksdb_livefile_destroy(rocksdb_livefile_create());
  return copy;
}

static void FamiliesAreExportedAndImported(void) {
  char* error = NULL;
  char folder[512];
  snprintf(folder, sizeof folder, "%s.exported", directory);
  rocksdb_destroy_db(options, folder, &error);
  CHECK_OK(error);
  rocksdb_t* const db = OpenEmpty();
  Put(db, "k", "exported");
  rocksdb_column_family_handle_t* const family = rocksdb_get_default_column_family_handle(db);
  rocksdb_checkpoint_t* const checkpoint = rocksdb_checkpoint_object_create(db, &error);
  CHECK_OK(error);
  rocksdb_export_import_files_metadata_t* const exported =
      rocksdb_checkpoint_export_column_family(checkpoint, family, folder, &error);
  CHECK_OK(error);
  CHECK(rocksdb_checkpoint_export_column_family(checkpoint, family, folder, &error) == NULL);
  EXPECT_ERROR(error, "exists");
  rocksdb_checkpoint_object_destroy(checkpoint);
  rocksdb_column_family_handle_destroy(family);
  Put(db, "k", "later");

  // The metadata, made again.
  rocksdb_export_import_files_metadata_t* const made =
      rocksdb_export_import_files_metadata_create();
  char* const comparator = rocksdb_export_import_files_metadata_get_db_comparator_name(exported);
  rocksdb_livefiles_t* const files = rocksdb_export_import_files_metadata_get_files(exported);
  rocksdb_export_import_files_metadata_set_files(made, CopyOfFiles(files));
  rocksdb_livefiles_destroy(files);
  rocksdb_import_column_family_options_t* const how = rocksdb_import_column_family_options_create();
  CHECK(rocksdb_create_column_family_with_import(db, options, "copied", how, made, &error) == NULL);
  EXPECT_ERROR(error, "comparator");
  rocksdb_export_import_files_metadata_set_db_comparator_name(made, comparator);
  rocksdb_free(comparator);
  rocksdb_column_family_handle_t* const copied =
      rocksdb_create_column_family_with_import(db, options, "copied", how, made, &error);
  CHECK_OK(error);
  rocksdb_import_column_family_options_set_move_files(how, 1);
  CHECK(rocksdb_import_column_family_options_get_move_files(how) == 1);
  rocksdb_column_family_handle_t* const moved =
      rocksdb_create_column_family_with_import(db, options, "moved", how, exported, &error);
  CHECK_OK(error);
  rocksdb_column_family_handle_t* const handles[2] = {copied, moved};
  for (int i = 0; i < 2; ++i) {
    size_t size = 0;
    char* const value = rocksdb_get_cf(db, readoptions, handles[i], "k", 1, &size, &error);
    CHECK_OK(error);
    CHECK(Equal(value, size, "exported"));
    rocksdb_free(value);
    rocksdb_column_family_handle_destroy(handles[i]);
  }
  EXPECT_GET(db, "k", "later");
  CHECK(rocksdb_create_column_family_with_import(db, options, "again", how, made, &error) == NULL);
  EXPECT_ERROR(error, ".sst");
  rocksdb_import_column_family_options_destroy(how);
  rocksdb_export_import_files_metadata_destroy(made);
  rocksdb_export_import_files_metadata_destroy(exported);
  rocksdb_close(db);
  rocksdb_destroy_db(options, folder, &error);
  CHECK_OK(error);
}

static void FilesAreWrittenAndIngested(void) {
  char* error = NULL;
  char file[512];
  snprintf(file, sizeof file, "%s.sst", directory);
  rocksdb_t* const db = OpenEmpty();
  Put(db, "a", "old");
  Put(db, "c", "old");
  rocksdb_envoptions_t* const env = rocksdb_envoptions_create();
  rocksdb_envoptions_set_bytes_per_sync(env, 1 << 20);
  CHECK(rocksdb_envoptions_get_bytes_per_sync(env) == 1 << 20);
  rocksdb_sstfilewriter_t* const writer = rocksdb_sstfilewriter_create(env, options);
  rocksdb_sstfilewriter_put(writer, "a", 1, "new", 3, &error);
  EXPECT_ERROR(error, "no file is open");
  rocksdb_sstfilewriter_open(writer, file, &error);
  rocksdb_sstfilewriter_put(writer, "a", 1, "new", 3, &error);
  rocksdb_sstfilewriter_delete_range(writer, "c", 1, "d", 1, &error);
  rocksdb_sstfilewriter_delete(writer, "e", 1, &error);
  CHECK_OK(error);
  rocksdb_sstfilewriter_add(writer, "e", 1, "again", 5, &error);
  EXPECT_ERROR(error, "ascending order");
  rocksdb_sstfilewriter_finish(writer, &error);
  CHECK_OK(error);
  uint64_t bytes = 0;
  rocksdb_sstfilewriter_file_size(writer, &bytes);
  CHECK(bytes > 100);
  rocksdb_sstfilewriter_destroy(writer);
  rocksdb_envoptions_destroy(env);

  const char* const files[] = {file};
  rocksdb_ingestexternalfileoptions_t* const how = rocksdb_ingestexternalfileoptions_create();
  rocksdb_ingestexternalfileoptions_set_allow_blocking_flush(how, 0);
  rocksdb_ingest_external_file(db, files, 1, how, &error);
  EXPECT_ERROR(error, "allow_blocking_flush");
  rocksdb_ingestexternalfileoptions_set_allow_blocking_flush(how, 1);
  rocksdb_ingestexternalfileoptions_set_move_files(how, 1);
  rocksdb_ingest_external_file(db, files, 1, how, &error);
  CHECK_OK(error);
  EXPECT_GET(db, "a", "new");
  EXPECT_GET(db, "c", NULL);
  rocksdb_ingest_external_file(db, files, 1, how, &error);
  EXPECT_ERROR(error, file);
  rocksdb_ingestexternalfileoptions_destroy(how);
  rocksdb_close(db);
}

static void AFileIsReadOutsideOfADatabase(void) {
  char* error = NULL;
  char file[512];
  snprintf(file, sizeof file, "%s.read.sst", directory);
  rocksdb_envoptions_t* const env = rocksdb_envoptions_create();
  rocksdb_sstfilewriter_t* const writer = rocksdb_sstfilewriter_create(env, options);
  rocksdb_sstfilewriter_open(writer, file, &error);
  rocksdb_sstfilewriter_put(writer, "a", 1, "one", 3, &error);
  rocksdb_sstfilewriter_put(writer, "b", 1, "", 0, &error);
  rocksdb_sstfilewriter_delete(writer, "c", 1, &error);
  rocksdb_sstfilewriter_finish(writer, &error);
  CHECK_OK(error);
  rocksdb_sstfilewriter_destroy(writer);
  rocksdb_envoptions_destroy(env);

  ashlar_sstfilereader_t* const reader = ashlar_sstfilereader_create(options);
  size_t size = 1;
  CHECK(ashlar_sstfilereader_get_table_properties(reader) == NULL);
  CHECK(ashlar_sstfilereader_get(reader, readoptions, "a", 1, &size, &error) == NULL && size == 0);
  EXPECT_ERROR(error, "Open");
  ashlar_sstfilereader_verify_checksum(reader, readoptions, &error);
  EXPECT_ERROR(error, "Open");
  ashlar_sstfilereader_open(reader, directory, &error);
  EXPECT_ERROR(error, directory);
  ashlar_sstfilereader_open(reader, file, &error);
  ashlar_sstfilereader_verify_checksum(reader, readoptions, &error);
  CHECK_OK(error);
  char* value = ashlar_sstfilereader_get(reader, readoptions, "a", 1, &size, &error);
  CHECK(Equal(value, size, "one"));
  rocksdb_free(value);
  value = ashlar_sstfilereader_get(reader, readoptions, "b", 1, &size, &error);
  CHECK(Equal(value, size, ""));
  rocksdb_free(value);
  CHECK(ashlar_sstfilereader_get(reader, readoptions, "c", 1, &size, &error) == NULL && size == 0);
  CHECK_OK(error);
  rocksdb_iterator_t* const it = ashlar_sstfilereader_new_iterator(reader, readoptions);
  rocksdb_iter_seek_to_last(it);
  CHECK(rocksdb_iter_valid(it));
  const char* const key = rocksdb_iter_key(it, &size);
  CHECK(Equal(key, size, "b"));
  rocksdb_iter_destroy(it);

  ashlar_tableproperties_t* const properties = ashlar_sstfilereader_get_table_properties(reader);
  ashlar_sstfilereader_destroy(reader);
  CHECK(ashlar_tableproperties_get_num_entries(properties) == 3);
  CHECK(ashlar_tableproperties_get_num_deletions(properties) == 1);
  CHECK(ashlar_tableproperties_get_num_range_deletions(properties) == 0);
  CHECK(ashlar_tableproperties_get_num_merge_operands(properties) == 0);
  CHECK(ashlar_tableproperties_get_data_size(properties) > 0);
  CHECK(ashlar_tableproperties_get_index_size(properties) > 0);
  CHECK(ashlar_tableproperties_get_raw_key_size(properties) == 27);
  CHECK(ashlar_tableproperties_get_raw_value_size(properties) == 3);
  CHECK(ashlar_tableproperties_get_column_family_id(properties) == 0x7fffffff);
  CHECK(ashlar_tableproperties_get_creation_time(properties) <= (uint64_t)time(NULL));
  CHECK(strcmp(ashlar_tableproperties_get_comparator_name(properties),
               "leveldb.BytewiseComparator") == 0);
  CHECK(strcmp(ashlar_tableproperties_get_column_family_name(properties), "") == 0);
  CHECK((ashlar_tableproperties_get_filter_size(properties) == 0) ==
        (strcmp(ashlar_tableproperties_get_filter_policy_name(properties), "") == 0));
  CHECK(strlen(ashlar_tableproperties_get_compression_name(properties)) > 0);
  const char* const version = ashlar_tableproperties_get_user_collected(
      properties, "rocksdb.external_sst_file.version", &size);
  CHECK(version != NULL && size == 4 && version[0] == 2);
  CHECK(ashlar_tableproperties_get_user_collected(properties, "none", &size) == NULL && size == 0);
  char* const text = ashlar_tableproperties_to_text(properties);
  CHECK(strstr(text, "# entries=3; ") != NULL);
  rocksdb_free(text);
  ashlar_tableproperties_destroy(properties);
  CHECK(remove(file) == 0);
}

struct LogFilter {
  int destroyed;
  size_t families;
  char decided[200];
};
static void DestroyLogFilter(void* state) { ++((struct LogFilter*)state)->destroyed; }
static const char* LogFilterName(void* state) {
  (void)state;
  return "c log filter";
}
static void OnLogNumbers(void* state, const uint32_t* ids, const uint64_t* log_numbers,
                         size_t num_ids, const char* const* names, const size_t* name_sizes,
                         const uint32_t* name_ids, size_t num_names) {
  CHECK(num_ids == num_names && ids[0] == name_ids[0] && log_numbers[0] > 0);
  CHECK(Equal(names[0], name_sizes[0], "default"));
  ((struct LogFilter*)state)->families = num_ids;
}
static int OnLogRecord(void* state, unsigned long long log_number, const char* log_file_name,
                       size_t log_file_name_size, const rocksdb_writebatch_t* batch,
                       rocksdb_writebatch_t* new_batch, unsigned char* batch_changed) {
  struct LogFilter* const filter = (struct LogFilter*)state;
  CHECK(log_number > 0 && memcmp(log_file_name + log_file_name_size - 4, ".log", 4) == 0);
  struct Walk walk = {""};
  rocksdb_writebatch_iterate((rocksdb_writebatch_t*)batch, &walk, OnPut, OnDeleted);
  strcat(filter->decided, walk.text);
  if (strstr(walk.text, "drop") != NULL) return rocksdb_wal_filter_ignore_current_record;
  if (strstr(walk.text, "stop") != NULL) return rocksdb_wal_filter_stop_replay;
  if (strstr(walk.text, "change") != NULL) {
    rocksdb_writebatch_put(new_batch, "changed", 7, "2", 1);
    *batch_changed = 1;
  }
  return rocksdb_wal_filter_continue_processing;
}

static void LogsAreFiltered(void) {
  char* error = NULL;
  rocksdb_t* db = OpenEmpty();
  Put(db, "keep", "1");
  Put(db, "drop", "1");
  Put(db, "change", "1");
  Put(db, "stop", "1");
  Put(db, "after", "1");
  rocksdb_flushwaloptions_t* const how = rocksdb_flushwaloptions_create();
  CHECK(rocksdb_flushwaloptions_get_sync(how) == 0);
  rocksdb_flushwaloptions_set_sync(how, 1);
  CHECK(rocksdb_flushwaloptions_get_sync(how) == 1);
  rocksdb_flushwaloptions_set_rate_limiter_priority(how, 1);
  CHECK(rocksdb_flushwaloptions_get_rate_limiter_priority(how) == 1);
  rocksdb_flush_wal_with_options(db, how, &error);
  CHECK_OK(error);
  rocksdb_flush_wal_with_options(db, NULL, &error);
  CHECK_OK(error);
  rocksdb_flushwaloptions_destroy(how);
  rocksdb_close(db);

  struct LogFilter state = {0, 0, ""};
  rocksdb_walfilter_t* const filter =
      rocksdb_walfilter_create(&state, DestroyLogFilter, OnLogNumbers, OnLogRecord, LogFilterName);
  rocksdb_options_set_wal_filter(options, filter);
  db = rocksdb_open(options, directory, &error);
  CHECK_OK(error);
  CHECK(state.families == 1);
  CHECK(strcmp(state.decided, "put0 keep 1, put0 drop 1, put0 change 1, put0 stop 1, ") == 0);
  EXPECT_GET(db, "keep", "1");
  EXPECT_GET(db, "drop", NULL);
  EXPECT_GET(db, "change", NULL);
  EXPECT_GET(db, "changed", "2");
  EXPECT_GET(db, "stop", NULL);
  EXPECT_GET(db, "after", NULL);
  rocksdb_close(db);
  rocksdb_options_clear_wal_filter(options);
  rocksdb_walfilter_destroy(filter);
  CHECK(state.destroyed == 1);
}

static void IngestionOptionsAgree(void) {
  rocksdb_ingestexternalfileoptions_t* const how = rocksdb_ingestexternalfileoptions_create();
#define CHECK_INGESTION_FLAG(name, initially)                              \
  CHECK(rocksdb_ingestexternalfileoptions_get_##name(how) == (initially)); \
  rocksdb_ingestexternalfileoptions_set_##name(how, !(initially));         \
  CHECK(rocksdb_ingestexternalfileoptions_get_##name(how) == !(initially))
  CHECK_INGESTION_FLAG(move_files, 0);
  CHECK_INGESTION_FLAG(link_files, 0);
  CHECK_INGESTION_FLAG(failed_move_fall_back_to_copy, 1);
  CHECK_INGESTION_FLAG(snapshot_consistency, 1);
  CHECK_INGESTION_FLAG(allow_global_seqno, 1);
  CHECK_INGESTION_FLAG(allow_blocking_flush, 1);
  CHECK_INGESTION_FLAG(ingest_behind, 0);
  CHECK_INGESTION_FLAG(write_global_seqno, 0);
  CHECK_INGESTION_FLAG(fail_if_not_bottommost_level, 0);
  CHECK_INGESTION_FLAG(allow_db_generated_files, 0);
  CHECK_INGESTION_FLAG(fill_cache, 1);
  CHECK_INGESTION_FLAG(prefetch_lmax_index_and_filter_blocks, 1);
  CHECK(rocksdb_ingestexternalfileoptions_get_file_opening_threads(how) == 1);
  rocksdb_ingestexternalfileoptions_set_file_opening_threads(how, 4);
  CHECK(rocksdb_ingestexternalfileoptions_get_file_opening_threads(how) == 4);
  rocksdb_ingestexternalfileoptions_destroy(how);
}

static void CountCalls(void* state) { ++*(int*)state; }
static unsigned char ExcludeNothing(void* state, const char* relative_file,
                                    size_t relative_file_size) {
  (void)relative_file;
  (void)relative_file_size;
  CountCalls(state);
  return 0;
}

static void BackupsAreTakenAndRestored(void) {
  char* error = NULL;
  char backups[512];
  snprintf(backups, sizeof backups, "%s.backups", directory);
  rocksdb_backup_engine_options_t* const how = rocksdb_backup_engine_options_create(backups);
  rocksdb_backup_engine_options_set_destroy_old_data(how, 1);
  CHECK(rocksdb_backup_engine_options_get_destroy_old_data(how) == 1 &&
        rocksdb_backup_engine_options_get_sync(how) == 1);
  rocksdb_env_t* const env = rocksdb_create_default_env();
  rocksdb_backup_engine_t* engine = rocksdb_backup_engine_open_opts(how, env, &error);
  CHECK_OK(error);
  rocksdb_env_destroy(env);
  rocksdb_backup_engine_options_destroy(how);

  rocksdb_t* db = OpenEmpty();
  Put(db, "k", "first");
  rocksdb_backup_engine_create_new_backup(engine, db, &error);
  CHECK_OK(error);
  Put(db, "k", "second");
  int calls = 0;
  uint32_t id = 0;
  rocksdb_create_backup_options_t* const create = rocksdb_create_backup_options_create();
  rocksdb_create_backup_options_set_flush_before_backup(create, 1);
  rocksdb_create_backup_options_set_progress_callback(create, &calls, CountCalls);
  rocksdb_backup_engine_create_new_backup_with_metadata(engine, db, create, "note", 4, &id, &error);
  CHECK_OK(error);
  CHECK(id == 2 && calls > 3);
  // A backup has all of its files.
  const int calls_of_progress = calls;
  rocksdb_create_backup_options_set_exclude_files_callback(create, &calls, ExcludeNothing);
  rocksdb_backup_engine_create_new_backup_with_options(engine, db, create, &id, &error);
  EXPECT_ERROR(error, "exclude_files_callback");
  CHECK(id == 2 && calls == calls_of_progress);
  rocksdb_create_backup_options_destroy(create);
  Put(db, "k", "lost");
  rocksdb_close(db);
  rocksdb_backup_engine_close(engine);

  engine = rocksdb_backup_engine_open(options, backups, &error);
  CHECK_OK(error);
  const rocksdb_backup_engine_info_t* const info = rocksdb_backup_engine_get_backup_info(engine);
  CHECK(rocksdb_backup_engine_info_count(info) == 2 &&
        rocksdb_backup_engine_info_backup_id(info, 1) == 2);
  CHECK(rocksdb_backup_engine_info_size(info, 1) > 0 &&
        rocksdb_backup_engine_info_timestamp(info, 1) > 1600000000);
  CHECK(rocksdb_backup_engine_info_number_files(info, 1) == (uint32_t)calls);
  size_t size = 0;
  CHECK(Equal(rocksdb_backup_engine_info_app_metadata(info, 1, &size), 4, "note") && size == 4);
  CHECK(rocksdb_backup_engine_info_app_metadata(info, 0, &size) != NULL && size == 0);
  rocksdb_backup_engine_info_destroy(info);
  rocksdb_restore_options_t* const restore = rocksdb_restore_options_create();
  rocksdb_backup_engine_restore_db_from_latest_backup(engine, directory, directory, restore,
                                                      &error);
  CHECK_OK(error);
  db = rocksdb_open(options, directory, &error);
  CHECK_OK(error);
  EXPECT_GET(db, "k", "second");
  rocksdb_close(db);
  rocksdb_backup_engine_restore_db_from_backup(engine, directory, directory, restore, 1, &error);
  CHECK_OK(error);
  db = rocksdb_open(options, directory, &error);
  CHECK_OK(error);
  EXPECT_GET(db, "k", "first");
  rocksdb_close(db);
  rocksdb_backup_engine_purge_old_backups(engine, 1, &error);
  rocksdb_backup_engine_verify_backup(engine, 2, &error);
  CHECK_OK(error);
  rocksdb_backup_engine_restore_db_from_backup(engine, directory, directory, restore, 1, &error);
  EXPECT_ERROR(error, "no such backup");
  rocksdb_restore_options_destroy(restore);
  rocksdb_backup_engine_purge_old_backups(engine, 0, &error);
  CHECK_OK(error);

  // Null options are the defaults.
  db = rocksdb_open(options, directory, &error);
  CHECK_OK(error);
  rocksdb_backup_engine_create_new_backup_with_options(engine, db, NULL, &id, &error);
  CHECK_OK(error);
  CHECK(id == 3);
  rocksdb_backup_engine_create_new_backup_with_metadata(engine, db, NULL, NULL, 9, NULL, &error);
  CHECK_OK(error);
  rocksdb_close(db);
  rocksdb_backup_engine_verify_backup(engine, 4, &error);
  CHECK_OK(error);
  rocksdb_backup_engine_purge_old_backups(engine, 0, &error);
  CHECK_OK(error);
  rocksdb_backup_engine_close(engine);
}

// ---- Functions of the program's own.

static int destroyed;
static void CountDestroyed(void* state) { destroyed += *(int*)state; }
static const char* NameOf(void* state) {
  (void)state;
  return "program.c";
}

static int CompareReversed(void* state, const char* a, size_t a_size, const char* b,
                           size_t b_size) {
  (void)state;
  const int order = memcmp(b, a, a_size < b_size ? a_size : b_size);
  return order != 0 ? order : (a_size < b_size) - (a_size > b_size);
}

static char* Join(const char* first, size_t first_size, const char* const* operands,
                  const size_t* sizes, int count, size_t* size) {
  *size = first_size;
  for (int i = 0; i < count; ++i) *size += sizes[i] + 1;
  char* const joined = malloc(*size + 1);
  size_t used = first_size;
  if (first_size != 0) memcpy(joined, first, first_size);
  for (int i = 0; i < count; ++i) {
    joined[used++] = '+';
    memcpy(joined + used, operands[i], sizes[i]);
    used += sizes[i];
  }
  return joined;
}
static char* FullMerge(void* state, const char* key, size_t key_size, const char* existing,
                       size_t existing_size, const char* const* operands, const size_t* sizes,
                       int count, unsigned char* success, size_t* size) {
  (void)state;
  *success = !(key_size == 3 && memcmp(key, "bad", 3) == 0);
  return *success
             ? Join(existing, existing == NULL ? 0 : existing_size, operands, sizes, count, size)
             : NULL;
}
static char* PartialMerge(void* state, const char* key, size_t key_size,
                          const char* const* operands, const size_t* sizes, int count,
                          unsigned char* success, size_t* size) {
  (void)state, (void)key, (void)key_size, (void)operands, (void)sizes, (void)count;
  *success = 0;
  *size = 0;
  return NULL;
}

static void ProgramsBringTheirOwnOrderAndMerge(void) {
  char* error = NULL;
  size_t size = 0;
  int one = 1;
  destroyed = 0;
  rocksdb_destroy_db(options, directory, &error);
  rocksdb_options_t* const own = rocksdb_options_create_copy(options);
  rocksdb_comparator_t* const comparator =
      rocksdb_comparator_create(&one, CountDestroyed, CompareReversed, NameOf);
  rocksdb_options_set_comparator(own, comparator);
  rocksdb_options_set_merge_operator(
      own,
      rocksdb_mergeoperator_create(&one, CountDestroyed, FullMerge, PartialMerge, NULL, NameOf));
  rocksdb_t* const db = rocksdb_open(own, directory, &error);
  CHECK_OK(error);
  Put(db, "a", "1");
  Put(db, "b", "2");
  rocksdb_merge(db, writeoptions, "a", 1, "x", 1, &error);
  rocksdb_merge(db, writeoptions, "a", 1, "y", 1, &error);
  rocksdb_merge(db, writeoptions, "c", 1, "z", 1, &error);
  rocksdb_merge(db, writeoptions, "bad", 3, "z", 1, &error);
  CHECK_OK(error);
  EXPECT_GET(db, "a", "1+x+y");
  EXPECT_GET(db, "c", "+z");
  CHECK(rocksdb_get(db, readoptions, "bad", 3, &size, &error) == NULL);
  EXPECT_ERROR(error, "orruption");
  rocksdb_iterator_t* const it = rocksdb_create_iterator(db, readoptions);
  rocksdb_iter_seek_to_first(it);
  CHECK(Equal(rocksdb_iter_key(it, &size), 1, "c"));
  rocksdb_iter_seek_to_last(it);
  CHECK(Equal(rocksdb_iter_key(it, &size), 1, "a"));
  rocksdb_iter_destroy(it);
  rocksdb_close(db);
  CHECK(destroyed == 0);
  // Another order is refused.
  CHECK(rocksdb_open(options, directory, &error) == NULL);
  EXPECT_ERROR(error, "program.c");
  rocksdb_options_destroy(own);
  CHECK(destroyed == 1);
  rocksdb_comparator_destroy(comparator);
  CHECK(destroyed == 2);
}

static void AWriterHasAnOrderAndMergesOfTheProgram(void) {
  char* error = NULL;
  char file[512];
  int one = 1;
  snprintf(file, sizeof file, "%s.order.sst", directory);
  destroyed = 0;
  rocksdb_destroy_db(options, directory, &error);
  rocksdb_options_t* const own = rocksdb_options_create_copy(options);
  rocksdb_comparator_t* const comparator =
      rocksdb_comparator_create(&one, CountDestroyed, CompareReversed, NameOf);
  rocksdb_options_set_comparator(own, comparator);
  rocksdb_options_set_merge_operator(
      own,
      rocksdb_mergeoperator_create(&one, CountDestroyed, FullMerge, PartialMerge, NULL, NameOf));
  rocksdb_t* const db = rocksdb_open(own, directory, &error);
  CHECK_OK(error);
  Put(db, "b", "old");

  rocksdb_envoptions_t* const env = rocksdb_envoptions_create();
  // The order is the argument's, not that of the options.
  rocksdb_sstfilewriter_t* const writer =
      rocksdb_sstfilewriter_create_with_comparator(env, options, comparator);
  rocksdb_sstfilewriter_open(writer, file, &error);
  rocksdb_sstfilewriter_merge(writer, "c", 1, "x", 1, &error);
  rocksdb_sstfilewriter_merge(writer, "b", 1, "y", 1, &error);
  CHECK_OK(error);
  rocksdb_sstfilewriter_merge(writer, "d", 1, "z", 1, &error);
  EXPECT_ERROR(error, "ascending order");
  rocksdb_sstfilewriter_finish(writer, &error);
  CHECK_OK(error);
  rocksdb_sstfilewriter_destroy(writer);
  rocksdb_envoptions_destroy(env);

  const char* const files[] = {file};
  rocksdb_ingestexternalfileoptions_t* const how = rocksdb_ingestexternalfileoptions_create();
  rocksdb_ingestexternalfileoptions_set_move_files(how, 1);
  rocksdb_ingest_external_file(db, files, 1, how, &error);
  CHECK_OK(error);
  rocksdb_ingestexternalfileoptions_destroy(how);
  EXPECT_GET(db, "b", "old+y");
  EXPECT_GET(db, "c", "+x");
  rocksdb_close(db);
  rocksdb_destroy_db(own, directory, &error);
  CHECK_OK(error);
  rocksdb_options_destroy(own);
  rocksdb_comparator_destroy(comparator);
  CHECK(destroyed == 2);
}

// The batch that the iterator is at has one put, and this sequence.
static void ExpectBatch(rocksdb_wal_iterator_t* it, uint64_t sequence) {
  uint64_t found = 0;
  CHECK(rocksdb_wal_iter_valid(it));
  rocksdb_writebatch_t* const batch = rocksdb_wal_iter_get_batch(it, &found);
  CHECK(found == sequence);
  CHECK(rocksdb_writebatch_count(batch) == 1);
  rocksdb_writebatch_destroy(batch);
}

static void LogsAreListedAndFollowed(void) {
  char* error = NULL;
  rocksdb_t* const db = OpenEmpty();
  Put(db, "a", "1");
  Put(db, "b", "2");
  Put(db, "c", "3");
  rocksdb_wal_readoptions_t* const how = rocksdb_wal_readoptions_create();
  CHECK(rocksdb_get_updates_since(db, 4, how, &error) == NULL);
  EXPECT_ERROR(error, "not yet written");
  rocksdb_wal_iterator_t* const it = rocksdb_get_updates_since(db, 2, how, &error);
  CHECK_OK(error);
  rocksdb_wal_readoptions_destroy(how);
  ExpectBatch(it, 2);
  rocksdb_wal_iter_next(it);
  ExpectBatch(it, 3);
  rocksdb_wal_iter_next(it);
  CHECK(!rocksdb_wal_iter_valid(it));
  rocksdb_wal_iter_status(it, &error);
  CHECK_OK(error);
  Put(db, "d", "4");
  rocksdb_wal_iter_next(it);
  ExpectBatch(it, 4);
  rocksdb_wal_iter_destroy(it);

  rocksdb_wal_files_t* const files = rocksdb_get_sorted_wal_files(db, &error);
  CHECK_OK(error);
  CHECK(rocksdb_wal_files_count(files) == 1);
  CHECK(rocksdb_wal_files_get_wal_file(files, 1) == NULL);
  const rocksdb_wal_file_t* const only = rocksdb_wal_files_get_wal_file(files, 0);
  CHECK(rocksdb_wal_file_type(only) == rocksdb_wal_file_type_alive_log);
  CHECK(rocksdb_wal_file_start_sequence(only) == 1);
  CHECK(rocksdb_wal_file_size_file_bytes(only) > 0);
  CHECK(strstr(rocksdb_wal_file_path_name(only), ".log") != NULL);
  rocksdb_wal_file_t* const current = rocksdb_get_current_wal_file(db, &error);
  CHECK_OK(error);
  CHECK(rocksdb_wal_file_log_number(current) == rocksdb_wal_file_log_number(only));
  rocksdb_wal_file_destroy(current);
  rocksdb_wal_files_destroy(files);
  rocksdb_close(db);
}

static void ADatabaseWithoutCurrentIsRepaired(void) {
  char* error = NULL;
  char current[512];
  rocksdb_t* db = OpenEmpty();
  Put(db, "in a table", "1");
  rocksdb_flushoptions_t* const flush = rocksdb_flushoptions_create();
  rocksdb_flush(db, flush, &error);
  CHECK_OK(error);
  rocksdb_flushoptions_destroy(flush);
  Put(db, "in the log", "2");
  rocksdb_close(db);
  snprintf(current, sizeof current, "%s/CURRENT", directory);
  CHECK(remove(current) == 0);
  CHECK(rocksdb_open(options, directory, &error) == NULL);
  EXPECT_ERROR(error, "CURRENT");
  rocksdb_repair_db(options, directory, &error);
  CHECK_OK(error);
  db = rocksdb_open(options, directory, &error);
  CHECK_OK(error);
  EXPECT_GET(db, "in a table", "1");
  EXPECT_GET(db, "in the log", "2");
  rocksdb_close(db);
  rocksdb_repair_db(options, "/nonexistent/directory", &error);
  EXPECT_ERROR(error, "/nonexistent/directory");
}

static void CountersAdd(void) {
  char* error = NULL;
  size_t size = 0;
  rocksdb_destroy_db(options, directory, &error);
  rocksdb_options_t* const own = rocksdb_options_create_copy(options);
  rocksdb_options_set_uint64add_merge_operator(own);
  rocksdb_t* const db = rocksdb_open(own, directory, &error);
  CHECK_OK(error);
  rocksdb_writebatch_t* const batch = rocksdb_writebatch_create();
  for (int i = 0; i < 3; ++i) rocksdb_writebatch_merge(batch, "n", 1, "\5\0\0\0\0\0\0\0", 8);
  rocksdb_write(db, writeoptions, batch, &error);
  CHECK_OK(error);
  char* const sum = rocksdb_get(db, readoptions, "n", 1, &size, &error);
  CHECK(size == 8 && sum[0] == 15);
  rocksdb_free(sum);
  rocksdb_writebatch_destroy(batch);
  rocksdb_close(db);
  rocksdb_options_destroy(own);
}

// ---- Compaction filters.

typedef struct Filters {
  int made;
  int filters_destroyed;
  int factories_destroyed;
  int asked;  // by the filters that they were made for
  unsigned char is_full;
  unsigned char is_manual;
} Filters;

// By the value: "remove" is removed, "change" becomes "changed", "empty" becomes empty.
static unsigned char FilterByValue(void* state, int level, const char* key, size_t key_size,
                                   const char* value, size_t value_size, char** new_value,
                                   size_t* new_value_size, unsigned char* value_changed) {
  static char changed[] = "changed, and more";
  CHECK(level >= 0 && key_size == 1 && key[0] >= 'a');
  ++((Filters*)state)->asked;
  if (Equal(value, value_size, "change")) {
    *new_value = changed;
    *new_value_size = strlen("changed");
    *value_changed = 1;
  }
  if (Equal(value, value_size, "empty")) *value_changed = 1;
  return Equal(value, value_size, "remove") ? 1 : 0;
}
static void CountFilter(void* state) { ++((Filters*)state)->filters_destroyed; }
static void CountFactory(void* state) { ++((Filters*)state)->factories_destroyed; }

// No filter for a compaction of everything after the first.
static rocksdb_compactionfilter_t* MakeOneFilter(void* state,
                                                 rocksdb_compactionfiltercontext_t* context) {
  Filters* const filters = state;
  filters->is_full = rocksdb_compactionfiltercontext_is_full_compaction(context);
  filters->is_manual = rocksdb_compactionfiltercontext_is_manual_compaction(context);
  if (filters->made > 0) return NULL;
  ++filters->made;
  return rocksdb_compactionfilter_create(filters, CountFilter, FilterByValue, NameOf);
}

static void PutValuesThatAreFiltered(rocksdb_t* db) {
  Put(db, "a", "remove");
  Put(db, "b", "change");
  Put(db, "c", "empty");
  Put(db, "d", "kept");
}

static void AFilterRemovesAndChangesValues(void) {
  char* error = NULL;
  Filters filters = {0};
  rocksdb_destroy_db(options, directory, &error);
  rocksdb_options_t* const own = rocksdb_options_create_copy(options);
  rocksdb_compactionfilter_t* const filter =
      rocksdb_compactionfilter_create(&filters, CountFilter, FilterByValue, NameOf);
  rocksdb_options_set_compaction_filter(own, filter);
  rocksdb_t* const db = rocksdb_open(own, directory, &error);
  CHECK_OK(error);
  PutValuesThatAreFiltered(db);
  const rocksdb_snapshot_t* const snapshot = rocksdb_create_snapshot(db);
  rocksdb_compact_range(db, NULL, 0, NULL, 0);
  CHECK(filters.asked == 0);
  EXPECT_GET(db, "a", "remove");

  rocksdb_release_snapshot(db, snapshot);
  rocksdb_compact_range(db, NULL, 0, NULL, 0);
  CHECK(filters.asked == 4);
  EXPECT_GET(db, "a", NULL);
  EXPECT_GET(db, "b", "changed");
  EXPECT_GET(db, "c", "");
  EXPECT_GET(db, "d", "kept");
  rocksdb_close(db);
  rocksdb_options_destroy(own);
  CHECK(filters.filters_destroyed == 0);
  rocksdb_compactionfilter_destroy(filter);
  CHECK(filters.filters_destroyed == 1);
}

static void AFactoryMakesTheFilterOfACompaction(void) {
  char* error = NULL;
  Filters filters = {0};
  rocksdb_destroy_db(options, directory, &error);
  rocksdb_options_t* const own = rocksdb_options_create_copy(options);
  rocksdb_options_set_compaction_filter_factory(
      own, rocksdb_compactionfilterfactory_create(&filters, CountFactory, MakeOneFilter, NameOf));
  rocksdb_t* const db = rocksdb_open(own, directory, &error);
  CHECK_OK(error);
  PutValuesThatAreFiltered(db);
  rocksdb_compact_range(db, NULL, 0, NULL, 0);
  CHECK(filters.is_full && filters.is_manual);
  CHECK(filters.made == 1 && filters.filters_destroyed == 1);
  EXPECT_GET(db, "a", NULL);
  EXPECT_GET(db, "b", "changed");

  const int asked = filters.asked;
  Put(db, "e", "remove");
  rocksdb_compact_range(db, NULL, 0, NULL, 0);
  CHECK(filters.asked == asked);
  EXPECT_GET(db, "e", "remove");
  rocksdb_close(db);
  CHECK(filters.factories_destroyed == 0);
  rocksdb_options_destroy(own);
  CHECK(filters.factories_destroyed == 1 && filters.filters_destroyed == 1);
}

// ---- Options, and what is counted.

static pthread_mutex_t log_mutex = PTHREAD_MUTEX_INITIALIZER;
static size_t logged;
static void CountLogged(void* state, unsigned level, char* message, size_t size) {
  (void)state, (void)level;
  pthread_mutex_lock(&log_mutex);
  if (strlen(message) == size) ++logged;
  pthread_mutex_unlock(&log_mutex);
}

static void OptionsReachTheDatabase(void) {
  char* error = NULL;
  size_t size = 0;
  rocksdb_options_t* const own = rocksdb_options_create();
  rocksdb_options_set_create_if_missing(own, 1);
  rocksdb_env_t* const env = rocksdb_create_mem_env();
  rocksdb_options_set_env(own, env);
  rocksdb_create_dir_if_missing(env, "/memory", &error);
  CHECK_OK(error);
  rocksdb_env_set_background_threads(env, 2);
  CHECK(rocksdb_env_get_background_threads(env) >= 2);
  rocksdb_logger_t* const logger = rocksdb_logger_create_callback_logger(0, CountLogged, NULL);
  rocksdb_options_set_info_log(own, logger);
  rocksdb_logger_destroy(logger);
  rocksdb_ratelimiter_destroy(rocksdb_ratelimiter_create(1 << 30, 100000, 10));
  rocksdb_ratelimiter_destroy(rocksdb_ratelimiter_create_auto_tuned(1 << 30, 100000, 10));
  rocksdb_ratelimiter_t* const limiter =
      rocksdb_ratelimiter_create_with_mode(1 << 30, 100000, 10, 2, true);
  rocksdb_options_set_ratelimiter(own, limiter);
  rocksdb_ratelimiter_destroy(limiter);
  rocksdb_options_enable_statistics(own);
  rocksdb_options_set_compression(own, rocksdb_zstd_compression);
  const int per_level[] = {rocksdb_no_compression, rocksdb_lz4_compression};
  rocksdb_options_set_compression_per_level(own, per_level, 2);

  rocksdb_cache_t* const cache = rocksdb_cache_create_lru(1 << 20);
  CHECK(rocksdb_cache_get_capacity(cache) == 1 << 20);
  rocksdb_block_based_table_options_t* const tables = rocksdb_block_based_options_create();
  rocksdb_block_based_options_set_block_cache(tables, cache);
  rocksdb_filterpolicy_destroy(rocksdb_filterpolicy_create_bloom_format(10, true));
  rocksdb_block_based_options_set_filter_policy(tables, rocksdb_filterpolicy_create_bloom(10));
  rocksdb_block_based_options_set_block_size(tables, 1024);
  CHECK(rocksdb_block_based_options_get_block_size(tables) == 1024);
  rocksdb_options_set_block_based_table_factory(own, tables);
  rocksdb_block_based_options_destroy(tables);

  rocksdb_t* const db = rocksdb_open(own, "/memory/db", &error);
  CHECK_OK(error);
  Put(db, "k", "v");
  rocksdb_compact_range(db, NULL, 0, NULL, 0);
  EXPECT_GET(db, "k", "v");
  CHECK(rocksdb_cache_get_usage(cache) > 0 && rocksdb_cache_get_occupancy_count(cache) > 0 &&
        rocksdb_cache_get_pinned_usage(cache) == 0);
  char* const text = rocksdb_options_statistics_get_string(own);
  CHECK(text != NULL && strstr(text, "rocksdb.number.keys.written COUNT : 1") != NULL);
  rocksdb_free(text);
  // By RocksDB 11.8.1's numbers: BLOCK_CACHE_DATA_ADD and NUMBER_KEYS_WRITTEN.
  CHECK(rocksdb_options_statistics_get_ticker_count(own, 14) > 0);
  CHECK(rocksdb_options_statistics_get_ticker_count(own, 58) == 1);
  CHECK(rocksdb_options_statistics_get_ticker_count(own, 100000) == 0);
  rocksdb_statistics_histogram_data_t* const histogram = rocksdb_statistics_histogram_data_create();
  rocksdb_options_statistics_get_histogram_data(own, 100000, histogram);
  CHECK(rocksdb_statistics_histogram_data_get_count(histogram) == 0);
  rocksdb_statistics_histogram_data_destroy(histogram);
  CHECK(logged > 0);

  const char* const names[] = {"write_buffer_size", "disable_auto_compactions"};
  const char* const values[] = {"1048576", "true"};
  rocksdb_set_options(db, 2, names, values, &error);
  CHECK_OK(error);
  const char* const wrong[] = {"no_such_option"};
  rocksdb_set_options(db, 1, wrong, values, &error);
  EXPECT_ERROR(error, "no_such_option");
  rocksdb_close(db);

  // The OPTIONS file remembers all of it.
  rocksdb_options_t* loaded = NULL;
  char** family_names = NULL;
  rocksdb_options_t** family_options = NULL;
  rocksdb_load_latest_options("/memory/db", env, false, cache, &loaded, &size, &family_names,
                              &family_options, &error);
  CHECK_OK(error);
  CHECK(size == 1 && strcmp(family_names[0], "default") == 0 &&
        rocksdb_options_get_write_buffer_size(family_options[0]) == 1048576);
  CHECK(rocksdb_options_get_compression(family_options[0]) == rocksdb_zstd_compression);
  CHECK(rocksdb_options_get_disable_auto_compactions(family_options[0]) == 1);
  rocksdb_load_latest_options_destroy(loaded, family_names, family_options, size);
  rocksdb_load_latest_options("/memory/none", env, false, NULL, &loaded, &size, &family_names,
                              &family_options, &error);
  CHECK(loaded == NULL && size == 0);
  EXPECT_ERROR(error, "/memory/none");
  rocksdb_options_destroy(own);
  rocksdb_cache_destroy(cache);
  rocksdb_env_destroy(env);
}

static void PlainTablesAreReadThroughAMapping(void) {
  char* error = NULL;
  size_t size = 0;
  rocksdb_destroy_db(options, directory, &error);
  rocksdb_options_t* const own = rocksdb_options_create_copy(options);
  rocksdb_options_set_allow_mmap_reads(own, 1);
  rocksdb_options_set_prefix_extractor(own, rocksdb_slicetransform_create_fixed_prefix(2));
  rocksdb_options_set_plain_table_factory(own, 4, 10, 0.75, 16, 0, 0, 0, 0);
  rocksdb_t* const db = rocksdb_open(own, directory, &error);
  CHECK_OK(error);
  Put(db, "aa01", "1");
  Put(db, "aa02", "2");
  rocksdb_flushoptions_t* const flush = rocksdb_flushoptions_create();
  rocksdb_flush(db, flush, &error);
  CHECK_OK(error);
  EXPECT_GET(db, "aa02", "2");
  EXPECT_GET(db, "aa03", NULL);
  rocksdb_iterator_t* const it = rocksdb_create_iterator(db, readoptions);
  rocksdb_iter_seek(it, "aa02", 4);
  CHECK(rocksdb_iter_valid(it) && Equal(rocksdb_iter_value(it, &size), 1, "2"));
  rocksdb_iter_destroy(it);
  // Keys of another length are refused where the options fix it.
  rocksdb_put(db, writeoptions, "aa003", 5, "3", 1, &error);
  EXPECT_ERROR(error, "user_key_len");
  rocksdb_flushoptions_destroy(flush);
  rocksdb_close(db);
  rocksdb_options_destroy(own);
}

static void CuckooTablesAreRefusedByName(void) {
  char* error = NULL;
  rocksdb_options_t* const own = rocksdb_options_create_copy(options);
  rocksdb_cuckoo_table_options_t* const cuckoo = rocksdb_cuckoo_options_create();
  rocksdb_cuckoo_options_set_hash_ratio(cuckoo, 0.5);
  CHECK(rocksdb_cuckoo_options_get_hash_table_ratio(cuckoo) == 0.5);
  rocksdb_options_set_cuckoo_table_factory(own, cuckoo);
  rocksdb_cuckoo_options_destroy(cuckoo);
  CHECK(rocksdb_open(own, directory, &error) == NULL);
  EXPECT_ERROR(error, "table_factory=CuckooTable");
  rocksdb_options_destroy(own);
}

static void IndexesOfTheProgramAreRefusedByName(void) {
  char* error = NULL;
  size_t size = 99;
  rocksdb_block_based_table_options_t* const table = rocksdb_block_based_options_create();
  rocksdb_block_based_options_set_user_defined_index_factory_from_string(table, "trie_index...", 10,
                                                                         &error);
  EXPECT_ERROR(error, "user-defined indexes are not implemented: trie_index");
  CHECK(rocksdb_block_based_options_get_user_defined_index_factory_name(table, &size) == NULL);
  CHECK(size == 0);
  CHECK(rocksdb_block_based_options_get_user_defined_index_factory_name(table, NULL) == NULL);
  rocksdb_block_based_options_set_user_defined_index_factory_from_string(table, NULL, 0, &error);
  CHECK_OK(error);
  rocksdb_block_based_options_clear_user_defined_index_factory(table);
  rocksdb_block_based_options_destroy(table);

  rocksdb_readoptions_t* const read = rocksdb_readoptions_create();
  rocksdb_readoptions_set_table_index_factory_from_string(read, "trie_index", 10, &error);
  EXPECT_ERROR(error, "user-defined indexes are not implemented: trie_index");
  size = 99;
  CHECK(rocksdb_readoptions_get_table_index_factory_name(read, &size) == NULL && size == 0);
  CHECK(rocksdb_readoptions_get_table_index_factory_name(read, NULL) == NULL);
  rocksdb_readoptions_set_table_index_factory_from_string(read, NULL, 0, &error);
  CHECK_OK(error);
  rocksdb_readoptions_clear_table_index_factory(read);
  rocksdb_readoptions_destroy(read);
}

static void AllocatorsOfCachesAreRefusedByName(void) {
  char* error = NULL;
  rocksdb_memory_allocator_t* const allocator = rocksdb_jemalloc_nodump_allocator_create(&error);
  EXPECT_ERROR(error, "jemalloc");
  CHECK(allocator == NULL);
  // A program that goes on all the same has caches without one.
  rocksdb_lru_cache_options_t* const lru = rocksdb_lru_cache_options_create();
  rocksdb_lru_cache_options_set_capacity(lru, 1 << 20);
  rocksdb_lru_cache_options_set_memory_allocator(lru, allocator);
  rocksdb_cache_t* cache = rocksdb_cache_create_lru_opts(lru);
  CHECK(rocksdb_cache_get_capacity(cache) == 1 << 20);
  rocksdb_cache_destroy(cache);
  rocksdb_lru_cache_options_destroy(lru);
  rocksdb_hyper_clock_cache_options_t* const hyper =
      rocksdb_hyper_clock_cache_options_create(1 << 20, 0);
  rocksdb_hyper_clock_cache_options_set_memory_allocator(hyper, allocator);
  cache = rocksdb_cache_create_hyper_clock_opts(hyper);
  CHECK(rocksdb_cache_get_capacity(cache) == 1 << 20);
  rocksdb_cache_destroy(cache);
  rocksdb_hyper_clock_cache_options_destroy(hyper);
  rocksdb_memory_allocator_destroy(allocator);
}

// Functions of RocksDB's that have nothing to do here.
static void CachesAndCollectorsHaveAllFunctions(void) {
  char* error = NULL;
  rocksdb_destroy_db(options, directory, &error);
  CHECK_OK(error);
  rocksdb_options_t* const own = rocksdb_options_create_copy(options);
  rocksdb_cache_t* const cache = rocksdb_cache_create_lru(1 << 20);
  CHECK(rocksdb_cache_get_table_address_count(cache) == 0);
  rocksdb_block_based_table_options_t* const table = rocksdb_block_based_options_create();
  rocksdb_block_based_options_set_block_cache(table, cache);
  rocksdb_options_set_block_based_table_factory(own, table);
  rocksdb_options_add_table_properties_collector_factory(own, NULL);
  rocksdb_table_properties_collector_factory_destroy(NULL);
  rocksdb_t* const db = rocksdb_open(own, directory, &error);
  CHECK_OK(error);
  Put(db, "a", "1");
  rocksdb_cache_disown_data(cache);
  EXPECT_GET(db, "a", "1");
  rocksdb_close(db);
  rocksdb_block_based_options_destroy(table);
  rocksdb_cache_destroy(cache);
  rocksdb_options_destroy(own);
}

#define ROUND_TRIP(object, name, value)             \
  rocksdb_##object##_set_##name(of, value);         \
  if (rocksdb_##object##_get_##name(of) != (value)) \
  Fail(#name, __FILE__, __LINE__, "another value than the one set")
#define ROUND_TRIP_TRUTH(object, name) \
  ROUND_TRIP(object, name, 1);         \
  ROUND_TRIP(object, name, 0)

static void SettersAndGettersAgree(void) {
  {
    rocksdb_options_t* const of = rocksdb_options_create();
    CHECK(rocksdb_options_get_write_buffer_size(of) == 64 << 20 &&
          rocksdb_options_get_create_if_missing(of) == 0);
    ROUND_TRIP_TRUTH(options, create_if_missing);
    ROUND_TRIP_TRUTH(options, allow_mmap_reads);
    ROUND_TRIP_TRUTH(options, enable_blob_gc);
    ROUND_TRIP_TRUTH(options, disable_auto_compactions);
    ROUND_TRIP_TRUTH(options, compression_options_use_zstd_dict_trainer);
    ROUND_TRIP(options, write_buffer_size, (size_t)5 << 32);
    ROUND_TRIP(options, max_open_files, -1);
    ROUND_TRIP(options, max_bytes_for_level_multiplier, 7.5);
    ROUND_TRIP(options, blob_gc_age_cutoff, 0.125);
    ROUND_TRIP(options, blob_gc_force_threshold, 0.5);
    ROUND_TRIP(options, wal_recovery_mode, rocksdb_absolute_consistency_recovery);
    ROUND_TRIP(options, compression, rocksdb_lz4_compression);
    ROUND_TRIP(options, compaction_pri, rocksdb_k_round_robin_compaction_pri);
    ROUND_TRIP(options, info_log_level, 3);
    ROUND_TRIP(options, ttl, (uint64_t)1 << 40);
    rocksdb_options_compaction_readahead_size(of, 12345);
    CHECK(rocksdb_options_get_compaction_readahead_size(of) == 12345);
    size_t size = 0;
    rocksdb_options_set_wal_dir(of, "/wal");
    CHECK(strcmp(rocksdb_options_get_wal_dir(of, &size), "/wal") == 0 && size == 4);
    rocksdb_options_increase_parallelism(of, 8);
    CHECK(rocksdb_options_get_max_background_jobs(of) == 8);
    rocksdb_options_prepare_for_bulk_load(of);
    CHECK(rocksdb_options_get_disable_auto_compactions(of) == 1);
    rocksdb_options_optimize_level_style_compaction(of, 1 << 20);
    CHECK(rocksdb_options_get_write_buffer_size(of) == 1 << 18);
    rocksdb_options_optimize_level_style_compaction(of, 0);
    CHECK(rocksdb_options_get_write_buffer_size(of) == 128 << 20);
    rocksdb_options_optimize_universal_style_compaction(of, 1 << 21);
    CHECK(rocksdb_options_get_write_buffer_size(of) == 1 << 19 &&
          rocksdb_options_get_compaction_style(of) == rocksdb_universal_compaction);
    rocksdb_options_optimize_level_style_compaction(of, 1 << 20);
    char* error = NULL;
    rocksdb_options_t* const from_text = rocksdb_options_create();
    rocksdb_get_options_from_string(of, "max_open_files=77;compression=kZSTD", from_text, &error);
    CHECK_OK(error);
    CHECK(rocksdb_options_get_max_open_files(from_text) == 77 &&
          rocksdb_options_get_write_buffer_size(from_text) == 1 << 18);
    rocksdb_get_options_from_string(of, "no_such_option=1", from_text, &error);
    EXPECT_ERROR(error, "no_such_option");
    rocksdb_options_destroy(from_text);
    rocksdb_options_destroy(of);
  }
  {
    rocksdb_block_based_table_options_t* const of = rocksdb_block_based_options_create();
    ROUND_TRIP_TRUTH(block_based_options, cache_index_and_filter_blocks);
    ROUND_TRIP_TRUTH(block_based_options, whole_key_filtering);
    ROUND_TRIP(block_based_options, block_restart_interval, 7);
    ROUND_TRIP(block_based_options, format_version, 4);
    ROUND_TRIP(block_based_options, checksum, 1);
    rocksdb_block_based_options_set_data_block_hash_ratio(of, 0.5);
    CHECK(rocksdb_block_based_options_get_data_block_hash_table_util_ratio(of) == 0.5);
    rocksdb_block_based_options_destroy(of);
  }
  {
    rocksdb_readoptions_t* const of = rocksdb_readoptions_create();
    CHECK(rocksdb_readoptions_get_fill_cache(of) == 1);
    ROUND_TRIP_TRUTH(readoptions, fill_cache);
    ROUND_TRIP_TRUTH(readoptions, verify_checksums);
    ROUND_TRIP(readoptions, read_tier, 1);
    ROUND_TRIP(readoptions, readahead_size, 1 << 20);
    ROUND_TRIP(readoptions, deadline, 1000);
    ROUND_TRIP(readoptions, io_timeout, 2000);
    rocksdb_readoptions_destroy(of);
  }
  {
    rocksdb_writeoptions_t* const of = rocksdb_writeoptions_create();
    ROUND_TRIP_TRUTH(writeoptions, sync);
    ROUND_TRIP_TRUTH(writeoptions, no_slowdown);
    rocksdb_writeoptions_disable_WAL(of, 1);
    CHECK(rocksdb_writeoptions_get_disable_WAL(of) == 1);
    rocksdb_writeoptions_destroy(of);
  }
  {
    rocksdb_compactoptions_t* const of = rocksdb_compactoptions_create();
    ROUND_TRIP_TRUTH(compactoptions, exclusive_manual_compaction);
    ROUND_TRIP(compactoptions, bottommost_level_compaction, 2);
    ROUND_TRIP(compactoptions, target_level, 3);
    rocksdb_compactoptions_destroy(of);
  }
  {
    rocksdb_wait_for_compact_options_t* const of = rocksdb_wait_for_compact_options_create();
    ROUND_TRIP_TRUTH(wait_for_compact_options, abort_on_pause);
    ROUND_TRIP(wait_for_compact_options, timeout, 3000);
    rocksdb_wait_for_compact_options_destroy(of);
  }
  {
    rocksdb_universal_compaction_options_t* const of =
        rocksdb_universal_compaction_options_create();
    ROUND_TRIP(universal_compaction_options, size_ratio, 5);
    ROUND_TRIP(universal_compaction_options, stop_style,
               rocksdb_similar_size_compaction_stop_style);
    rocksdb_universal_compaction_options_destroy(of);
  }
  rocksdb_lru_cache_options_t* const lru = rocksdb_lru_cache_options_create();
  rocksdb_lru_cache_options_set_capacity(lru, 4096);
  rocksdb_cache_t* const cache = rocksdb_cache_create_lru_opts(lru);
  CHECK(rocksdb_cache_get_capacity(cache) == 4096);
  rocksdb_cache_set_capacity(cache, 8192);
  CHECK(rocksdb_cache_get_capacity(cache) == 8192);
  rocksdb_cache_destroy(cache);
  rocksdb_lru_cache_options_destroy(lru);
}

static uint64_t LostErrors(rocksdb_t* db) {
  uint64_t errors = 99;
  CHECK(rocksdb_property_int(db, "rocksdb.background-errors", &errors) == 0);
  return errors;
}

// How many lines of the LOG have the text.
static int LinesOfTheLog(const char* text) {
  char name[4096];
  char line[4096];
  CHECK((size_t)snprintf(name, sizeof name, "%s/LOG", directory) < sizeof name);
  FILE* const file = fopen(name, "r");
  CHECK(file != NULL);
  int lines = 0;
  while (fgets(line, sizeof line, file) != NULL) lines += strstr(line, text) != NULL;
  fclose(file);
  return lines;
}

// Functions that return void and take no errptr.
static void AbortedCompactionsGoOnAfterTheResume(void) {
  rocksdb_t* const db = OpenEmpty();
  Put(db, "a", "1");
  rocksdb_abort_all_compactions(db);
  rocksdb_compact_range(db, NULL, 0, NULL, 0);
  CHECK(LostErrors(db) == 1);
  rocksdb_resume_all_compactions(db);
  rocksdb_compact_range(db, NULL, 0, NULL, 0);
  CHECK(LostErrors(db) == 1);
  rocksdb_close(db);
}

static void LostErrorsAreCountedAndInTheLog(void) {
  rocksdb_t* const db = OpenEmpty();
  rocksdb_column_family_handle_t* const family = rocksdb_get_default_column_family_handle(db);
  rocksdb_compactoptions_t* const how = rocksdb_compactoptions_create();
  Put(db, "a", "1");
  CHECK(LostErrors(db) == 0);
  rocksdb_disable_manual_compaction(db);
  rocksdb_compact_range(db, NULL, 0, NULL, 0);
  rocksdb_compact_range_cf(db, family, "a", 1, "b", 1);
  rocksdb_compact_range_opt(db, how, NULL, 0, NULL, 0);
  rocksdb_compact_range_cf_opt(db, family, how, NULL, 0, NULL, 0);
  CHECK(LostErrors(db) == 4);
  rocksdb_enable_manual_compaction(db);
  rocksdb_compact_range_cf(db, family, "a", 1, "b", 1);
  CHECK(LostErrors(db) == 4);
  rocksdb_delete_file(db, "/987654.sst");
  CHECK(LostErrors(db) == 5);
  CHECK(LinesOfTheLog("rocksdb_compact_range has no place for its error: ") == 4);
  CHECK(LinesOfTheLog("rocksdb_delete_file has no place for its error: ") == 1);
  EXPECT_GET(db, "a", "1");
  rocksdb_compactoptions_destroy(how);
  rocksdb_column_family_handle_destroy(family);
  rocksdb_close(db);
}

static void TableFilesAreNamedCompactedAndDeleted(void) {
  rocksdb_options_t* const simple = options;
  options = rocksdb_options_create_copy(simple);
  rocksdb_options_set_disable_auto_compactions(options, 1);
  rocksdb_options_set_level_compaction_dynamic_level_bytes(options, 0);
  rocksdb_options_add_compact_on_deletion_collector_factory(options, 128, 64);
  rocksdb_options_add_compact_on_deletion_collector_factory_del_ratio(options, 128, 64, 0.5);
  rocksdb_options_add_compact_on_deletion_collector_factory_min_file_size(options, 128, 64, 0.5,
                                                                          1000);
  rocksdb_t* const db = OpenEmpty();
  char* error = NULL;
  rocksdb_flushoptions_t* const flush = rocksdb_flushoptions_create();
  Put(db, "b", "1");
  Put(db, "c", "2");
  rocksdb_flush(db, flush, &error);
  CHECK_OK(error);

  const rocksdb_livefiles_t* files = rocksdb_livefiles(db);
  CHECK(rocksdb_livefiles_count(files) == 1);
  const char* const names[1] = {rocksdb_livefiles_name(files, 0)};
  rocksdb_compaction_options_t* const how = rocksdb_compaction_options_create();
  rocksdb_compaction_options_set_output_file_size_limit(how, 1 << 20);
  CHECK(rocksdb_compaction_options_get_output_file_size_limit(how) == 1 << 20);
  rocksdb_compaction_options_set_max_subcompactions(how, 2);
  CHECK(rocksdb_compaction_options_get_max_subcompactions(how) == 2);
  rocksdb_compaction_options_set_compression(how, rocksdb_no_compression);
  CHECK(rocksdb_compaction_options_get_compression(how) == rocksdb_no_compression);
  rocksdb_compaction_options_set_allow_trivial_move(how, 1);
  CHECK(rocksdb_compaction_options_get_allow_trivial_move(how) == 1);
  rocksdb_compaction_options_set_allow_trivial_move(how, 0);
  unsigned char* const canceled = rocksdb_compaction_options_canceled_create();
  rocksdb_compaction_options_set_canceled(how, canceled);
  rocksdb_compaction_options_canceled_set(canceled, 1);
  rocksdb_compact_files(db, how, names, 1, 2, -1, NULL, NULL, NULL, &error);
  EXPECT_ERROR(error, "incomplete");
  rocksdb_compaction_options_canceled_set(canceled, 0);

  char** made = NULL;
  size_t made_count = 0;
  rocksdb_compactionjobinfo_t* const info = rocksdb_compactionjobinfo_create();
  rocksdb_compact_files(db, how, names, 1, 2, 0, &made, &made_count, info, &error);
  CHECK_OK(error);
  CHECK(made_count == 1 && strstr(made[0], ".sst") != NULL);
  rocksdb_compact_files_output_file_names_destroy(made, made_count);
  rocksdb_compactionjobinfo_destroy(info);
  rocksdb_compact_files(db, how, names, 1, 3, 0, NULL, NULL, NULL, &error);
  EXPECT_ERROR(error, "no table");
  rocksdb_livefiles_destroy(files);
  rocksdb_compaction_options_canceled_destroy(canceled);
  rocksdb_compaction_options_destroy(how);

  rocksdb_suggest_compact_range(db, "a", 1, NULL, 0, &error);
  CHECK_OK(error);
  rocksdb_delete_file_in_range(db, "a", 1, "b", 1, &error);
  CHECK_OK(error);
  EXPECT_GET(db, "b", "1");
  rocksdb_delete_file_in_range(db, "a", 1, "c", 1, &error);
  CHECK_OK(error);
  EXPECT_GET(db, "b", NULL);
  rocksdb_delete_file_in_range(db, "c", 1, "a", 1, &error);
  EXPECT_ERROR(error, "before it begins");

  rocksdb_compact_range(db, NULL, 0, NULL, 0);
  rocksdb_compactoptions_t* const change = rocksdb_compactoptions_create();
  rocksdb_compactoptions_set_change_level(change, 1);
  rocksdb_compactoptions_set_target_level(change, 3);
  Put(db, "d", "4");
  rocksdb_compact_range_opt(db, change, NULL, 0, NULL, 0);
  CHECK(LostErrors(db) == 0);
  rocksdb_compactoptions_set_target_level(change, 99);
  rocksdb_compact_range_opt(db, change, NULL, 0, NULL, 0);
  CHECK(LostErrors(db) == 1);
  EXPECT_GET(db, "d", "4");
  rocksdb_compactoptions_destroy(change);
  rocksdb_flushoptions_destroy(flush);
  rocksdb_close(db);
  rocksdb_options_destroy(options);
  options = simple;
}

static void MemTablesOfEveryKindTakeWrites(void) {
  rocksdb_options_t* const simple = options;
  for (int kind = 0; kind < 3; ++kind) {
    options = rocksdb_options_create_copy(simple);
    rocksdb_options_set_prefix_extractor(options, rocksdb_slicetransform_create_fixed_prefix(3));
    if (kind == 0) rocksdb_options_set_hash_skip_list_rep(options, 1000, 4, 4);
    if (kind == 1) rocksdb_options_set_hash_link_list_rep(options, 10);
    if (kind == 2) rocksdb_options_set_memtable_vector_rep(options);
    rocksdb_t* const db = OpenEmpty();
    Put(db, "abc1", "one");
    Put(db, "abc2", "two");
    Put(db, "ab", "short");
    EXPECT_GET(db, "abc1", "one");
    EXPECT_GET(db, "abc2", "two");
    EXPECT_GET(db, "ab", "short");
    EXPECT_GET(db, "abc3", NULL);
    rocksdb_close(db);
    rocksdb_options_destroy(options);
  }
  options = simple;
}

static void DatabasesWithTtlsOpen(void) {
  char* error = NULL;
  rocksdb_destroy_db(options, directory, &error);
  CHECK_OK(error);
  rocksdb_t* db = rocksdb_open_with_ttl(options, directory, 1000000, &error);
  CHECK_OK(error);
  Put(db, "key", "value");
  EXPECT_GET(db, "key", "value");
  rocksdb_column_family_handle_t* family =
      rocksdb_create_column_family_with_ttl(db, options, "other", 0, &error);
  CHECK_OK(error);
  rocksdb_column_family_handle_destroy(family);
  rocksdb_close(db);

  const char* const names[] = {"default", "other"};
  const rocksdb_options_t* const family_options[] = {options, options};
  rocksdb_column_family_handle_t* handles[2];
  const int ttls[] = {1000000, 0};
  db = rocksdb_open_column_families_with_ttl(options, directory, 2, names, family_options, handles,
                                             ttls, &error);
  CHECK_OK(error);
  EXPECT_GET(db, "key", "value");
  for (int i = 0; i < 2; ++i) rocksdb_column_family_handle_destroy(handles[i]);
  rocksdb_close(db);

  db = OpenEmpty();
  CHECK(rocksdb_create_column_family_with_ttl(db, options, "other", 0, &error) == NULL);
  EXPECT_ERROR(error, "opened with a ttl");
  rocksdb_close(db);
}

static void ChecksumsOfFilesAreMadeAndVerified(void) {
  char* error = NULL;
  rocksdb_options_t* const simple = options;
  options = rocksdb_options_create_copy(simple);
  rocksdb_file_checksum_gen_factory_t* const factory =
      rocksdb_file_checksum_gen_crc32c_factory_create();
  rocksdb_options_set_file_checksum_gen_factory(options, factory);
  rocksdb_file_checksum_gen_factory_destroy(factory);
  rocksdb_t* db = OpenEmpty();
  Put(db, "a", "1");
  rocksdb_compact_range(db, NULL, 0, NULL, 0);
  rocksdb_verify_file_checksums(db, &error);
  CHECK_OK(error);
  rocksdb_readoptions_t* const how = rocksdb_readoptions_create();
  rocksdb_verify_file_checksums_with_options(db, how, &error);
  CHECK_OK(error);
  rocksdb_readoptions_destroy(how);
  const rocksdb_livefiles_t* const files = rocksdb_livefiles(db);
  rocksdb_delete_file(db, rocksdb_livefiles_name(files, 0));
  rocksdb_livefiles_destroy(files);
  EXPECT_GET(db, "a", NULL);
  rocksdb_close(db);
  rocksdb_options_set_file_checksum_gen_factory(options, NULL);
  rocksdb_options_destroy(options);
  options = simple;
  db = OpenEmpty();
  rocksdb_verify_file_checksums(db, &error);
  EXPECT_ERROR(error, "file_checksum_gen_factory");
  rocksdb_close(db);
}

static void PartitionsAndLimitsOfMergesAreSet(void) {
  rocksdb_options_t* const simple = options;
  options = rocksdb_options_create_copy(simple);
  rocksdb_sst_partitioner_factory_t* const factory =
      rocksdb_sst_partitioner_fixed_prefix_factory_create(1);
  rocksdb_options_set_sst_partitioner_factory(options, factory);
  rocksdb_sst_partitioner_factory_destroy(factory);
  rocksdb_t* const db = OpenEmpty();
  Put(db, "a", "1");
  Put(db, "b", "2");
  rocksdb_compact_range(db, NULL, 0, NULL, 0);
  const rocksdb_livefiles_t* const files = rocksdb_livefiles(db);
  CHECK(rocksdb_livefiles_count(files) == 2);
  rocksdb_livefiles_destroy(files);
  rocksdb_close(db);
  rocksdb_options_set_sst_partitioner_factory(options, NULL);
  rocksdb_options_destroy(options);
  options = simple;

  rocksdb_readoptions_t* const how = rocksdb_readoptions_create();
  CHECK(!rocksdb_readoptions_has_merge_operand_count_threshold(how));
  CHECK(rocksdb_readoptions_get_merge_operand_count_threshold(how) == 0);
  rocksdb_readoptions_set_merge_operand_count_threshold(how, 3);
  CHECK(rocksdb_readoptions_has_merge_operand_count_threshold(how));
  CHECK(rocksdb_readoptions_get_merge_operand_count_threshold(how) == 3);
  rocksdb_readoptions_clear_merge_operand_count_threshold(how);
  CHECK(!rocksdb_readoptions_has_merge_operand_count_threshold(how));
  rocksdb_readoptions_destroy(how);
}

static void ThreadsOfEveryPriorityReadBackAsTheyWereSet(void) {
  rocksdb_env_t* const env = rocksdb_create_default_env();
  CHECK(rocksdb_env_get_bottom_priority_background_threads(env) == 0);
  rocksdb_env_set_bottom_priority_background_threads(env, 3);
  CHECK(rocksdb_env_get_bottom_priority_background_threads(env) == 3);
  rocksdb_env_set_low_priority_background_threads(env, 2);
  CHECK(rocksdb_env_get_low_priority_background_threads(env) == 2 &&
        rocksdb_env_get_background_threads(env) == 2);
  rocksdb_env_set_high_priority_background_threads(env, 2);
  CHECK(rocksdb_env_get_high_priority_background_threads(env) == 2);
  rocksdb_env_lower_thread_pool_io_priority(env);
  rocksdb_env_lower_high_priority_thread_pool_io_priority(env);
  rocksdb_env_lower_thread_pool_cpu_priority(env);
  rocksdb_env_lower_high_priority_thread_pool_cpu_priority(env);
  rocksdb_env_join_all_threads(env);
  rocksdb_env_destroy(env);
}

// The number of tables that the options leave.
static size_t TablesLeft(rocksdb_t* db, rocksdb_column_family_metadata_options_t* which) {
  rocksdb_column_family_handle_t* const family = rocksdb_get_default_column_family_handle(db);
  rocksdb_column_family_metadata_t* const of_family =
      rocksdb_get_column_family_metadata_cf_with_options(db, family, which);
  rocksdb_column_family_metadata_t* const of_default =
      rocksdb_get_column_family_metadata_with_options(db, which);
  const size_t tables = rocksdb_column_family_metadata_get_file_count(of_family);
  CHECK(rocksdb_column_family_metadata_get_file_count(of_default) == tables);
  CHECK((rocksdb_column_family_metadata_get_size(of_family) > 0) == (tables > 0));
  rocksdb_column_family_metadata_destroy(of_family);
  rocksdb_column_family_metadata_destroy(of_default);
  rocksdb_column_family_handle_destroy(family);
  return tables;
}

static void TheTablesOfARangeAreDescribed(void) {
  char* error = NULL;
  size_t size = 0;
  rocksdb_t* const db = OpenEmpty();
  rocksdb_flushoptions_t* const flush = rocksdb_flushoptions_create();
  Put(db, "b", "1");
  rocksdb_flush(db, flush, &error);
  Put(db, "d", "1");
  rocksdb_flush(db, flush, &error);
  CHECK_OK(error);
  rocksdb_flushoptions_destroy(flush);

  rocksdb_column_family_metadata_options_t* const which =
      rocksdb_column_family_metadata_options_create();
  CHECK(rocksdb_column_family_metadata_options_get_level(which) == -1);
  CHECK(rocksdb_column_family_metadata_options_get_start_key(which, &size) == NULL && size == 0);
  CHECK(rocksdb_column_family_metadata_options_get_end_key(which, NULL) == NULL);
  CHECK(TablesLeft(db, which) == 2 && TablesLeft(db, NULL) == 2);
  char key[] = "c";
  rocksdb_column_family_metadata_options_set_start_key(which, key, 1);
  key[0] = 'a';  // it was copied
  CHECK(Equal(rocksdb_column_family_metadata_options_get_start_key(which, &size), 1, "c"));
  CHECK(TablesLeft(db, which) == 1);
  rocksdb_column_family_metadata_options_set_end_key(which, "c", 1);
  CHECK(Equal(rocksdb_column_family_metadata_options_get_end_key(which, &size), 1, "c") &&
        size == 1);
  CHECK(TablesLeft(db, which) == 0);
  rocksdb_column_family_metadata_options_set_start_key(which, NULL, 0);
  CHECK(TablesLeft(db, which) == 1);
  rocksdb_column_family_metadata_options_set_level(which, 3);
  CHECK(TablesLeft(db, which) == 0);
  rocksdb_column_family_metadata_options_destroy(which);
  rocksdb_close(db);
}

static int states_destroyed = 0;
static void DestroyState(void* state) {
  (void)state;
  ++states_destroyed;
}
static char* WholeKey(void* state, const char* key, size_t key_size, size_t* prefix_size) {
  (void)state;
  *prefix_size = key_size;
  return (char*)key;
}
static unsigned char EveryKey(void* state, const char* key, size_t key_size) {
  (void)state;
  (void)key;
  (void)key_size;
  return 1;
}
static int SameOrder(void* state, const char* a, size_t a_size, const char* b, size_t b_size) {
  (void)state;
  (void)a;
  (void)b;
  return (int)a_size - (int)b_size;
}

// A program built with headers of RocksDB before 11.0 passes in_range, mostly null, where the name
// is.
static void FunctionsThatAreMissingAreRefusedAtOpen(void) {
  char* error = NULL;
  rocksdb_options_t* const own = rocksdb_options_create_copy(options);
  rocksdb_options_set_prefix_extractor(
      own, rocksdb_slicetransform_create(NULL, DestroyState, WholeKey, EveryKey, NULL));
  CHECK(rocksdb_open(own, directory, &error) == NULL);
  EXPECT_ERROR(error, "prefix_extractor has no name");
  CHECK(states_destroyed == 0);
  rocksdb_options_set_prefix_extractor(own, rocksdb_slicetransform_create_noop());
  CHECK(states_destroyed == 1);
  rocksdb_comparator_t* const comparator = rocksdb_comparator_create(NULL, NULL, SameOrder, NULL);
  rocksdb_options_set_comparator(own, comparator);
  CHECK(rocksdb_open(own, directory, &error) == NULL);
  EXPECT_ERROR(error, "comparator has no name");
  rocksdb_options_destroy(own);
  rocksdb_comparator_destroy(comparator);
}

static void CostsAreCountedForTheThread(void) {
  rocksdb_perfcontext_t* const context = rocksdb_perfcontext_create();
  rocksdb_set_perf_level(rocksdb_enable_count);
  rocksdb_perfcontext_reset(context);
  CHECK(rocksdb_perfcontext_metric(context, rocksdb_block_read_count) == 0 &&
        rocksdb_perfcontext_metric(context, 100000) == 0);
  char* const report = rocksdb_perfcontext_report(context, 0);
  CHECK(strstr(report, "block_read_count") != NULL);
  rocksdb_free(report);
  rocksdb_set_perf_level(rocksdb_disable);
  rocksdb_perfcontext_destroy(context);
}

static void MemoryOfMemTablesIsLimited(void) {
  enum { kLimit = 1 << 20, kPuts = 2000, kValueBytes = 1000 };
  char* error = NULL;
  rocksdb_options_t* const own = rocksdb_options_create();
  rocksdb_options_set_create_if_missing(own, 1);
  rocksdb_env_t* const env = rocksdb_create_mem_env();
  rocksdb_options_set_env(own, env);
  rocksdb_cache_t* const cache = rocksdb_cache_create_lru(64 << 20);
  rocksdb_write_buffer_manager_t* const manager =
      rocksdb_write_buffer_manager_create_with_cache(kLimit / 2, cache, false);
  CHECK(rocksdb_write_buffer_manager_enabled(manager));
  CHECK(rocksdb_write_buffer_manager_cost_to_cache(manager));
  rocksdb_write_buffer_manager_set_buffer_size(manager, kLimit);
  CHECK(rocksdb_write_buffer_manager_buffer_size(manager) == kLimit);
  rocksdb_write_buffer_manager_set_allow_stall(manager, true);
  rocksdb_options_set_write_buffer_manager(own, manager);
  rocksdb_t* const first = rocksdb_open(own, "/memory1", &error);
  CHECK_OK(error);
  rocksdb_t* const second = rocksdb_open(own, "/memory2", &error);
  CHECK_OK(error);
  CHECK(rocksdb_write_buffer_manager_memory_usage(manager) == 0);
  char value[kValueBytes] = {0};
  for (int i = 0; i < kPuts; ++i) {
    char key[16];
    const int key_bytes = snprintf(key, sizeof(key), "%d", i);
    rocksdb_put(first, writeoptions, key, (size_t)key_bytes, value, kValueBytes, &error);
    CHECK_OK(error);
    rocksdb_put(second, writeoptions, key, (size_t)key_bytes, value, kValueBytes, &error);
    CHECK_OK(error);
    CHECK(rocksdb_write_buffer_manager_mutable_memtable_memory_usage(manager) <= kLimit);
  }
  CHECK(rocksdb_write_buffer_manager_memory_usage(manager) > 0);
  CHECK(rocksdb_write_buffer_manager_dummy_entries_in_cache_usage(manager) > 0);
  rocksdb_close(first);
  rocksdb_close(second);
  CHECK(rocksdb_write_buffer_manager_memory_usage(manager) == 0);
  CHECK(rocksdb_write_buffer_manager_dummy_entries_in_cache_usage(manager) == 0);
  CHECK(rocksdb_cache_get_usage(cache) == 0);
  rocksdb_write_buffer_manager_destroy(manager);
  rocksdb_cache_destroy(cache);
  rocksdb_options_set_write_buffer_manager(own, NULL);

  rocksdb_write_buffer_manager_t* const plain = rocksdb_write_buffer_manager_create(0, true);
  CHECK(!rocksdb_write_buffer_manager_enabled(plain));
  CHECK(!rocksdb_write_buffer_manager_cost_to_cache(plain));
  rocksdb_write_buffer_manager_destroy(plain);
  rocksdb_options_destroy(own);
  rocksdb_env_destroy(env);
}

static void SpaceIsLimitedAndDeletionsArePaced(void) {
  char* error = NULL;
  rocksdb_options_t* const own = rocksdb_options_create();
  rocksdb_options_set_create_if_missing(own, 1);
  rocksdb_env_t* const env = rocksdb_create_mem_env();
  rocksdb_options_set_env(own, env);
  rocksdb_sst_file_manager_t* const manager = rocksdb_sst_file_manager_create(env);
  rocksdb_options_set_sst_file_manager(own, manager);
  rocksdb_sst_file_manager_set_compaction_buffer_size(manager, 100);
  rocksdb_sst_file_manager_set_delete_rate_bytes_per_second(manager, 77);
  CHECK(rocksdb_sst_file_manager_get_delete_rate_bytes_per_second(manager) == 77);
  rocksdb_sst_file_manager_set_max_trash_db_ratio(manager, 0.5);
  CHECK(rocksdb_sst_file_manager_get_max_trash_db_ratio(manager) == 0.5);

  rocksdb_t* const db = rocksdb_open(own, "/memory", &error);
  CHECK_OK(error);
  CHECK(rocksdb_sst_file_manager_get_total_size(manager) == 0);
  rocksdb_sst_file_manager_set_max_allowed_space_usage(manager, 1);
  CHECK(!rocksdb_sst_file_manager_is_max_allowed_space_reached(manager));
  CHECK(!rocksdb_sst_file_manager_is_max_allowed_space_reached_including_compactions(manager));
  Put(db, "granite", "igneous");
  rocksdb_flushoptions_t* const flush = rocksdb_flushoptions_create();
  rocksdb_flush(db, flush, &error);
  CHECK_OK(error);
  rocksdb_flushoptions_destroy(flush);
  CHECK(rocksdb_sst_file_manager_get_total_size(manager) > 0);
  CHECK(rocksdb_sst_file_manager_is_max_allowed_space_reached(manager));
  CHECK(rocksdb_sst_file_manager_is_max_allowed_space_reached_including_compactions(manager));
  // The log of the flushed memtable.
  CHECK(rocksdb_sst_file_manager_get_total_trash_size(manager) <=
        rocksdb_sst_file_manager_get_total_size(manager));
  EXPECT_GET(db, "granite", "igneous");

  rocksdb_close(db);
  rocksdb_options_destroy(own);
  rocksdb_sst_file_manager_destroy(manager);
  rocksdb_env_destroy(env);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  directory = argv[1];
  options = rocksdb_options_create();
  rocksdb_options_set_create_if_missing(options, 1);
  readoptions = rocksdb_readoptions_create();
  writeoptions = rocksdb_writeoptions_create();

  ReadsBackWhatWasWritten();
  AnErrorReplacesTheOneBefore();
  PinnedValuesOutliveTheirKeys();
  LogDataOfBatchesIsReportedAmongTheRecords();
  BatchesAreAppliedAsAWhole();
  ARecordThatDoesNotFitFailsTheWrite();
  ARollbackTakesARefusedRecordBack();
  ABatchWithAChecksumIsVerified();
  ManyKeysAreReadAtOnce();
  ReadsMayIgnoreRangeDeletions();
  IteratorsWalkBothWays();
  IteratorsLeaveTablesOut();
  SnapshotsLookBack();
  FamiliesComeAndGo();
  TablesAreFlushedCompactedAndDescribed();
  CanceledWorkIsRefused();
  CheckpointsAreMade();
  FamiliesAreExportedAndImported();
  FilesAreWrittenAndIngested();
  AFileIsReadOutsideOfADatabase();
  LogsAreFiltered();
  IngestionOptionsAgree();
  BackupsAreTakenAndRestored();
  ProgramsBringTheirOwnOrderAndMerge();
  AWriterHasAnOrderAndMergesOfTheProgram();
  LogsAreListedAndFollowed();
  ADatabaseWithoutCurrentIsRepaired();
  CountersAdd();
  AFilterRemovesAndChangesValues();
  AFactoryMakesTheFilterOfACompaction();
  OptionsReachTheDatabase();
  PlainTablesAreReadThroughAMapping();
  CuckooTablesAreRefusedByName();
  IndexesOfTheProgramAreRefusedByName();
  AllocatorsOfCachesAreRefusedByName();
  CachesAndCollectorsHaveAllFunctions();
  SettersAndGettersAgree();
  AbortedCompactionsGoOnAfterTheResume();
  LostErrorsAreCountedAndInTheLog();
  TableFilesAreNamedCompactedAndDeleted();
  MemTablesOfEveryKindTakeWrites();
  DatabasesWithTtlsOpen();
  ChecksumsOfFilesAreMadeAndVerified();
  PartitionsAndLimitsOfMergesAreSet();
  ThreadsOfEveryPriorityReadBackAsTheyWereSet();
  TheTablesOfARangeAreDescribed();
  FunctionsThatAreMissingAreRefusedAtOpen();
  MemoryOfMemTablesIsLimited();
  SpaceIsLimitedAndDeletionsArePaced();
  ListenersHearOfAFlush();
  ListenersHearOfACompaction();
  ListenersHearOfAnIngestion();
  ListenersHearOfStalls();
  ListenersHearOfErrors();
  ListenersEndWithTheirOptions();
  CostsAreCountedForTheThread();

  char* error = NULL;
  rocksdb_destroy_db(options, directory, &error);
  CHECK_OK(error);
  rocksdb_readoptions_destroy(readoptions);
  rocksdb_writeoptions_destroy(writeoptions);
  rocksdb_options_destroy(options);
  puts("as expected");
  return 0;
}
