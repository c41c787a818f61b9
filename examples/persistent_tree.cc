// A persistent tree survives the death of its process. A child process writes and kills itself in
// the middle. This process opens the pool and checks it.
//
//   persistent_tree [PATH]    default: ./persistent-tree; the pool is PATH.pool. On a DAX file
//                             system or tmpfs (/dev/shm) a restart takes a moment
//
// The time of the restart is written to standard error.
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "ashlar/persistent_tree.h"

namespace {

constexpr int kEntries = 20000;

// An example ends at the first error. A program would return the Status.
void Check(const ashlar::Status& status) {
  if (status.ok()) return;
  std::cerr << status.ToString() << "\n";
  std::exit(1);
}

std::string KeyOf(int number) {
  std::string digits = std::to_string(number);
  return "user" + std::string(8 - digits.size(), '0') + digits;
}

std::unique_ptr<ashlar::PersistentTree> Open(const std::string& path) {
  ashlar::PersistentTreeOptions options;
  options.create_if_missing = true;
  options.pool_bytes = uint64_t{16} << 20;
  // To survive a failure of the machine, too, leave this out. An ordinary file then gets a log that
  // is synced for every change.
  options.durability = ashlar::DurabilityClass::kProcessCrashOnly;
  std::unique_ptr<ashlar::PersistentTree> tree;
  Check(ashlar::PersistentTree::Open(options, path, &tree));
  return tree;
}

// The effect of every call that has returned is kept, however the process ends.
[[noreturn]] void WriteAndDie(const std::string& path) {
  const std::unique_ptr<ashlar::PersistentTree> tree = Open(path);
  for (int i = 0; i < kEntries; ++i) Check(tree->Put(KeyOf(i), "value of " + KeyOf(i)));
  ashlar::WriteBatch transfer;
  Check(transfer.Put("account/a", "90"));
  Check(transfer.Put("account/b", "110"));
  Check(tree->Write(transfer));
#if defined(SIGKILL)
  std::raise(SIGKILL);
#endif
  std::_Exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string base = argc > 1 ? argv[1] : "persistent-tree";
  const std::string path = base + ".pool";
  if (argc > 2) WriteAndDie(path);

  std::filesystem::remove(path);
  const std::string child = "\"" + std::string(argv[0]) + "\" \"" + base + "\" die";
  if (std::system(child.c_str()) == 0) return 1;

  std::unique_ptr<ashlar::PersistentTree> tree = Open(path);
  const ashlar::PersistentTreeStats stats = tree->Stats();
  std::cout << "the writer was killed; its pool holds " << stats.entries << " entries\n";
  std::cerr << "reopened in " << stats.open_micros << " microseconds, "
            << stats.volatile_bytes / 1024 << " KiB of ordinary memory\n";

  // No copy: the slice refers to the bytes in the pool, which stay although the key is deleted.
  ashlar::PinnableSlice value;
  Check(tree->Get(ashlar::ReadOptions(), KeyOf(kEntries - 1), &value));
  Check(tree->Delete(KeyOf(kEntries - 1)));
  std::cout << value.ToStringView() << ", pinned " << (value.IsPinned() ? "in the pool" : "nowhere")
            << "\n";
  value.Reset();

  std::cout << "below user00000010: " << tree->Count(ashlar::KeyRange::Between(KeyOf(0), KeyOf(10)))
            << " users\n";
  {
    const std::unique_ptr<ashlar::Iterator> it = tree->NewIterator(ashlar::ReadOptions());
    for (it->Seek("account/"); it->Valid() && it->key().starts_with("account/"); it->Next()) {
      std::cout << it->key().ToStringView() << " = " << it->value().ToStringView() << "\n";
    }
    Check(it->status());
  }
  Check(tree->Verify());
  Check(tree->Close());
  std::filesystem::remove(path);
  std::cout << "verified\n";
  return 0;
}
