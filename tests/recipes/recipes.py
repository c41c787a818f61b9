"""Compiles the C++ of the documents: recipes.py SOURCE_DIR COMPILER INCLUDE_DIR...

Each indented fragment of code is a translation unit of its own, with ashlar/db.h, the standard library, the fragment's own includes, and the names
that the text around it presupposes (NAMES). Errors have the document's lines. Run by ctest as recipes_test.
"""
import pathlib
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

DOCUMENTS = ["README.md", "docs/operations.md", "docs/persistent-memory.md", "docs/observability.md", "docs/tuning.md"]

STANDARD = ["atomic", "cstdint", "functional", "iostream", "map", "memory", "string", "utility", "vector"]

# Of the program that a fragment is a part of.
VARIABLES = {
    "column_families": "std::vector<ColumnFamilyDescriptor>&",
    "data": "std::string&",
    "db": "DB*",
    "db_options": "DBOptions&",
    "family": "ColumnFamilyHandle*",
    "follower": "DB*",
    "from": "DB*",
    "last": "SequenceNumber",
    "options": "Options&",
    "since": "uint64_t",
    "snapshot": "const Snapshot*",
    "sorted": "std::map<std::string, std::string>&",
    "standby": "DB*",
    "to": "DB*",
    "unknown_options": "ColumnFamilyOptions&",
}
OTHERS = {
    "MyClock": "class MyClock final : public SystemClock {\n public:\n  const char* Name() const override;\n  uint64_t NowMicros() override;\n"
    "  uint64_t NowNanos() override;\n  void SleepForMicroseconds(int micros) override;\n  Status GetCurrentTime(int64_t* seconds) override;\n"
    "  std::string TimeToString(uint64_t seconds) override;\n};",
    "apply": "void apply(const BatchResult& update);",
}


@dataclass
class Fragment:
    document: str
    line: int  # its first line
    lines: list[str]


def fragments(document: str, text: str) -> list[Fragment]:
    """C++ between fences, and runs of indented lines, with the empty ones between them, that look like C++."""
    found: list[Fragment] = []
    run: list[str] = []
    fenced = False

    def end_run(next_line: int) -> None:
        if fenced or any(re.search(r"[\w>]\(.*\);|^#include", code) for code in run):
            found.append(Fragment(document, next_line - len(run), run.copy()))
        run.clear()

    for number, line in enumerate([*text.split("\n"), "end"], start=1):
        if line.startswith("```"):
            end_run(number)
            fenced = line == "```cpp"
        elif fenced:
            run.append(line)
        elif line.startswith("    ") or (run and not line.strip()):
            run.append(line[4:])
        else:
            end_run(number)
    return found


def unit(fragment: Fragment) -> str:
    code = "\n".join(re.sub(r"//.*", "", line).replace("...", ";") for line in fragment.lines)
    place = f'#line {fragment.line} "{fragment.document}"'
    if re.search(r"^int main\(", code, re.MULTILINE):
        return f"{place}\n{code}"

    def used(names: dict[str, str]) -> list[str]:
        return [name for name in names if re.search(rf"\b{name}\b", code)]

    includes = re.findall(r"^#include .*$", code, re.MULTILINE)
    body = re.sub(r"^#include .*$", "", code, flags=re.MULTILINE)
    head = [f"#include <{header}>" for header in STANDARD] + ['#include "ashlar/db.h"', *includes, "using namespace ashlar;"]
    variables = ", ".join(f"[[maybe_unused]] {VARIABLES[name]} {name}" for name in used(VARIABLES))
    # In a block of its own: it may declare a variable of that name itself.
    return "\n".join([*head, *(OTHERS[name] for name in used(OTHERS)), f"void Recipe({variables}) {{{{", place, body, "}}"])


def errors(fragment: Fragment, compiler: str, includes: list[str]) -> str:
    with tempfile.NamedTemporaryFile("w", suffix=".cc") as file:
        file.write(unit(fragment))
        file.flush()
        flags = ["-std=c++20", "-fsyntax-only", "-Wall", "-Werror", "-Wno-unused", *(f"-I{folder}" for folder in includes)]
        run = subprocess.run([compiler, *flags, file.name], capture_output=True, text=True)
    return run.stderr if run.returncode != 0 else ""


def main() -> int:
    source, compiler, *includes = sys.argv[1:]
    todo = [
        fragment
        for document in DOCUMENTS
        for fragment in fragments(document, (pathlib.Path(source) / document).read_text(encoding="utf-8"))
    ]
    with ThreadPoolExecutor(2) as pool:
        found = [text for text in pool.map(lambda fragment: errors(fragment, compiler, includes), todo) if text]
    print("".join(found) + f"{len(todo)} fragments, {len(found)} do not compile")
    return 1 if found or len(todo) < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
