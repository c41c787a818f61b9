#!/usr/bin/env python3
"""Writes the databases of the golden corpus, with the libraries of other stores.

    generate.py rocksdb <version> <library> <folder>    the library of a rocksdbjni artifact, or
                                                        Debian's
    generate.py leveldb <version> <library> <folder>
    generate.py checksums <folder>                      writes CHECKSUMS anew, as the others do, too

Each database becomes one pack: a file of the folder that the test reads without other programs.

    pack   varint32 bytes | raw deflate of (name \\n size \\n bytes)*
    files of the database, and:
    CONTENTS    per entry: family, key and value in hexadecimal, separated by spaces
    EXPECTED    the text that the refusal must hold; only if the database is one that Ashlar refuses

    CHECKSUMS   per pack: name, bytes and CRC-32C

README.md says which versions there are and how each is made again.
"""

import ctypes
import os
import shutil
import sys
import tempfile
import zlib
from ctypes import byref, c_char_p, c_double, c_int, c_size_t, c_ubyte, c_uint64, c_void_p
from pathlib import Path

SNAPPY, ZLIB, BZIP2, LZ4, LZ4HC, ZSTD = 1, 2, 3, 4, 5, 7
LEFT_OUT = ("LOCK", "LOG")


class Library:
    """Functions of a C interface by name, each with pointers for results."""

    def __init__(self, path, prefix):
        self.library = ctypes.CDLL(path)
        self.prefix = prefix

    def has(self, name):
        return hasattr(self.library, self.prefix + name)

    def __getattr__(self, name):
        function = getattr(self.library, self.prefix + name)
        function.restype = c_void_p
        return lambda *arguments: function(*(convert(a) for a in arguments))

    def checked(self, name, *arguments):
        error = c_char_p()
        result = getattr(self, name)(*arguments, byref(error))
        if error.value is not None:
            raise RuntimeError(f"{name}: {error.value.decode()}")
        return result


def convert(argument):
    """Pointers come back as integers, which would be passed as int."""
    return c_void_p(argument) if isinstance(argument, int) and argument > 0xFFFFFFFF else argument


def write_pack(database, target, contents, expected=None):
    files = {p.relative_to(database).as_posix(): p.read_bytes()
             for p in sorted(database.rglob("*"))
             if p.is_file() and not p.name.startswith(LEFT_OUT)}
    entries = (f"{family} {key.hex()} {value.hex()}\n" for family, key, value in contents)
    files["CONTENTS"] = "".join(entries).encode()
    if expected:
        files["EXPECTED"] = expected.encode()
    raw = b"".join(f"{name}\n{len(data)}\n".encode() + data for name, data in files.items())
    size = len(raw)
    head = bytearray()
    while size >= 0x80:
        head.append(size & 0x7F | 0x80)
        size >>= 7
    head.append(size)
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    target.write_bytes(bytes(head) + compressor.compress(raw) + compressor.flush())
    print(f"{target.name}: {len(files)} files, {len(raw)} bytes, packed {target.stat().st_size}, "
          f"{len(contents)} entries")


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def write_checksums(folder):
    packs = {path.stem: path.read_bytes() for path in sorted(folder.glob("*.pack"))}
    lines = (f"{name} {len(data)} {crc32c(data):08x}\n" for name, data in packs.items())
    (folder / "CHECKSUMS").write_text("".join(lines))


class RocksDB:
    def __init__(self, path, version, folder):
        self.c = Library(path, "rocksdb_")
        self.version = version
        self.number = tuple(int(part) for part in version.split("."))
        self.folder = folder

    # ---- Options.

    def options(self):
        c = self.c
        options = c.options_create()
        c.options_set_create_if_missing(options, 1)
        c.options_set_create_missing_column_families(options, 1)
        c.options_set_disable_auto_compactions(options, 1)
        c.options_set_uint64add_merge_operator(options)
        c.options_set_compression(options, SNAPPY)
        return options

    def table_options(self, options, configure):
        table = self.c.block_based_options_create()
        self.c.block_based_options_set_block_size(table, c_size_t(512))
        configure(table)
        self.c.options_set_block_based_table_factory(options, table)

    def families(self):
        """Name -> options: the layouts that this release can write."""
        c = self.c
        families = {"default": self.options()}

        def add(name, compression=SNAPPY, dictionary_bytes=0, configure=None, prefix=0):
            options = families[name] = self.options()
            c.options_set_compression(options, compression)
            if dictionary_bytes:
                c.options_set_compression_options(options, -14, 32767, 0, dictionary_bytes)
            if prefix:
                prefixes = c.slicetransform_create_fixed_prefix(c_size_t(prefix))
                c.options_set_prefix_extractor(options, prefixes)
            self.table_options(options, configure or (lambda table: None))

        def by_hash(table):
            c.block_based_options_set_index_type(table, 1)

        def first_keys(table):
            c.block_based_options_set_index_type(table, 3)

        def hash_in_blocks(table):
            c.block_based_options_set_data_block_index_type(table, 1)

        def ribbon(table):
            policy = c.filterpolicy_create_ribbon(c_double(9.5))
            c.block_based_options_set_filter_policy(table, policy)

        def of_version(version):
            def configure(table):
                self.bloom(table)
                c.block_based_options_set_format_version(table, version)

            return configure

        add("zlib", ZLIB, configure=self.bloom)
        add("lz4", LZ4, 200)
        add("lz4hc", LZ4HC)
        add("zstd", ZSTD, 400, self.partitions)
        add("hash", 0, configure=by_hash, prefix=3)
        if c.has("block_based_options_set_data_block_index_type"):
            add("first_keys", 0, configure=first_keys)
            add("hash_in_blocks", ZSTD, configure=hash_in_blocks)
        if c.has("filterpolicy_create_ribbon"):
            add("ribbon", 0, configure=ribbon)
        if self.number >= (10, 11) or self.number[0] > 10:
            newest = 7
        else:
            newest = 6 if self.number >= (8, 6) else 5 if self.number >= (6, 6) else 4
        for version in (0, 2, 3, 4, newest) if self.number < (10,) else (2, newest):
            codec = LZ4 if version >= 2 else SNAPPY
            add(f"version{version}", codec, configure=of_version(version))
        return families

    def bloom(self, table):
        self.c.block_based_options_set_filter_policy(table, self.bloom_policy())

    def partitions(self, table):
        self.bloom(table)
        self.c.block_based_options_set_index_type(table, 2)
        self.c.block_based_options_set_partition_filters(table, 1)
        self.c.block_based_options_set_metadata_block_size(table, c_uint64(128))

    def bloom_policy(self):
        if self.number >= (6,) or self.c.has("filterpolicy_create_bloom_full"):
            create = self.c.filterpolicy_create_bloom_full
        else:
            create = self.c.filterpolicy_create_bloom
        # An int until 6.x, a double since.
        return create(10) if self.number < (7,) else create(c_double(10.0))

    # ---- A database.

    def open(self, path, families, options=None):
        c = self.c
        names = list(families)
        handles = (c_void_p * len(names))()
        db = c.checked(
            "open_column_families",
            options or families["default"],
            str(path).encode(),
            len(names),
            (c_char_p * len(names))(*(name.encode() for name in names)),
            (c_void_p * len(names))(*(families[name] for name in names)),
            handles,
        )
        return db, dict(zip(names, handles))

    def fill(self, db, handle, seed, steps, ranges=True):
        c = self.c
        write = c.writeoptions_create()
        for i in range(steps):
            batch = c.writebatch_create()
            key = f"key{(i * 7 + seed) % 60:03}".encode()
            counter = f"sum{i % 5}".encode()
            value = f"value of {key.decode()} in step {i} ".encode() * (1 + i % 3)
            c.writebatch_put_cf(batch, handle, key, c_size_t(len(key)), value, c_size_t(len(value)))
            add = (i + seed).to_bytes(8, "little")
            c.writebatch_merge_cf(batch, handle, counter, c_size_t(len(counter)), add, c_size_t(8))
            if i % 4 == 3:
                gone = f"key{(i * 5 + seed) % 60:03}".encode()
                c.writebatch_delete_cf(batch, handle, gone, c_size_t(len(gone)))
            if ranges and i % 9 == 8:
                begin, end = f"key{i % 50:03}".encode(), f"key{i % 50 + 4:03}".encode()
                begin_size, end_size = c_size_t(len(begin)), c_size_t(len(end))
                c.writebatch_delete_range_cf(batch, handle, begin, begin_size, end, end_size)
            c.checked("write", db, write, batch)
            c.writebatch_destroy(batch)

    def flush(self, db, handle):
        if self.c.has("flush_cf"):
            self.c.checked("flush_cf", db, self.c.flushoptions_create(), handle)
        else:
            self.c.compact_range_cf(db, handle, None, c_size_t(0), None, c_size_t(0))

    def contents(self, db, handles):
        c = self.c
        read = c.readoptions_create()
        result = []
        for name, handle in handles.items():
            iterator = c.create_iterator_cf(db, read, handle)
            c.iter_seek_to_first(iterator)
            while (c.iter_valid(iterator) or 0) & 0xFF:
                size = c_size_t()
                key = ctypes.string_at(c.iter_key(iterator, byref(size)), size.value)
                value = ctypes.string_at(c.iter_value(iterator, byref(size)), size.value)
                result.append((name, key, value))
                c.iter_next(iterator)
            c.checked("iter_get_error", iterator)
            c.iter_destroy(iterator)
        return result

    def close(self, db, handles):
        for handle in handles.values():
            self.c.column_family_handle_destroy(handle)
        self.c.close(db)

    def make(self, name, build, expected=None):
        path = Path(tempfile.mkdtemp()) / "db"
        try:
            contents = build(path)
            write_pack(path, self.folder / f"{name}.pack", contents or [], expected)
        finally:
            shutil.rmtree(path.parent)

    # ---- The databases.

    def everything(self, path):
        families = self.families()
        db, handles = self.open(path, families)
        snapshot = self.c.create_snapshot(db)
        for seed, (name, handle) in enumerate(handles.items()):
            # A range tombstone and a hash index that knows prefixes only do not go together.
            ranges = name not in ("hash", "hash_in_blocks")
            self.fill(db, handle, seed, 40, ranges)
            self.flush(db, handle)
            self.fill(db, handle, seed + 3, 20, ranges)
            self.flush(db, handle)
            if seed % 2 == 1:
                self.c.compact_range_cf(db, handle, None, c_size_t(0), None, c_size_t(0))
        self.c.release_snapshot(db, snapshot)
        # The log that is left holds these.
        for seed, handle in enumerate(handles.values()):
            self.fill(db, handle, seed + 5, 4)
        contents = self.contents(db, handles)
        self.close(db, handles)
        return contents

    def one_family(self, change=lambda options: None, between=lambda db, path: None, steps=30):
        def build(path):
            options = self.options()
            change(options)
            db, handles = self.open(path, {"default": options})
            self.fill(db, handles["default"], 1, steps, False)
            self.flush(db, handles["default"])
            between(db, path)
            self.fill(db, handles["default"], 2, 5, False)
            contents = self.contents(db, handles)
            self.close(db, handles)
            return contents

        return build

    def ingest(self, db, path):
        c = self.c
        writer = c.sstfilewriter_create(c.envoptions_create(), self.options())
        file = str(path.parent / "external.sst").encode()
        c.checked("sstfilewriter_open", writer, file)
        for i in range(20):
            key, value = f"key{i * 3:03}".encode(), b"ingested"
            c.checked("sstfilewriter_put", writer, key, c_size_t(len(key)), value,
                      c_size_t(len(value)))
        c.checked("sstfilewriter_finish", writer)
        c.checked("ingest_external_file", db, (c_char_p * 1)(file), c_size_t(1),
                  c.ingestexternalfileoptions_create())

    def prefixes(self, options):
        """Filters of whole keys and of prefixes, in partitions. The counters have no prefix."""
        prefixes = self.c.slicetransform_create_fixed_prefix(c_size_t(5))
        self.c.options_set_prefix_extractor(options, prefixes)
        self.table_options(options, self.partitions)

    def blob_files(self, options):
        self.c.options_set_enable_blob_files(options, 1)
        self.c.options_set_min_blob_size(options, c_uint64(0))

    def prepared(self, path):
        c = self.c
        options = self.options()
        db = c.checked("transactiondb_open", options, c.transactiondb_options_create(),
                       str(path).encode())
        transaction = c.transaction_begin(db, c.writeoptions_create(),
                                          c.transaction_options_create(), None)
        c.checked("transaction_set_name", transaction, b"golden", c_size_t(6))
        c.checked("transaction_put", transaction, b"key", c_size_t(3), b"value", c_size_t(5))
        c.checked("transaction_prepare", transaction)
        # Not closed: that would need the transaction's end. The process ends with this database.
        return []

    def all(self):
        name = f"rocksdb-{self.version}"
        self.make(name, self.everything)
        self.make(f"{name}-ingested", self.one_family(between=self.ingest))
        self.make(f"{name}-prefixes", self.one_family(self.prefixes, steps=120))
        if self.c.has("options_set_wal_compression"):
            self.make(f"{name}-compressed-log", self.one_family(
                lambda options: self.c.options_set_wal_compression(options, ZSTD)))
        if self.number[0] in (6, 11):
            self.make(f"{name}-blob-files", self.one_family(self.blob_files), "blob")
        if self.number[0] == 5:
            self.make(f"{name}-bzip2", self.one_family(
                lambda options: self.c.options_set_compression(options, BZIP2)), "BZip2")
            self.make(f"{name}-cuckoo", self.one_family(self.cuckoo_tables), "uckoo")
        if self.number[0] in (7, 11):
            self.make(f"{name}-prepared", self.prepared, "BeginPrepare")

    def cuckoo_tables(self, options):
        self.c.options_set_cuckoo_table_factory(options, self.c.cuckoo_options_create())
        self.c.options_set_allow_mmap_reads(options, 1)


class LevelDB:
    def __init__(self, path, version, folder):
        self.c = Library(path, "leveldb_")
        self.name = f"leveldb-{version}"
        self.folder = folder

    def all(self):
        c = self.c
        path = Path(tempfile.mkdtemp()) / "db"
        options = c.options_create()
        c.options_set_create_if_missing(options, 1)
        c.options_set_write_buffer_size(options, c_size_t(1 << 16))
        c.options_set_block_size(options, c_size_t(512))
        c.options_set_compression(options, 1)
        c.options_set_filter_policy(options, c.filterpolicy_create_bloom(10))
        db = c.checked("open", options, str(path).encode())
        write = c.writeoptions_create()
        contents = {}
        for i in range(900):
            if i == 700:
                c.compact_range(db, None, c_size_t(0), None, c_size_t(0))
            key = f"key{i * 7 % 400:03}".encode()
            value = f"value {i} of ".encode() + key * 12
            if i % 5 == 4:
                c.checked("delete", db, write, key, c_size_t(len(key)))
                contents.pop(key, None)
            else:
                c.checked("put", db, write, key, c_size_t(len(key)), value, c_size_t(len(value)))
                contents[key] = value
        c.close(db)
        write_pack(path, self.folder / f"{self.name}.pack",
                   [("default", key, contents[key]) for key in sorted(contents)])
        shutil.rmtree(path.parent)


def main():
    kind, *source, folder = sys.argv[1:]
    if kind != "checksums":
        version, library = source
        {"rocksdb": RocksDB, "leveldb": LevelDB}[kind](library, version, Path(folder)).all()
    write_checksums(Path(folder))
    sys.stdout.flush()
    # Databases may be open on purpose.
    os._exit(0)


if __name__ == "__main__":
    main()
