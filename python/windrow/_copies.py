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
    """Copy a whole file, also to another format, in parallel and in bounded memory. Collective over `comm`.

    Parameters
    ----------
    source, target : str or path
        The format of `target` follows from its name, or from the option ``format``.
    comm : mpi4py.MPI.Comm, "world", "self" or None
        The ranks of the copy. None: this process alone.
    buffer : int
        Bytes that a rank holds at a time; 0: 16 MiB.
    progress : callable, optional
        Called on this rank after each part, with the bytes copied so far and the total.
    **options
        Strategy and settings of reading and writing; ``filters`` and ``chunks`` replace those of `source`.

    Returns
    -------
    list of str
        What differs in the target: hard links, which become soft links.

    Raises
    ------
    WindrowError
        On every rank. If something cannot be copied, nothing is. The message has each object and the reason, one per
        line.
    """
    ranks = communicator_to_write(comm)
    ready, problem = attempt(
        lambda: (os.fsdecode(source), os.fsdecode(target), settings_of(options), operator.index(buffer))
    )
    ranks.agree("copy", problem)
    assert ready is not None  # else all ranks have raised
    return _core.copy(ranks, *ready, progress).splitlines()
