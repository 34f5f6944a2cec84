# SPDX-License-Identifier: BSD-3-Clause
"""Meshes: from cells and a partition to the points that each rank holds. All functions but `decompose` are local.

    offsets, neighbours = mesh.neighbours(cells, "tetra")
    part = mesh.partition((offsets, neighbours), comm.size)
    held = mesh.decompose(comm, (offsets, neighbours), part)
"""

from __future__ import annotations

import hashlib
import operator
from typing import Any

import numpy as np

from . import _core
from ._communicators import communicator_of
from ._decompositions import Decomposition, points
from ._errors import attempt, counted
from ._selections import Integers
from ._types import CELLS as CELLS

Array = np.ndarray[Any, Any]
Graph = tuple[Integers, Integers]

_MESHIO = {4: "triangle", 5: "quad", 6: "tetra", 7: "pyramid", 8: "wedge", 9: "hexahedron"}
_NODES = {4: 3, 5: 4, 6: 4, 7: 5, 8: 6, 9: 8}


def neighbours(cells: Any, kind: str, nodes: int | None = None, *, across_cells: bool = False) -> Graph:
    """The neighbours of each node.

    Parameters
    ----------
    cells : array_like of int, shape (cells, nodes of a cell), or for "mixed" shape (n,)
        Node numbers of the cells, from 0; "mixed": the nodes of each cell are preceded by its kind, a number of
        `CELLS`.
    kind : str
        One of `CELLS`.
    nodes : int, optional
        The number of nodes; for cells of one kind the default is the number in the cells.
    across_cells : bool
        False: nodes with a common edge are neighbours; True: all nodes of a cell are neighbours.

    Returns
    -------
    offsets, neighbours : ndarray of int64, shapes (nodes + 1,) and (offsets[-1],)
        The neighbours of node i are ``neighbours[offsets[i] : offsets[i + 1]]``, ascending.
    """
    if kind not in CELLS:
        raise ValueError(f"cells are {', '.join(CELLS)}, not {kind!r}")
    table = _integers(cells)
    if CELLS[kind] != CELLS["mixed"] and (table.ndim != 2 or table.shape[1] != _NODES[CELLS[kind]]):
        raise ValueError(f"{kind}: cells have the shape {table.shape}, not (cells, {_NODES[CELLS[kind]]})")
    if nodes is None and CELLS[kind] == CELLS["mixed"]:
        raise ValueError("the number of nodes cannot be derived from mixed cells: give nodes")
    count = nodes if nodes is not None else int(table.max(initial=-1)) + 1
    offsets, found = _core.mesh_neighbours(count, CELLS[kind], np.ascontiguousarray(table.ravel()), across_cells)
    return np.asarray(offsets, np.int64), np.asarray(found, np.int64)


def graph_of(matrix: Any) -> Graph:
    """The neighbours of a scipy.sparse matrix or array: i and j are neighbours if row i has an entry in column j.

    A graph of `neighbours` is returned unchanged.
    """
    if isinstance(matrix, tuple):
        return _integers(matrix[0]), _integers(matrix[1])
    if not hasattr(matrix, "tocoo"):
        raise TypeError(f"a graph is (offsets, neighbours) or a matrix of scipy.sparse, not {type(matrix).__name__}")
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"the matrix has the shape {matrix.shape}; a graph's is square")
    entries = matrix.tocoo()
    size = matrix.shape[0]
    pairs = np.unique(
        np.concatenate(
            [entries.row.astype(np.int64) * size + entries.col, entries.col.astype(np.int64) * size + entries.row]
        )
    )
    rows, columns = np.divmod(pairs, max(size, 1))
    apart = rows != columns
    return np.concatenate([[0], np.cumsum(np.bincount(rows[apart], minlength=size))]).astype(np.int64), columns[
        apart
    ].astype(np.int64)


def partition(graph: Any, parts: int) -> Array:
    """The part of each node, found by METIS (pymetis): few neighbours are in other parts, and all parts have about as
    many nodes.

    Ranks with the same arguments get the same result.

    Parameters
    ----------
    graph : (offsets, neighbours) or scipy.sparse matrix
    parts : int
        With more parts than nodes, each node is a separate part.

    Returns
    -------
    ndarray of int32, shape (nodes,)
    """
    try:
        import pymetis
    except ImportError:
        raise ImportError(
            "partition needs pymetis (pip install pymetis); any other partition will do as well"
        ) from None
    offsets, found = graph_of(graph)
    nodes = len(offsets) - 1
    if operator.index(parts) < 1:
        raise ValueError(f"a mesh has one part at least, not {parts}")
    if parts == 1 or nodes <= parts:  # METIS refuses these cases
        return np.arange(nodes, dtype=np.int32) % parts
    if hasattr(pymetis, "CSRAdjacency"):
        return np.asarray(pymetis.part_graph(parts, pymetis.CSRAdjacency(offsets, found))[1], np.int32)
    return np.asarray(pymetis.part_graph(parts, xadj=offsets.tolist(), adjncy=found.tolist())[1], np.int32)


def classify(graph: Any, partition: Any) -> Graph:
    """Which parts hold a node: its own first, then those of its neighbours. A node with one part is local, the others
    are shared.

    Parameters
    ----------
    graph : (offsets, neighbours) or scipy.sparse matrix
    partition : array_like of int, shape (nodes,)

    Returns
    -------
    offsets, parts : ndarray of int64
        Those of node i are ``parts[offsets[i] : offsets[i + 1]]``.
    """
    offsets, found = graph_of(graph)
    own = np.ascontiguousarray(_integers(partition), np.int32)
    if own.shape != (len(offsets) - 1,):
        raise ValueError(f"the partition has the shape {own.shape}, the graph {counted(len(offsets) - 1, 'node')}")
    part_offsets, parts = _core.classify_nodes(len(own), offsets, found, own)
    return np.asarray(part_offsets, np.int64), np.asarray(parts, np.int64)


def points_of(part: int, classification: Graph) -> tuple[Integers, np.ndarray[Any, np.dtype[np.bool_]]]:
    """The points of a part, ascending, and whether it owns them: the arguments of `windrow.points`."""
    offsets, parts = classification
    nodes = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))[parts == part]
    return nodes, parts[offsets[nodes]] == part


def decompose(
    comm: Any, graph: Any, partition: Any, *, imbalance: float | None = None, point_bytes: int | None = None
) -> Decomposition:
    """The decomposition of a partitioned mesh: this rank's part with its copies of the neighbours. Collective.

    The option ``owner`` of the file determines which rank writes a node that several ranks hold: ``partitioner``,
    ``idg``, ``idg_figure``, ``balanced``, ``first``, ``highest`` or ``random``. ``decompose(...).owned("idg")`` returns
    the nodes that this rank would write, and the number of their intervals.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm, "world", "self" or None
        The file's communicator; rank i has part i.
    graph : (offsets, neighbours) or scipy.sparse matrix
        The same on every rank.
    partition : array_like of int, shape (nodes,)
        The part of each node, the same on every rank; from 0 up to the number of ranks.
    imbalance : float, optional
    point_bytes : int, optional
        As for `windrow.points`.
    """
    ranks = communicator_of(comm)

    def arguments() -> tuple[int, Integers, Any, list[str]]:
        own = _integers(partition)
        if own.size and own.max() >= ranks.size:
            raise ValueError(f"the partition has a part {own.max()}; there are {ranks.size} ranks, from 0 on")
        found = graph_of(graph)
        return len(own), *points_of(ranks.rank, classify(found, own)), [_digest(own), _digest(*found)]

    ready, problem = attempt(arguments)
    ranks.agree("decompose", problem and f"decompose: {problem}")
    assert ready is not None  # else all ranks have raised
    *parts, digests = ready
    # If they differ, a node has several owners or none, and what is written for it is undefined.
    others = ranks.first(" ".join(digests)).split()
    differ = [name for name, mine, other in zip(("partition", "graph"), digests, others) if mine != other]
    ranks.agree("decompose", f"decompose: the {differ[0]} is not that of rank 0" if differ else "")
    return points(comm, *parts, imbalance=imbalance, point_bytes=point_bytes)


def _digest(*arrays: Integers) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def read(path: Any) -> tuple[Array, dict[str, Array]]:
    """Read a mesh with meshio: coordinates (nodes, 3), and cells of each kind by name."""
    mesh = _meshio().read(path)
    cells: dict[str, list[Array]] = {}
    for block in mesh.cells:
        if block.type in CELLS:
            cells.setdefault(block.type, []).append(np.asarray(block.data, np.int64))
    return np.asarray(mesh.points), {kind: np.concatenate(blocks) for kind, blocks in cells.items()}


def read_fields(path: Any) -> dict[str, Array]:
    """Read the fields at the nodes of a mesh with meshio, by name: shape (nodes,), or (nodes, components)."""
    return {name: np.asarray(field) for name, field in _meshio().read(path).point_data.items()}


def write(path: Any, coordinates: Any, cells: dict[str, Any], fields: dict[str, Any] | None = None) -> None:
    """Write a mesh with meshio, with fields at its nodes."""
    meshio = _meshio()
    named = [(_MESHIO[CELLS[kind]], np.asarray(table)) for kind, table in cells.items()]
    meshio.Mesh(
        np.asarray(coordinates), named, point_data={name: np.asarray(field) for name, field in (fields or {}).items()}
    ).write(path)


def _meshio() -> Any:
    try:
        import meshio
    except ImportError:
        raise ImportError("meshes are read and written by meshio (pip install meshio)") from None
    return meshio


def _integers(values: Any) -> Integers:
    given = np.asarray(values)
    if given.size and given.dtype.kind not in "iu":
        raise TypeError(f"{given.dtype} instead of integers")
    return np.ascontiguousarray(given, np.int64)
