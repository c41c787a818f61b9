"""Which runs are made, what is counted, and what fails: with programs of this test as suites."""

import contextlib
import fnmatch
import io
import pathlib
import re
import subprocess
import tempfile
import unittest
from unittest import mock

import soak

FOREVER = float("inf")
TESTS = pathlib.Path(__file__).resolve().parent.parent


def kind(script, goal=10, **fields):
    """A kind whose suite is `script`, a file of the folder of the test."""
    of = {"name": "n", "title": "t", "goal": goal, "binary": script, "filter": "*",
          "counted": r"(\d+) apples|(\d+) pears", "seed": "SOAK_TEST_SEED", **fields}  # fmt: skip
    return soak.Kind(**of)


def is_chosen(by, suite, text):
    """Whether a GoogleTest filter has a test of the suite, of a file's text."""
    wanted, _, unwanted = by.partition("-")

    def has(patterns, name):
        return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns.split(":"))

    tests = re.findall(rf"^TEST\w*\({suite},\s*(\w+)\)", text, re.MULTILINE)
    names = [name for test in tests for name in (f"{suite}.{test}", f"Set/{suite}.{test}/0")]
    return any(has(wanted, name) and not has(unwanted, name) for name in names)


def suites_that_print(of, counted):
    """(text of the file, suite) of each place that prints what is counted."""
    for path in sorted((TESTS / of.binary.removesuffix("_test")).glob("*.cc")):
        text = path.read_text()
        for match in re.finditer(re.escape(counted.replace(r"(\d+)", "%llu")), text):
            suites = re.findall(r"^(?:class |TEST\w*\()(\w+)", text[: match.start()], re.MULTILINE)
            if suites:
                yield text, suites[-1]


class SoakTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def suite(self, name, body):
        path = self.folder / name
        path.write_text(f'#!/bin/sh\necho "$SOAK_TEST_SEED $1" >>"$0.runs"\n{body}\n')
        path.chmod(0o755)

    def run_all(self, *kinds, workers=1, end=FOREVER):
        progress = [soak.Progress(each, each.goal, 7) for each in kinds]
        with contextlib.redirect_stdout(io.StringIO()):
            soak.run_all(self.folder, progress, workers, end)
        return progress

    def runs(self, name):
        path = self.folder / f"{name}.runs"
        return sorted(path.read_text().splitlines()) if path.exists() else []

    def test_runs_go_on_with_new_seeds_until_the_figure_is_reached(self):
        self.suite("good", "echo '3 apples, 1 pears'; echo '1 apples'")
        (progress,) = self.run_all(kind("good", 11, filter="A.*"))
        self.assertEqual((progress.count, progress.ended, progress.failure), (15, 3, ""))
        self.assertEqual(
            self.runs("good"),
            sorted(f"{7 + n * soak.SEED_STEP} --gtest_filter=A.*" for n in range(3)),
        )

    def test_workers_do_not_begin_what_runs_under_way_will_reach(self):
        self.suite("good", "echo '5 apples'")
        (progress,) = self.run_all(kind("good", 10), workers=2)
        self.assertEqual((progress.begun, progress.count), (2, 10))

    def test_a_failed_run_ends_its_kind_and_says_how_to_repeat_it(self):
        self.suite("bad", "echo '5 apples'; echo why; exit 3")
        self.suite("good", "echo '20 pears'")
        bad, good = self.run_all(kind("bad", size={"SIZE": 4}), kind("good"))
        self.assertEqual((len(self.runs("bad")), good.count), (1, 20))
        for part in ("why", "ended with 3", "SOAK_TEST_SEED=7 SIZE=4", "/bad"):
            self.assertIn(part, bad.failure)

    def test_a_run_that_counts_nothing_has_failed(self):
        self.suite("empty", "echo 'apples'")
        (progress,) = self.run_all(kind("empty"))
        self.assertIn("counted nothing", progress.failure)

    def test_the_lines_of_a_run_without_an_end_are_shown(self):
        # Its output is in bytes, also of a run with text=True.
        late = subprocess.TimeoutExpired("hangs", 1, output=b"5 apples\nwhy\n")
        with mock.patch.object(subprocess, "run", side_effect=late):
            (progress,) = self.run_all(kind("hangs"))
        self.assertEqual(progress.count, 5)
        self.assertEqual(progress.failure.splitlines()[:2], ["5 apples", "why"])
        self.assertIn("no end within", progress.failure)

    def test_what_is_counted_is_printed_by_tests_that_run_and_have_the_seed(self):
        for each in soak.KINDS:
            for counted in each.counted.split("|"):
                printed = list(suites_that_print(each, counted))
                run = [(text, suite) for text, suite in printed
                       if is_chosen(each.filter, suite, text)]  # fmt: skip
                self.assertTrue(run or not printed, f"{each.name}: {counted}")
                for text, suite in run:
                    self.assertTrue(each.seed in text, f"{each.name}: {suite}")

    def test_nothing_begins_after_the_end(self):
        self.suite("good", "echo '3 apples'")
        (progress,) = self.run_all(kind("good"), end=0)
        self.assertEqual((progress.count, self.runs("good")), (0, []))

    def test_only_the_rows_that_were_measured_are_renewed(self):
        measured = [soak.Progress(each, 1, 7, count=1234) for each in soak.KINDS]
        before = soak.table("", measured, "a commit")
        measured[1].count = 5678
        after = soak.table(before, measured[1:2], "another commit").splitlines()
        self.assertEqual(after[:3], before.splitlines()[:3])
        self.assertIn("| 5,678 | 0 |", after[3])
        self.assertIn("| another commit |", after[3])
        self.assertEqual(len(after), 2 + len(soak.KINDS))

    def test_kinds_and_options_come_in_any_order(self):
        for words in ("--write pools errors", "pools errors --write", "pools --write errors"):
            parsed = soak.parse(["tests", *words.split()])
            self.assertEqual((parsed.kinds, parsed.write), (["pools", "errors"], True))

    def test_a_kind_that_is_unknown_is_refused(self):
        with self.assertRaisesRegex(soak.Refused, "schedules"):
            soak.chosen(["schedule"])
        self.assertEqual([each.name for each in soak.chosen(["errors", "crashes"])],
                         ["crashes", "errors"])  # fmt: skip


if __name__ == "__main__":
    unittest.main()
