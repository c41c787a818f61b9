"""Unit tests of what turns runs into verdicts: python3 -m unittest, in this folder."""

import argparse
import contextlib
import io
import re
import unittest
from pathlib import Path

import instructions
import run as bench
from figures import (
    AHEAD,
    EVEN,
    FAILED,
    LOSES,
    NOT_AVAILABLE,
    UNSURE,
    WINS,
    Spread,
    disagreements,
    figure,
    judge,
    pairwise,
    verdict,
    with_limits,
    without_figures,
    worst_first,
)
from report import (
    markdown_table,
    row_as_json,
    side_by_side_table,
    triangle_settings,
    triangle_table,
    typical_pair,
    value_panels,
)
from rows import (
    BOTH,
    CPU,
    GROUPS,
    SCALES,
    SPACE,
    TRANSFER,
    TRIANGLE,
    TRIANGLE_FIGURES,
    WALL,
    WRITTEN,
    WRITTEN_STEADY,
    Group,
    Judged,
    Limit,
    Workload,
    judged_rows,
    with_limiting_groups,
)


def run(wall: float, cpu: float, **more) -> dict:
    return {
        "wall_us_per_op": wall,
        "cpu_us_per_op": cpu,
        "operations": 10,
        "written_bytes": 0,
        "storage_bytes": 0,
        "folder_bytes": 0,
    } | more


class PairwiseTest(unittest.TestCase):
    def test_the_median_is_that_of_the_pairs_and_not_the_ratio_of_medians(self):
        self.assertEqual(pairwise([10, 2, 6], [1, 2, 3]), Spread(2.0, 1.0, 10.0))

    def test_a_drift_that_hits_both_sides_of_a_pair_cancels(self):
        self.assertEqual(pairwise([2, 4, 8, 16], [1, 2, 4, 8]), Spread(2.0, 2.0, 2.0))

    def test_runs_without_a_partner_are_refused(self):
        with self.assertRaises(ValueError):
            pairwise([1, 2], [1])
        with self.assertRaises(ValueError):
            pairwise([], [])


def row_of(title: str, pairs: list[tuple[dict, dict]], metrics=(WALL,), target=None, by_cpu=False):
    """`pairs`: (RocksDB's run, ours)."""
    peer_runs, own_runs = [peer for peer, _ in pairs], [own for _, own in pairs]
    return judge("g", Judged(title, metrics, target), by_cpu, peer_runs, own_runs, {}, 10)


def at(*ratios: float, metrics=(WALL,), target=None):
    return row_of(str(ratios[0]), [(run(ratio, 1), run(1, 1)) for ratio in ratios], metrics, target)


class VerdictTest(unittest.TestCase):
    def test_a_win_needs_half_more_and_every_pair_above_one(self):
        cases = {
            (1.5, 1.5, 1.5): WINS,
            (1.6, 1.01, 9.0): WINS,
            (1.49, 1.4, 1.6): AHEAD,
            (1.2, 1.01, 1.3): AHEAD,
            (1.6, 0.99, 9.0): UNSURE,
        }
        for ratio, expected in cases.items():
            self.assertEqual(verdict(Spread(*ratio), WALL), expected, ratio)

    def test_a_loss_needs_every_pair_below_one(self):
        cases = {
            (0.7, 0.6, 0.9): LOSES,
            (0.9, 0.8, 0.999): LOSES,
            (0.7, 0.12, 9.94): UNSURE,
            (0.9, 0.8, 1.0): UNSURE,
        }
        for ratio, expected in cases.items():
            self.assertEqual(verdict(Spread(*ratio), WALL), expected, ratio)

    def test_a_spread_within_the_margin_is_even_and_margins_belong_to_the_metric(self):
        for ratio in ((1.0, 0.96, 1.04), (1.03, 1.02, 1.04), (0.97, 0.96, 0.98)):
            self.assertEqual(verdict(Spread(*ratio), WALL), EVEN, ratio)
        ratios = ((1.0, 0.995, 1.005), (1.0, 0.96, 1.04), (0.97, 0.96, 0.98))
        words = [verdict(Spread(*ratio), WRITTEN) for ratio in ratios]
        self.assertEqual(words, [EVEN, UNSURE, LOSES])

    def test_a_row_is_judged_by_its_first_metric_and_with_cpu_by_its_last(self):
        pairs = [(run(3, 1), run(1, 2))] * 3
        wall = row_of("r", pairs, BOTH, 2.0)
        self.assertEqual(
            (wall.measured.metric, wall.verdict, wall.target_reached), (WALL, WINS, True)
        )
        cpu = row_of("r", pairs, BOTH, 2.0, by_cpu=True)
        self.assertEqual(
            (cpu.measured.metric, cpu.verdict, cpu.target_reached), (CPU, LOSES, False)
        )

    def test_a_target_of_one_allows_for_noise_and_a_higher_one_does_not(self):
        self.assertTrue(at(0.98, target=1.0).target_reached)
        self.assertFalse(at(1.99, target=2.0).target_reached)

    def test_a_row_is_steady_if_every_run_of_it_is(self):
        for steady, flags in ((True, (True, True)), (False, (True, False)), (False, (False, True))):
            pair = tuple(run(1, 1, written_bytes_per_put=7.0, steady=flag) for flag in flags)
            self.assertEqual(row_of("r", [pair], (WRITTEN_STEADY,)).steady, steady, flags)

    def test_a_writer_that_fell_behind_is_named_in_the_verdict(self):
        for per_s, said in ((500, WINS), (451, WINS), (449, f"{WINS}, a writer fell behind")):
            slow = run(1, 1, side_writes_asked_per_s=500, side_writes_per_s=per_s)
            full = run(2, 1, side_writes_asked_per_s=500, side_writes_per_s=500)
            self.assertEqual(row_of("r", [(full, slow)]).verdict_with_remarks, said)
        self.assertEqual(at(2.0).verdict_with_remarks, WINS)

    def test_a_row_without_a_target_reaches_none(self):
        self.assertIsNone(at(1.0).target_reached)

    def test_failed_and_losing_rows_come_first_and_unavailable_ones_next(self):
        gone = without_figures("g", Judged("gone", (WALL,)), NOT_AVAILABLE, "why")
        broken = without_figures("g", Judged("broken", (WALL,)), FAILED, "why")
        rows = worst_first(
            [at(3.0), at(1.0), gone, at(0.5), at(1.2), broken, at(1.9, 0.5), at(0.9)]
        )
        titles = ["broken", "0.5", "0.9", "gone", "1.9", "1.0", "1.2", "3.0"]
        self.assertEqual([row.title for row in rows], titles)
        self.assertEqual([row.target_reached for row in (gone, broken)], [None, None])


class LimitTest(unittest.TestCase):
    """What Ashlar's own figure may be at most."""

    @staticmethod
    def groups(limit: Limit) -> list[Group]:
        """Two, of one row each."""
        rows = (Judged("base", (WALL,)), Judged("limited", (WALL,), None, limit))
        return [Group(row.title, {}, (Workload("a", rows=(row,)),)) for row in rows]

    @staticmethod
    def row(title: str, own: float):
        return row_of(title, [(run(9, 9), run(own, own))])

    def test_it_is_a_figure_of_its_own_or_follows_another_row(self):
        for limit, own, kept in (
            (Limit(5.0), 5.0, True),
            (Limit(5.0), 5.1, False),
            (Limit(of="base", times=3.0), 6.0, True),
            (Limit(0.5, of="base"), 2.6, False),
        ):
            rows = [self.row("base", 2.0), self.row("limited", own)]
            rows = with_limits(self.groups(limit), rows)
            self.assertEqual([row.limit_kept for row in rows], [None, kept], limit)

    def test_without_the_other_row_there_is_none(self):
        gone = without_figures("g", Judged("base", (WALL,)), FAILED, "why")
        rows = with_limits(self.groups(Limit(of="base")), [gone, self.row("limited", 1.0)])
        self.assertEqual([row.limit for row in rows], [None, None])

    def test_the_table_of_a_document_shows_it(self):
        rows = [self.row("base", 2.0), self.row("limited", 3.0)]
        rows = with_limits(self.groups(Limit(of="base")), rows)
        table = markdown_table(rows, {"commit": "abc", "peer": "RocksDB"})
        line = "| limited | 9.000 | 3.000 | µs | 3.00 (3.00–3.00) | 2.000 ✗ | wins |"
        self.assertIn(line, table.splitlines())

    def test_the_table_of_a_document_names_the_rows_that_lose(self):
        gone = without_figures("g", Judged("gone", (WALL,)), FAILED, "why")
        lines = markdown_table(
            [row_of("slow", [(run(1, 1), run(2, 2))]), gone], {"commit": "abc", "peer": "RocksDB"}
        ).splitlines()
        self.assertEqual([line.count("|") for line in lines], [8, 8, 8, 8])
        self.assertTrue(lines[2].endswith("|  | LOSES |"), lines[2])
        self.assertTrue(lines[3].endswith("| FAILED |"), lines[3])

    def test_a_group_is_chosen_with_the_groups_that_limit_its_rows(self):
        base, limited = self.groups(Limit(of="base"))
        other = Group("other", {}, (Workload("a", rows=(Judged("other", (WALL,)),)),))
        candidates = [base, other, limited]
        self.assertEqual(with_limiting_groups([limited], candidates), (base, limited))
        self.assertEqual(with_limiting_groups([other], candidates), (other,))

    def test_every_limit_names_a_row_with_the_same_metrics(self):
        metrics = {row.title: row.metrics for row in judged_rows(GROUPS)}
        for row in judged_rows(GROUPS):
            if row.limit is not None and row.limit.of:
                self.assertEqual(metrics.get(row.limit.of), row.metrics, row.title)

    def test_partitions_filters_and_many_runs_have_limits(self):
        limits = {
            row.title: (row.limit.of, row.limit.times)
            for row in judged_rows(GROUPS)
            if row.limit is not None
        }
        self.assertEqual(
            limits["Get, cached, partitioned table"], ("Get, cached, plain table", 1.15)
        )
        self.assertEqual(
            limits["compaction of five runs, a filter that keeps all, per entry"],
            ("compaction of five runs, none, per entry", 1.1),
        )
        self.assertEqual(
            limits["readrandom, cached, twenty runs"], ("readrandom, cached, five runs", 1.25)
        )


class RoundsTest(unittest.TestCase):
    """Workloads that run until they are steady."""

    class Told(bench.Bench):
        """Needs as many rounds as it is made with, peer and own, and lists the flags of each
        run."""

        def __init__(self, rounds: tuple[int, int]):
            libraries = [bench.Library(name, "", "rocksdb") for name in ("own", "peer")]
            super().__init__(SCALES["quick"], *libraries, {}, Path("unused"), 0)
            self.needed = dict(zip(("peer", "own"), rounds))
            self.flags: list[tuple] = []

        def run(self, group, library, rounds):
            self.flags.append((library.name, *rounds))
            return [run(1, 1, found=0, checksum="", contents="", rounds=self.needed[library.name])]

    def test_both_libraries_run_as_many_as_the_slower_one_needs(self):
        told = self.Told((4, 7))
        told.measure(Group("g", {}, (Workload("overwritesteady"),), until_steady=True))
        self.assertEqual(told.flags[:2], [("peer",), ("own",)])
        self.assertEqual(set(told.flags[2:]), {("peer", "--rounds", "7"), ("own", "--rounds", "7")})

    def test_other_groups_are_told_nothing(self):
        told = self.Told((4, 7))
        told.measure(Group("g", {}, (Workload("overwrite"),)))
        self.assertEqual(set(told.flags), {("peer",), ("own",)})

    def test_every_group_with_such_a_workload_says_so(self):
        for group in GROUPS:
            has_one = any(workload.name.endswith("steady") for workload in group.workloads)
            self.assertEqual(group.until_steady, has_one, group.name)


class TriangleTest(unittest.TestCase):
    """The table and the picture of docs/tuning.md."""

    @staticmethod
    def row(title: str, steady: bool = True):
        return row_of(title, [(run(9, 9), run(2, 2, steady=steady))])

    def test_a_setting_is_a_line_with_both_figures_in_each_cell(self):
        rows = [
            self.row(f"{setting}: {name}", setting != "universal")
            for setting in list(TRIANGLE)[:4]
            for name in TRIANGLE_FIGURES
        ]
        settings = triangle_settings([self.row("fillseq"), *rows])
        table = triangle_table(settings, {"commit": "abc", "peer": "RocksDB"})
        lines = table.splitlines()
        self.assertEqual(len(lines), 6)
        self.assertEqual(lines[2], "| leveled |" + " 2.00, 9.00 |" * len(TRIANGLE_FIGURES))
        self.assertTrue(lines[5].startswith("| universal (not steady) |"))

    def test_every_setting_has_a_group_with_every_figure(self):
        settings = triangle_settings([self.row(row.title) for row in judged_rows(GROUPS)])
        self.assertEqual(
            {setting: list(figures) for setting, figures in settings.items()},
            {setting: list(TRIANGLE_FIGURES) for setting in TRIANGLE},
        )


class OneRatioTest(unittest.TestCase):
    """A row with a wall time and a CPU time has one ratio, wherever it is shown."""

    PAIRS = [(run(9.23, 3.23), run(1, 1)), (run(8, 3), run(1, 1))]
    ROWS = [
        row_of("Get 1 KB pinned, mmap", PAIRS, BOTH, 4.0),
        row_of("Get 1 KB copied, mmap", PAIRS, BOTH, 4.0),
    ]

    def test_the_printed_table_shows_it_with_its_spread(self):
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            bench.print_table(self.ROWS)
        lines = [line for line in text.getvalue().splitlines() if line.startswith("Get")]
        self.assertEqual(len(lines), 2)
        for line in lines:
            self.assertEqual(re.findall(r"\d+\.\d\d(?!\d)", line), ["8.62", "8.00", "9.23", "4.00"])

    def test_the_table_of_the_whole_has_it_too(self):
        machine = {"commit": "abc", "peer": "RocksDB", "keys": 5000, "pairs": 2}
        table = side_by_side_table(self.ROWS, machine)
        self.assertIn("at abc, 5,000 keys, 2 pairs", table.splitlines()[0])
        self.assertEqual(sum("8.62 (8.00–9.23) | 4.00 ✓" in line for line in table.splitlines()), 2)

    def test_the_json_file_has_it_once(self):
        measured = row_as_json(self.ROWS[0])["measured"]
        self.assertEqual(measured["metric"], "wall_us_per_op")
        self.assertEqual(measured["ratio"], {"median": 8.615, "low": 8.0, "high": 9.23})

    def test_the_curves_are_of_the_middle_pair_and_of_two_of_the_worse(self):
        pairs = [([run(ratio, 1)], [run(1, 1)]) for ratio in (4, 2, 3)]
        for count, expected in ((3, 3), (2, 2)):
            peer, own = zip(*pairs[:count])
            shown = typical_pair({"peer": list(peer), "own": list(own)}, 0, WALL, 10)
            self.assertEqual(shown[0]["wall_us_per_op"], expected)

    def test_the_picture_of_value_sizes_shows_the_figures_of_the_table(self):
        figures = {
            "RocksDB pinned": 8.615,
            "Ashlar pinned": 1,
            "RocksDB copied": 8.615,
            "Ashlar copied": 1,
        }
        self.assertEqual(value_panels(self.ROWS), [("mmap", [("1 KB", figures)])])


class FigureTest(unittest.TestCase):
    def test_written_bytes_are_the_larger_of_the_two_counts(self):
        self.assertEqual(figure(run(1, 1, written_bytes=50, storage_bytes=70), WRITTEN, 5), 7)
        self.assertEqual(figure(run(1, 1, written_bytes=90, storage_bytes=70), WRITTEN, 5), 9)

    def test_a_transfer_is_judged_by_the_time_of_a_megabyte(self):
        self.assertEqual(figure(run(1, 1, wall_s=0.5, found_bytes=250_000_000), TRANSFER, 5), 2000)

    def test_space_is_per_key_and_not_per_operation(self):
        self.assertEqual(figure(run(1, 1, folder_bytes=100), SPACE, 20), 5)


class OriginTest(unittest.TestCase):
    def test_a_library_from_elsewhere_is_not_called_by_the_commit_of_this_tree(self):
        self.assertEqual(bench.commit_of(Path("/old/libashlar.so")), "/old/libashlar.so")

    def test_results_of_another_file_system_are_not_taken_up(self):
        files = {bench.kept_file(SCALES["full"], Path(data), "d") for data in ("/disk", "/memory")}
        self.assertEqual(len(files), 2)


class SubjectTest(unittest.TestCase):
    def test_a_subject_has_its_gigabytes_only_at_full_size(self):
        for size, expected in ((None, False), ("full", True)):
            arguments = argparse.Namespace(
                size=size, rows="^files-", subject="files", scale=1.0, pairs=None
            )
            scale = bench.chosen_scale(arguments)
            names = [group.name for group in scale.groups]
            self.assertIn("files-ingest", names)
            self.assertEqual("files-secondary-large" in names, expected)

    def test_a_subject_that_no_other_run_has_is_measured_whole(self):
        arguments = argparse.Namespace(
            size=None, rows="^triangle-", subject="triangle", scale=1.0, pairs=None
        )
        self.assertEqual(len(bench.chosen_scale(arguments).groups), len(TRIANGLE))


class AgreementTest(unittest.TestCase):
    def test_every_kind_of_disagreement_is_named(self):
        one = {"found": 1, "checksum": "a", "contents": "x"}
        self.assertEqual(disagreements({"A": one, "B": dict(one)}), [])
        for field in one:
            self.assertEqual(len(disagreements({"A": one, "B": one | {field: "other"}})), 1, field)


class RowsTest(unittest.TestCase):
    def test_names_and_titles_are_unique(self):
        names = [group.name for group in GROUPS]
        titles = [row.title for row in judged_rows(GROUPS)]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual(len(titles), len(set(titles)))

    def test_every_group_has_keys_and_rows_at_every_scale(self):
        for scale in SCALES.values():
            for group in scale.groups:
                self.assertGreater(group.number_of_keys(scale.keys), 0, group.name)
                self.assertTrue(any(workload.rows for workload in group.workloads), group.name)


class InstructionsTest(unittest.TestCase):
    def test_the_total_is_found_where_callgrind_puts_it(self):
        profile = "events: Ir\nsummary: 0\nfn=(1)\ntotals: 38454315\n"
        self.assertEqual(instructions.parse_total(profile), 38454315)
        with self.assertRaises(instructions.CountingFailed):
            instructions.parse_total("events: Ir\n")

    def test_a_count_that_rose_is_named(self):
        table = instructions.table([("Get", 50, 12050, 1550)], "abc", "RocksDB")
        before = instructions.counts_of(table)
        self.assertEqual(before, {"Get": 1500})
        self.assertEqual(instructions.rises(before, {"Get": 1515}), [])
        self.assertEqual(len(instructions.rises(before, {"Get": 1516, "Put": 1})), 2)

    def test_the_table_stands_between_its_marks_and_nothing_else_changes(self):
        marks = instructions.MARKS
        document = f"before\n{marks.begin}\nold\n{marks.end}\nafter\n"
        text = instructions.table([("Get", 50, 12050, 1550)], "abc", "RocksDB")
        self.assertIn("| Get | 12,000 | 1,500 | 8.0 |", text)
        replaced = f"before\n{marks.begin}\n{text}\n{marks.end}\nafter\n"
        self.assertEqual(marks.replace(document, text), replaced)


if __name__ == "__main__":
    unittest.main()
