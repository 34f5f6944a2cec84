# SPDX-License-Identifier: BSD-3-Clause
"""tools/check_layers.py must fail on each kind of violation, and only there: each is placed in a small tree of its
own."""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CLEAN = {
    "include/windrow/windrow.h": "int windrow_x;\n",
    "src/base/status.hpp": "#include <string>\n",
    "src/extent/extent.hpp": '#include <vector>\n#include "base/status.hpp"\n',
    "src/storage/store.hpp": '#include "base/status.hpp"\n#include <unistd.h>\nstatic int opened = 0;\n',
    "src/session/session.cpp": '#include "storage/store.hpp"\n#include "extent/extent.hpp"\n#include "detail.hpp"\n',
    "src/session/detail.hpp": "#include <windrow/windrow.h>\n",
    "cli/main.cpp": '#include <windrow/windrow.h>\n#include "cli/table.hpp"\n#include "table.hpp"\n',
    "cli/table.hpp": "\n",
}


class CheckLayers(unittest.TestCase):
    def run_on(self, **planted: str) -> tuple[int, str]:
        """Exit code and output for the clean tree with some files added; `__` in a name is `/`, the last `_` a dot."""
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            files = dict(CLEAN)
            for name, text in planted.items():
                path, _, suffix = name.replace("__", "/").rpartition("_")
                files[f"{path}.{suffix}"] = text
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            (root / "tools").mkdir()
            shutil.copy(ROOT / "tools" / "layers.txt", root / "tools")
            command = [sys.executable, str(ROOT / "tools" / "check_layers.py"), folder]
            result = subprocess.run(command, capture_output=True, text=True)
            return result.returncode, result.stdout + result.stderr

    def assert_error(self, expected: str, **planted: str) -> None:
        code, output = self.run_on(**planted)
        self.assertEqual(code, 1, output)
        self.assertIn(expected, output)

    def test_a_clean_tree_passes(self) -> None:
        code, output = self.run_on()
        self.assertEqual((code, output), (0, "check_layers: 0 errors\n"))

    def test_an_upward_dependency(self) -> None:
        self.assert_error(
            "src/base/bad.cpp:2: error: base includes extent/extent.hpp",
            src__base__bad_cpp='// first line\n#include "extent/extent.hpp"\n',
        )

    def test_modules_without_a_dependency(self) -> None:
        self.assert_error(
            "exchange includes storage/store.hpp", src__exchange__bad_cpp='#include "storage/store.hpp"\n'
        )
        self.assert_error(
            "format includes exchange/x.hpp",
            src__exchange__x_hpp="\n",
            src__format__hdf5__bad_cpp='  #  include "exchange/x.hpp"\n',
        )

    def test_two_types_of_one_name(self) -> None:
        first = "namespace windrow {\nclass Held {\n};\n}  // namespace windrow\n"
        self.assert_error(
            "src/storage/held.hpp:2: error: windrow::Held is another type in src/extent/held.hpp",
            src__extent__held_hpp=first,
            src__storage__held_hpp=first,
        )
        code, output = self.run_on(
            src__extent__held_hpp=first,
            src__storage__held_hpp=first.replace("windrow", "others"),
            src__storage__held_cpp="namespace windrow {\nnamespace {\nstruct Held {\n};\n}  // namespace\n}\n",
        )
        self.assertEqual(code, 0, output)

    def test_a_relative_path_is_checked_too(self) -> None:
        self.assert_error("base includes ../extent/extent.hpp", src__base__bad_cpp='#include "../extent/extent.hpp"\n')
        self.assert_error("bench includes ../src/base/status.hpp", bench__bad_cpp='#include "../src/base/status.hpp"\n')

    def test_users_know_windrow_h_only(self) -> None:
        for user in ("bench", "examples", "python", "fortran", "compat"):
            self.assert_error(
                f"{user} includes base/status.hpp", **{f"{user}__bad_cpp": '#include "base/status.hpp"\n'}
            )
        # The command uses the headers of that module to simulate, and windrow.h for everything else.
        self.assert_error("cli includes session/file.hpp", cli__bad_cpp='#include "session/file.hpp"\n')

    def test_pure_modules(self) -> None:
        for header in ("mpi.h", "chrono", "fstream", "fcntl.h", "unistd.h", "filesystem"):
            self.assert_error(f"plan is pure and includes <{header}>", src__plan__bad_cpp=f"#include <{header}>\n")
        for line in (
            "int counter = 0;",
            "static std::vector<int> cache;",
            "thread_local int calls{0};",
            "void f() {\n  static int calls = 0;\n}",
        ):
            self.assert_error("mutable global", src__extent__bad_cpp=line + "\n")

    def test_pure_modules_may_have_constants_and_functions(self) -> None:
        text = (
            "constexpr int k_size = 4;\nstatic const int k_table[] = {1, 2};\nstruct Extent;\nusing List = int;\n"
            "int sum(int a, int b);\nstatic int twice(int a) {\n  int local = a;\n  static constexpr int k_two = 2;\n"
            "  return local * k_two;\n}\nstruct Pair {\n  int first = 0;\n};\n"
        )
        code, output = self.run_on(src__extent__good_cpp=text)
        self.assertEqual(code, 0, output)

    def test_includes_in_comments_do_not_count(self) -> None:
        code, output = self.run_on(src__base__good_cpp='/*\n#include "extent/extent.hpp"\n*/\n// #include <mpi.h>\n')
        self.assertEqual(code, 0, output)

    def test_a_module_without_a_line(self) -> None:
        self.assert_error("the module attic has no line", src__attic__box_cpp="\n")

    def test_a_file_that_is_too_long(self) -> None:
        self.assert_error("src/base/long.cpp:601: error: 601 lines", src__base__long_cpp="\n" * 601)
        code, output = self.run_on(src__base__long_cpp="\n" * 600)
        self.assertEqual(code, 0, output)


if __name__ == "__main__":
    unittest.main()
