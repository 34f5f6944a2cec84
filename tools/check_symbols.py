#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks what libwindrow.so exports: tools/check_symbols.py HEADER LIST [LIBRARY].

LIST (include/windrow/symbols.txt) holds each function of windrow.h, one a line. A name once in a release stays.
Errors: a function that is only in HEADER or only in LIST; a name of LIST that LIBRARY does not export; an export that
is not in LIST. Exit code 1: errors.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path


def listed(path: Path) -> list[str]:
    return [line for line in (raw.split("#")[0].strip() for raw in path.read_text().splitlines()) if line]


def declared(header: Path) -> set[str]:
    """The functions of a header and of the headers that it includes from its own folder."""
    text = header.read_text()
    found = set(re.findall(r"^WINDROW_API\b[^;(]*?(\w+)\s*\(", text, re.MULTILINE))
    for included in re.findall(rf"^#include <{header.parent.name}/(.*)>", text, re.MULTILINE):
        if (header.parent / included).exists():
            found |= declared(header.parent / included)
    return found


def exported(library: Path) -> set[str]:
    nm = os.environ.get("NM", "nm")
    output = subprocess.run(
        [nm, "-D", "--defined-only", str(library)], capture_output=True, text=True, check=True
    ).stdout
    names = {line.split()[-1].split("@")[0] for line in output.splitlines()}
    return names - {"_init", "_fini", "__bss_start", "_edata", "_end"}  # made by the linker in every library


def errors_of(header: Path, symbols: Path, library: Path | None) -> list[str]:
    names = listed(symbols)
    known, in_header = set(names), declared(header)
    errors = [] if names == sorted(known) else [f"{symbols}: not sorted, or a name twice"]
    errors += [f"{name}: declared in {header.name}, not in {symbols.name}" for name in sorted(in_header - known)]
    errors += [f"{name}: in {symbols.name}, not declared in {header.name}" for name in sorted(known - in_header)]
    if library is not None:
        found = exported(library)
        errors += [f"{name}: vanished from {library.name}" for name in sorted(known - found)]
        errors += [f"{name}: exported by {library.name}, not in {symbols.name}" for name in sorted(found - known)]
    return errors


def main(arguments: list[str]) -> int:
    if len(arguments) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    header, symbols, *library = map(Path, arguments)
    errors = errors_of(header, symbols, library[0] if library else None)
    for error in errors:
        print(f"error: {error}")
    print(f"check_symbols: {len(errors)} errors")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
