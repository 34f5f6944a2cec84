# SPDX-License-Identifier: BSD-3-Clause
"""The code of Windrow in docs/moving.md is, line for line, in the examples that the tests compile and run."""

import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "moving.md").read_text()
QUOTE = re.compile(r"^<!-- from (\S+) -->\n```(?:c|cpp|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main() -> None:
    quotes = QUOTE.findall(PAGE)
    named = {path for path, _ in quotes}
    there = {str(path.relative_to(ROOT)) for path in (ROOT / "examples" / "moving").iterdir()}
    if named != there:
        sys.exit(f"docs/moving.md quotes {sorted(named)}; in examples/moving there are {sorted(there)}")
    for path, quote in quotes:
        source = (ROOT / path).read_text()
        if not any(textwrap.indent(quote, depth) in source for depth in ("  ", "    ")):  # the body of a function
            sys.exit(f"{path} does not hold what docs/moving.md quotes from it:\n{quote}")
    shown = [
        block for block in re.findall(r"^```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL) if "windrow" in block
    ]
    if len(shown) != len(quotes):
        sys.exit(f"{len(shown) - len(quotes)} blocks of code use Windrow and do not say from which example they are")


if __name__ == "__main__":
    main()
