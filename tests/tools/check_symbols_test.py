# SPDX-License-Identifier: BSD-3-Clause
"""tools/check_symbols.py must see a symbol that vanished and one that leaked. Arguments: CC, NM."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECK = Path(__file__).resolve().parents[2] / "tools" / "check_symbols.py"
COMPILER, NM = sys.argv[1:3]
HEADER = "WINDROW_API const char *windrow_version(void);\nWINDROW_API int windrow_put(void *file,\n    int x);\n"
NAMES = "# a comment\nwindrow_put\nwindrow_version\n"
LIBRARY = """int windrow_put(void) { return 0; }
int windrow_version(void) { return 1; }
static int hidden(void) { return 2; }
"""


class CheckSymbols(unittest.TestCase):
    def run_on(self, header: str, names: str, source: str) -> tuple[int, str]:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "windrow.h").write_text(header)
            (root / "symbols.txt").write_text(names)
            (root / "library.c").write_text(source)
            library = root / "libx.so"
            subprocess.run(
                [COMPILER, "-w", "-shared", "-fPIC", str(root / "library.c"), "-o", str(library)], check=True
            )
            command = [sys.executable, str(CHECK), str(root / "windrow.h"), str(root / "symbols.txt"), str(library)]
            result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "NM": NM})
            return result.returncode, result.stdout + result.stderr

    def assert_error(self, expected: str, header: str = HEADER, names: str = NAMES, source: str = "") -> None:
        code, output = self.run_on(header, names, source or LIBRARY)
        self.assertEqual(code, 1, output)
        self.assertIn(expected, output)

    def test_a_library_that_exports_the_list_passes(self) -> None:
        self.assertEqual(self.run_on(HEADER, NAMES, LIBRARY), (0, "check_symbols: 0 errors\n"))

    def test_a_symbol_that_vanished(self) -> None:
        self.assert_error("windrow_put: vanished", source="int windrow_version(void) { return 1; }\n")

    def test_a_symbol_that_leaked(self) -> None:
        self.assert_error("helper: exported by", source=LIBRARY + "int helper(void) { return 0; }\n")
        self.assert_error("windrow_keep: exported by", source=LIBRARY + "int windrow_keep;\n")

    def test_header_and_list_agree(self) -> None:
        self.assert_error("windrow_new: declared in", header=HEADER + "WINDROW_API int windrow_new(void);\n")
        self.assert_error("windrow_put: in symbols.txt, not declared", header=HEADER.split("\n")[0] + "\n")

    def test_the_list_is_sorted(self) -> None:
        self.assert_error("not sorted", names="windrow_version\nwindrow_put\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
