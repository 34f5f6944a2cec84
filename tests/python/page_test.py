# SPDX-License-Identifier: BSD-3-Clause
"""The blocks of Python in README.md and docs/python.md run, one after the other, on all ranks."""

import os
import re
import sys
from pathlib import Path

folder = Path(os.environ["WINDROW_TEST_FOLDER"])
folder.mkdir(parents=True, exist_ok=True)
os.chdir(folder)
root = Path(__file__).resolve().parents[2]


def blocks_of(page: str) -> list[tuple[int, str]]:
    """Blocks of Python and the lines before them."""
    text = (root / page).read_text()
    found = re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(text[: match.start()].count("\n") + 1, match.group(1)) for match in found]


for page, least in (("README.md", 1), ("docs/python.md", 7)):
    blocks = blocks_of(page)
    if len(blocks) < least:
        sys.exit(f"{page} has {len(blocks)} blocks")
    names: dict = {}
    for line, block in blocks:
        try:
            import xarray  # noqa: F401
        except ImportError:
            if "xarray" in block:
                continue
        exec(compile("\n" * line + block, page, "exec"), names)  # lines count as in the page
