"""Runs every group of rows.py for a moment over Ashlar's library. Arguments: the driver, the
counter of copies, the library."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from rows import GROUPS, Group

DRIVER, COPY_COUNTER, LIBRARY = sys.argv[1:4]
NOT_AVAILABLE = 3
KEYS = 400
# Workloads after which keys are missing, and those whose every operation finds its key.
DELETING = (
    "deletewide",
    "deletefront",
    "deleteadjacent",
    "deletebeginning",
    "deleterandom",
    "firstseek",
    "firstseekflushed",
    "popqueue",
)
FINDING = (
    "readrandom",
    "readcopied",
    "readskewed",
    "multiget",
    "seek",
    "seeknew",
    "seekfirst",
    "firstseek",
    "firstseekflushed",
    "popqueue",
    "putandtail",
    "readwhilewriting",
)


def run(
    folder: str, *arguments: str, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess:
    command = [DRIVER, "--library", LIBRARY, "--dir", str(Path(folder) / "db")]
    command += ["--sample-ms", "0", *arguments]
    environment = os.environ | (environment or {})
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, env=environment
    )


def group_arguments(group: Group) -> list[str]:
    arguments = ["--num", str(KEYS), "--key-bytes", str(group.key_bytes)]
    arguments += ["--value-bytes", str(min(group.value_bytes, 10240))]
    workloads = [f"{workload.name}:64:{workload.threads}" for workload in group.workloads]
    arguments += ["--workloads", ",".join(workloads)]
    for flag, value in group.flags.items():
        arguments += [f"--{flag}"] if value is True else [f"--{flag}", str(value)]
    return arguments


class SmokeTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def test_every_group_runs_and_reads_what_it_wrote(self):
        for group in GROUPS:
            with self.subTest(group.name):
                done = run(self.folder.name, *group_arguments(group))
                if done.returncode == NOT_AVAILABLE:
                    # Said loudly by the report; the library is not at fault for lacking a function.
                    self.assertIn("not available", done.stderr)
                    shutil.rmtree(Path(self.folder.name) / "db", ignore_errors=True)
                    continue
                self.assertEqual(done.returncode, 0, done.stderr)
                deleted = False
                for result in json.loads(done.stdout)["results"]:
                    deleted = deleted or result["workload"] in DELETING
                    self.assertGreater(result["operations"], 0)
                    if result["workload"] == "readmissing":
                        self.assertEqual(result["found"], 0)
                    elif result["workload"] in FINDING:
                        self.assertEqual(result["found"], result["operations"])
                    elif result["workload"] in ("readseq", "readreverse") and not deleted:
                        self.assertEqual(result["found"] % KEYS, 0)

    def test_the_same_seed_gives_the_same_contents_and_another_one_does_not(self):
        def contents(seed: int) -> tuple[str, str]:
            arguments = ["--num", str(KEYS), "--seed", str(seed)]
            arguments += ["--workloads", "fillrandom,overwrite,readrandom:100"]
            done = run(self.folder.name, *arguments)
            self.assertEqual(done.returncode, 0, done.stderr)
            results = json.loads(done.stdout)["results"]
            self.assertNotEqual(results[0]["contents"], results[1]["contents"])
            return results[1]["contents"], results[2]["checksum"]

        self.assertEqual(contents(1), contents(1))
        self.assertNotEqual(contents(1), contents(2))

    def test_a_pinned_get_copies_no_value_and_a_copying_one_does(self):
        for shape in ("compacted", "memtable", "merged"):
            with self.subTest(shape):
                arguments = ["--num", str(KEYS), "--value-bytes", "4000", "--shape", shape]
                arguments += ["--workloads", "readrandom:200,readcopied:200"]
                done = run(self.folder.name, *arguments, environment={"LD_PRELOAD": COPY_COUNTER})
                self.assertEqual(done.returncode, 0, done.stderr)
                pinned, copied = json.loads(done.stdout)["results"]
                self.assertEqual(pinned["copied_values_per_op"], 0)
                self.assertLess(pinned["copied_bytes_per_op"], 400)
                self.assertEqual(copied["copied_values_per_op"], 1)

    def test_a_workload_ends_when_it_is_steady_or_after_the_rounds_that_it_is_told(self):
        def run_mix(*flags: str) -> dict:
            arguments = ["--num", "2000", "--no-log", "--workloads", "fillrandom,mixsteady"]
            done = run(self.folder.name, *arguments, *flags)
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(done.stdout)["results"][1]

        until_steady = run_mix()
        self.assertTrue(until_steady["steady"])
        self.assertLessEqual(8, until_steady["rounds"])
        told = run_mix("--rounds", "9")
        self.assertEqual(
            (told["rounds"], told["operations"], told["found"]), (9, 9 * 4000, 9 * 2000)
        )
        self.assertEqual(told["contents"], run_mix("--rounds", "9")["contents"])
        self.assertGreater(told["written_per_byte"], 1)
        self.assertGreaterEqual(told["disk_per_live_byte_max"], told["disk_per_live_byte"])
        self.assertGreaterEqual(told["runs_per_seek"], 1)
        self.assertLessEqual(told["runs_per_get"], told["runs_per_seek"])

    def test_mistakes_in_the_command_line_are_refused(self):
        for arguments in (
            ["--workloads", "nosuch"],
            ["--workloads", "readrandom:0"],
            ["--workloads", "mixsteady", "--rounds", "7"],
            ["--workloads", "fillseq", "--key-bytes", "4"],
        ):
            done = run(self.folder.name, *arguments)
            self.assertNotIn(done.returncode, (0, NOT_AVAILABLE), arguments)

    def test_instructions_are_not_counted_without_callgrind(self):
        done = run(self.folder.name, "--workloads", "readrandom:64", "--count-instructions")
        self.assertNotIn(done.returncode, (0, NOT_AVAILABLE))
        self.assertIn("valgrind", done.stderr)

    def test_a_folder_that_exists_is_not_touched(self):
        existing = Path(self.folder.name) / "db"
        existing.mkdir()
        (existing / "precious").write_text("kept")
        self.assertNotEqual(run(self.folder.name, "--workloads", "fillseq").returncode, 0)
        self.assertEqual((existing / "precious").read_text(), "kept")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
