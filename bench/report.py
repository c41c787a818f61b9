"""The report: one JSON file with everything, and one page that needs nothing else."""

import json
import re
import sys
from collections import Counter
from pathlib import Path

from figures import VERDICTS, WIN_RATIO_MIN, Measured, RowOutcome, figure, pairwise, worst_first
from rows import TRIANGLE, TRIANGLE_FIGURES, Group, Metric

sys.path.append(str(Path(__file__).resolve().parent.parent / "docs"))
from generated import Marks  # noqa: E402, F401

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


def typical_pair(runs: dict, index: int, metric: Metric, keys: int) -> tuple[dict, dict]:
    """The pair of runs whose ratio is the middle one; of an even number of pairs the worse of the
    two middle ones."""
    pairs = [(peer[index], own[index]) for peer, own in zip(runs["peer"], runs["own"])]

    def ratio(pair: tuple[dict, dict]) -> float:
        peer, own = ([figure(run, metric, keys)] for run in pair)
        return pairwise(peer, own).median

    pairs.sort(key=ratio)
    return pairs[(len(pairs) - 1) // 2]


def _panels(
    groups: list[Group], results: dict, about: dict, titles: tuple[str, ...], field: str
) -> list[tuple[str, dict, dict]]:
    panels = {}
    for group in groups:
        runs = results[group.name]
        if "reason" in runs:
            continue
        for index, workload in enumerate(group.workloads):
            if not workload.rows:
                continue
            row = workload.rows[0]
            metric, keys = row.metric(about["by_cpu"]), group.number_of_keys(about["keys"])
            peer, own = typical_pair(runs, index, metric, keys)
            if row.title in titles and peer[field] and own[field]:
                panels[row.title] = (row.title, peer, own)
    return [panels[title] for title in titles if title in panels]


def value_panels(rows: list[RowOutcome]) -> list:
    """From the rows that compare pinned with copied values: (place, [(size, {series: figure})]),
    the same figures as in the table."""
    places: dict[str, dict[str, dict[str, float]]] = {}
    for row in rows:
        match = re.fullmatch(r"Get (.+) (pinned|copied), (.+)", row.title)
        if match and row.measured:
            size, kind, place = match.groups()
            figures = places.setdefault(place, {}).setdefault(size, {})
            figures |= {f"RocksDB {kind}": row.measured.peer, f"Ashlar {kind}": row.measured.own}
    return [(place, list(sizes.items())) for place, sizes in places.items()]


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
                line[side] = {
                    "values": run["copied_values_per_op"],
                    "bytes": run["copied_bytes_per_op"],
                }
            lines.append(line)
    return lines


def _figure_cells(measured: Measured) -> str:
    peer, own = format_figure(measured.peer), format_figure(measured.own)
    return f"{peer} | {own} | {measured.metric.unit} | {measured.ratio}"


def markdown_table(rows: list[RowOutcome], about: dict) -> str:
    """The rows in their order, for a document."""
    lines = [
        f"| at {about['commit']} | {about['peer']} | Ashlar | unit | ratio (lowest–highest) "
        "| at most | verdict |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        if row.measured is None:
            lines.append(f"| {row.title} | | | | | | {row.verdict} |")
            continue
        limit = ""
        if row.limit is not None:
            limit = f"{format_figure(row.limit)} {'✓' if row.limit_kept else '✗'}"
        measured = row.measured
        figures = _figure_cells(measured)
        lines.append(f"| {row.title} | {figures} | {limit} | {row.verdict_with_remarks} |")
    return "\n".join(lines)


def side_by_side_table(rows: list[RowOutcome], about: dict) -> str:
    """The rows with targets, verdicts and the other libraries, the worst first."""
    head = f"at {about['commit']}, {about['keys']:,} keys, {about['pairs']} pairs"
    lines = [
        f"| {head} | {about['peer']} | Ashlar | unit | ratio (lowest–highest) "
        "| target | verdict | others |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in worst_first(rows):
        if row.measured is None:
            lines.append(f"| {row.title} | | | | | | {row.verdict} | |")
            continue
        measured = row.measured
        target = ""
        if row.target is not None:
            target = f"{row.target:.2f} {'✓' if row.target_reached else '✗'}"
        if row.limit is not None:
            target = f"at most {format_figure(row.limit)} {'✓' if row.limit_kept else '✗'}"
        others = ", ".join(f"{name} {format_figure(value)}" for name, value in row.others)
        figures = _figure_cells(measured)
        verdict = row.verdict_with_remarks
        lines.append(f"| {row.title} | {figures} | {target} | {verdict} | {others} |")
    return "\n".join(lines)


def triangle_settings(rows: list[RowOutcome]) -> dict[str, dict[str, RowOutcome]]:
    """From the rows of the groups triangle-…: setting -> {figure: its row}, in their order."""
    settings: dict[str, dict[str, RowOutcome]] = {}
    for row in rows:
        setting, _, name = row.title.rpartition(": ")
        if setting in TRIANGLE and name in TRIANGLE_FIGURES:
            settings.setdefault(setting, {})[name] = row
    return settings


def triangle_table(settings: dict[str, dict[str, RowOutcome]], about: dict) -> str:
    """Ashlar's figure and RocksDB's in each cell, for a document."""
    lines = [
        f"| at {about['commit']}: Ashlar, {about['peer']} | " + " | ".join(TRIANGLE_FIGURES) + " |",
        "|---" * (len(TRIANGLE_FIGURES) + 1) + "|",
    ]
    for setting, figures in settings.items():
        cells = []
        for name in TRIANGLE_FIGURES:
            measured = figures[name].measured
            if measured is None:
                cells.append(figures[name].verdict)
            else:
                cells.append(f"{measured.own:.2f}, {measured.peer:.2f}")
        steady = "" if all(row.steady for row in figures.values()) else " (not steady)"
        lines.append(f"| {setting}{steady} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def row_as_json(row: RowOutcome) -> dict:
    measured = row.measured
    return {
        "title": row.title,
        "group": row.group,
        "verdict": row.verdict,
        "reason": row.reason,
        "target": row.target,
        "target_reached": row.target_reached,
        "limit": row.limit,
        "limit_kept": row.limit_kept,
        "steady": row.steady,
        "writers_kept_up": row.writers_kept_up,
        "measured": measured
        and {
            "metric": measured.metric.key,
            "unit": measured.metric.unit,
            "peer": measured.peer,
            "own": measured.own,
            "ratio": {
                "median": measured.ratio.median,
                "low": measured.ratio.low,
                "high": measured.ratio.high,
            },
        },
        "others": dict(row.others),
    }


def write_json(
    path: Path, about: dict, rows: list[RowOutcome], groups: list[Group], results: dict
) -> None:
    content = {
        "environment": about,
        "rows": [row_as_json(row) for row in worst_first(rows)],
        "copies": copies_table(groups, results),
        "runs": {group.name: results[group.name] for group in groups},
    }
    path.write_text(json.dumps(content, indent=1) + "\n")


def write_page(
    path: Path, about: dict, rows: list[RowOutcome], groups: list[Group], results: dict
) -> None:
    # Only the page needs these packages; the tests of the rest run with the interpreter alone.
    import jinja2

    import plots

    ordered = worst_first(rows)
    latency = _panels(groups, results, about, LATENCY_ROWS, "latency")
    throughput = _panels(groups, results, about, THROUGHPUT_ROWS, "samples")
    values = value_panels(rows)
    unit = "µs CPU" if about["by_cpu"] else "µs"
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(TEMPLATE.read_text())
    path.write_text(
        template.render(
            about=about,
            rows=ordered,
            counts=Counter(row.verdict for row in rows),
            verdicts=VERDICTS,
            win_ratio_min=WIN_RATIO_MIN,
            targets_set=sum(row.target is not None for row in rows),
            targets_reached=sum(bool(row.target_reached) for row in rows),
            figure=format_figure,
            bars=plots.ratio_bars(ordered) if any(row.measured for row in rows) else "",
            latency=plots.latency_curves(latency) if latency else "",
            throughput=plots.throughput(throughput) if throughput else "",
            values=plots.value_sizes(values, unit) if values else "",
            copies=copies_table(groups, results),
        )
    )
