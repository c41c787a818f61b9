"""The libraries under test: where they come from, and that they may be compared."""

import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

ROCKSDB_VERSION = "11.8.1"
ROCKSDB_ARTIFACT = f"org.rocksdb:rocksdbjni:{ROCKSDB_VERSION}"
ROCKSDB_MEMBER = "librocksdbjni-linux64.so"
# Debian's names; the loader finds them.
LEVELDB = "libleveldb.so.1d"
LMDB = "liblmdb.so.0"
# Only in builds that keep RocksDB's hooks for tests, which cost time in every function.
DEBUG_SYMBOL = b"_ZN7rocksdb9SyncPoint"


class NotComparable(Exception):
    """A library whose numbers would say nothing."""


def obtain_rocksdb(folder: Path) -> Path:
    """RocksDB's release library, out of the artifact that its authors publish for Java."""
    library = folder / f"rocksdb-{ROCKSDB_VERSION}.so"
    if not library.exists():
        folder.mkdir(parents=True, exist_ok=True)
        print(f"== fetching {ROCKSDB_ARTIFACT}", flush=True)
        subprocess.run(
            [
                "mvn",
                "-q",
                "-B",
                "dependency:copy",
                f"-Dartifact={ROCKSDB_ARTIFACT}",
                f"-DoutputDirectory={folder}",
            ],
            check=True,
            stdout=sys.stderr,
        )
        jar = folder / f"rocksdbjni-{ROCKSDB_VERSION}.jar"
        partial = library.with_suffix(".partial")
        with zipfile.ZipFile(jar) as archive:
            partial.write_bytes(archive.read(ROCKSDB_MEMBER))
        os.replace(partial, library)
        jar.unlink(missing_ok=True)
    return library


def check_peer(library: Path) -> None:
    if DEBUG_SYMBOL in library.read_bytes():
        raise NotComparable(f"{library} is a debug build: it holds sync points")


def check_ashlar(library: Path) -> None:
    """A library of ours has the build tree's CMakeCache.txt next to it, which says Release."""
    cache = library.parent / "CMakeCache.txt"
    if not cache.exists():
        raise NotComparable(
            f"{library} has no CMakeCache.txt beside it: it cannot be told how it was built"
        )
    lines = [line for line in cache.read_text().splitlines() if "=" in line]
    settings = dict(line.split("=", 1) for line in lines if not line.startswith(("#", "//")))
    build_type = settings.get("CMAKE_BUILD_TYPE:STRING", "")
    if build_type not in ("Release", "RelWithDebInfo"):
        raise NotComparable(
            f"{library} is a build of type '{build_type}': only releases are measured"
        )
    if settings.get("ASHLAR_SANITIZER:STRING", ""):
        raise NotComparable(f"{library} was built with a sanitizer")


def digest(*files: Path) -> str:
    """Tells builds apart: results are kept by it."""
    value = hashlib.sha256()
    for file in files:
        value.update(hashlib.sha256(file.read_bytes()).digest())
    return value.hexdigest()[:16]
