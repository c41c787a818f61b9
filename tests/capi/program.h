// Shared by the files of capi_program: checks that end the program if they fail, and a database.
#pragma once

#include <stddef.h>

#include "rocksdb/c.h"

extern const char* directory;  // of the database of OpenEmpty
extern rocksdb_options_t* options;
extern rocksdb_readoptions_t* readoptions;
extern rocksdb_writeoptions_t* writeoptions;

// Prints the check and its place, and ends the program. `detail` may be null.
void Fail(const char* check, const char* file, int line, const char* detail);
#define CHECK(condition) \
  if (!(condition)) Fail(#condition, __FILE__, __LINE__, NULL)
// Used after a call that must not fail.
#define CHECK_OK(error) \
  if ((error) != NULL) Fail("no error", __FILE__, __LINE__, error)

// Checks that an error text contains `part`, and frees it.
void ExpectError(char** error, const char* part, const char* file, int line);
#define EXPECT_ERROR(error, part) ExpectError(&(error), part, __FILE__, __LINE__)

int Equal(const char* bytes, size_t size, const char* text);
// Writes to the default family.
void Put(rocksdb_t* db, const char* key, const char* value);
// Deletes the database in `directory` and creates a new one with `options`.
rocksdb_t* OpenEmpty(void);

// ---- The scenarios of listeners.c.

void ListenersHearOfAFlush(void);
void ListenersHearOfACompaction(void);
void ListenersHearOfAnIngestion(void);
void ListenersHearOfStalls(void);
void ListenersHearOfErrors(void);
void ListenersEndWithTheirOptions(void);
