"""The order of runs, what is counted, and the table: with a program of this test as the fuzzer."""

import contextlib
import io
import os
import pathlib
import tempfile
import unittest

import run
from children import Children  # in the path that run adds

# Prints what libFuzzer prints.
FUZZER = """#!/bin/sh
echo "$*" >>"$0.runs"
case "$*" in
  --list) printf 'good\\nbad\\nother\\n' ;;
  *--seeds=*) ;;
  *--target=bad*) echo 'stat::number_of_executed_units: 3'; exit 77 ;;
  *) echo '#9 NEW cov: 5 ft'; echo '#9 NEW cov: 7 ft'; echo 'stat::number_of_executed_units: 40' ;;
esac
"""


class RunTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.addCleanup(os.chdir, pathlib.Path.cwd())
        os.chdir(holder.name)
        self.program = pathlib.Path(holder.name) / "fuzzer"
        self.program.write_text(FUZZER)
        self.program.chmod(0o755)
        self.children = Children()
        self.fuzzer = run.Fuzzer(str(self.program), ["-timeout=20"], self.children)

    def run_all(self, work, stop=False):
        outcomes = {}

        def ended(target, outcome):
            outcomes[target] = outcome
            if stop:
                self.children.stop(15)

        with contextlib.redirect_stdout(io.StringIO()):
            failed = run.run_all(self.fuzzer, work, 1, ended)
        return failed, outcomes

    def test_each_target_runs_once_and_a_failure_ends_only_its_own(self):
        failed, outcomes = self.run_all(run.Work(3, self.fuzzer.targets()))
        self.assertEqual(failed, ["bad"])
        self.assertEqual({target: each.executions for target, each in outcomes.items()},
                         {"good": 40, "bad": 3, "other": 40})  # fmt: skip
        self.assertIn("7 edges", outcomes["good"].shown)
        self.assertIn("FAILED", outcomes["bad"].shown)
        self.assertGreater(outcomes["good"].minutes, 0)
        runs = pathlib.Path(f"{self.program}.runs").read_text()
        self.assertIn("--target=good -max_total_time=3 -timeout=20", runs)

    def test_nothing_begins_after_a_signal(self):
        _, outcomes = self.run_all(run.Work(3, ["good", "other"]), stop=True)
        self.assertEqual(list(outcomes), ["good"])

    def test_the_target_with_the_fewest_minutes_runs_until_all_have_theirs(self):
        work = run.Work(300, ["a", "b", "c"], 10.0, {"a": 9.5, "b": 12.0})
        self.assertEqual(work.next(), ("c", 301))
        work.begin("c")
        self.assertEqual(work.next(), ("a", 31))  # what it lacks
        work.end("c", 4.0, failed=False)
        self.assertEqual(work.next(), ("c", 301))
        work.begin("c")
        work.end("c", 4.0, failed=True)  # runs no more
        self.assertEqual(work.next(), ("a", 31))
        work.begin("a")
        work.end("a", 0.5, failed=False)
        self.assertIsNone(work.next())

    def test_the_table_is_read_as_it_is_written(self):
        rows = {"good": run.Row(1234567, 2.5, "a bug | and another"), "bad": run.Row()}
        text = run.table(rows, "a, day 1")
        self.assertEqual(run.rows_of(text), rows)
        self.assertIn("| together | 1,234,567 | 2.5 | |", text)
        # The document's own.
        own = run.TABLE.read()
        at = own.splitlines()[-1].removeprefix("The last run that added to it: ").removesuffix(".")
        self.assertEqual(run.table(run.rows_of(own), at), own)

    def test_targets_and_lengths_are_chosen(self):
        def work(words):
            arguments = run.parse(["fuzzer", *words.split()])
            return run.work_of(arguments, ["a", "b"], {"a": run.Row(1, 2.0)})

        self.assertEqual(work("").seconds, 60)
        self.assertEqual((work("b --seconds 3").targets, work("b --seconds 3").seconds), (["b"], 3))
        self.assertEqual(work("--minutes 2 a b --write").seconds, 120)
        self.assertEqual(work("--to 30").had, {"a": 2.0})
        with self.assertRaisesRegex(run.Refused, "'c'"):
            work("c")


if __name__ == "__main__":
    unittest.main()
