# SPDX-License-Identifier: BSD-3-Clause
"""Copies of whole files."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable
from typing import Any

from . import _core
from ._communicators import communicator_to_write
from ._errors import attempt
from ._options import settings_of


def copy(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    comm: Any = None,
    *,
    buffer: int = 0,
    progress: Callable[[int, int], object] | None = None,
    **options: Any,
) -> list[str]:
    """Copy all of a file into another, of another format too, in parallel and in bounded memory. Collective over
    `comm`.

    Parameters
    ----------
    source, target : str or path
        The format of `target` follows from its name, or from the option ``format``.
    comm : mpi4py.MPI.Comm, "world", "self" or None
        Who takes part. None: this process alone.
    buffer : int
        Bytes that a rank holds at a time; 0: 16 MiB.
    progress : callable, optional
        Called on this rank after each part, with the bytes that are done and those in all.
    **options
        Strategy and settings of reading and writing; with ``filters`` or ``chunks`` those of `target` are others than
        those of `source`.

    Returns
    -------
    list of str
        What differs in the target: hard links, which become soft links.

    Raises
    ------
    WindrowError
        On every rank. Where something cannot be copied nothing is, and the message has what and why, a line each.
    """
    ranks = communicator_to_write(comm)
    ready, problem = attempt(
        lambda: (os.fsdecode(source), os.fsdecode(target), settings_of(options), operator.index(buffer))
    )
    ranks.agree("copy", problem)
    assert ready is not None  # else all ranks have raised
    return _core.copy(ranks, *ready, progress).splitlines()
