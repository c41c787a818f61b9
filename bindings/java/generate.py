#!/usr/bin/env python3
"""Writes C++ for the natives that need no code of their own, and checks a library against a jar.

    generate.py generate JAR OUTPUT    functions for disposeInternal and for the features of unsupported.txt
    generate.py check JAR LIBRARY      compares the natives of the jar with the symbols of the library, and prints their numbers
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
    return next((feature for pattern, feature in patterns if fnmatch.fnmatchcase(name, pattern)), None)


def generate(jar: Path, output: Path) -> None:
    patterns = read_unsupported()
    lines = [
        "// Made by bindings/java/generate.py.",
        '#include "native.h"',
        "",
    ]
    for native in natives_of_jar(jar):
        feature = feature_of(native, patterns)
        dispose = native.method == "disposeInternal"
        if not dispose and feature is None:
            continue
        parameters = "".join(f", {text}{' handle' if dispose else ''}" for text in native.parameters)
        lines.append(f'extern "C" JNIEXPORT {native.result} JNICALL {native.symbol}(JNIEnv* env, jobject{parameters}) {{')
        if dispose:
            lines.append("  ashlar::java::Native(env, [&](ashlar::java::Call&) { ashlar::java::Dispose(handle); });")
        else:
            lines.append(f'  ashlar::java::RaiseUnsupported(env, "{feature}");')
            if native.result != "void":
                lines.append("  return {};")
        lines.append("}")
    output.write_text("\n".join(lines) + "\n")


def check(jar: Path, library: Path) -> int:
    patterns = read_unsupported()
    natives = natives_of_jar(jar)
    declared = {native.symbol for native in natives}
    symbols = subprocess.run(["nm", "-D", "--defined-only", "-P", library], check=True, capture_output=True, text=True).stdout
    exported = {line.split()[0] for line in symbols.splitlines() if line.startswith("Java_")}
    missing = sorted(native.text for native in natives if native.symbol not in exported)
    unknown = sorted(exported - declared)
    unused = [pattern for pattern, _ in patterns if not any(feature_of(n, [(pattern, "x")]) for n in natives)]
    for text in missing:
        print(f"missing: {text}")
    for text in unknown:
        print(f"no class declares it: {text}")
    for text in unused:
        print(f"unsupported.txt: nothing fits {text}")
    refused = sum(feature_of(native, patterns) is not None for native in natives)
    print(f"{len(natives)} natives declared, {len(exported)} exported: {len(natives) - refused} served, {refused} throw UnsupportedOperationException")
    return 1 if missing or unknown or unused else 0


def main() -> int:
    command, jar, file = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    if command == "generate":
        generate(jar, file)
        return 0
    return check(jar, file)


if __name__ == "__main__":
    sys.exit(main())
