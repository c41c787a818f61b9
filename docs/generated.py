"""The parts of these documents that commands write."""

import os
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Marks:
    """The lines of a document between which a command writes its part."""

    name: str
    command: str
    document: str = "performance.md"

    @property
    def begin(self) -> str:
        return f"<!-- {self.name}: begin, written by {self.command} -->"

    @property
    def end(self) -> str:
        return f"<!-- {self.name}: end -->"

    def read(self) -> str:
        """The part as it stands, without the marks."""
        document = (FOLDER / self.document).read_text()
        begin, end = document.index(self.begin), document.index(self.end)
        return document[begin + len(self.begin) : end].strip("\n")

    def replace(self, document: str, text: str) -> str:
        begin, end = document.index(self.begin), document.index(self.end)
        return document[: begin + len(self.begin)] + "\n" + text + "\n" + document[end:]

    def write(self, text: str, quiet: bool = False) -> None:
        path = FOLDER / self.document
        partial = path.with_suffix(".partial")
        partial.write_text(self.replace(path.read_text(), text))
        os.replace(partial, path)
        if not quiet:
            print(f"== written to docs/{self.document}")


def stamp() -> str:
    """The commit, whether files other than these documents differ from it, and the day; without
    git, the day alone."""
    today = time.strftime("%Y-%m-%d", time.gmtime())
    if not shutil.which("git"):
        return today
    git = ["git", "-C", str(FOLDER)]
    commit = subprocess.run(
        [*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    others = [":(top)", ":(top,exclude)docs/*.md", ":(top,exclude)docs/measurements"]
    changed = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", *others], check=False)
    return f"{commit}{' with changes' if changed.returncode != 0 else ''}, {today}"
