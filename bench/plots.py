"""The pictures of the report, as SVG text that stands in the page itself."""

import io

import matplotlib

matplotlib.use("svg")
import matplotlib.ticker  # noqa: E402
import matplotlib.pyplot as plt  # noqa: E402  (the backend comes first)

from figures import AHEAD, EVEN, LOSES, UNSURE, WINS, RowOutcome  # noqa: E402

# Values beyond it are cut off in the picture; the number is next to it.
RATIO_MIN, RATIO_MAX = 0.1, 20
RATIO_TICKS = (0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 10, 20)
COLOURS = {WINS: "#2f7d4f", AHEAD: "#86b89a", EVEN: "#8a8a8a", UNSURE: "#c9a227", LOSES: "#c0392b"}
OWN_COLOUR, PEER_COLOUR = "#2f5d9b", "#c77f1a"

plt.rcParams.update(
    {
        "svg.fonttype": "none",
        "svg.hashsalt": "ashlar",
        "font.family": "sans-serif",
        "font.size": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
)


def _svg(figure) -> str:
    text = io.StringIO()
    figure.savefig(text, format="svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
    # Without the XML declaration and the document type: the page is the document.
    return text.getvalue()[text.getvalue().index("<svg") :]


def _round(value: float, _position=None) -> str:
    return f"{value:g}"


def _clipped(ratio: float) -> float:
    return min(max(ratio, RATIO_MIN), RATIO_MAX)


def ratio_bars(rows: list[RowOutcome]) -> str:
    """One bar per row that was measured: the ratio, its spread, and the target."""
    rows = [row for row in rows if row.measured]
    figure, axes = plt.subplots(figsize=(9, 0.23 * len(rows) + 0.8))
    for y, row in enumerate(reversed(rows)):
        ratio = row.measured.ratio
        axes.barh(y, _clipped(ratio.median) - 1, left=1, color=COLOURS[row.verdict], height=0.65)
        axes.plot([_clipped(ratio.low), _clipped(ratio.high)], [y, y], color="black", linewidth=0.8)
        axes.text(RATIO_MAX * 1.06, y, str(ratio), va="center", fontsize=8)
        if row.target is not None:
            axes.plot(
                [row.target], [y], marker="D", color="black", markersize=3.5, fillstyle="none"
            )
    axes.set_xscale("log")
    axes.set_yticks(range(len(rows)), [row.title for row in reversed(rows)])
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.axvline(1, color="black", linewidth=0.8)
    lowest = min([0.8] + [row.measured.ratio.low for row in rows])
    axes.set_xlim(max(RATIO_MIN, lowest) * 0.97, RATIO_MAX)
    ticks = [tick for tick in RATIO_TICKS if tick >= axes.get_xlim()[0]]
    axes.set_xticks(*zip(*[(tick, _round(tick)) for tick in ticks]))
    axes.minorticks_off()
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel(
        "RocksDB's figure divided by Ashlar's: right of 1, Ashlar needs less.  "
        "◇ target   — lowest to highest pair"
    )
    return _svg(figure)


def _tail_position(quantile: float) -> float:
    """Nines on the axis: 0.9, 0.99, 0.999 are equally far apart."""
    return 1 / (1 - quantile)


def latency_curves(panels: list[tuple[str, dict, dict]]) -> str:
    """`panels`: (title, the peer's result, ours)."""
    columns = 3
    lines = (len(panels) + columns - 1) // columns
    figure, grid = plt.subplots(lines, columns, figsize=(11, 2.7 * lines), squeeze=False)
    for axes in grid.flat[len(panels) :]:
        axes.axis("off")
    for axes, (title, peer, own) in zip(grid.flat, panels):
        for run, name, colour in ((peer, "RocksDB", PEER_COLOUR), (own, "Ashlar", OWN_COLOUR)):
            curve = run["latency"]["curve"]
            positions = [_tail_position(quantile) for quantile, _ in curve]
            latencies = [us for _, us in curve]
            axes.plot(positions, latencies, color=colour, label=name, linewidth=1.4)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks(
            [1, 10, 100, 1000, 10000, 100000], ["min", "p90", "p99", "p99.9", "p99.99", ""]
        )
        axes.yaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(_round))
        axes.minorticks_off()
        axes.grid(color="#dddddd", linewidth=0.6)
        axes.set_title(title, fontsize=9)
        axes.set_ylabel("µs")
    grid.flat[0].legend(frameon=False, fontsize=8)
    figure.tight_layout()
    return _svg(figure)


def throughput(panels: list[tuple[str, dict, dict]]) -> str:
    """Operations per second over time, with the moments at which flushes and compactions ran
    below."""
    columns = 2
    lines = (len(panels) + columns - 1) // columns
    figure, grid = plt.subplots(lines, columns, figsize=(11, 2.9 * lines), squeeze=False)
    for axes in grid.flat[len(panels) :]:
        axes.axis("off")
    for axes, (title, peer, own) in zip(grid.flat, panels):
        highest = 0.0
        for run, name, colour in ((peer, "RocksDB", PEER_COLOUR), (own, "Ashlar", OWN_COLOUR)):
            samples = run["samples"]
            steps = [
                (b[0], (b[1] - a[1]) / max(b[0] - a[0], 1e-9) / 1000)
                for a, b in zip(samples, samples[1:])
            ]
            times, rates = [at for at, _ in steps], [rate for _, rate in steps]
            axes.plot(times, rates, color=colour, label=name, linewidth=1.2)
            highest = max([highest] + [rate for _, rate in steps])
        for row, (run, colour) in enumerate(((peer, PEER_COLOUR), (own, OWN_COLOUR))):
            for kind, marker in ((3, "s"), (2, "|")):
                at = [sample[0] for sample in run["samples"] if sample[kind] > 0]
                below = [-(0.07 + 0.07 * row) * highest] * len(at)
                axes.plot(at, below, linestyle="", marker=marker, markersize=3, color=colour)
        axes.set_ylim(-0.22 * highest, 1.08 * highest)
        axes.axhline(0, color="black", linewidth=0.6)
        axes.set_yticks([tick for tick in axes.get_yticks() if 0 <= tick <= 1.08 * highest])
        axes.grid(axis="y", color="#dddddd", linewidth=0.6)
        axes.set_title(title, fontsize=9)
        axes.set_xlabel(
            "seconds, until nothing is left to do   (below: ■ compaction, | flush)", fontsize=8
        )
        axes.set_ylabel("thousand op/s")
    grid.flat[0].legend(frameon=False, fontsize=8)
    figure.tight_layout()
    return _svg(figure)


def value_sizes(panels: list[tuple[str, list[tuple[str, dict[str, float]]]]], unit: str) -> str:
    """Get pinned and copied, both libraries: (place, [(size, {series: figure})]); `unit`: of the
    figures."""
    series = {
        "RocksDB copied": (PEER_COLOUR, "--"),
        "RocksDB pinned": (PEER_COLOUR, "-"),
        "Ashlar copied": (OWN_COLOUR, "--"),
        "Ashlar pinned": (OWN_COLOUR, "-"),
    }
    width = 2.8 * len(panels) + 0.4
    figure, grid = plt.subplots(1, len(panels), figsize=(width, 2.9), squeeze=False)
    for axes, (place, points) in zip(grid.flat, panels):
        for name, (colour, style) in series.items():
            axes.plot(
                [size for size, _ in points],
                [us[name] for _, us in points],
                color=colour,
                linestyle=style,
                marker="o",
                markersize=3,
                label=name,
            )
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(_round))
        axes.yaxis.set_major_locator(matplotlib.ticker.LogLocator(subs=(1, 2, 5)))
        axes.minorticks_off()
        axes.grid(axis="y", color="#dddddd", linewidth=0.6)
        axes.set_title(place, fontsize=9)
    grid.flat[0].set_ylabel(f"{unit} per Get")
    grid.flat[0].legend(frameon=False, fontsize=7)
    figure.tight_layout()
    return _svg(figure)


def triangle(settings: dict[str, dict[str, RowOutcome]]) -> str:
    """A panel for each corner: bytes written, sorted runs per Seek, bytes on disk; two bars per
    setting."""
    measured = {
        name.replace("`", ""): rows
        for name, rows in settings.items()
        if all(row.measured for row in rows.values())
    }
    figure, grid = plt.subplots(1, 3, figsize=(11, 0.55 * len(measured) + 1.1), sharey=True)
    for axes, name in zip(grid, ("written per byte", "runs per Seek", "on disk per live byte")):
        for offset, side, library, colour in (
            (0.2, "own", "Ashlar", OWN_COLOUR),
            (-0.2, "peer", "RocksDB", PEER_COLOUR),
        ):
            values = [getattr(rows[name].measured, side) for rows in reversed(measured.values())]
            places = [y + offset for y in range(len(values))]
            axes.barh(places, values, height=0.38, color=colour, label=library)
            for y, value in zip(places, values):
                axes.text(value, y, f" {value:.3g}", va="center", fontsize=8)
        axes.set_xlabel(name)
        axes.margins(x=0.15)
        axes.grid(axis="x", color="#dddddd", linewidth=0.6)
        axes.set_axisbelow(True)
    # FIFO has a hundred times the runs of the others.
    grid[1].set_xscale("log")
    grid[1].set_xlim(left=1)
    grid[1].xaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(_round))
    grid[1].minorticks_off()
    grid[0].set_yticks(range(len(measured)), list(reversed(measured)))
    grid[0].legend(
        frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(-1.0, 1.16), ncols=2
    )
    figure.tight_layout()
    return _svg(figure)
