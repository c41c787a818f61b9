"""Unit tests of what turns runs into verdicts: python3 -m unittest, in this folder."""

import unittest

import instructions
from figures import EVEN, FAILED, LOSES, NOT_AVAILABLE, WINS, Spread, disagreements, figure, judge, pairwise, verdict, without_figures, worst_first
from rows import CPU, GROUPS, SCALES, SPACE, WALL, WRITTEN, Judged


def run(wall: float, cpu: float, **more) -> dict:
    return {"wall_us_per_op": wall, "cpu_us_per_op": cpu, "operations": 10, "written_bytes": 0, "storage_bytes": 0, "folder_bytes": 0} | more


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


class VerdictTest(unittest.TestCase):
    def test_margins_belong_to_the_metric(self):
        self.assertEqual([verdict(ratio, WALL) for ratio in (0.94, 0.95, 0.96, 1.04, 1.05)], [LOSES, LOSES, EVEN, EVEN, WINS])
        self.assertEqual([verdict(ratio, WRITTEN) for ratio in (0.98, 1.0, 1.02)], [LOSES, EVEN, WINS])

    def test_a_row_has_the_worse_of_its_two_verdicts(self):
        row = judge("g", Judged("r", (WALL, CPU), 2.0), [run(3, 1)] * 3, [run(1, 2)] * 3, {}, 10)
        self.assertEqual(row.verdict, LOSES)
        self.assertEqual(row.worst.metric, CPU)
        self.assertFalse(row.target_reached)

    def test_a_target_of_one_allows_for_noise_and_a_higher_one_does_not(self):
        equal = judge("g", Judged("r", (WALL,), 1.0), [run(0.98, 1)], [run(1, 1)], {}, 10)
        self.assertTrue(equal.target_reached)
        short = judge("g", Judged("r", (WALL,), 2.0), [run(1.99, 1)], [run(1, 1)], {}, 10)
        self.assertFalse(short.target_reached)

    def test_a_row_without_a_target_reaches_none(self):
        self.assertIsNone(judge("g", Judged("r", (WALL,)), [run(1, 1)], [run(1, 1)], {}, 10).target_reached)

    def test_failed_and_losing_rows_come_first_and_unavailable_ones_next(self):
        def at(ratio):
            return judge("g", Judged(str(ratio), (WALL,)), [run(ratio, 1)], [run(1, 1)], {}, 10)

        gone = without_figures("g", Judged("gone", (WALL,)), NOT_AVAILABLE, "why")
        broken = without_figures("g", Judged("broken", (WALL,)), FAILED, "why")
        rows = worst_first([at(3.0), at(1.0), gone, at(0.5), broken, at(0.9)])
        self.assertEqual([row.title for row in rows], ["broken", "0.5", "0.9", "gone", "1.0", "3.0"])
        self.assertEqual([row.target_reached for row in (gone, broken)], [None, None])


class FigureTest(unittest.TestCase):
    def test_written_bytes_are_the_larger_of_the_two_counts(self):
        self.assertEqual(figure(run(1, 1, written_bytes=50, storage_bytes=70), WRITTEN, 5), 7)
        self.assertEqual(figure(run(1, 1, written_bytes=90, storage_bytes=70), WRITTEN, 5), 9)

    def test_space_is_per_key_and_not_per_operation(self):
        self.assertEqual(figure(run(1, 1, folder_bytes=100), SPACE, 20), 5)


class AgreementTest(unittest.TestCase):
    def test_every_kind_of_disagreement_is_named(self):
        one = {"found": 1, "checksum": "a", "contents": "x"}
        self.assertEqual(disagreements({"A": one, "B": dict(one)}), [])
        for field in one:
            self.assertEqual(len(disagreements({"A": one, "B": one | {field: "other"}})), 1, field)


class RowsTest(unittest.TestCase):
    def test_names_and_titles_are_unique(self):
        names = [group.name for group in GROUPS]
        titles = [row.title for group in GROUPS for workload in group.workloads for row in workload.rows]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual(len(titles), len(set(titles)))

    def test_every_group_has_keys_and_rows_at_every_scale(self):
        for scale in SCALES.values():
            for group in scale.groups:
                self.assertGreater(group.number_of_keys(scale.keys), 0, group.name)
                self.assertTrue(any(workload.rows for workload in group.workloads), group.name)


class InstructionsTest(unittest.TestCase):
    def test_the_total_is_found_where_callgrind_puts_it(self):
        self.assertEqual(instructions.parse_total("events: Ir\nsummary: 0\nfn=(1)\ntotals: 38454315\n"), 38454315)
        with self.assertRaises(instructions.CountingFailed):
            instructions.parse_total("events: Ir\n")

    def test_the_table_stands_between_its_marks_and_nothing_else_changes(self):
        document = f"before\n{instructions.DOCUMENT_BEGIN}\nold\n{instructions.DOCUMENT_END}\nafter\n"
        text = instructions.table([("Get", 50, 12050, 1550)], "abc", "RocksDB")
        self.assertIn("| Get | 12,000 | 1,500 | 8.0 |", text)
        replaced = instructions.replace_table(document, text)
        self.assertEqual(replaced, f"before\n{instructions.DOCUMENT_BEGIN}\n{text}\n{instructions.DOCUMENT_END}\nafter\n")


if __name__ == "__main__":
    unittest.main()
