#!/usr/bin/env python3
"""Measures persistent trees beside each other: bench/pmem/README.md."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

STORES = ["pmdk-naive-copy", "pmdk-copy-or-swap", "pmdk-zero-copy", "ashlar-naive-copy", "ashlar-copy-or-swap", "ashlar"]
SIZES = [(20, 800), (20, 15), (8, 8)]
TIMES = ["sequential_put", "random_put", "random_get", "update", "remove", "open"]
COUNTS = ["insert", "update", "remove", "split"]


def measure(program, store, folder, entries, size, mode, what):
    environment = dict(os.environ, PMEM_IS_PMEM_FORCE="0" if mode == "logged" else "1")
    environment["PMEM_NO_FLUSH"] = "1" if mode == "noflush" else "0"
    path = os.path.join(folder, "bench.pool")
    command = [program, store, path, str(entries), str(size[0]), str(size[1]), mode, what]
    run = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    for left in (path, path + ".log"):
        if os.path.exists(left):
            os.remove(left)
    if run.returncode != 0:
        sys.exit(f"failed: {' '.join(command)}")
    return json.loads(run.stdout)


def table(title, rows, columns):
    print(f"\n{title}\n")
    print("| store | " + " | ".join(name.replace("_", " ") for name, _ in columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for row in rows:
        print(f"| {row['store']} | " + " | ".join(cell(row) for _, cell in columns) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--entries", type=int, default=1_000_000, help="in each store (default 1000000)")
    parser.add_argument("--recover", type=int, nargs="*", default=[1_000_000, 10_000_000], help="numbers of entries to open; 10000000 need 5 GiB")
    parser.add_argument("--memory", default="/dev/shm", help="a folder on tmpfs or DAX")
    parser.add_argument("--file", default=tempfile.gettempdir(), help="a folder on a disk")
    parser.add_argument("--file-entries", type=int, default=5_000, help="where each change waits for the disk")
    parser.add_argument("--stores", default=",".join(STORES))
    parser.add_argument("--json", help="keep all figures in this file")
    options = parser.parse_args()
    stores = options.stores.split(",")
    kept = []

    def collect(folder, entries, size, mode, what):
        rows = [measure(options.program, store, folder, entries, size, mode, what) for store in stores]
        kept.extend(rows)
        return rows

    def number(key):
        return key, lambda row: f"{row[key + '_ns']:,.0f}"

    per_entry = [("bytes, sequential", lambda row: f"{row['sequential_bytes']:.0f}"), ("bytes, random", lambda row: f"{row['random_bytes']:.0f}"),
                 ("ordinary memory", lambda row: f"{row['memory_bytes']:.1f}")]
    print(f"processor nanoseconds and bytes per operation or entry; load average {os.getloadavg()[0]:.1f}")
    for size in SIZES:
        name = f"{size[0]}/{size[1]}"
        for mode, words in [("flush", "lines flushed"), ("noflush", "lines not flushed, as with eADR")]:
            rows = collect(options.memory, options.entries, size, mode, "time")
            table(f"{name}, tmpfs, {words}, {options.entries:,} entries", rows, [number(key) for key in TIMES] + per_entry)
        rows = collect(options.memory, 20_000, size, "flush", "count")
        table(f"{name}: fences, lines flushed (medians)", rows,
              [(kind, lambda row, kind=kind: f"{row[kind + '_fences']}, {row[kind + '_lines']}") for kind in COUNTS])
    for entries in options.recover:
        rows = [measure(options.program, store, options.memory, entries, (20, 15), "flush", "time") for store in stores if store in ("ashlar", "pmdk-zero-copy")]
        kept.extend(rows)
        table(f"20/15: opening a tree of {entries:,} entries loaded at random", rows,
              [("ns per entry, processor", lambda row: f"{row['open_ns']:.1f}"), ("ns per entry, wall", lambda row: f"{row['open_wall_ns']:.1f}"),
               ("random get", lambda row: f"{row['random_get_ns']:,.0f}")])
    rows = collect(options.file, options.file_entries, (20, 15), "logged", "time")
    table(f"20/15, a file on a disk, each change durable (a log, or msync), {options.file_entries:,} entries; wall time", rows,
          [(key, lambda row, key=key: f"{row[key + '_wall_ns']:,.0f}") for key in TIMES])
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(kept, file, indent=1)


if __name__ == "__main__":
    main()
