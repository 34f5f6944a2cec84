# SPDX-License-Identifier: BSD-3-Clause
"""bench/idg on a small graph: what it says of owners can be true, and the table has it.   idg_test.py BUILD"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BENCH = Path(__file__).resolve().parents[2] / "bench"
BUILD = Path(sys.argv.pop(1))
SIDE, PARTS = 40, 3


def grid_graph() -> str:
    """Nodes of a square, each with up to four neighbours, as METIS has graphs."""
    lines = []
    for node in range(SIDE * SIDE):
        y, x = divmod(node, SIDE)
        near = [(y, x - 1), (y, x + 1), (y - 1, x), (y + 1, x)]
        lines.append(" ".join(str(b * SIDE + a + 1) for b, a in near if 0 <= a < SIDE and 0 <= b < SIDE))
    return f"{SIDE * SIDE} {2 * SIDE * (SIDE - 1)}\n" + "\n".join(lines) + "\n"


class Idg(unittest.TestCase):
    def measure(self, folder: str, text: str) -> "subprocess.CompletedProcess[str]":
        graph = Path(folder) / "a square.graph"
        graph.write_text(text)
        command = [
            sys.executable,
            str(BENCH / "idg"),
            str(BUILD),
            "--mesh",
            str(graph),
            "--parts",
            str(PARTS),
            "--out",
            f"{folder}/out.json",
        ]
        return subprocess.run(command, capture_output=True, text=True, timeout=110, check=False)

    def test_owners_of_a_square(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            run = self.measure(folder, grid_graph())
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            results = json.loads(Path(folder, "out.json").read_text())
            table = Path(folder, "out.md").read_text()
        self.assertGreaterEqual(len(results), 1)
        for result in results:
            owners = result["owners"]
            self.assertEqual(result["nodes"], SIDE * SIDE)
            self.assertGreater(result["shared"], SIDE)  # a seam has nodes on both sides
            self.assertLessEqual(owners["balanced"]["intervals"], owners["idg"]["intervals"])
            self.assertLessEqual(owners["balanced"]["imbalance"], owners["idg"]["imbalance"])
            for owner, found in owners.items():
                self.assertGreaterEqual(found["intervals"], result["least_intervals"], owner)
            self.assertGreater(owners["random"]["intervals"], owners["idg"]["intervals"])
            self.assertIn(
                f"{owners['balanced']['intervals'] / PARTS:.1f} ({owners['balanced']['imbalance']:.3f})", table
            )

    def test_a_graph_that_is_none(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            run = self.measure(folder, "2 1\n2\n\n")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("not as many edges as it says", run.stderr)


if __name__ == "__main__":
    unittest.main()
