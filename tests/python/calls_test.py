# SPDX-License-Identifier: BSD-3-Clause
"""Every function of windrow.h is called by the package, or docs/python.md says why not."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    lines = (ROOT / "include/windrow/symbols.txt").read_text().splitlines()
    functions = {line for line in (raw.split("#")[0].strip() for raw in lines) if line}
    source = "".join(path.read_text() for path in sorted((ROOT / "python/src").glob("*.[ch]pp")))
    called = set(re.findall(r"\bwindrow_[a-z_]+\b", source)) & functions
    page = (ROOT / "docs/python.md").read_text()
    section = re.search(r"^## What of windrow.h .*?(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    rows = re.findall(r"^\| (`windrow_.*?) \| (.+) \|$", section.group(0) if section else "", re.MULTILINE)
    left_out = {name for names, _ in rows for name in re.findall(r"`(windrow_[a-z_]+)\(?\)?`", names)}
    errors = [
        f"{name} is not called by python/src, and docs/python.md does not say why"
        for name in sorted(functions - called - left_out)
    ]
    errors += [f"{name} is left out in docs/python.md, and python/src calls it" for name in sorted(left_out & called)]
    errors += [
        f"{name} is left out in docs/python.md, and no function of windrow.h" for name in sorted(left_out - functions)
    ]
    if errors:
        sys.exit("\n".join(errors))


if __name__ == "__main__":
    main()
