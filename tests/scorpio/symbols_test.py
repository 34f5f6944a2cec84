# SPDX-License-Identifier: BSD-3-Clause
"""libwindrow_scorpio.so exports what scorpio.h declares and what docs/scorpio.md lists for Fortran, and nothing else;
the constants of both languages are the same.

Arguments: nm, the library.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEADER = (ROOT / "compat/scorpio/include/scorpio.h").read_text()
INCLUDE = (ROOT / "compat/scorpio/include/scorpiof.h").read_text()
PAGE = (ROOT / "docs/scorpio.md").read_text()


def main(nm: str, library: str) -> None:
    output = subprocess.run([nm, "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    exported = {line.split()[-1].split("@")[0] for line in output.splitlines()} - {
        "_init",
        "_fini",
        "__bss_start",
        "_edata",
        "_end",
    }
    declared = set(re.findall(r"^WINDROW_API\b[^;(]*?(\w+)\s*\(", HEADER, re.MULTILINE))
    listed = {f"{name}_" for name in re.findall(r"^call (fscorpio_\w+)\(", PAGE, re.MULTILINE)}
    assert len(declared) == 29 and len(listed) == 17, (declared, listed)
    assert exported == declared | listed, exported ^ (declared | listed)

    fortran = {name: int(value) for name, value in re.findall(r"parameter :: (\w+) = (\d+)", INCLUDE)}
    c = {}
    for body in re.findall(r"typedef enum SCORPIO_OF_INT \{(.*?)\}", HEADER, re.DOTALL):
        c |= {name: number for number, name in enumerate(re.findall(r"^\s*(SCORPIO_\w+)\b", body, re.MULTILINE))}
    assert len(c) == 17 and c == fortran, (c, fortran)
    assert max(map(len, INCLUDE.splitlines())) <= 72, "a line is too long for fixed form"


if __name__ == "__main__":
    main(*sys.argv[1:])
