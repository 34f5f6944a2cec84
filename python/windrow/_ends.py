# SPDX-License-Identifier: BSD-3-Clause
"""Files that are left by an exception, or open when the program ends: discarded together with the other ranks, where
they come."""

from __future__ import annotations

import atexit
import sys
import time
import warnings
import weakref
from itertools import count
from math import inf
from typing import Any

from . import _core
from ._communicators import problem_alone
from ._errors import readable
from ._handle import Handle

PATIENCE = 10.0  # seconds for all files: ending this program shall not take long

_numbers = count()
_open: weakref.WeakSet[Handle] = weakref.WeakSet()
_lost: list[tuple[int, str, _core.File, Any]] = []
_waiting: list[_core.File] = []


def opened(file: Handle) -> None:
    """Note a file that has been opened, on all ranks in the same order."""
    _open.add(file)
    file.order = next(_numbers)


def lost(file: Handle) -> None:
    """Keep what is to be discarded of a file that nobody has closed and nobody can any more, and the arrays that may
    be moving."""
    _lost.append((file.order, file.path, file.core, (file.held, file.moving)))


def leave(file: Handle, reason: str) -> None:
    """Discard a file that this rank leaves, whatever the others do on its communicator.

    They may be in a call on another communicator, and wait for this rank there: where there is one, this rank waits
    for them for some seconds only."""
    if file.core.abandon_within(inf if _core.is_only_meeting() else PATIENCE, reason):
        # Those that this rank has not met before may now come, with the error that they have from here.
        _waiting[:] = [core for core in _waiting if core.is_open and not core.abandon_within(PATIENCE, reason)]
        return
    _waiting.append(file.core)
    warnings.warn(
        f"{file.path} is left open: in {PATIENCE:g} s not all ranks came to discard it ({reason}). They may wait in a "
        "call on another communicator; "
        "those that come later learn of it.",
        RuntimeWarning,
        stacklevel=3,
    )


@atexit.register  # MPI is finalized later, by mpi4py and by us
def _end() -> None:
    left = [(file.order, file.path, file.core, None) for file in _open if file.is_open] + [
        entry for entry in _lost if entry[2].is_open
    ]
    error = getattr(sys, "last_value", None)
    problem = problem_alone(error)
    if problem is not None:  # the others may wait for this rank in an open of all
        _core.Communicator.named("world").tell(PATIENCE, problem)
    reason = (
        "the program ended without closing the file" if error is None else readable(f"{type(error).__name__}: {error}")
    )
    end = time.monotonic() + PATIENCE
    for _, path, core, _ in sorted(left, key=lambda entry: (entry[2].size > 1, entry[0])):
        _discard(path, core, reason, max(end - time.monotonic(), 0.1))


def _discard(path: str, core: _core.File, reason: str, seconds: float) -> None:
    try:
        if core.abandon_within(seconds, reason):
            warnings.warn(f"{path} was not closed", ResourceWarning, stacklevel=1)
            return
        problem = "not all ranks came to discard it"
    except Exception as failure:  # MPI has been finalized, say
        problem = str(failure)
    warnings.warn(
        f"{path} was not closed ({problem}): what was written of a new file stays beside its name",
        RuntimeWarning,
        stacklevel=1,
    )
