# SPDX-License-Identifier: BSD-3-Clause
"""windrow-mesh: the same mesh by whichever numbering, each point with one owner, in longer or shorter rows.
mesh_test.py BUILD"""

from __future__ import annotations

import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(sys.argv.pop(1)).resolve() / "bin" / "windrow-mesh"
PARTS = 3
Places = dict[int, tuple[float, float, float]]


def read_parts(path: Path) -> tuple[int, list[list[int]], list[list[int]], Places]:
    """The number of points, the points of each part and those that it owns, and the coordinates. The format is in
    examples/mesh/parts.hpp."""
    data = path.read_bytes()
    points, parts, dimensions, components = struct.unpack_from("<4q", data, 8)
    assert data[:8] == b"WRPARTS1" and (parts, dimensions, components) == (PARTS, 1, 3), path
    offsets = struct.unpack_from(f"<{parts + 1}q", data, 8 + 8 * (4 + dimensions))
    held: list[list[int]] = []
    owned: list[list[int]] = []
    places: Places = {}
    for offset in offsets[:-1]:
        (count,) = struct.unpack_from("<q", data, offset)
        numbers = list(struct.unpack_from(f"<{count}q", data, offset + 8))
        coordinates = struct.unpack_from(f"<{3 * count}d", data, offset + 8 + 8 * count)
        flags = data[offset + 8 + 32 * count : offset + 8 + 33 * count]
        places.update(
            (n, (coordinates[3 * i], coordinates[3 * i + 1], coordinates[3 * i + 2])) for i, n in enumerate(numbers)
        )
        held.append(numbers)
        owned.append([n for n, flag in zip(numbers, flags) if flag == 1])
    return points, held, owned, places


def rows(numbers: list[int]) -> int:
    ordered = sorted(numbers)
    return sum(a + 1 != b for a, b in zip(ordered, ordered[1:])) + 1


class Numbering(unittest.TestCase):
    def cut(self, folder: str, numbering: str, name: str) -> Path:
        command = [str(TOOL), "box", name, "--parts", str(PARTS), "--numbering", numbering]
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=100)
        return Path(folder, f"{name}.{PARTS}.parts")

    def test_rows_and_owners(self) -> None:
        found: dict[str, int] = {}
        meshes = []
        with tempfile.TemporaryDirectory(prefix="a mesh ") as folder:
            for numbering in ("generator", "cuthill-mckee", "random"):
                points, held, owned, places = read_parts(self.cut(folder, numbering, numbering))
                self.assertEqual(sorted(n for part in owned for n in part), list(range(points)), numbering)
                self.assertEqual(sorted(places), list(range(points)), numbering)
                meshes.append(sorted(places.values()))
                found[numbering] = sum(map(rows, held))
                nodes = sum(map(len, held))
            self.assertEqual(meshes[0], meshes[1])
            self.assertEqual(meshes[0], meshes[2])
            # Without order two nodes of a part are adjacent only by chance: the next number is of the same part once in
            # PARTS.
            self.assertGreater(found["random"], 0.55 * nodes, found)
            self.assertLess(10 * found["cuthill-mckee"], found["random"], found)
            self.assertEqual(
                self.cut(folder, "random", "again").read_bytes(), Path(folder, f"random.{PARTS}.parts").read_bytes()
            )

    def test_unknown_numbering(self) -> None:
        run = subprocess.run(
            [str(TOOL), "box", "x", "--numbering", "sorted"], capture_output=True, text=True, check=False, timeout=60
        )
        self.assertEqual(run.returncode, 2)
        self.assertIn("sorted", run.stderr + run.stdout)


if __name__ == "__main__":
    unittest.main()
