#!/usr/bin/env python3
"""Seeded bugs: checks the catalogue, makes the sources of the build that has them all, runs them.

    mutants.py check                       every entry still fits the sources (part of ./dev test)
    mutants.py generate FOLDER             writes mutated copies of the sources to FOLDER
    mutants.py binaries [NAME ...]         lists the test binaries that the entries name
    mutants.py changed REVISION            lists the mutants whose entry, source or test differs
    mutants.py run BUILD [NAME ...]        every mutant fails its test (./dev mutants)
    mutants.py find BUILD BINARY NAME      lists the tests of a binary that fail with a mutant

README.md describes the catalogue.
"""

import concurrent.futures
import fnmatch
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import threading
import time
import tomllib
import zlib

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
FIELDS = {"name", "bug", "file", "text", "replacement", "test"}
OPTIONAL_FIELDS = {"form", "may_hang"}
FORMS = ("statement", "expression", "code")
SECONDS_MAX = 90
# For a bug that hangs its test: many times what the test takes without it.
HANG_SECONDS_MAX = 20
# How a process ends that notices a bug by itself. Others were ended from outside.
SIGNALS_OF_BUGS = {signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL,
                   signal.SIGTRAP}
# How GoogleTest begins what it prints of a failed assertion.
FAILURE = re.compile(rb": Failure$", re.MULTILINE)


class Refused(Exception):
    """The catalogue does not fit the sources."""


class Mutant:
    def __init__(self, place, entry):
        missing = FIELDS - entry.keys()
        unknown = entry.keys() - FIELDS - OPTIONAL_FIELDS
        if missing or unknown:
            raise Refused(f"{place}: missing {sorted(missing)}, unknown {sorted(unknown)}")
        self.entry = entry
        self.name = entry["name"]
        self.bug = entry["bug"]
        self.file = entry["file"]
        self.text = entry["text"].strip("\n")
        self.replacement = entry["replacement"].strip("\n")
        if not self.file.startswith(("src/", "tools/")):
            raise Refused(f"{self.name}: only sources in src and tools can have bugs")
        self.form = entry.get("form", "statement")
        if self.form not in FORMS:
            raise Refused(f"{self.name}: its form is none of {FORMS}")
        self.may_hang = entry.get("may_hang", False)
        if not isinstance(self.may_hang, bool):
            raise Refused(f"{self.name}: may_hang is true or false")
        self.seconds_max = HANG_SECONDS_MAX if self.may_hang else SECONDS_MAX
        if self.form == "statement" and not re.search(r"[;}]\s*(//.*)?$", self.text):
            raise Refused(f"{self.name}: its text is no statement; add form = \"expression\"")
        if self.form == "expression" and re.search(r"^\.|;$", self.text):
            raise Refused(f"{self.name}: its text is a designator or a statement")
        if ("MUTANT" in self.replacement) != (self.form == "code"):
            raise Refused(f"{self.name}: MUTANT is for the form code, which has it")
        tests = entry["test"] if isinstance(entry["test"], list) else [entry["test"]]
        self.tests = [tuple(test.partition(" ")[::2]) for test in tests]  # binary and filter
        if not self.tests or any("." not in filter for _, filter in self.tests):
            raise Refused(f'{self.name}: test is "binary Suite.Case", or a list of those')
        # The number is made of the name: a new entry changes no other one's copy.
        self.number = zlib.crc32(self.name.encode()) & 0x7FFFFFFF

    def code(self):
        if self.form == "code":
            return self.replacement.replace("MUTANT", f"(ashlar_mutant == {self.number})")
        if self.form == "expression":
            return f"(ashlar_mutant == {self.number} ? ({self.replacement}) : ({self.text}))"
        return (
            f"{{ if (ashlar_mutant == {self.number}) {{ {self.replacement}\n"
            f" }} else {{ {self.text}\n }} }}"
        )


def catalogue():
    mutants = []
    for path in sorted((FOLDER / "catalogue").glob("*.toml")):
        with path.open("rb") as file:
            entries = tomllib.load(file)["mutant"]
        mutants += [Mutant(path.name, entry) for entry in entries]
    for what in ("name", "number"):
        values = [getattr(mutant, what) for mutant in mutants]
        twice = {value for value in values if values.count(value) > 1}
        if twice:
            raise Refused(f"{what} used twice: {sorted(twice)}")
    return mutants


def mutated(path, mutants):
    """The text of a source with all its mutants."""
    text = (ROOT / path).read_text()
    spans = []
    for mutant in mutants:
        occurrences = text.count(mutant.text)
        if occurrences != 1:
            raise Refused(f"{mutant.name}: its text occurs {occurrences} times in {path}")
        begin = text.index(mutant.text)
        spans.append((begin, begin + len(mutant.text), mutant))
    spans.sort(key=lambda span: span[0])
    for (_, end, first), (begin, _, second) in zip(spans, spans[1:]):
        if begin < end:
            raise Refused(f"{first.name} and {second.name} overlap in {path}")
    for begin, end, mutant in reversed(spans):
        text = text[:begin] + mutant.code() + text[end:]
    return text


def by_file(mutants):
    files = {}
    for mutant in mutants:
        files.setdefault(mutant.file, []).append(mutant)
    return files


def check(mutants):
    for path, of_file in by_file(mutants).items():
        mutated(path, of_file)
    cases = test_cases()
    for mutant in mutants:
        for _, filter in mutant.tests:
            if not files_of_test(cases, filter):
                raise Refused(f"{mutant.name}: there is no test {filter}")
    print(f"{len(mutants)} mutants in {len(by_file(mutants))} files apply")


def test_cases():
    """The file of each test, by suite and case."""
    cases = {}
    for path in [*ROOT.glob("src/**/*_test.cc"), *ROOT.glob("tests/*/*.cc")]:
        for case in re.findall(r"\bTEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)", path.read_text()):
            cases[case] = str(path.relative_to(ROOT))
    return cases


def files_of_test(cases, filter):
    # An instance of a test with parameters is Prefix/Suite.Case/Parameter.
    suite, _, case = filter.partition(".")
    suite, case = suite.split("/")[-1], case.split("/")[0]
    return {file for (a, b), file in cases.items()
            if fnmatch.fnmatch(a, suite) and fnmatch.fnmatch(b, case)}


def git(*arguments):
    done = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True)
    if done.returncode != 0:
        raise Refused(done.stderr.decode(errors="replace").strip())
    return done.stdout.decode()


def changed_since(mutants, revision):
    """Those whose entry, mutated source or test differs from the revision's: for CI. A change that
    a test meets in other files is left to the run of all."""
    differs = set(git("diff", "--name-only", revision, "--").split())
    folder = FOLDER.relative_to(ROOT) / "catalogue"
    before = []
    for path in git("ls-tree", "--name-only", revision, f"{folder}/").split():
        before += tomllib.loads(git("show", f"{revision}:{path}"))["mutant"]
    cases = test_cases()
    for mutant in mutants:
        files = set().union(*(files_of_test(cases, filter) for _, filter in mutant.tests))
        if is_concerned(mutant, before, differs, files):
            yield mutant


def is_concerned(mutant, entries_before, differs, files_of_tests):
    return (mutant.entry not in entries_before or mutant.file in differs or
            not files_of_tests.isdisjoint(differs))


HEADER = """// The mutant of this process, chosen by the variable ASHLAR_MUTANT; 0: none.
#pragma once
#include <cstdlib>
inline const long ashlar_mutant = [] {
  const char* const number = std::getenv("ASHLAR_MUTANT");
  return number == nullptr ? 0L : std::strtol(number, nullptr, 10);
}();
"""


def write_if_new(path, text):
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def generate(mutants, folder):
    """Prints the mutated files, for CMake."""
    write_if_new(folder / "mutant.h", HEADER)
    files = by_file(mutants)
    for old in folder.glob("*/**/*.*"):
        if str(old.relative_to(folder)) not in files:
            old.unlink()
    for path, of_file in files.items():
        begin = f'#include "{folder}/mutant.h"\n#line 1 "{ROOT / path}"\n'
        write_if_new(folder / path, begin + mutated(path, of_file))
    print(";".join(sorted(files)), end="")


def start(build, binary, arguments, number, **options):
    # A mutant may ask for all the memory there is.
    def limit():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (64 << 30, 64 << 30))

    environment = {**os.environ, "ASHLAR_MUTANT": str(number), "GTEST_COLOR": "no"}
    return subprocess.Popen(
        [build / "tests" / binary, *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        preexec_fn=limit,
        start_new_session=True,
        **options,
    )


def outcome_of(code, output):
    """How a test ended, by its exit code (None: at its time limit) and what it printed."""
    if b"[ RUN      ]" not in output:
        return "ran nothing"
    failed = FAILURE.search(output) is not None
    if code is None:
        return "failed" if failed else "hung"
    if code == 0:
        return "passed with a failure" if failed else "passed"
    if code < 0:
        return f"signal {-code}" if -code in SIGNALS_OF_BUGS else f"ended by signal {-code}"
    return "failed" if failed else f"exit code {code}"


def is_caught(mutant, outcome):
    return (outcome == "failed" or outcome.startswith("signal ") or
            (outcome == "hung" and mutant.may_hang))


def run_test(build, test, number, seconds_max=SECONDS_MAX):
    """How the test ended ('passed' when it did not notice), its output and its seconds. With a
    mutant it is ended at the first assertion that fails."""
    begin = time.monotonic()
    binary, filter = test
    process = start(build, binary, [f"--gtest_filter={filter}", "--gtest_brief=0"], number)
    is_late = threading.Event()

    def end():
        is_late.set()
        os.killpg(process.pid, signal.SIGKILL)

    limit = threading.Timer(seconds_max, end)
    limit.start()
    output = b""
    has_noticed = False
    for line in process.stdout:
        output += line
        has_noticed = number != 0 and FAILURE.search(line) is not None
        if has_noticed:
            os.killpg(process.pid, signal.SIGKILL)
            break
    # Until here the process is not reaped, so its number is its own.
    limit.cancel()
    limit.join()
    process.stdout.close()
    code = process.wait()
    if has_noticed:
        code = 1
    elif is_late.is_set():
        code = None
    return outcome_of(code, output), output, time.monotonic() - begin


def choose(mutants, names):
    unknown = set(names) - {mutant.name for mutant in mutants}
    if unknown:
        raise Refused(f"no such mutants: {sorted(unknown)}")
    return [mutant for mutant in mutants if not names or mutant.name in names]


def binaries_of(mutants):
    return sorted({binary for mutant in mutants for binary, _ in mutant.tests})


def run(mutants, build, names):
    chosen = choose(mutants, names)
    missing = [binary for binary in binaries_of(chosen)
               if not os.access(build / "tests" / binary, os.X_OK)]
    if missing:
        raise Refused(f"{build} lacks the test binaries {missing}")
    jobs = int(os.environ.get("ASHLAR_JOBS", os.cpu_count() or 1))
    begin = time.monotonic()
    wrong = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        tests = sorted({test for mutant in chosen for test in mutant.tests})
        outcomes = pool.map(lambda test: run_test(build, test, 0), tests)
        for test, (outcome, output, _) in zip(tests, outcomes):
            if outcome != "passed":
                sys.stdout.write(output.decode(errors="replace"))
                wrong.append(f"{' '.join(test)}: {outcome} without a mutant")
        pairs = [(mutant, test) for mutant in chosen for test in mutant.tests]
        outcomes = pool.map(
            lambda pair: run_test(build, pair[1], pair[0].number, pair[0].seconds_max), pairs)
        for (mutant, test), (outcome, _, seconds) in zip(pairs, outcomes):
            print(f"{outcome:10} {seconds:5.1f} s  {mutant.name}", flush=True)
            if not is_caught(mutant, outcome):
                wrong.append(f"{mutant.name} is not caught by {' '.join(test)}: {outcome}")
    minutes = (time.monotonic() - begin) / 60
    print(f"{len(chosen)} mutants, {len(wrong)} wrong, {minutes:.1f} minutes")
    for line in wrong:
        print(f"mutants: {line}")
    return 1 if wrong else 0


def find(mutants, build, binary, name):
    mutant = next(mutant for mutant in mutants if mutant.name == name)
    listed = start(build, binary, ["--gtest_list_tests"], 0).communicate()[0].decode()
    suite = ""
    for line in listed.splitlines():
        if line.startswith("Running main"):
            continue
        if not line.startswith(" "):
            suite = line.split()[0]
            continue
        test = (binary, suite + line.split()[0])
        outcome, _, seconds = run_test(build, test, mutant.number)
        if outcome != "passed":
            print(f"{outcome:10} {seconds:5.1f} s  {test[1]}", flush=True)


def main(arguments):
    try:
        match arguments:
            case ["check"]:
                check(catalogue())
            case ["generate", folder]:
                generate(catalogue(), pathlib.Path(folder).resolve())
            case ["binaries", *names]:
                print(" ".join(binaries_of(choose(catalogue(), names))))
            case ["changed", revision]:
                print(" ".join(mutant.name for mutant in changed_since(catalogue(), revision)))
            case ["run", build, *names]:
                return run(catalogue(), pathlib.Path(build).resolve(), names)
            case ["find", build, binary, name]:
                find(catalogue(), pathlib.Path(build).resolve(), binary, name)
            case _:
                print(__doc__, file=sys.stderr)
                return 2
    except Refused as refusal:
        print(f"mutants: {refusal}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
