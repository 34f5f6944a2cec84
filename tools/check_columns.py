#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Names each line of a tracked text file that is longer than 120 characters: tools/check_columns.py.

Rows of Markdown's tables are excepted, and the data in DATA. Exit code 1: there are such lines.
"""

import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COLUMNS = 120
# What programs wrote: inputs of parsers, results of a benchmark, a trace.
DATA = ("tests/*/corpus/*", "tests/bench/tpc_result.json", "docs/samples/trace.jsonl")


def long_lines(name: str) -> list[str]:
    try:
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        return []
    is_page = name.endswith(".md")
    return [
        f"{name}:{number}: {len(line)} columns; at most {COLUMNS}"
        for number, line in enumerate(lines, 1)
        if len(line) > COLUMNS and not (is_page and line.lstrip().startswith("|"))
    ]


def main() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = [name for name in listed.split("\0") if (ROOT / name).is_file()]
    found = [line for name in names if not any(fnmatch(name, data) for data in DATA) for line in long_lines(name)]
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
