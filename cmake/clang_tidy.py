"""Runs clang-tidy on files and remembers which are clean: usage: clang_tidy.py BUILD_FOLDER JOBS,
with the files on standard input, separated by NUL.

A file is clean if clang-tidy had nothing to say about the same preprocessed text with the same
settings, in this clone or in another one: neither the folder of the clone counts, nor lines that
are only a comment without NOLINT. To preprocess a file takes a tenth of the time of clang-tidy.
Findings are not remembered. Used by ./dev lint.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

TIDY = "clang-tidy-19"
KEPT_SECONDS = 60 * 24 * 3600
CACHES = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
CACHE = pathlib.Path(CACHES) / "ashlar" / "lint"
COMMENT_LINE = re.compile(rb"^[ \t]*//(?!.*NOLINT).*\n", re.MULTILINE)


def fingerprint(entry: dict, settings: bytes) -> str:
    command = shlex.split(entry["command"])
    flags = [word for word in command if word.startswith(("-W", "-std", "-f"))]
    del command[command.index("-o"):command.index("-o") + 2]
    command[command.index("-c")] = "-E"
    text = subprocess.run([*command, "-C", "-P"], cwd=entry["directory"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True).stdout
    clone = os.getcwd().encode()
    seen = (" ".join(flags).encode() + COMMENT_LINE.sub(b"", text)).replace(clone, b".")
    return hashlib.sha256(settings + seen).hexdigest()


def check(file: str, entry: dict | None, build: str, settings: bytes) -> str:
    """The findings, or an empty text."""
    known = None
    if entry is not None:
        try:
            known = CACHE / fingerprint(entry, settings)
        except subprocess.CalledProcessError:
            known = None  # clang-tidy reports why
    if known is not None and known.exists():
        known.touch()
        return ""
    run = subprocess.run([TIDY, "-p", build, "--quiet", file], capture_output=True, text=True)
    noise = re.compile(r"warnings? (generated|treated)|^Suppressed|^Use -header")
    lines = run.stderr.splitlines(keepends=True)
    errors = "".join(line for line in lines if not noise.search(line))
    if run.returncode != 0 or run.stdout.strip():
        return run.stdout + errors or f"{file}: {TIDY} failed\n"
    if known is not None:
        known.touch()
    return ""


def main() -> int:
    build, jobs = sys.argv[1], int(sys.argv[2])
    files = [name for name in sys.stdin.read().split("\0") if name]
    CACHE.mkdir(parents=True, exist_ok=True)
    for entry in CACHE.iterdir():
        if entry.stat().st_mtime < time.time() - KEPT_SECONDS:
            entry.unlink(missing_ok=True)
    version = subprocess.run([TIDY, "--version"], capture_output=True, check=True).stdout
    settings = version + pathlib.Path(".clang-tidy").read_bytes()
    entries = json.loads(pathlib.Path(build, "compile_commands.json").read_text())
    commands = {entry["file"]: entry for entry in entries}
    failed = False
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        runs = [pool.submit(check, file, commands.get(os.path.abspath(file)), build, settings)
                for file in files]
        for run in concurrent.futures.as_completed(runs):
            findings = run.result()
            failed |= bool(findings)
            print(findings, end="", flush=True)
    return 1 if failed else 0


sys.exit(main())
