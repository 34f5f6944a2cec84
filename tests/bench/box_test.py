# SPDX-License-Identifier: BSD-3-Clause
"""The mesh of the scenario tpc: as many nodes as asked for, tetrahedra that fill the box once, and a numbering that
holds places together."""

from __future__ import annotations

import math
import sys
import unittest
from collections import Counter
from itertools import combinations
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from runner import box  # noqa: E402


def volume(corners: list[box.Point]) -> float:
    a, b, c = ([x - y for x, y in zip(corner, corners[0])] for corner in corners[1:])
    cross = (b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0])
    return abs(sum(x * y for x, y in zip(a, cross))) / 6


class Box(unittest.TestCase):
    def test_has_the_number_of_nodes_and_all_of_them_in_tetrahedra(self) -> None:
        for nodes in (8, 9, 100, 511, 2000):
            places, tetrahedra = box.make(nodes)
            self.assertEqual(len(places), nodes)
            self.assertEqual({n for corners in tetrahedra for n in corners}, set(range(nodes)))
            self.assertEqual(len(set(places)), nodes)

    def test_fills_the_box_once(self) -> None:
        places, tetrahedra = box.make(511)
        whole = math.prod(high - low for low, high in zip(box.LOW, box.HIGH))
        self.assertAlmostEqual(sum(volume([places[n] for n in corners]) for corners in tetrahedra), whole, places=6)
        faces = Counter(frozenset(face) for corners in tetrahedra for face in combinations(corners, 3))
        self.assertEqual(set(faces.values()), {1, 2})

    def test_is_finer_at_the_junctions(self) -> None:
        places, _ = box.make(2000)
        junctions = box.JUNCTIONS[0]
        near = sum(any(abs(place[0] - x) < box.WIDTH for x in junctions) for place in places) / len(places)
        evenly = 2 * box.WIDTH * len(junctions) / (box.HIGH[0] - box.LOW[0])
        self.assertGreater(near, 1.3 * evenly)

    def test_numbers_places_near_each_other_one_after_the_other(self) -> None:
        places, _ = box.make(2000)
        inside = places[1000:]
        steps = [math.dist(a, b) for a, b in zip(inside, inside[1:])]
        self.assertLess(sum(steps) / len(steps), math.dist(box.LOW, box.HIGH) / 4)

    def test_is_the_same_in_every_run(self) -> None:
        self.assertEqual(box.make(100), box.make(100))

    def test_says_what_it_cannot(self) -> None:
        with self.assertRaisesRegex(ValueError, "7 nodes: at least 8"):
            box.make(7)


if __name__ == "__main__":
    unittest.main()
