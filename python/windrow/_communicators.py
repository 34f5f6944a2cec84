# SPDX-License-Identifier: BSD-3-Clause
"""Communicators of calls. This does not import mpi4py: a caller with one of its communicators has imported it."""

from __future__ import annotations

import sys
from typing import Any

from . import _core

_alone: list[tuple[BaseException, str]] = []


def refused_alone(error: BaseException, problem: str) -> None:
    """Keep an error that the other ranks do not get, because this rank has no communicator."""
    _alone[:] = [(error, problem)]


def problem_alone(error: BaseException | None) -> str | None:
    """The message of `error`, if it is the last that was kept."""
    return next((problem for failure, problem in _alone if failure is error), None)


def communicator_of(comm: Any) -> _core.Communicator:
    """The communicator of an argument ``comm``.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm, "world", "self" or None
        None and "self": this process alone. "world": all processes that were started together; needs no mpi4py.
    """
    try:
        return _communicator_of(comm)
    except TypeError as error:
        refused_alone(error, str(error))
        raise


def _communicator_of(comm: Any) -> _core.Communicator:
    if comm is None or comm == "self":
        return _core.Communicator.named("self")
    if isinstance(comm, str):
        if comm != "world":
            raise TypeError(f'comm is a communicator of mpi4py, "world" or "self", not "{comm}"')
        return _core.Communicator.named("world")
    if isinstance(comm, _core.Communicator):
        return comm
    if not hasattr(comm, "py2f"):
        raise TypeError(f'comm is a communicator of mpi4py, "world" or "self", not {type(comm).__name__}')
    _check_library()
    return _core.Communicator.from_fortran(comm.py2f())


def number_of_type(datatype: Any) -> int:
    """The number of a datatype of mpi4py, as in Fortran."""
    if not hasattr(datatype, "py2f") or not hasattr(datatype, "Get_extent"):
        raise TypeError(f"{type(datatype).__name__} instead of a datatype of mpi4py")
    _check_library()
    return int(datatype.py2f())


def _check_library() -> None:
    """Raise if mpi4py uses another MPI library. A number of an object is invalid there and would end the program."""
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is None:
        return
    theirs, ours = mpi.Get_library_version().rstrip("\0\n "), _core.mpi_library_version().rstrip("\0\n ")
    if theirs != ours:
        raise TypeError(
            f"mpi4py was built for another MPI ({theirs.splitlines()[0]}) than windrow ({ours.splitlines()[0]})"
        )


def communicator_to_write(comm: Any) -> _core.Communicator:
    """As `communicator_of`, but raises for several processes without a communicator: each would write the same file."""
    ranks = communicator_of(comm)
    if comm is None and _core.world_size() > 1:
        raise TypeError(
            f"one of {_core.world_size()} processes writes without a communicator: "
            'comm=MPI.COMM_WORLD (or "world") for a file of all, comm=MPI.COMM_SELF (or "self") for one of this '
            "process alone"
        )
    return ranks
