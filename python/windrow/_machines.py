# SPDX-License-Identifier: BSD-3-Clause
"""Machines: measuring one, and advice from traces."""

from __future__ import annotations

import os
from typing import Any

from . import _core
from ._communicators import communicator_of
from ._errors import attempt
from ._options import settings_of
from ._reports import Advice


def calibrate(
    comm: Any, folder: str | os.PathLike[str], machine: str | os.PathLike[str] = "windrow-machine.json", **options: Any
) -> None:
    """Measure the machine that the ranks run on and the storage of a folder. Collective; less than a minute.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm, "world", "self" or None
        As many ranks and hosts as the programs that will use the file.
    folder : str or path
        A folder on the storage.
    machine : str or path
        The machine file, for the option ``machine``; it is replaced as a whole when everything has been measured.
    **options
        ``file_system``, ``layout`` and ``stripe``, as for files.

    Raises
    ------
    WindrowError
        On every rank; the machine file is unchanged.
    """
    ranks = communicator_of(comm)
    ready, problem = attempt(lambda: (os.fsdecode(folder), settings_of(options), os.fsdecode(machine)))
    ranks.agree("calibrate", problem)
    assert ready is not None  # else all ranks have raised
    _core.calibrate(ranks, *ready)


def advise(trace: str | os.PathLike[str], machine: str | os.PathLike[str] | None = None) -> Advice:
    """What ``auto`` would choose for the flushes of a trace, with predicted and measured seconds. Local; needs no MPI.

    Parameters
    ----------
    trace : str or path
        A file of the option ``trace``.
    machine : str or path, optional
        A machine file; None: typical numbers for the storage of each flush.
    """
    paths = os.fsdecode(trace), "" if machine is None else os.fsdecode(machine)
    return Advice(_core.advise(*paths, "text"), _core.advise(*paths, "json"))
