"""From runs to verdicts: medians of pairwise ratios, and what they mean. Pure functions."""

import statistics
from collections.abc import Iterable
from dataclasses import dataclass, replace

from rows import Group, Judged, Limit, Metric, judged_rows

WINS, AHEAD, EVEN, UNSURE, LOSES = "wins", "ahead", "even", "unsure", "LOSES"
NOT_AVAILABLE, FAILED = "NOT AVAILABLE", "FAILED"
# Worst first: the order of the report.
VERDICTS = (FAILED, LOSES, NOT_AVAILABLE, UNSURE, EVEN, AHEAD, WINS)
# RocksDB's published library is up to 45 % slower than a native build of it, so a smaller ratio is
# no win.
WIN_RATIO_MIN = 1.5
# A writer concurrent with readers that wrote less than this part of what it was asked for left them
# more of the machine.
SIDE_WRITES_MIN = 0.9


@dataclass(frozen=True)
class Spread:
    median: float
    low: float
    high: float

    @staticmethod
    def of(values: list[float]) -> "Spread":
        if not values:
            raise ValueError("no values")
        return Spread(statistics.median(values), min(values), max(values))

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.low:.2f}–{self.high:.2f})"


def figure(run: dict, metric: Metric, keys: int) -> float:
    """A metric of one workload's result, as the driver printed it."""
    if metric.key == "written_bytes_per_op":
        # Mapped logs do not pass write(); page-granular accounting does not see what was deleted
        # before it was stored. The larger one misses least.
        return max(run["written_bytes"], run["storage_bytes"]) / max(run["operations"], 1)
    if metric.key == "folder_bytes_per_key":
        return run["folder_bytes"] / keys
    if metric.key == "peak_memory_mib":
        return run["peak_memory_bytes"] / (1 << 20)
    if metric.key == "wall_us_per_mb":
        return run["wall_s"] * 1e12 / max(run["found_bytes"], 1)
    if metric.key in ("p999_us", "max_us"):
        return run["latency"][metric.key]
    return run[metric.key]


def pairwise(peer: list[float], own: list[float]) -> Spread:
    """Ratios of the runs that stood next to each other in time."""
    if len(peer) != len(own):
        raise ValueError("runs come in pairs")
    return Spread.of([p / max(o, 1e-12) for p, o in zip(peer, own)])


def verdict(ratio: Spread, metric: Metric) -> str:
    """The word for a ratio and its spread. A spread within the metric's margin is even; any other
    that contains 1 is unsure."""
    if 1 - metric.margin < ratio.low and ratio.high < 1 + metric.margin:
        return EVEN
    if ratio.high < 1:
        return LOSES
    if ratio.low <= 1:
        return UNSURE
    return WINS if ratio.median >= WIN_RATIO_MIN else AHEAD


@dataclass(frozen=True)
class Measured:
    """The one metric that a row is judged by. Table, picture, verdict and target use the same
    ratio."""

    metric: Metric
    peer: float  # medians of the figures themselves
    own: float
    ratio: Spread


@dataclass(frozen=True)
class RowOutcome:
    title: str
    group: str
    target: float | None
    measured: Measured | None  # None: not available, or failed
    verdict: str
    reason: str = ""  # why there are no figures
    others: tuple[tuple[str, float], ...] = ()  # (library, its median)
    steady: bool = True  # False: what was written per Put still moved when the last round ended
    limit: float | None = None  # of Ashlar's figure
    writers_kept_up: bool = True  # False: in a run, the writer concurrent with the readers did not

    @property
    def verdict_with_remarks(self) -> str:
        remarks = [] if self.steady else ["not steady"]
        if not self.writers_kept_up:
            remarks.append("a writer fell behind")
        return ", ".join([self.verdict, *remarks])

    @property
    def limit_kept(self) -> bool | None:
        if self.limit is None or self.measured is None:
            return None
        return self.measured.own <= self.limit

    @property
    def target_reached(self) -> bool | None:
        if self.target is None or self.measured is None:
            return None
        # A target of 1 means: not worse, and noise within the margin is not worse.
        slack = self.measured.metric.margin if self.target == 1.0 else 0.0
        return self.measured.ratio.median >= self.target - slack


def judge(
    group: str,
    row: Judged,
    by_cpu: bool,
    peer_runs: list[dict],
    own_runs: list[dict],
    others: dict[str, list[dict]],
    keys: int,
) -> RowOutcome:
    metric = row.metric(by_cpu)
    peer = [figure(run, metric, keys) for run in peer_runs]
    own = [figure(run, metric, keys) for run in own_runs]
    ratio = pairwise(peer, own)
    measured = Measured(metric, statistics.median(peer), statistics.median(own), ratio)
    beside = tuple(
        (name, statistics.median(figure(run, metric, keys) for run in runs))
        for name, runs in others.items()
        if runs
    )
    return RowOutcome(
        row.title,
        group,
        row.target,
        measured,
        verdict(ratio, metric),
        others=beside,
        steady=all(run.get("steady", True) for run in peer_runs + own_runs),
        writers_kept_up=all(writer_kept_up(run) for run in peer_runs + own_runs),
    )


def writer_kept_up(run: dict) -> bool:
    """Whether the writer concurrent with readers, if there was one, wrote as fast as it was
    asked."""
    asked = run.get("side_writes_asked_per_s", 0)
    return asked == 0 or run["side_writes_per_s"] >= SIDE_WRITES_MIN * asked


def with_limits(groups: Iterable[Group], outcomes: list[RowOutcome]) -> list[RowOutcome]:
    """The rows of the groups with their limits as figures. A limit by a row without a figure is
    none."""
    own = {row.title: row.measured.own for row in outcomes if row.measured is not None}
    limits = {row.title: row.limit for row in judged_rows(groups)}

    def figure_of(limit: Limit | None) -> float | None:
        if limit is None or (limit.of and limit.of not in own):
            return None
        return (limit.times * own[limit.of] if limit.of else 0.0) + limit.plus

    return [replace(row, limit=figure_of(limits[row.title])) for row in outcomes]


def without_figures(group: str, row: Judged, verdict_text: str, reason: str) -> RowOutcome:
    """A row that is NOT AVAILABLE or FAILED."""
    return RowOutcome(row.title, group, row.target, None, verdict_text, reason)


def worst_first(rows: list[RowOutcome]) -> list[RowOutcome]:
    """By verdict, the worst first; rows of one verdict by ratio."""

    def place(row: RowOutcome) -> tuple[int, float]:
        ratio = row.measured.ratio.median if row.measured else 0.0
        return VERDICTS.index(row.verdict), ratio

    return sorted(rows, key=place)


def disagreements(results: dict[str, dict]) -> list[str]:
    """Where libraries that did the same did not read or leave the same. `results`: library -> one
    workload's result."""
    problems = []
    names = list(results)
    for field in ("found", "checksum", "contents"):
        values = {results[name][field] for name in names}
        if len(values) > 1:
            found = ", ".join(f"{name} {results[name][field]}" for name in names)
            problems.append(f"{field} differs: {found}")
    return problems
