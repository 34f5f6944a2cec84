# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of a file's variables for ParaView and VisIt: grids, meshes and fields, in an XDMF file beside the
file."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from ._errors import attempt, counted
from ._handle import Handle
from ._types import CELLS
from ._variables import Variable

_CENTERS = {"nodes": 0, "cells": 1}


class Grid:
    """A grid or mesh that ``file.xdmf`` has described."""

    def __init__(self, handle: Handle, number: int, name: str) -> None:
        self._handle = handle
        self._number = number
        self.name = name

    def field(self, name: str, variable: Variable | str, at: str = "nodes") -> None:
        """Describe a variable as a field. Collective; all arguments are the same on every rank.

        Parameters
        ----------
        name : str
            The name in the viewer; for a series the same at all times.
        variable : Variable or str
            Its shape is that of the grid at nodes or at cells (a mesh: nodes or cells), or that x components.
        at : {"nodes", "cells"}
        """

        def arguments() -> tuple[str, int, int]:
            if at not in _CENTERS:
                raise ValueError(f"a field is at nodes or cells, not at {at!r}")
            return _name(name), _CENTERS[at], _number(self._handle, variable)

        ready, problem = attempt(arguments)
        self._handle.core.xdmf_field(self._number, *(ready or ("", 0, -1)), problem)

    def __repr__(self) -> str:
        return f"<windrow.Grid {self.name} of {self._handle.path}>"


class Viewers:
    """Grids and meshes for viewers: ``file.xdmf``. All calls are collective, with the same arguments on every rank.

    The XDMF file is beside the HDF5 file, with the ending .xmf, and gets its name together with it.
    Variables are defined before; their data may be written before or after. Grids of one name are one series in time.
    """

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def uniform_grid(
        self,
        name: str,
        nodes: Sequence[int],
        origin: Sequence[float],
        spacing: Sequence[float],
        *,
        time: float | None = None,
    ) -> Grid:
        """A grid with uniform spacing.

        Parameters
        ----------
        nodes, origin, spacing : sequence, shape (2,) or (3,)
            The number of nodes, the position of the first, and the distance of two, along each dimension, slowest first
            (z, y, x).
        time : float, optional
            In the program's units; None: the grid has no time, and a unique name.
        """

        def arguments() -> tuple[Any, ...]:
            if not len(nodes) == len(origin) == len(spacing):
                raise ValueError(
                    f"{counted(len(nodes), 'node')}, {counted(len(origin), 'origin')} and "
                    f"{counted(len(spacing), 'spacing')}"
                )
            return (
                [operator.index(n) for n in nodes],
                [float(place) for place in origin],
                [float(length) for length in spacing],
            )

        return self._describe(self._handle.core.xdmf_uniform_grid, name, time, arguments, ([], [], []))

    def rectilinear_grid(self, name: str, coordinates: Sequence[Variable | str], *, time: float | None = None) -> Grid:
        """A grid with coordinates along each dimension: `coordinates` are variables of one dimension, slowest first
        (z, y, x)."""
        return self._describe(
            self._handle.core.xdmf_rectilinear_grid,
            name,
            time,
            lambda: ([_number(self._handle, each) for each in coordinates],),
            ([],),
        )

    def curvilinear_grid(self, name: str, coordinates: Variable | str, *, time: float | None = None) -> Grid:
        """A grid with coordinates of each node: `coordinates` has the dimensions of the grid, slowest first, x 3 (x, y,
        z)."""
        return self._describe(
            self._handle.core.xdmf_curvilinear_grid, name, time, lambda: (_number(self._handle, coordinates),), (-1,)
        )

    def mesh(
        self,
        name: str,
        cell: str,
        connectivity: Variable | str,
        coordinates: Variable | str,
        *,
        cells: int = 0,
        time: float | None = None,
    ) -> Grid:
        """A mesh.

        Parameters
        ----------
        cell : str
            One of `windrow.mesh.CELLS`.
        connectivity : Variable or str
            Node numbers from 0: cells x nodes of a cell. For "mixed" cells it has one dimension.
        coordinates : Variable or str
            Nodes x 3 (x, y, z) or x 2.
        cells : int, optional
            The number of cells, for "mixed" cells.
        """

        def arguments() -> tuple[Any, ...]:
            if cell not in CELLS:
                raise ValueError(f"cells are {', '.join(CELLS)}, not {cell!r}")
            return (
                CELLS[cell],
                _number(self._handle, connectivity),
                operator.index(cells),
                _number(self._handle, coordinates),
            )

        return self._describe(self._handle.core.xdmf_mesh, name, time, arguments, (0, -1, 0, -1))

    def _describe(
        self,
        call: Callable[..., int],
        name: str,
        time: float | None,
        arguments: Callable[[], tuple[Any, ...]],
        none: tuple[Any, ...],
    ) -> Grid:
        def all_arguments() -> tuple[Any, ...]:
            return (_name(name), math.nan if time is None else float(time), *arguments())

        ready, problem = attempt(all_arguments)
        return Grid(self._handle, call(*(ready or ("", math.nan, *none)), problem), name)


def _name(name: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"names are str, not {type(name).__name__}")
    return name


def _number(handle: Handle, variable: Variable | str) -> int:
    found = handle.file[variable] if isinstance(variable, str) else variable
    if not isinstance(found, Variable):
        raise TypeError(f"{variable!r} is no variable")
    if found._handle is not handle:
        raise ValueError(f"{found.name} is of another file")
    return found._number
