"""What counts as caught, and which mutants a change concerns."""

import contextlib
import io
import pathlib
import tempfile
import time
import unittest
from unittest import mock

import mutants

BEGUN = b"[ RUN      ] Suite.Case\n"
FAILED = BEGUN + b"suite_test.cc:7: Failure\n[  FAILED  ] Suite.Case (0 ms)\n"


def entry(**fields):
    return {"name": "n", "bug": "b", "file": "src/f.cc", "text": "t;", "replacement": "r;",
            "test": "suite_test Suite.Case", **fields}


class OutcomeTest(unittest.TestCase):
    def judge(self, code, output, may_hang=False):
        outcome = mutants.outcome_of(code, output)
        return outcome, mutants.is_caught(mutants.Mutant("here", entry(may_hang=may_hang)), outcome)

    def test_a_failed_assertion_and_a_crash_are_noticed(self):
        self.assertEqual(self.judge(1, FAILED), ("failed", True))
        self.assertEqual(self.judge(-6, BEGUN), ("signal 6", True))
        self.assertEqual(self.judge(-11, FAILED), ("signal 11", True))

    def test_a_test_that_passes_notices_nothing(self):
        self.assertEqual(self.judge(0, BEGUN), ("passed", False))
        self.assertEqual(self.judge(0, FAILED), ("passed with a failure", False))

    def test_a_test_that_does_not_begin_notices_nothing(self):
        for code in (0, 1, 127, -6, -11, None):
            judgement = self.judge(code, b"[==========] 0 tests from 0 test suites ran.\n")
            self.assertEqual(judgement, ("ran nothing", False))

    def test_an_end_from_outside_is_no_failure(self):
        self.assertEqual(self.judge(-9, BEGUN), ("ended by signal 9", False))
        self.assertEqual(self.judge(-15, FAILED), ("ended by signal 15", False))
        self.assertEqual(self.judge(3, BEGUN), ("exit code 3", False))

    def test_only_a_mutant_that_may_hang_is_noticed_by_the_time_limit(self):
        self.assertEqual(self.judge(None, BEGUN), ("hung", False))
        self.assertEqual(self.judge(None, BEGUN, may_hang=True), ("hung", True))
        self.assertEqual(self.judge(None, FAILED), ("failed", True))


class EntryTest(unittest.TestCase):
    def test_a_statement_ends_as_one(self):
        for text in ("f();", "f();  // why", "if (a) {\n  f();\n}"):
            mutants.Mutant("here", entry(text=text))
        mutants.Mutant("here", entry(text="a && b", form="expression"))
        with self.assertRaises(mutants.Refused):
            mutants.Mutant("here", entry(text="a && b"))

    def test_an_expression_is_none_with_its_designator(self):
        for text in (".a = b", "f();"):
            with self.assertRaises(mutants.Refused):
                mutants.Mutant("here", entry(text=text, form="expression"))


class RunTest(unittest.TestCase):
    def run_script(self, script):
        with (tempfile.TemporaryDirectory() as folder,
              contextlib.redirect_stdout(io.StringIO()) as printed):
            binary = pathlib.Path(folder) / "tests" / "suite_test"
            binary.parent.mkdir()
            binary.write_text(f"#!/bin/sh\necho '[ RUN      ] Suite.Case'\n{script}\n")
            binary.chmod(0o755)
            mutant = mutants.Mutant("here", entry())
            return mutants.run([mutant], pathlib.Path(folder), []), printed.getvalue()

    def test_a_test_passes_without_the_mutant_and_fails_with_it(self):
        fails = "echo 'suite_test.cc:7: Failure'; exit 1"
        self.assertEqual(self.run_script(f"test $ASHLAR_MUTANT = 0 || {{ {fails}; }}")[0], 0)
        self.assertIn("failed without a mutant", self.run_script(fails)[1])
        self.assertIn("n is not caught", self.run_script("exit 0")[1])
        self.assertIn("exit code 1", self.run_script("test $ASHLAR_MUTANT = 0")[1])

    def test_a_test_is_ended_when_it_notices_the_mutant(self):
        begin = time.monotonic()
        code, _ = self.run_script(
            "test $ASHLAR_MUTANT = 0 || { echo 'suite_test.cc:7: Failure'; sleep 60; }")
        self.assertEqual(code, 0)
        self.assertLess(time.monotonic() - begin, 30)

    def test_a_test_is_ended_at_its_time_limit(self):
        with mock.patch.object(mutants, "SECONDS_MAX", 1):
            printed = self.run_script("test $ASHLAR_MUTANT = 0 || sleep 60")[1]
        self.assertIn("n is not caught by suite_test Suite.Case: hung", printed)

    def test_a_binary_that_is_not_there_is_refused(self):
        with self.assertRaises(mutants.Refused):
            mutants.run([mutants.Mutant("here", entry())], pathlib.Path("/nowhere"), [])


class ChangedTest(unittest.TestCase):
    def test_a_mutant_is_concerned_by_its_entry_its_source_and_its_test(self):
        files = {"src/f.cc": True, "src/f_test.cc": True, "src/g.cc": False}
        for path, concerned in files.items():
            mutant = mutants.Mutant("here", entry())
            found = mutants.is_concerned(mutant, [entry()], {path}, {"src/f_test.cc"})
            self.assertEqual(found, concerned, path)
        mutant = mutants.Mutant("here", entry())
        self.assertTrue(mutants.is_concerned(mutant, [entry(bug="other")], set(), set()))


if __name__ == "__main__":
    unittest.main()
