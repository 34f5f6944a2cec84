# SPDX-License-Identifier: BSD-3-Clause
"""From cells to the points of a rank; then written by all ranks with replicas."""

import sys
import types

import numpy as np
import pytest

import windrow
from windrow import mesh

# Two squares of two triangles each: 0 1 2 above 3 4 5.
TRIANGLES = [[0, 3, 1], [1, 3, 4], [1, 4, 2], [2, 4, 5]]


def lists(graph):
    offsets, found = graph
    return [found[a:b].tolist() for a, b in zip(offsets, offsets[1:])]


def test_neighbours():
    assert lists(mesh.neighbours(TRIANGLES, "triangle")) == [
        [1, 3],
        [0, 2, 3, 4],
        [1, 4, 5],
        [0, 1, 4],
        [1, 2, 3, 5],
        [2, 4],
    ]
    square = [[0, 1, 2, 3]]
    assert lists(mesh.neighbours(square, "quad", nodes=5)) == [[1, 3], [0, 2], [1, 3], [0, 2], []]
    assert lists(mesh.neighbours(square, "quad", across_cells=True))[0] == [1, 2, 3]
    assert lists(mesh.neighbours([mesh.CELLS["triangle"], 0, 1, 2], "mixed", nodes=3)) == [[1, 2], [0, 2], [0, 1]]
    assert lists(mesh.neighbours(np.zeros((0, 3), int), "triangle", nodes=2)) == [[], []]


def test_matrices_of_scipy():
    sparse = pytest.importorskip("scipy.sparse")
    dense = np.zeros((6, 6))
    for cell in TRIANGLES:
        dense[np.ix_(cell, cell)] = 1
    upper = np.triu(dense)
    for matrix in (sparse.csr_matrix(dense), sparse.coo_matrix(upper), sparse.csc_array(dense)):
        assert lists(mesh.graph_of(matrix)) == lists(mesh.neighbours(TRIANGLES, "triangle"))
    with pytest.raises(ValueError, match="square"):
        mesh.graph_of(sparse.csr_matrix(np.zeros((2, 3))))


def test_parts_that_hold_a_node():
    graph = mesh.neighbours(TRIANGLES, "triangle")
    part = [0, 0, 1, 0, 1, 1]
    classification = mesh.classify(graph, part)
    assert lists(classification) == [[0], [0, 1], [1, 0], [0, 1], [1, 0], [1]]
    points, owned = mesh.points_of(0, classification)
    assert points.tolist() == [0, 1, 2, 3, 4] and owned.tolist() == [True, True, False, True, False]


def test_points_are_written_by_their_owners(folder, comm, rank, size):
    nodes = 101
    ring = np.stack([np.arange(nodes), (np.arange(nodes) + 1) % nodes, (np.arange(nodes) + 2) % nodes], axis=1)
    graph = mesh.neighbours(ring, "triangle")
    part = np.arange(nodes) * size // nodes
    if size > 1:
        part[part == size - 1] = 0  # the last rank has no nodes
    points, owned = mesh.points_of(rank, mesh.classify(graph, part))
    held = windrow.points(comm, nodes, points, owned)
    with windrow.open(folder / "mesh.h5", "w", comm=comm, owner="partitioner") as f:
        v = f.create_variable("potential", (nodes, 2), "float64")
        v.write(np.where(owned, points, -1)[:, None] + np.zeros(2), held)
        assert np.array_equal(v[:, 1], np.arange(nodes))
        assert np.array_equal(v.read(held)[:, 0], points)
    assert np.array_equal(held.owned("partitioner")[0], np.flatnonzero(part == rank)) and held.holes == 0


OWNERS = ("partitioner", "idg", "idg_figure", "balanced", "first", "highest", "random", "auto")


@pytest.mark.parametrize("owner", OWNERS)
def test_each_owner_writes_each_point_once(folder, comm, rank, size, owner):
    """From a matrix of scipy.sparse: a grid of 7 x 11 nodes whose parts interleave, the last rank without any."""
    sparse = pytest.importorskip("scipy.sparse")
    cells = np.arange(77).reshape(7, 11)
    squares = np.stack([cells[:-1, :-1], cells[1:, :-1], cells[1:, 1:], cells[:-1, 1:]], axis=-1).reshape(-1, 4)
    offsets, found = mesh.neighbours(squares, "quad")
    matrix = sparse.csr_matrix((np.ones(len(found)), found, offsets))
    part = np.arange(77) // 3 % max(size - 1, 1)
    held = mesh.decompose(comm, matrix, part, imbalance=10)
    mine, intervals = held.owned(owner)
    assert intervals == (0 if len(mine) == 0 else 1 + np.count_nonzero(np.diff(mine) != 1)) and held.holes == 0
    ranks = windrow._core.Communicator.named("world")
    assert ranks.place(len(mine))[1] == 77  # none twice and none missing
    points, owned = mesh.points_of(rank, mesh.classify(matrix, part))
    assert np.isin(mine, points).all()
    if owner == "partitioner":
        assert np.array_equal(mine, np.flatnonzero(part == rank))
    with windrow.open(folder / "mesh.h5", "w", comm=comm, owner=owner) as f:
        v = f.create_variable("who", (77,), "int32")
        v.write(np.full(len(points), rank), held)
        assert np.array_equal(np.flatnonzero(v[...] == rank), mine)


def test_a_mesh_that_is_wrong_on_one_rank(comm, rank, size, raises_on_all):
    graph = mesh.neighbours(TRIANGLES, "triangle")
    bad = rank == size - 1
    raises_on_all(lambda: mesh.decompose(comm, graph, [0] * (5 if bad else 6)), size - 1, "the graph 6 nodes")
    raises_on_all(lambda: mesh.decompose(comm, graph, [size if bad else 0] * 6), size - 1, f"there are {size} ranks")
    raises_on_all(lambda: mesh.decompose(comm, "nonsense" if bad else graph, [0] * 6), size - 1, "a graph is")


def test_metis(monkeypatch):
    graph = mesh.neighbours(TRIANGLES, "triangle")
    if "pymetis" not in sys.modules:
        try:
            import pymetis  # noqa: F401
        except ImportError:
            with pytest.raises(ImportError, match="pip install pymetis"):
                mesh.partition(graph, 2)
            # What it is called with, when it is there.
            fake = types.SimpleNamespace(
                part_graph=lambda parts, xadj, adjncy: (0, [i * parts // (len(xadj) - 1) for i in range(len(xadj) - 1)])
            )
            monkeypatch.setitem(sys.modules, "pymetis", fake)
    found = mesh.partition(graph, 2)
    with pytest.raises(ValueError, match="one part at least"):
        mesh.partition(graph, 0)
    assert mesh.partition(graph, 9).tolist() == list(range(6))
    assert (
        found.dtype == np.int32 and sorted(np.unique(found)) == [0, 1] and mesh.partition(graph, 1).tolist() == [0] * 6
    )


def test_files_of_meshio(folder, rank):
    if rank > 0:
        pytest.skip("rank 0 does it alone")
    pytest.importorskip("meshio")
    points = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0], [1, 1, 0], [2, 1, 0.0]])
    mesh.write(folder / "mesh.vtk", points, {"triangle": TRIANGLES}, {"potential": np.arange(6.0)})
    found, cells = mesh.read(folder / "mesh.vtk")
    assert np.array_equal(found, points) and cells["triangle"].tolist() == TRIANGLES
    assert mesh.read_fields(folder / "mesh.vtk")["potential"].tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: mesh.neighbours(TRIANGLES, "nonsense"),
        lambda: mesh.neighbours(TRIANGLES, "tetra"),
        lambda: mesh.neighbours([[0, 0.5, 1]], "triangle"),
        lambda: mesh.classify(mesh.neighbours(TRIANGLES, "triangle"), [0]),
        lambda: mesh.graph_of(np.eye(3)),
        lambda: mesh.neighbours([4, 0, 1, 2], "mixed"),
        lambda: mesh.neighbours([[0, 1, 9]], "triangle", nodes=3),
        lambda: mesh.classify(mesh.neighbours(TRIANGLES, "triangle"), [-1] * 6),
    ],
)
def test_what_is_no_mesh(wrong):
    with pytest.raises((ValueError, TypeError, windrow.WindrowError)):
        wrong()


def test_partitions_and_graphs_that_differ_between_ranks(comm, rank, size, raises_on_all):
    if size == 1:
        pytest.skip("one rank has one partition")
    cells = [[i, (i + 1) % 12, (i + 2) % 12] for i in range(12)]
    graph = mesh.neighbours(cells, "triangle")
    part = np.arange(12) * size // 12
    last = rank == size - 1
    raises_on_all(
        lambda: mesh.decompose(comm, graph, part[::-1] if last else part),
        size - 1,
        "the partition is not that of rank 0",
    )
    other = mesh.neighbours(cells[1:], "triangle")
    raises_on_all(
        lambda: mesh.decompose(comm, other if last else graph, part), size - 1, "the graph is not that of rank 0"
    )
    mesh.decompose(comm, graph, part.astype("int32") if last else part)
