// The C interface: open a database, write, read with and without copying, write several keys at
// once, walk a range.
//
//   c_simple [DIRECTORY]    default: ./c-simple-db, which is removed first
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ashlar/c.h"

// An example ends at the first error. A failed call puts a text into its last argument, and success
// leaves that alone.
static void Check(char* error) {
  if (error == NULL) return;
  fprintf(stderr, "%s\n", error);
  exit(1);
}

int main(int argc, char** argv) {
  const char* const path = argc > 1 ? argv[1] : "c-simple-db";
  char* error = NULL;
  rocksdb_options_t* const options = rocksdb_options_create();
  rocksdb_options_set_create_if_missing(options, 1);
  rocksdb_destroy_db(options, path, &error);
  Check(error);
  rocksdb_t* const db = rocksdb_open(options, path, &error);
  Check(error);

  rocksdb_writeoptions_t* const write = rocksdb_writeoptions_create();
  rocksdb_readoptions_t* const read = rocksdb_readoptions_create();
  rocksdb_put(db, write, "granite", 7, "igneous", 7, &error);
  Check(error);

  // A copy, to be freed. It comes with its size, not with a 0 at its end.
  size_t size = 0;
  char* const copy = rocksdb_get(db, read, "granite", 7, &size, &error);
  Check(error);
  printf("granite is %.*s\n", (int)size, copy);
  rocksdb_free(copy);

  // The store's own bytes. They stay valid until the handle is destroyed, also during later writes.
  rocksdb_pinnableslice_t* const pinned = rocksdb_get_pinned(db, read, "granite", 7, &error);
  Check(error);
  rocksdb_put(db, write, "granite", 7, "igneous, coarse", 15, &error);
  Check(error);
  const char* const bytes = rocksdb_pinnableslice_value(pinned, &size);
  printf("granite was %.*s\n", (int)size, bytes);
  rocksdb_pinnableslice_destroy(pinned);

  // All of a batch becomes visible, or none of it.
  rocksdb_writebatch_t* const batch = rocksdb_writebatch_create();
  rocksdb_writebatch_put(batch, "limestone", 9, "sedimentary", 11);
  rocksdb_writebatch_put(batch, "marble", 6, "metamorphic", 11);
  rocksdb_writebatch_put(batch, "slate", 5, "metamorphic", 11);
  rocksdb_writebatch_delete(batch, "granite", 7);
  rocksdb_write(db, write, batch, &error);
  Check(error);
  rocksdb_writebatch_destroy(batch);
  char* const gone = rocksdb_get(db, read, "granite", 7, &size, &error);
  Check(error);
  printf("granite is %s\n", gone == NULL ? "gone" : "still there");
  rocksdb_free(gone);

  rocksdb_iterator_t* const it = rocksdb_create_iterator(db, read);
  for (rocksdb_iter_seek(it, "m", 1); rocksdb_iter_valid(it); rocksdb_iter_next(it)) {
    const rocksdb_slice_t key = rocksdb_iter_key_slice(it);
    const rocksdb_slice_t value = rocksdb_iter_value_slice(it);
    printf("%.*s is %.*s\n", (int)key.size, key.data, (int)value.size, value.data);
  }
  rocksdb_iter_get_error(it, &error);
  Check(error);
  rocksdb_iter_destroy(it);

  rocksdb_readoptions_destroy(read);
  rocksdb_writeoptions_destroy(write);
  rocksdb_options_destroy(options);
  rocksdb_close(db);
  return 0;
}
