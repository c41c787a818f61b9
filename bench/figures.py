"""From runs to verdicts: medians of pairwise ratios, and what they mean. Pure functions."""

import statistics
from dataclasses import dataclass

from rows import Judged, Metric

WINS, EVEN, LOSES, NOT_AVAILABLE, FAILED = "wins", "even", "LOSES", "NOT AVAILABLE", "FAILED"
# Worst first: the order of the report.
VERDICTS = (FAILED, LOSES, NOT_AVAILABLE, EVEN, WINS)


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


def figure(run: dict, metric: Metric, keys: int) -> float:
    """A metric of one workload's result, as the driver printed it."""
    if metric.key == "written_bytes_per_op":
        # Mapped logs do not pass write(); page-granular accounting does not see what was deleted before it was stored. The larger one misses least.
        return max(run["written_bytes"], run["storage_bytes"]) / max(run["operations"], 1)
    if metric.key == "folder_bytes_per_key":
        return run["folder_bytes"] / keys
    if metric.key == "peak_memory_mib":
        return run["peak_memory_bytes"] / (1 << 20)
    if metric.key == "p999_us":
        return run["latency"]["p999_us"]
    return run[metric.key]


def pairwise(peer: list[float], own: list[float]) -> Spread:
    """Ratios of the runs that stood next to each other in time."""
    if len(peer) != len(own):
        raise ValueError("runs come in pairs")
    return Spread.of([p / max(o, 1e-12) for p, o in zip(peer, own)])


def verdict(ratio: float, metric: Metric) -> str:
    if ratio >= 1 + metric.margin:
        return WINS
    if ratio <= 1 - metric.margin:
        return LOSES
    return EVEN


@dataclass(frozen=True)
class MetricOutcome:
    metric: Metric
    peer: float  # medians of the figures themselves
    own: float
    ratio: Spread
    verdict: str


@dataclass(frozen=True)
class RowOutcome:
    title: str
    group: str
    target: float | None
    outcomes: tuple[MetricOutcome, ...]  # empty: not available, or failed
    verdict: str
    reason: str = ""  # why there are no outcomes
    others: tuple[tuple[str, float], ...] = ()  # (library, its median of the first metric)

    @property
    def worst(self) -> MetricOutcome:
        return min(self.outcomes, key=lambda outcome: outcome.ratio.median)

    @property
    def target_reached(self) -> bool | None:
        if self.target is None or not self.outcomes:
            return None
        # A target of 1 means: not worse, and noise within the margin is not worse.
        slack = self.worst.metric.margin if self.target == 1.0 else 0.0
        return self.worst.ratio.median >= self.target - slack


def judge(group: str, row: Judged, peer_runs: list[dict], own_runs: list[dict], others: dict[str, list[dict]], keys: int) -> RowOutcome:
    outcomes = []
    for metric in row.metrics:
        peer = [figure(run, metric, keys) for run in peer_runs]
        own = [figure(run, metric, keys) for run in own_runs]
        ratio = pairwise(peer, own)
        outcomes.append(MetricOutcome(metric, statistics.median(peer), statistics.median(own), ratio, verdict(ratio.median, metric)))
    worst = min(outcomes, key=lambda outcome: VERDICTS.index(outcome.verdict))
    beside = tuple((name, statistics.median(figure(run, row.metrics[0], keys) for run in runs)) for name, runs in others.items() if runs)
    return RowOutcome(row.title, group, row.target, tuple(outcomes), worst.verdict, others=beside)


def without_figures(group: str, row: Judged, verdict_text: str, reason: str) -> RowOutcome:
    """A row that is NOT AVAILABLE or FAILED."""
    return RowOutcome(row.title, group, row.target, (), verdict_text, reason)


def worst_first(rows: list[RowOutcome]) -> list[RowOutcome]:
    """What failed; losing rows, the worst of them at the top; what could not be measured; then by ratio."""
    return sorted(rows, key=lambda row: (VERDICTS.index(row.verdict), row.worst.ratio.median if row.outcomes else 0.0))


def disagreements(results: dict[str, dict]) -> list[str]:
    """Where libraries that did the same did not read or leave the same. `results`: library -> one workload's result."""
    problems = []
    names = list(results)
    for field in ("found", "checksum", "contents"):
        values = {results[name][field] for name in names}
        if len(values) > 1:
            problems.append(f"{field} differs: " + ", ".join(f"{name} {results[name][field]}" for name in names))
    return problems
