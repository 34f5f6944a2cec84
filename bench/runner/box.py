# SPDX-License-Identifier: BSD-3-Clause
"""A tetrahedral mesh of exactly so many nodes in the box of examples/mesh/transistor.geo, numbered as a mesh
generator numbers.

gmsh gives the number of nodes that it comes to; the paper's meshes have theirs. So: a lattice, finer where the
junctions are and shaken a little, six tetrahedra a cell, and one more node in the middle of as many tetrahedra at the
junctions as nodes are missing.
"""

from __future__ import annotations

import itertools
import math
import random
from pathlib import Path

# As in transistor.geo, in micrometres; its top face is z = 0.
LOW = (0.0, 0.0, -6.0)
HIGH = (12.0, 10.0, 0.0)
JUNCTIONS = ((2.0, 3.0, 5.5, 9.0), (2.0, 3.5, 6.5, 8.0), (-2.2, -1.0))
WIDTH = 0.4  # of the zone about a junction in which the lattice is finer,
FINER = 3.0  # and how many times more planes there are at a junction
SHAKE = 0.2  # of the distance to the next plane
# A generator fills a volume place by place: that many cells along each edge at a time, and there in no order
CLUSTER = 4
# The six tetrahedra of a cell, by the order in which a path goes along the axes from one corner to the other (Kuhn).
PATHS = tuple(itertools.permutations(range(3)))

Point = tuple[float, float, float]
Cell = tuple[int, int, int]


def lattice_size(nodes: int) -> Cell:
    """Planes along each axis: cells about as long as wide, not more than `nodes` crossings and nearly as many."""
    edges = [high - low for low, high in zip(LOW, HIGH)]
    scale = (nodes / math.prod(edges)) ** (1 / 3)
    start = [max(2, math.floor(edge * scale)) for edge in edges]
    around = [[n for n in range(first - 2, first + 4) if n >= 2] for first in start]
    fitting = [size for size in itertools.product(*around) if math.prod(size) <= nodes]
    if not fitting:
        raise ValueError(f"a box of {nodes} nodes: at least 8 are needed")
    # A few nodes to add are welcome; a lattice that is longer one way than the box is not.
    x, y, z = min(
        fitting,
        key=lambda size: (nodes - math.prod(size)) / nodes + sum(abs(n / (e * scale) - 1) for n, e in zip(size, edges)),
    )
    return x, y, z


def planes(axis: int, count: int) -> list[float]:
    """Places of the lattice's planes along an axis, from wall to wall."""
    steps = 2000
    low, high = LOW[axis], HIGH[axis]
    at = [low + (high - low) * i / steps for i in range(steps + 1)]
    density = [1 + FINER * sum(math.exp(-(((x - j) / WIDTH) ** 2)) for j in JUNCTIONS[axis]) for x in at]
    passed = list(itertools.accumulate(density))
    found, step = [], 0
    for i in range(count):
        while step < steps and passed[step] - passed[0] < (passed[-1] - passed[0]) * i / (count - 1) - 1e-9:
            step += 1
        found.append(at[step])
    return found


def to_junction(place: Point) -> float:
    return min(abs(x - j) for x, along in zip(place, JUNCTIONS) for j in along)


def _tetrahedra(cell: Cell, number: dict[Cell, int]) -> list[tuple[int, ...]]:
    found = []
    for path in PATHS:
        corner = list(cell)
        numbers = [number[cell]]
        for axis in path:
            corner[axis] += 1
            numbers.append(number[corner[0], corner[1], corner[2]])
        found.append(tuple(numbers))
    return found


def _interleaved(cell: Cell) -> int:
    """The bits of three numbers in turns: cells near each other get numbers near each other, by whole cubes."""
    return sum(((cell[axis] >> bit) & 1) << (3 * bit + axis) for bit in range(10) for axis in range(3))


def _rank(cell: Cell, size: Cell, chance: float) -> tuple[int, int, float]:
    """The position of a node in the numbering: first the faces, one after the other, then the volume by clusters."""
    faces = [2 * axis + side for axis in range(3) for side in (0, 1) if cell[axis] == side * (size[axis] - 1)]
    cluster = (cell[0] // CLUSTER, cell[1] // CLUSTER, cell[2] // CLUSTER)
    return (faces[0] if faces else 6, _interleaved(cluster), chance)


def make(nodes: int) -> tuple[list[Point], list[tuple[int, ...]]]:
    """Places in the order of their numbers, and tetrahedra of numbers. The same in every run."""
    dice = random.Random(1)
    size = lattice_size(nodes)
    along = [planes(axis, count) for axis, count in enumerate(size)]
    places: list[Point] = []
    ranks = []
    number: dict[Cell, int] = {}
    for cell in itertools.product(*map(range, size)):
        number[cell] = len(places)
        places.append(_shaken(cell, size, along, dice))
        ranks.append(_rank(cell, size, dice.random()))
    corners = []
    for cell in itertools.product(*(range(count - 1) for count in size)):
        corners += [(cell, tetrahedron) for tetrahedron in _tetrahedra(cell, number)]
    missing = nodes - len(places)
    # Those next to the junctions are split: nearest first, a tetrahedron once.
    middle = {t: _middle([places[n] for n in tetrahedron]) for t, (_, tetrahedron) in enumerate(corners)}
    tetrahedra = [tetrahedron for _, tetrahedron in corners]
    for t in sorted(middle, key=lambda t: (to_junction(middle[t]), t))[:missing]:
        cell, split = corners[t]
        new = len(places)
        places.append(middle[t])
        ranks.append((6, *_rank(cell, size, dice.random())[1:]))
        tetrahedra[t] = (*split[:3], new)
        tetrahedra += [(split[0], split[1], new, split[3]), (split[0], new, split[2], split[3]), (new, *split[1:])]
    order = sorted(range(nodes), key=lambda n: (ranks[n], n))
    position = [0] * nodes
    for place, n in enumerate(order):
        position[n] = place
    return [places[n] for n in order], [tuple(position[n] for n in tetrahedron) for tetrahedron in tetrahedra]


def _shaken(cell: Cell, size: Cell, along: list[list[float]], dice: random.Random) -> Point:
    place = [0.0, 0.0, 0.0]
    for axis in range(3):
        i, line = cell[axis], along[axis]
        room = min(line[i] - line[i - 1], line[i + 1] - line[i]) if 0 < i < size[axis] - 1 else 0.0
        place[axis] = line[i] + SHAKE * room * (2 * dice.random() - 1)
    return place[0], place[1], place[2]


def _middle(corners: list[Point]) -> Point:
    x, y, z = (sum(along) / 4 for along in zip(*corners))
    return x, y, z


def write_msh(path: Path, nodes: int) -> None:
    """As gmsh's MSH file, format 2.2, for windrow-mesh."""
    places, tetrahedra = make(nodes)
    with path.open("w") as file:
        file.write(f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{nodes}\n")
        file.writelines(f"{n} {x:.9g} {y:.9g} {z:.9g}\n" for n, (x, y, z) in enumerate(places, 1))
        file.write(f"$EndNodes\n$Elements\n{len(tetrahedra)}\n")
        file.writelines(f"{t} 4 0 {a + 1} {b + 1} {c + 1} {d + 1}\n" for t, (a, b, c, d) in enumerate(tetrahedra, 1))
        file.write("$EndElements\n")
