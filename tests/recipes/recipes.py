"""The code of the documents as tests: each fragment compiles alone, and runs in a test.

    recipes.py generate SOURCE_DIR TEMPLATE OUTPUT
    recipes.py check SOURCE_DIR COMPILER INCLUDE_DIR...

A fragment is C++ of a document of DOCUMENTS, or a block of shell commands of one of
SHELL_DOCUMENTS. It is called by the heading that it is under and its number there. The tests of
docs/some-name.md are tests/recipes/some_name_test.cc.in, in which a line

    //@run HEADING #NUMBER

stands for the fragment, and each line `//@... CODE` after it for one `...` of its C++. README.md in
this folder says what becomes of paths.

generate writes the source of a test. check compiles each fragment of C++ as a translation unit of
its own, with ashlar/db.h, the standard library, the fragment's own includes, and the names that the
text around it presupposes (VARIABLES, OTHERS). Both refuse a fragment that no test runs, and a test
that names no fragment. Errors have the lines of documents and templates.
"""
import pathlib
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

DOCUMENTS = [
    "README.md",
    "docs/observability.md",
    "docs/operations.md",
    "docs/persistent-memory.md",
    "docs/tuning.md",
]
SHELL_DOCUMENTS = ["docs/operations.md"]
TEMPLATES = "tests/recipes"

STANDARD = [
    "atomic",
    "cstdint",
    "functional",
    "iostream",
    "map",
    "memory",
    "string",
    "utility",
    "vector",
]

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
    "MyClock": """class MyClock final : public SystemClock {
 public:
  const char* Name() const override;
  uint64_t NowMicros() override;
  uint64_t NowNanos() override;
  void SleepForMicroseconds(int micros) override;
  Status GetCurrentTime(int64_t* seconds) override;
  std::string TimeToString(uint64_t seconds) override;
};""",
    "apply": "void apply(const BatchResult& update);",
}

CPP, SHELL = "C++", "shell"
COMMAND = re.compile(r"(ashlar|ldb|printf) ")
STATEMENT = re.compile(r"^\s*[\w.]+ = .*;(\s*//.*)?$|[\w>]\(.*\);|^#include")
PATH = re.compile(r'"((?:DIR|/)[^"]*|\w+\.(?:db|pool))"')


class Refused(Exception):
    """The text of what does not fit."""


@dataclass
class Fragment:
    document: str
    line: int  # its first line
    lines: list[str]
    kind: str
    name: str  # HEADING #NUMBER


def fragments(document: str, text: str) -> list[Fragment]:
    """C++ between fences, and runs of indented lines, with the empty ones between them."""
    found: list[Fragment] = []
    run: list[str] = []
    fenced = False
    heading = ""
    number_of: dict[str, int] = {}

    def end_run(next_line: int) -> None:
        kind = ""
        if fenced or any(STATEMENT.search(code) for code in run):
            kind = CPP
        elif run and COMMAND.match(run[0]) and document in SHELL_DOCUMENTS:
            kind = SHELL
        if kind:
            number_of[heading] = number_of.get(heading, 0) + 1
            name = f"{heading} #{number_of[heading]}"
            found.append(Fragment(document, next_line - len(run), run.copy(), kind, name))
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
            if line.startswith("#"):
                heading = line.lstrip("#").strip()
    return found


def template_of(document: str) -> str:
    stem = pathlib.PurePosixPath(document).stem.lower().replace("-", "_")
    return f"{TEMPLATES}/{stem}_test.cc.in"


def document_of(template: str) -> str:
    for document in DOCUMENTS:
        if template_of(document) == template:
            return document
    raise Refused(f"{template}: no document of this name")


def split_includes(code: str) -> tuple[list[str], str]:
    includes = re.findall(r"^#include .*$", code, re.MULTILINE)
    return includes, re.sub(r"^#include .*$", "", code, flags=re.MULTILINE)


def without_comments(fragment: Fragment) -> str:
    """Each line keeps its place."""
    # A // within a string is not the begin of a comment.
    comment = re.compile(r'("(?:[^"\\]|\\.)*")|//.*')
    return "\n".join(comment.sub(lambda m: m[1] or "", line) for line in fragment.lines)


def runnable(fragment: Fragment, fillings: list[str], place: str) -> str:
    """The fragment's body, for a test; place: of the line that names it."""
    if fragment.kind == SHELL:
        if fillings:
            raise Refused(f"{place}: commands have no `...`")
        lines = "\n".join(fragment.lines).rstrip()
        return f'Shell(R"recipe({lines})recipe");'
    _, body = split_includes(without_comments(fragment))
    parts = body.rstrip().split("...")
    if len(parts) - 1 != len(fillings):
        raise Refused(
            f"{place}: {len(fillings)} lines `//@...` for {len(parts) - 1} `...` of "
            f"{fragment.document}:{fragment.line}"
        )
    filled = parts[0] + "".join(f"{{ {code} }}{rest}" for code, rest in zip(fillings, parts[1:]))
    return PATH.sub(r'ashlar::At("\1")', filled)


def test_source(template: str, text: str, found: list[Fragment]) -> str:
    """The template's text with its fragments. Refuses unless each has exactly one place in it."""
    by_name = {fragment.name: fragment for fragment in found}
    used: set[str] = set()
    includes: list[str] = []
    out: list[str] = []
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        line = lines[at].strip()
        place = f"{template}:{at + 1}"
        at += 1
        if line.startswith("//@..."):
            raise Refused(f"{place}: `//@...` without `//@run` before it")
        if not line.startswith("//@run "):
            out.append(lines[at - 1])
            continue
        name = line.removeprefix("//@run ").strip()
        fillings: list[str] = []
        while at < len(lines) and lines[at].strip().startswith("//@..."):
            fillings.append(lines[at].strip().removeprefix("//@...").strip())
            at += 1
        fragment = by_name.get(name)
        if fragment is None:
            raise Refused(f"{place}: {name!r} is not in the document")
        if name in used:
            raise Refused(f"{place}: {name!r} has a test already")
        used.add(name)
        if fragment.kind == CPP:
            includes += split_includes(without_comments(fragment))[0]
        out.append(f'#line {fragment.line} "{fragment.document}"')
        out.append(runnable(fragment, fillings, place))
        out.append(f'#line {at + 1} "{template}"')
    for fragment in found:
        if fragment.name not in used:
            raise Refused(f"{fragment.document}:{fragment.line}: {template} does not run this")
    head = list(dict.fromkeys(include.strip() for include in includes))
    return "\n".join([*head, f'#line 1 "{template}"', *out])


def read(source: pathlib.Path, path: str) -> str:
    return (source / path).read_text(encoding="utf-8")


def generated(source: pathlib.Path, template: str) -> str:
    document = document_of(template)
    found = fragments(document, read(source, document))
    return test_source(template, read(source, template), found)


def coverage_errors(source: pathlib.Path) -> list[str]:
    """Fragments without a test, and tests without a fragment."""
    refused: list[str] = []
    templates = {f"{TEMPLATES}/{path.name}" for path in (source / TEMPLATES).glob("*.in")}
    for document in DOCUMENTS:
        template = template_of(document)
        found = fragments(document, read(source, document))
        if found and template not in templates:
            refused.append(f"{document}:{found[0].line}: there is no {template}")
    for template in sorted(templates):
        try:
            generated(source, template)
        except Refused as error:
            refused.append(str(error))
    return refused


def unit(fragment: Fragment) -> str:
    code = without_comments(fragment).replace("...", ";")
    place = f'#line {fragment.line} "{fragment.document}"'
    if re.search(r"^int main\(", code, re.MULTILINE):
        return f"{place}\n{code}"

    def used(names: dict[str, str]) -> list[str]:
        return [name for name in names if re.search(rf"\b{name}\b", code)]

    includes, body = split_includes(code)
    head = [
        *(f"#include <{header}>" for header in STANDARD),
        '#include "ashlar/db.h"',
        *includes,
        "using namespace ashlar;",
        *(OTHERS[name] for name in used(OTHERS)),
    ]
    variables = ", ".join(f"[[maybe_unused]] {VARIABLES[name]} {name}" for name in used(VARIABLES))
    # In a block of its own: it may declare a variable of that name itself.
    return "\n".join([*head, f"void Recipe({variables}) {{{{", place, body, "}}"])


def compile_errors(fragment: Fragment, compiler: str, includes: list[str]) -> str:
    with tempfile.NamedTemporaryFile("w", suffix=".cc") as file:
        file.write(unit(fragment))
        file.flush()
        flags = ["-std=c++20", "-fsyntax-only", "-Wall", "-Werror", "-Wno-unused"]
        flags += [f"-I{folder}" for folder in includes]
        run = subprocess.run([compiler, *flags, file.name], capture_output=True, text=True)
    return run.stderr if run.returncode != 0 else ""


def check(source: pathlib.Path, compiler: str, includes: list[str]) -> int:
    todo = [
        fragment
        for document in DOCUMENTS
        for fragment in fragments(document, read(source, document))
        if fragment.kind == CPP
    ]
    with ThreadPoolExecutor(2) as pool:
        errors = pool.map(lambda fragment: compile_errors(fragment, compiler, includes), todo)
        found = [text for text in errors if text]
    not_covered = coverage_errors(source)
    print("".join([*found, *(line + "\n" for line in not_covered)]), end="")
    print(f"{len(todo)} fragments, {len(found)} do not compile, {len(not_covered)} tests to mend")
    return 1 if found or not_covered or len(todo) < 20 else 0


def main() -> int:
    command, source_dir, *rest = sys.argv[1:]
    source = pathlib.Path(source_dir)
    if command == "check":
        return check(source, rest[0], rest[1:])
    template, output = rest
    try:
        text = generated(source, template)
    except Refused as error:
        print(error, file=sys.stderr)
        return 1
    pathlib.Path(output).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
