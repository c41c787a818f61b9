"""Which runs are made, what is counted, and what fails: with programs of this test as suites."""

import contextlib
import fnmatch
import io
import os
import pathlib
import re
import select
import signal
import tempfile
import threading
import unittest
from unittest import mock

import soak
from children import Ended  # in the path that soak adds

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
        path.write_text(f'#!/bin/sh\necho "$SOAK_TEST_SEED $*" >>"$0.runs"\n{body}\n')
        path.chmod(0o755)

    def run_all(self, *kinds, workers=1, end=FOREVER, children=None):
        progress = [soak.Progress(each, each.goal, 7) for each in kinds]
        suites = soak.Suites(self.folder, children or soak.Children(), ["a=b"])
        self.calls = 0

        def ended():
            self.calls += 1

        with contextlib.redirect_stdout(io.StringIO()):
            soak.run_all(suites, progress, workers, end, ended)
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
            sorted(
                f"{7 + n * soak.SEED_STEP} --gtest_filter=A.* --gtest_brief=1" for n in range(3)
            ),
        )
        self.assertEqual(self.calls, 3)
        self.assertGreater(progress.seconds, 0)

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

    def test_a_suite_of_options_gets_them_and_its_peers(self):
        self.suite("pair", "echo '20 apples'")
        self.run_all(kind("pair", filter="", seed="--seed", size={"--size": 4}, peers=True))
        self.assertEqual(self.runs("pair"), [" --seed 7 --size 4 a=b"])

    def test_a_suite_stays_on_the_processor_of_its_worker_if_it_wants_one(self):
        self.suite("one", "echo \"$(nproc) apples\"")
        one, free = self.run_all(kind("one", 1, one_processor=True), kind("one", 1))
        self.assertEqual((one.count, free.count), (1, len(os.sched_getaffinity(0))))

    def test_a_run_that_counts_nothing_has_failed(self):
        self.suite("empty", "echo 'apples'")
        (progress,) = self.run_all(kind("empty"))
        self.assertIn("counted nothing", progress.failure)

    def test_the_lines_of_a_run_without_an_end_are_shown(self):
        late = Ended(-9, "5 apples\nwhy\n", 1.0, late=True, cut=False)
        with mock.patch.object(soak.Children, "run", return_value=late):
            (progress,) = self.run_all(kind("hangs"))
        self.assertEqual(progress.count, 0)
        self.assertEqual(progress.failure.splitlines()[:2], ["5 apples", "why"])
        self.assertIn("no end within", progress.failure)

    def test_a_suite_without_an_end_is_ended(self):
        os.mkfifo(self.folder / "fifo")
        self.suite("hangs", f"cat {self.folder}/fifo")
        with mock.patch.object(soak, "RUN_SECONDS_MAX", 0):
            (progress,) = self.run_all(kind("hangs"))
        self.assertIn("no end within 0 s", progress.failure)

    def test_after_a_signal_what_ended_counts_and_nothing_begins(self):
        self.suite("good", "echo '3 apples'")
        children = soak.Children()
        run = children.run

        def run_and_stop(*arguments):
            ended = run(*arguments)
            children.stop(signal.SIGTERM)
            return ended

        with mock.patch.object(children, "run", side_effect=run_and_stop):
            (progress,) = self.run_all(kind("good"), children=children)
        self.assertEqual((progress.count, progress.ended, progress.failure), (3, 1, ""))

    def test_sigterm_ends_the_suites_with_what_they_started_and_fails_none(self):
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        # A suite that started another process; both would wait for ever.
        self.suite("hangs", f"sh -c 'echo $$ >{fifo}; exec cat {fifo}.2' & wait")
        os.mkfifo(f"{fifo}.2")
        children = soak.Children()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self.addCleanup(signal.signal, number, signal.getsignal(number))
        self.addCleanup(signal.set_wakeup_fd, -1)
        children.end_with_this_process()
        grandchild = []

        def stop_when_it_runs():
            grandchild.append(os.pidfd_open(int(fifo.read_text())))
            os.kill(os.getpid(), signal.SIGTERM)

        thread = threading.Thread(target=stop_when_it_runs)
        thread.start()
        (progress,) = self.run_all(kind("hangs"), children=children)
        thread.join()
        self.assertEqual((progress.cut, progress.ended, progress.failure), (1, 0, ""))
        self.addCleanup(os.close, grandchild[0])
        # It may end after its output does, and cannot end but by the signal: the descriptor of a
        # process is readable from its end on.
        self.assertTrue(select.select(grandchild, [], [], 300)[0])

    def test_what_is_counted_is_printed_by_tests_that_run_and_have_the_seed(self):
        for each in soak.KINDS:
            for counted in each.counted.split("|"):
                printed = list(suites_that_print(each, counted))
                run = [(text, suite) for text, suite in printed
                       if is_chosen(each.filter, suite, text)]  # fmt: skip
                self.assertTrue(run or not printed, f"{each.name}: {counted}")
                for text, suite in run:
                    self.assertTrue(each.seed in text, f"{each.name}: {suite}")

    def test_every_pattern_of_a_filter_has_a_test(self):
        for each in soak.KINDS:
            folder = TESTS / each.binary.removesuffix("_test")
            text = "\n".join(path.read_text() for path in folder.glob("*.cc"))
            names = [f"Set/{suite}.{test}/0" if macro == "TEST_P" else f"{suite}.{test}"
                     for macro, suite, test in
                     re.findall(r"^(TEST\w*)\((\w+),\s*(\w+)\)", text, re.MULTILINE)]  # fmt: skip
            for pattern in re.split("[:-]", each.filter) if each.filter else ():
                self.assertTrue(fnmatch.filter(names, pattern), f"{each.name}: {pattern}")

    def test_nothing_begins_after_the_end(self):
        self.suite("good", "echo '3 apples'")
        (progress,) = self.run_all(kind("good"), end=0)
        self.assertEqual((progress.count, self.runs("good")), (0, []))

    def test_a_run_adds_to_the_row(self):
        def run(**fields):
            return soak.Progress(kind("x"), 1, **{"first_seed": 9, "ended": 2, **fields})

        row = run(count=1000, seconds=90).added_to(soak.Row(), "a, day 1")
        self.assertEqual(row, soak.Row(1000, 0, 1.5, 1, "9", "a, day 1"))
        row = run(count=5, seconds=60, first_seed=3).added_to(row, "a, day 1")
        self.assertEqual(row, soak.Row(1005, 0, 2.5, 2, "9, 3", "a, day 1"))
        row = run(count=7, failure="why").added_to(row, "b, day 2")
        self.assertEqual(row, soak.Row(1012, 1, 2.5, 3, "9, 3, 9", "a, day 1; b, day 2"))
        self.assertEqual(run(ended=0).added_to(row, "c"), row)

    def test_the_table_is_read_as_it_is_written(self):
        rows = {each.name: soak.Row(1234 + i, i, 2.5, i, f"{i}, 7", "a, day 1; b, day 2")
                for i, each in enumerate(soak.KINDS)}  # fmt: skip
        text = soak.table(dict(reversed(rows.items())))
        self.assertEqual(soak.rows_of(text), rows)
        self.assertEqual(soak.table(soak.rows_of(text)), text)
        self.assertIn("| 1,235 |", text)
        # The document's own.
        own = soak.TABLE.read()
        self.assertEqual(soak.table(soak.rows_of(own)), own)

    def test_a_run_is_for_what_the_row_lacks(self):
        kinds = [kind("x", 100, name=name) for name in ("none", "some", "nearly", "all")]
        rows = {name: soak.Row(number) for name, number in
                {"some": 40, "nearly": 95, "all": 100}.items()}  # fmt: skip
        self.assertEqual(soak.goals(kinds, rows, 100), {"none": 100, "some": 60, "nearly": 5})
        self.assertEqual(soak.goals(kinds, rows, 10), {"none": 10, "some": 10, "nearly": 5})

    def test_kinds_and_options_come_in_any_order(self):
        for words in ("--write pools errors", "pools errors --write", "pools --write errors"):
            parsed = soak.parse(["tests", *words.split()])
            self.assertEqual((parsed.kinds, parsed.write), (["pools", "errors"], True))

    def test_a_kind_that_is_unknown_is_refused(self):
        with self.assertRaisesRegex(soak.Refused, "schedules"):
            soak.chosen(["schedule"])
        self.assertEqual([each.name for each in soak.chosen(["errors", "crashes"])],
                         ["crashes", "errors"])  # fmt: skip

    def test_a_kind_that_needs_other_libraries_runs_only_if_it_is_named(self):
        self.assertNotIn("differential", [each.name for each in soak.chosen([])])
        self.assertEqual([each.name for each in soak.chosen(["differential"])], ["differential"])


if __name__ == "__main__":
    unittest.main()
