# SPDX-License-Identifier: BSD-3-Clause
"""Every variable WINDROW_... that tools and tests of the project read or set is known to src/base/environment.cpp, or
the report would warn of it."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("src", "cli", "compat", "python", "tests", "tools", "bench", "examples")
USED = re.compile(
    r"""(?:environ\[|environ\.get\(|setdefault\(|getenv\(|environment\[)["'](WINDROW_[A-Z0-9_]+)["']"""
    r"""|\$\{?(WINDROW_[A-Z0-9_]+):?[-?=]"""
)
SET = re.compile(r"ENVIRONMENT[^)]*")


def used_in(text: str, is_cmake: bool) -> set[str]:
    if is_cmake:
        return {name for block in SET.findall(text) for name in re.findall(r"\b(WINDROW_[A-Z0-9_]+)=", block)}
    return {a or b for a, b in USED.findall(text)}


def main() -> None:
    table = (ROOT / "src/base/environment.cpp").read_text()
    others = set(re.findall(r'"([A-Z0-9_]+)"', table[table.index("k_others") : table.index("});")]))
    options = {key.upper() for key in re.findall(r'SettingInfo\{"(\w+)"', (ROOT / "src/base/settings.cpp").read_text())}
    unknown, seen = set(), set()
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            if not path.is_file() or path.suffix in (".png", ".h5", ".nc", ".raw") or path == Path(__file__).resolve():
                continue
            try:
                text = path.read_text()
            except UnicodeDecodeError:
                continue
            for name in used_in(text, path.name == "CMakeLists.txt"):
                key = name.removeprefix("WINDROW_")
                seen.add(key)
                if key not in options | others and not key.startswith("TEST_"):
                    unknown.add(f"{path.relative_to(ROOT)}: {name}")
    if unknown:
        sys.exit("not in the list of src/base/environment.cpp:\n" + "\n".join(sorted(unknown)))
    if len(seen) < 20:
        sys.exit(f"only {len(seen)} names were found: this test looks for the wrong thing")


if __name__ == "__main__":
    main()
