"""The report: one JSON file with everything, and one page that needs nothing else."""

import json
import statistics
from collections import Counter
from pathlib import Path

import jinja2

import plots
from figures import VERDICTS, RowOutcome, worst_first
from rows import Group

TEMPLATE = Path(__file__).resolve().parent / "report.html.j2"
LATENCY_ROWS = (
    "fillrandom",
    "overwrite",
    "readrandom, cached, one run",
    "readrandom, cached, five runs",
    "seek + 10 next, one run",
    "readwhilewriting, 1 reader",
)
THROUGHPUT_ROWS = ("fillseq", "fillrandom", "overwrite", "10/800 overwrite, buffered")


def format_figure(value: float) -> str:
    return f"{value:.3f}" if value < 10 else f"{value:.1f}" if value < 1000 else f"{value:.0f}"


def typical_pair(runs: dict, index: int) -> tuple[dict, dict]:
    """The pair of runs whose ratio is the middle one."""
    pairs = [(peer[index], own[index]) for peer, own in zip(runs["peer"], runs["own"])]
    pairs.sort(key=lambda pair: pair[0]["wall_s"] / max(pair[1]["wall_s"], 1e-12))
    return pairs[len(pairs) // 2]


def _panels(groups: list[Group], results: dict, titles: tuple[str, ...], field: str) -> list[tuple[str, dict, dict]]:
    panels = {}
    for group in groups:
        runs = results[group.name]
        if "reason" in runs:
            continue
        for index, workload in enumerate(group.workloads):
            title = workload.rows[0].title
            peer, own = typical_pair(runs, index)
            if title in titles and peer[field] and own[field]:
                panels[title] = (title, peer, own)
    return [panels[title] for title in titles if title in panels]


def _value_panels(groups: list[Group], results: dict) -> list:
    """From the groups that compare pinned with copied values."""
    places: dict[str, list] = {}
    for group in groups:
        if not group.count_copies or "reason" in results[group.name]:
            continue
        runs = results[group.name]
        us = {}
        for name, side in (("RocksDB", "peer"), ("Ashlar", "own")):
            for index, kind in enumerate(("pinned", "copied")):
                us[f"{name} {kind}"] = statistics.median(run[index]["cpu_us_per_op"] for run in runs[side])
        size, place = group.workloads[0].rows[0].title.removeprefix("Get ").split(" pinned, ")
        places.setdefault(place, []).append((size, us))
    return list(places.items())


def copies_table(groups: list[Group], results: dict) -> list[dict]:
    """How often and how many bytes a Get copied, from the runs under the counter."""
    lines = []
    for group in groups:
        copies = results[group.name].get("copies")
        if not copies:
            continue
        for index, workload in enumerate(group.workloads):
            line = {"title": workload.rows[0].title}
            for side in ("peer", "own"):
                run = copies[side][index]
                line[side] = {"values": run["copied_values_per_op"], "bytes": run["copied_bytes_per_op"]}
            lines.append(line)
    return lines


def _row_as_json(row: RowOutcome) -> dict:
    return {
        "title": row.title,
        "group": row.group,
        "verdict": row.verdict,
        "reason": row.reason,
        "target": row.target,
        "target_reached": row.target_reached,
        "metrics": [
            {
                "metric": outcome.metric.key,
                "unit": outcome.metric.unit,
                "peer": outcome.peer,
                "own": outcome.own,
                "ratio": {"median": outcome.ratio.median, "low": outcome.ratio.low, "high": outcome.ratio.high},
                "verdict": outcome.verdict,
            }
            for outcome in row.outcomes
        ],
        "others": dict(row.others),
    }


def write_json(path: Path, about: dict, rows: list[RowOutcome], groups: list[Group], results: dict) -> None:
    content = {
        "environment": about,
        "rows": [_row_as_json(row) for row in worst_first(rows)],
        "copies": copies_table(groups, results),
        "runs": {group.name: results[group.name] for group in groups},
    }
    path.write_text(json.dumps(content, indent=1) + "\n")


def write_page(path: Path, about: dict, rows: list[RowOutcome], groups: list[Group], results: dict) -> None:
    ordered = worst_first(rows)
    latency = _panels(groups, results, LATENCY_ROWS, "latency")
    throughput = _panels(groups, results, THROUGHPUT_ROWS, "samples")
    values = _value_panels(groups, results)
    template = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(TEMPLATE.read_text())
    path.write_text(
        template.render(
            about=about,
            rows=ordered,
            counts=Counter(row.verdict for row in rows),
            verdicts=VERDICTS,
            targets_set=sum(row.target is not None for row in rows),
            targets_reached=sum(bool(row.target_reached) for row in rows),
            figure=format_figure,
            bars=plots.ratio_bars(ordered) if any(row.outcomes for row in rows) else "",
            latency=plots.latency_curves(latency) if latency else "",
            throughput=plots.throughput(throughput) if throughput else "",
            values=plots.value_sizes(values) if values else "",
            copies=copies_table(groups, results),
        )
    )
