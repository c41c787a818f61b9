"""What ./dev bench measures: groups of workloads that share a database, and what each row of the
report is judged by.

A group is one process per library: its database is prepared once, then its workloads run on it in
order. Sizes are multiples of the scale's number of keys.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

# Ratios are RocksDB's figure divided by Ashlar's, so that more is better everywhere.
MARGINS = {"time": 0.05, "bytes": 0.01, "memory": 0.05}


@dataclass(frozen=True)
class Metric:
    """One figure of a run; less is better."""

    key: str  # of the driver's result, or computed in figures.py
    unit: str
    margin: float  # ratios this close to 1 are even


WALL = Metric("wall_us_per_op", "µs", MARGINS["time"])
CPU = Metric("cpu_us_per_op", "µs CPU", MARGINS["time"])
WRITTEN = Metric("written_bytes_per_op", "B written", MARGINS["bytes"])
SPACE = Metric("folder_bytes_per_key", "B on disk", MARGINS["bytes"])
MEMORY = Metric("peak_memory_mib", "MiB peak", MARGINS["memory"])
TAIL = Metric("p999_us", "µs p99.9", MARGINS["time"])
TRANSFER = Metric("wall_us_per_mb", "µs per MB", MARGINS["time"])  # 1,000,000 divided by it: MB/s
LONGEST = Metric("max_us", "µs at most", MARGINS["time"])
# Of workloads that run until what they write per Put moves less than 5 %:
# bench/driver/steady_state.h.
WRITTEN_STEADY = Metric("written_bytes_per_put", "B written", MARGINS["bytes"])
WRITTEN_PER_BYTE = Metric("written_per_byte", "B per B", MARGINS["bytes"])
RUNS_PER_GET = Metric("runs_per_get", "runs read", MARGINS["bytes"])
RUNS_PER_SEEK = Metric("runs_per_seek", "runs", MARGINS["bytes"])
DISK_PER_BYTE = Metric("disk_per_live_byte", "B per B", MARGINS["bytes"])
DISK_PER_BYTE_MAX = Metric("disk_per_live_byte_max", "B per B", MARGINS["bytes"])


@dataclass(frozen=True)
class Limit:
    """What Ashlar's figure may be at most: `times` its figure of the row `of`, of any group and by
    the same metric, and `plus`."""

    plus: float = 0.0  # in the unit of the row
    of: str = ""
    times: float = 1.0


@dataclass(frozen=True)
class Judged:
    """A row of the report: a metric of a workload, and the ratio it is meant to reach."""

    title: str
    metrics: tuple[Metric, ...]  # the row is judged by the first, with --cpu by the last
    target: float | None = None
    limit: Limit | None = None

    def metric(self, by_cpu: bool) -> Metric:
        return self.metrics[-1 if by_cpu else 0]


@dataclass(frozen=True)
class Workload:
    name: str
    operations: float = 1.0  # of the scale's keys; at least `operations_min`
    threads: int = 1
    rows: tuple[Judged, ...] = ()
    operations_min: int = 1000

    def spec(self, keys: int) -> str:
        """What the driver's --workloads wants."""
        return f"{self.name}:{max(self.operations_min, int(self.operations * keys))}:{self.threads}"


@dataclass(frozen=True)
class Group:
    name: str
    flags: dict[str, str | int | bool]
    workloads: tuple[Workload, ...]
    keys: float = 1.0  # of the scale's keys
    keys_max: int = 1 << 31
    keys_min: int = 1000
    value_bytes: int = 100
    key_bytes: int = 16
    others: tuple[str, ...] = ()  # libraries also shown: leveldb, lmdb
    in_quick: bool = True
    in_default: bool = True
    count_copies: bool = False
    until_steady: bool = False  # both libraries run the rounds that the slower one needs

    def number_of_keys(self, scale_keys: int) -> int:
        return min(self.keys_max, max(self.keys_min, int(self.keys * scale_keys)))

    def data_bytes(self, scale_keys: int) -> int:
        return self.number_of_keys(scale_keys) * (self.key_bytes + self.value_bytes)


BOTH = (WALL, CPU)


def judged_rows(groups: Iterable[Group]) -> list[Judged]:
    return [row for group in groups for workload in group.workloads for row in workload.rows]


def with_limiting_groups(chosen: Iterable[Group], candidates: Iterable[Group]) -> tuple[Group, ...]:
    """The chosen groups, and the candidates whose rows limit theirs, in the order of the
    candidates."""
    chosen = tuple(chosen)
    wanted = {row.limit.of for row in judged_rows(chosen) if row.limit is not None}

    def limits_one(group: Group) -> bool:
        return any(row.title in wanted for row in judged_rows([group]))

    return tuple(group for group in candidates if group in chosen or limits_one(group))


def _fills() -> list[Group]:
    return [
        Group(
            "fillseq",
            {},
            (
                Workload(
                    "fillseq",
                    rows=(
                        Judged("fillseq", BOTH, 2.5),
                        Judged("fillseq: bytes written per op", (WRITTEN,), 1.0),
                    ),
                ),
            ),
            others=("leveldb",),
        ),
        Group(
            "fillrandom",
            {},
            (
                Workload(
                    "fillrandom",
                    rows=(
                        Judged("fillrandom", BOTH, 2.0),
                        Judged("fillrandom: bytes written per op", (WRITTEN,), 1.0),
                        Judged("fillrandom: size on disk per key", (SPACE,), 1.0),
                        Judged("fillrandom: peak memory", (MEMORY,), 1.0),
                    ),
                ),
                Workload(
                    "overwrite",
                    rows=(
                        Judged("overwrite", BOTH, 2.0),
                        Judged("overwrite: bytes written per op", (WRITTEN,), 1.0),
                        Judged("overwrite: size on disk per key", (SPACE,), 1.0),
                        Judged("overwrite: peak memory", (MEMORY,), 1.0),
                        Judged("overwrite: slowest Put of a thousand", (TAIL,), 1.0),
                    ),
                ),
            ),
            others=("leveldb",),
        ),
        Group(
            "fillsync",
            {"sync": True},
            (Workload("overwrite", 0.002, rows=(Judged("fillsync, 1 writer", (WALL,), 0.95),)),),
            keys=0.002,
        ),
        Group(
            "fillsync4",
            {"sync": True},
            (
                Workload(
                    "overwrite",
                    0.004,
                    threads=4,
                    rows=(Judged("fillsync, 4 writers", (WALL,), 0.95),),
                ),
            ),
            keys=0.004,
        ),
    ]


def _reads() -> list[Group]:
    return [
        Group(
            "one-run",
            {"shape": "compacted"},
            (
                Workload(
                    "readrandom",
                    rows=(
                        Judged("readrandom, cached, one run", BOTH, 3.0),
                        Judged("readrandom: peak memory", (MEMORY,), 1.0),
                    ),
                ),
                Workload("readmissing", rows=(Judged("readmissing", BOTH, 2.0),)),
                Workload("readskewed", 0.5, rows=(Judged("readrandom, skewed", BOTH, 3.0),)),
                Workload("multiget", 0.5, rows=(Judged("multiget, 32 keys", BOTH, 4.0),)),
                Workload("seek10", 0.25, rows=(Judged("seek + 10 next, one run", BOTH, 3.0),)),
                Workload(
                    "seek10kept",
                    0.25,
                    rows=(Judged("seek + 10 next, one run, iterator kept", BOTH, 3.0),),
                ),
                Workload("readseq", 3, rows=(Judged("readseq", BOTH, 6.0),)),
                Workload("readreverse", 3, rows=(Judged("readreverse", BOTH, 6.0),)),
            ),
            others=("leveldb", "lmdb"),
        ),
        Group(
            "tail",
            {"shape": "compacted"},
            (
                Workload(
                    "putandtail",
                    0.5,
                    rows=(Judged("Put, and seek of it by a tailing iterator", BOTH, 1.0),),
                ),
            ),
        ),
        Group(
            "five-runs",
            {"shape": "runs", "runs": 5},
            (
                Workload(
                    "readrandom",
                    0.5,
                    rows=(Judged("readrandom, cached, five runs", BOTH, 3.0),),
                ),
                Workload(
                    "multiget",
                    0.25,
                    rows=(Judged("multiget, 32 keys, five runs", BOTH, 4.0),),
                ),
                Workload("seek10", 0.1, rows=(Judged("seek + 10 next, five runs", BOTH, 4.0),)),
                Workload("readseq", 2, rows=(Judged("readseq, five runs", BOTH, 6.0),)),
            ),
        ),
        Group(
            "twenty-runs",
            {"shape": "runs", "runs": 20},
            (
                Workload(
                    "readrandom",
                    0.5,
                    rows=(
                        Judged(
                            "readrandom, cached, twenty runs",
                            BOTH,
                            3.0,
                            Limit(of="readrandom, cached, five runs", times=1.25),
                        ),
                    ),
                ),
                # Each run is sought: what that costs is in the row, without a limit.
                Workload("seek10", 0.1, rows=(Judged("seek + 10 next, twenty runs", BOTH, 4.0),)),
            ),
            in_quick=False,
        ),
        Group(
            "page-cache",
            {"shape": "compacted", "access": "pagecache"},
            (
                Workload(
                    "readrandom",
                    0.3,
                    rows=(Judged("readrandom from the page cache", BOTH, 2.0),),
                ),
            ),
        ),
        Group(
            "mmap",
            {"shape": "compacted", "access": "mmap"},
            (Workload("readrandom", 0.5, rows=(Judged("readrandom through mmap", BOTH, 2.5),)),),
        ),
        Group(
            "while-writing",
            {"shape": "compacted", "write-rate": 50000},
            (
                Workload(
                    "readwhilewriting",
                    0.5,
                    rows=(Judged("readwhilewriting, 1 reader", (WALL,), 2.0),),
                ),
                Workload(
                    "readwhilewriting",
                    1.0,
                    threads=2,
                    rows=(Judged("readwhilewriting, 2 readers", (WALL,), 2.0),),
                ),
            ),
        ),
    ]


def _in_ram() -> list[Group]:
    groups = []
    plain = {"shape": "compacted", "table": "plain", "memtable": "prefix_hash", "access": "mmap"}
    for rate in (80000, 10000):
        groups.append(
            Group(
                f"ram-point-{rate // 1000}k",
                plain | {"prefix-bytes": 20, "write-rate": rate},
                (
                    Workload(
                        "readwhilewriting",
                        1.0,
                        rows=(
                            Judged(
                                f"in RAM: point lookup, {rate // 1000} k writes/s",
                                (WALL,),
                                2.0,
                            ),
                        ),
                    ),
                ),
                key_bytes=20,
            )
        )
        groups.append(
            Group(
                f"ram-range-{rate // 1000}k",
                plain | {"layout": "grouped", "group": 10, "prefix-bytes": 12, "write-rate": rate},
                (
                    Workload(
                        "prefixwhilewriting",
                        0.5,
                        rows=(
                            Judged(
                                f"in RAM: prefix range, {rate // 1000} k writes/s",
                                (WALL,),
                                2.0,
                            ),
                        ),
                    ),
                ),
                key_bytes=20,
            )
        )
    return groups


def _large_values() -> list[Group]:
    """10-byte keys and 800-byte values, through the page cache and past it."""
    groups = []
    for access, flags in (("buffered", {}), ("unbuffered", {"access": "direct"})):
        size = {"keys": 0.2, "key_bytes": 10, "value_bytes": 800, "in_quick": access == "buffered"}
        bulk = flags | {"bulk-load": True, "no-log": True}
        groups += [
            Group(
                f"800-bulk-random-{access}",
                bulk,
                (
                    Workload(
                        "fillrandom",
                        rows=(Judged(f"10/800 bulk load, random, {access}", BOTH, 2.0),),
                    ),
                ),
                **size,
            ),
            Group(
                f"800-bulk-sequential-{access}",
                bulk,
                (
                    Workload(
                        "fillseq",
                        rows=(Judged(f"10/800 bulk load, sequential, {access}", BOTH, 2.0),),
                    ),
                ),
                **size,
            ),
            Group(
                f"800-{access}",
                # A cache far smaller than the data, so that unbuffered reads are reads.
                flags
                | {"shape": "compacted", "write-rate": 10000}
                | ({"cache-bytes": 16 << 20} if flags else {}),
                (
                    Workload(
                        "readrandom",
                        0.2 if not flags else 0.02,
                        rows=(Judged(f"10/800 random read, {access}", BOTH, 2.0),),
                    ),
                    Workload(
                        "readwhilewriting",
                        0.2 if not flags else 0.02,
                        threads=4,
                        rows=(Judged(f"10/800 four readers, one writer, {access}", (WALL,), 2.0),),
                    ),
                    Workload(
                        "overwrite",
                        0.2,
                        rows=(Judged(f"10/800 overwrite, {access}", BOTH, 2.0),),
                    ),
                ),
                **size,
            ),
        ]
    return groups


def _values() -> list[Group]:
    """Get with PinnableSlice against the copying Get."""
    places = {
        "block cache": {"shape": "compacted"},
        "mmap": {"shape": "compacted", "access": "mmap"},
        "memtable": {"shape": "memtable"},
        "merged": {"shape": "merged"},
    }
    groups = []
    for place, flags in places.items():
        for value_bytes, text in (
            (100, "100 B"),
            (1024, "1 KB"),
            (10240, "10 KB"),
            (102400, "100 KB"),
        ):
            target = 3.0 if place == "block cache" and value_bytes in (1024, 10240) else None
            operations = {100: 0.2, 1024: 0.1, 10240: 0.05, 102400: 0.01}[value_bytes]
            groups.append(
                Group(
                    f"get-{value_bytes}-{place.replace(' ', '-')}",
                    flags,
                    (
                        Workload(
                            "readrandom",
                            operations,
                            rows=(Judged(f"Get {text} pinned, {place}", BOTH, target),),
                        ),
                        Workload(
                            "readcopied",
                            operations,
                            rows=(Judged(f"Get {text} copied, {place}", BOTH, None),),
                        ),
                    ),
                    keys=0.2,
                    keys_max=max(400, (64 << 20) // value_bytes),
                    keys_min=100,
                    value_bytes=value_bytes,
                    in_quick=place == "block cache" and value_bytes in (1024, 10240),
                    count_copies=True,
                )
            )
    return groups


def _compaction() -> list[Group]:
    return [
        Group(
            f"compaction-{compression}",
            {"shape": "runs", "runs": 5, "compression": compression},
            (
                Workload(
                    "compact",
                    rows=(
                        Judged(f"compaction of five runs, {compression}, per entry", (CPU,), 3.0),
                        # A codec that tries less is faster.
                        Judged(
                            f"compaction of five runs, {compression}: size on disk per key",
                            (SPACE,),
                            1.0,
                        ),
                    ),
                ),
            ),
            in_quick=compression == "none",
        )
        for compression in ("none", "lz4", "zstd")
    ] + [
        Group(
            "compaction-filter",
            {"shape": "runs", "runs": 5, "keep-filter": True},
            (
                Workload(
                    "compact",
                    rows=(
                        Judged(
                            "compaction of five runs, a filter that keeps all, per entry",
                            (CPU,),
                            3.0,
                            Limit(of="compaction of five runs, none, per entry", times=1.1),
                        ),
                    ),
                ),
            ),
            in_quick=False,
        )
    ]


def _styles() -> list[Group]:
    """Write amplification at steady state: flushes and compactions alone write, because there is no
    log. A memtable has a hundredth of the data."""

    def group(
        name: str,
        title: str,
        options: str,
        target: float,
        flags: dict[str, int],
        rows: tuple[Judged, ...],
    ) -> Group:
        levels = (
            "write_buffer_size=262144;target_file_size_base=262144;"
            "max_bytes_for_level_base=1048576;"
        )
        return Group(
            f"style-{name}",
            {"no-log": True, "cache-bytes": 3 << 20, "options": levels + options} | flags,
            (
                Workload(
                    "fillrandom",
                    rows=(Judged(f"{title}: bytes written by a load", (WRITTEN,), 1.0),),
                ),
                # In rounds of as many Puts as there are keys.
                Workload(
                    "overwritesteady",
                    rows=(
                        Judged(f"{title}: bytes written by overwrites", (WRITTEN_STEADY,), target),
                        Judged(f"{title}: size on disk per key", (SPACE,), 1.0),
                        *rows,
                    ),
                ),
                Workload(
                    "readrandom",
                    0.1,
                    rows=(Judged(f"{title}: readrandom after overwrites", BOTH, 1.0),),
                ),
                Workload(
                    "seek10",
                    0.02,
                    rows=(Judged(f"{title}: seek + 10 next after overwrites", BOTH, 1.0),),
                ),
            ),
            keys=0.25,
            keys_max=250_000,
            in_quick=False,
            in_default="wait-every" not in flags,
            until_steady=True,
        )

    def waiting(name: str, options: str) -> Group:
        """Writers that let compactions end four times per memtable: what is written depends on no
        speed."""
        title = f"{name}, compactions keep up"
        return group(f"{name}-waiting", title, options, 1.0, {"wait-every": 500}, ())

    fifo = (
        "compaction_style=kCompactionStyleFIFO;"
        "compaction_options_fifo={max_table_files_size=10000000000;allow_compaction=true;};"
    )
    return [
        # 1 / 0.9: ten percent less.
        group("leveled", "leveled", "", 1.11, {}, (Judged("leveled: overwrite", BOTH, 1.0),)),
        waiting("leveled", ""),
        waiting("universal", "compaction_style=kCompactionStyleUniversal;"),
        waiting("fifo", fifo),
    ]


# The settings of docs/tuning.md, those of tools/common/amplification.cc.
_UNIVERSAL = "compaction_style=kCompactionStyleUniversal;compaction_options_universal="
TRIANGLE = {
    "leveled": "",
    "leveled, `max_bytes_for_level_multiplier` 4": "max_bytes_for_level_multiplier=4;",
    "leveled, `level0_file_num_compaction_trigger` 8": "level0_file_num_compaction_trigger=8;",
    "universal": "compaction_style=kCompactionStyleUniversal;",
    "universal, `max_size_amplification_percent` 25": _UNIVERSAL
    + "{max_size_amplification_percent=25;};",
    "universal, `incremental`": _UNIVERSAL + "{incremental=true;};",
    "FIFO, nothing dropped": "compaction_style=kCompactionStyleFIFO;ttl=0;"
    "periodic_compaction_seconds=0;"
    "compaction_options_fifo={max_table_files_size=1000000000000;allow_compaction=true;};",
}
# A Seek of FIFO passes the runs of all rounds: with 100,000 keys RocksDB needs ten minutes.
TRIANGLE_FEW_KEYS = {"FIFO, nothing dropped": 30_000}
TRIANGLE_FIGURES = {
    "written per byte": WRITTEN_PER_BYTE,
    "runs read per Get": RUNS_PER_GET,
    "runs per Seek": RUNS_PER_SEEK,
    "on disk per live byte": DISK_PER_BYTE,
    "at most": DISK_PER_BYTE_MAX,
    "µs per operation": None,
}


def _triangle() -> list[Group]:
    """What each style costs: half of the operations are Puts, which overwrite, and a quarter each
    Gets and Seeks. A memtable has 1/128 of the data."""
    levels = "write_buffer_size=90624;target_file_size_base=90624;max_bytes_for_level_base=362496;"
    return [
        Group(
            f"triangle-{number}",
            {"no-log": True, "cache-bytes": 32 << 20, "options": levels + options},
            (
                Workload("fillrandom"),
                Workload(
                    "mixsteady",
                    rows=tuple(
                        Judged(f"{setting}: {name}", (metric,) if metric else BOTH, 1.0)
                        for name, metric in TRIANGLE_FIGURES.items()
                    ),
                ),
            ),
            keys_min=TRIANGLE_FEW_KEYS.get(setting, 100_000),
            keys_max=TRIANGLE_FEW_KEYS.get(setting, 100_000),
            in_quick=False,
            in_default=False,
            until_steady=True,
        )
        for number, (setting, options) in enumerate(TRIANGLE.items())
    ]


def _layouts() -> list[Group]:
    """Partitioned tables compared with plain ones."""
    get = "Get, cached, plain table"
    parts = (
        "block_based_table_factory={index_type=kTwoLevelIndexSearch;partition_filters=true;"
        "metadata_block_size=4096;}"
    )
    return [
        Group(
            "layout-plain",
            {"shape": "compacted"},
            (Workload("readrandom", rows=(Judged(get, BOTH, 3.0),)),),
            in_quick=False,
        ),
        Group(
            "layout-partitioned",
            {"shape": "compacted", "options": parts},
            (
                Workload(
                    "readrandom",
                    rows=(
                        Judged(
                            "Get, cached, partitioned table",
                            BOTH,
                            3.0,
                            Limit(of=get, times=1.15),
                        ),
                    ),
                ),
            ),
            in_quick=False,
        ),
    ]


def _sizes() -> list[Group]:
    """Further shapes of keys and values."""
    groups = []
    for title, size in (
        ("8-byte values", {"value_bytes": 8}),
        ("4 KB values", {"value_bytes": 4096, "keys": 0.05}),
        ("8-byte keys", {"key_bytes": 8}),
        ("24-byte keys, common prefix", {"key_bytes": 24}),
        ("40-byte keys, common prefix", {"key_bytes": 40}),
    ):
        flags = {"layout": "prefixed"} if "prefix" in title else {}
        share = size.get("keys", 1.0)
        groups.append(
            Group(
                "size-" + title.replace(" ", "-").replace(",", ""),
                flags,
                (
                    Workload("fillrandom", rows=(Judged(f"fillrandom, {title}", BOTH, 2.0),)),
                    Workload(
                        "readrandom",
                        share / 2,
                        rows=(Judged(f"readrandom, {title}", BOTH, 3.0),),
                    ),
                    Workload(
                        "seek10",
                        share / 10,
                        rows=(Judged(f"seek + 10 next, {title}", BOTH, 3.0),),
                    ),
                ),
                in_quick=False,
                in_default=False,
                **size,
            )
        )
    return groups


def _shapes() -> list[Group]:
    """Other orders, keys, codecs, caches, families, numbers of threads. Target 1: to be ahead is
    all that is asked."""
    fill, get, seek = "fillrandom", "readrandom", "seek10"

    def group(
        title: str,
        flags: dict[str, str | int | bool],
        workloads: tuple[tuple[str, float, int, float | None], ...],
        **size,
    ) -> Group:
        names = {"seek10": "seek + 10 next"}
        return Group(
            "shape-" + title.replace(" ", "-").replace(",", ""),
            flags,
            tuple(
                Workload(
                    name,
                    operations,
                    threads=threads,
                    rows=(Judged(f"{names.get(name, name)}, {title}", BOTH, target),),
                )
                for name, operations, threads, target in workloads
            ),
            in_quick=False,
            in_default=False,
            **size,
        )

    usual = ((fill, 1.0, 1, 2.0), (get, 0.5, 1, 3.0), (seek, 0.1, 1, 3.0))
    custom = (
        (fill, 1.0, 1, 1.0),
        (get, 0.5, 1, 1.0),
        (seek, 0.1, 1, 1.0),
        ("readseq", 1.0, 1, 1.0),
    )
    return [
        group("random keys", {"layout": "random"}, usual, key_bytes=20),
        group("reverse comparator", {"order": "reverse"}, (*usual, ("readseq", 2.0, 1, 6.0))),
        group("custom comparator", {"order": "custom"}, custom),
        group("lz4", {"compression": "lz4"}, usual),
        group(
            "zstd",
            {"compression": "zstd"},
            ((fill, 1.0, 1, 1.0), (get, 0.5, 1, 3.0), (seek, 0.1, 1, 3.0)),
        ),
        group(
            "cache of a tenth",
            {"shape": "compacted", "cache-share": 0.1},
            ((get, 0.3, 1, 1.0), ("readskewed", 0.3, 1, 1.0), (seek, 0.1, 1, 1.0)),
        ),
        # Elsewhere RocksDB has the block cache that its authors prefer, HyperClockCache.
        group("LRUCache", {"shape": "compacted", "cache": "lru"}, ((get, 0.5, 1, 3.0),)),
        group("LRUCache, 4 threads", {"shape": "compacted", "cache": "lru"}, ((get, 1.0, 4, 2.0),)),
        group("64 families", {"families": 64}, ((fill, 1.0, 1, 2.0), (get, 0.5, 1, 3.0)), keys=0.4),
        group(
            "2 threads",
            {"shape": "compacted"},
            (
                (get, 1.0, 2, 2.0),
                ("readskewed", 1.0, 2, 2.0),
                (seek, 0.2, 2, 2.0),
                ("overwrite", 1.0, 2, 2.0),
            ),
        ),
        group(
            "4 threads",
            {"shape": "compacted"},
            ((get, 1.0, 4, 2.0), (seek, 0.2, 4, 2.0), ("overwrite", 1.0, 4, 2.0)),
        ),
        group("cold files", {"shape": "compacted", "cold": True}, ((get, 0.02, 1, 1.0),)),
    ]


def _deletions() -> list[Group]:
    """Range deletions, and scans over deleted keys. Numbers of deletions are the same at every
    scale."""

    def group(
        name: str, flags: dict[str, str | int | bool], keys: int, *workloads: Workload
    ) -> Group:
        # One memtable takes all deletions of a workload.
        flags = {"shape": "compacted", "write-buffer-bytes": 512 << 20} | flags
        return Group(f"deletions-{name}", flags, workloads, keys_min=keys, keys_max=keys)

    def workload(
        name: str, operations: int, title: str = "", limit: Limit | None = None
    ) -> Workload:
        rows = (Judged(title, BOTH, 1.0, limit),) if title else ()
        return Workload(name, 0, rows=rows, operations_min=operations)

    get, put = "Get, no range deletions", "Put, 100,000 into one memtable"
    few, seek = "DeleteRange, 10,000 into one memtable", "seek, new iterator"
    beside = Limit(plus=0.060, of=get)
    return [
        group(
            "ranges",
            {},
            200_000,
            workload("readrandom", 200_000, get),
            workload(
                "deleteranges",
                100_000,
                "DeleteRange, 100,000 into one memtable",
                Limit(of=put, times=1.5),
            ),
            workload("readrandom", 200_000, "Get, 100,000 range deletions in the memtable", beside),
            workload("flush", 1),
            workload("readrandom", 200_000, "Get, 100,000 range deletions in a table", beside),
            workload("deleteranges", 10_000, few, Limit(of=put, times=1.5)),
            workload("flush", 1),
            workload("putbuffered", 100_000, put),
        ),
        group(
            "wide",
            {},
            1_000_002,
            workload("seeknew", 20_000, seek),
            workload("deletewide", 1),
            workload(
                "seeknew",
                20_000,
                "seek over a range deletion of 1,000,000 keys",
                Limit(of=seek, times=3.0),
            ),
        ),
        group(
            "points",
            {"no-compactions": True},
            200_000,
            workload("deletefront", 100_000),
            workload("seekfirst", 500, "seek over 100,000 deletions in the memtable", Limit(5.0)),
            workload("flush", 1),
            workload("seekfirst", 500, "seek over 100,000 deletions in a table", Limit(5.0)),
        ),
        # The seeks above follow a read of the whole database, from which Ashlar's iterators
        # remember the deletions. These are the first read after the deletions.
        group(
            "first",
            {"no-compactions": True},
            200_000,
            workload("firstseek", 100_000, "first seek over 100,000 deletions in the memtable"),
        ),
        group(
            "first-table",
            {"no-compactions": True},
            200_000,
            workload("firstseekflushed", 100_000, "first seek over 100,000 deletions in a table"),
        ),
        group(
            "adjacent",
            {"no-compactions": True},
            200_000,
            workload("deleteadjacent", 100_000),
            # RocksDB steps over each range deletion in every seek.
            workload("seekfirst", 100, "seek over 100,000 adjacent range deletions", Limit(5.0)),
        ),
        group(
            "beside",
            {"no-compactions": True, "shape": "memtable"},
            200_000,
            workload("deletebeginning", 100_000),
            workload(
                "seekfirst",
                500,
                "seek over 100,000 keys deleted by a range in the same memtable",
                Limit(5.0),
            ),
        ),
        group(
            "queue",
            {},
            100_000,
            workload("popqueue", 20_000, "queue: find the first key and delete it", Limit(3.0)),
        ),
        group(
            "scattered",
            {},
            1_000_000,
            workload("readseq", 3_000_000, "scan, nothing deleted"),
            workload("deleterandom", 10_000),
            workload("readseq", 3_000_000, "scan, 1 % of the keys deleted"),
        ),
    ]


def _files() -> list[Group]:
    """Files in and out. Numbers of files, batches and families are the same at every scale. The
    tables' sizes are not (100 tables have the entries of the whole database), except in the groups
    of 6.5 to 10 GB, which only --full measures."""

    def group(
        name: str,
        flags: dict[str, str | int | bool],
        *workloads: Workload,
        keys: int = 0,
        value_bytes: int = 100,
        in_default: bool = True,
    ) -> Group:
        size = {"keys_min": keys, "keys_max": keys} if keys else {}
        return Group(
            f"files-{name}",
            flags,
            workloads,
            in_quick=False,
            in_default=in_default,
            value_bytes=value_bytes,
            **size,
        )

    def workload(
        name: str,
        operations: int,
        title: str = "",
        metrics: tuple[Metric, ...] = BOTH,
        limit: Limit | None = None,
    ) -> Workload:
        rows = (Judged(title, metrics, 1.0, limit),) if title else ()
        return Workload(name, 0, rows=rows, operations_min=operations)

    def families(name: str, title: str) -> Workload:
        # As 5 s of CPU for the creation and the open of 2,000, for which RocksDB takes more than
        # five minutes.
        by_cpu = Judged(f"{title}, CPU", (CPU,), 1.0, Limit(5e6 / 2 / 2000))
        return Workload(name, 0, rows=(Judged(title, (WALL,), 1.0), by_cpu), operations_min=1000)

    thousand = {
        "shape": "runs",
        "runs": 1000,
        "no-compactions": True,
        "options": "max_open_files=-1",
    }
    flush = "flush of a memtable, as one table"
    hundred_of_64_mb = 100 * 64_000  # entries of 1,016 bytes
    return [
        group(
            "ingest",
            {"shape": "compacted"},
            workload("ingest", 100, "ingest a table into a full database"),
        ),
        group(
            "ingest-stall",
            {"shape": "compacted", "options": "disable_auto_compactions=true"},
            workload(
                "writewhileingesting",
                100,
                "slowest Put while 100 tables are ingested",
                (LONGEST,),
            ),
        ),
        group(
            "ingest-large",
            {},
            workload("ingest", 100, "ingest a table of 64 MB"),
            keys=hundred_of_64_mb,
            value_bytes=1000,
            in_default=False,
        ),
        # The tables have half of the keys.
        group(
            "ingest-stall-large",
            {},
            workload(
                "writewhileingesting",
                100,
                "slowest Put while 100 tables of 64 MB are ingested",
                (LONGEST,),
            ),
            keys=2 * hundred_of_64_mb,
            value_bytes=1000,
            in_default=False,
        ),
        group(
            "writer",
            {"shape": "memtable"},
            workload("flush", 1, flush),
            # The driver makes the keys and values meanwhile.
            workload(
                "writetables",
                1,
                "SstFileWriter, the same entries",
                limit=Limit(of=flush, times=1.25),
            ),
        ),
        group(
            "checkpoint",
            thousand,
            workload("checkpoint", 10, "checkpoint of 1,000 tables"),
            keys=200_000,
        ),
        group(
            "logs",
            {"write-buffer-bytes": 512 << 20},
            Workload("putbuffered"),
            Workload(
                "readlogs",
                rows=(
                    Judged("GetUpdatesSince, per batch", BOTH, 1.0),
                    Judged("GetUpdatesSince, per MB of batches", (TRANSFER,), 1.0),
                ),
            ),
        ),
        group(
            "secondary",
            {"shape": "runs", "runs": 5},
            workload("opensecondary", 20, "open as secondary"),
            workload("catchup", 2000, "a write seen by a secondary: Put, catch up, Get"),
        ),
        group(
            "secondary-large",
            {"shape": "compacted", "options": "max_open_files=-1"},
            workload("opensecondary", 10, "open as secondary, 10 GB", (WALL,), Limit(1e6)),
            keys=10_000_000,
            value_bytes=1000,
            in_default=False,
        ),
        group(
            "families",
            {},
            # RocksDB writes the OPTIONS file after each call, Ashlar less often if there are many
            # families.
            families("createfamiliesatonce", "create 1,000 families in one call, per family"),
            families("createfamilies", "create 1,000 families, per family"),
            families("openfamilies", "open with 1,000 families, per family"),
            keys=1000,
        ),
    ]


GROUPS: tuple[Group, ...] = tuple(
    _fills()
    + _reads()
    + _deletions()
    + _files()
    + _compaction()
    + _styles()
    + _triangle()
    + _layouts()
    + _large_values()
    + _values()
    + _in_ram()
    + _sizes()
    + _shapes()
)


@dataclass(frozen=True)
class Scale:
    name: str
    keys: int
    pairs: int
    others_rounds: int
    resumes: bool = False
    groups: tuple[Group, ...] = field(default=())


SCALES = {
    "quick": Scale("quick", 200_000, 3, 1, groups=tuple(g for g in GROUPS if g.in_quick)),
    "default": Scale("default", 1_000_000, 5, 2, groups=tuple(g for g in GROUPS if g.in_default)),
    "full": Scale("full", 5_000_000, 5, 2, resumes=True, groups=GROUPS),
}
