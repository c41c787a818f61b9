#!/usr/bin/env python3
"""Writes C++ from the natives of a jar, and checks a library against it.

    generate.py generate JAR FOLDER    prototypes.h: the declaration of each native, which its
                                       definition has to fit; generated.cc: those for
                                       disposeInternal and for the features of unsupported.txt
    generate.py check JAR LIBRARY      compares the natives of the jar with the symbols of the
                                       library, and prints their numbers
    generate.py unsupported JAR        prints the natives that throw: class, method, descriptor and
                                       feature, separated by tabs
"""

import fnmatch
import subprocess
import sys
from pathlib import Path

from natives import Native, natives_of_jar

PACKAGE = "org.rocksdb."


def read_unsupported() -> list[tuple[str, str]]:
    lines = (Path(__file__).parent / "unsupported.txt").read_text().splitlines()
    return [tuple(line.split(maxsplit=1)) for line in lines if line and not line.startswith("#")]


def feature_of(native: Native, patterns: list[tuple[str, str]]) -> str | None:
    """The feature that the native throws for; None if it is served."""
    if native.method == "disposeInternal":
        return None
    name = f"{native.class_name.removeprefix(PACKAGE)}.{native.method}"
    matching = (feature for pattern, feature in patterns if fnmatch.fnmatchcase(name, pattern))
    return next(matching, None)


def head_of(native: Native, name: str) -> str:
    """Each parameter after the first two has this name: there is at most one where it has one."""
    parameters = "".join(f", {text} {name}".rstrip() for text in native.parameters)
    arguments = f"JNIEnv* env, jobject{parameters}"
    return f'extern "C" JNIEXPORT {native.result} JNICALL {native.symbol}({arguments})'


def prototypes(natives: list[Native]) -> list[str]:
    """In the namespace of the definitions: a definition with other types is then a conflict."""
    declarations = [f"{head_of(native, '')};" for native in natives]
    return [
        "// Made by bindings/java/generate.py.",
        "#pragma once",
        "#include <jni.h>",
        "namespace ashlar::java {",
        *declarations,
        "}  // namespace ashlar::java",
    ]


def definitions(natives: list[Native]) -> list[str]:
    patterns = read_unsupported()
    lines = [
        "// Made by bindings/java/generate.py.",
        '#include "native.h"',
        "namespace ashlar::java {",
    ]
    for native in natives:
        feature = feature_of(native, patterns)
        dispose = native.method == "disposeInternal"
        if not dispose and feature is None:
            continue
        lines.append(head_of(native, "handle" if dispose else "") + " {")
        if dispose:
            lines.append("  Native(env, [&](Call&) { Dispose(handle); });")
        else:
            lines.append(f'  RaiseUnsupported(env, "{feature}");')
            if native.result != "void":
                lines.append("  return {};")
        lines.append("}")
    return [*lines, "}  // namespace ashlar::java"]


def generate(jar: Path, folder: Path) -> int:
    natives = natives_of_jar(jar)
    (folder / "prototypes.h").write_text("\n".join(prototypes(natives)) + "\n")
    (folder / "generated.cc").write_text("\n".join(definitions(natives)) + "\n")
    return 0


def check(jar: Path, library: Path) -> int:
    patterns = read_unsupported()
    natives = natives_of_jar(jar)
    declared = {native.symbol for native in natives}
    listing = subprocess.run(
        ["nm", "-D", "--defined-only", "-P", library], check=True, capture_output=True, text=True
    )
    symbols = listing.stdout
    exported = {line.split()[0] for line in symbols.splitlines() if line.startswith("Java_")}
    missing = sorted(native.text for native in natives if native.symbol not in exported)
    unknown = sorted(exported - declared)
    unused = [
        pattern
        for pattern, _ in patterns
        if not any(feature_of(n, [(pattern, "x")]) for n in natives)
    ]
    for text in missing:
        print(f"missing: {text}")
    for text in unknown:
        print(f"no class declares it: {text}")
    for text in unused:
        print(f"unsupported.txt: nothing fits {text}")
    refused = sum(feature_of(native, patterns) is not None for native in natives)
    print(
        f"{len(natives)} natives declared, {len(exported)} exported: "
        f"{len(natives) - refused} served, {refused} throw UnsupportedOperationException"
    )
    return 1 if missing or unknown or unused else 0


def print_unsupported(jar: Path) -> int:
    patterns = read_unsupported()
    for native in natives_of_jar(jar):
        feature = feature_of(native, patterns)
        if feature is not None:
            print(native.class_name, native.method, native.descriptor, feature, sep="\t")
    return 0


def main() -> int:
    commands = {"generate": generate, "check": check, "unsupported": print_unsupported}
    return commands[sys.argv[1]](*map(Path, sys.argv[2:]))


if __name__ == "__main__":
    sys.exit(main())
