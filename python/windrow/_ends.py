# SPDX-License-Identifier: BSD-3-Clause
"""Files that an exception leaves open, or that are open when the program ends. All ranks discard them, if all ranks
call in time."""

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
from ._handle import OpenHandle

PATIENCE = 10.0  # seconds for all files, so that the program ends soon

_numbers = count()
_open: weakref.WeakSet[OpenHandle] = weakref.WeakSet()
_lost: list[tuple[int, str, _core.OpenFile, Any]] = []
_waiting: list[_core.OpenFile] = []


def opened(file: OpenHandle) -> None:
    """Note a file that has been opened, on all ranks in the same order."""
    _open.add(file)
    file.order = next(_numbers)


def lost(file: OpenHandle) -> None:
    """Keep an unreachable file that is still open, to discard it later, and the arrays that may be in flight."""
    _lost.append((file.order, file.path, file.core, (file.queued, file.moving)))


def leave(file: OpenHandle, reason: str) -> None:
    """Discard a file that this rank leaves. The other ranks may be in any call on its communicator.

    If there is another communicator, they may be in a call on that and wait for this rank there. Then this rank waits
    for them for some seconds only."""
    if file.core.abandon_within(inf if _core.is_only_communicator() else PATIENCE, reason):
        # The other ranks now have an error, so they may call for the files that timed out before.
        _waiting[:] = [core for core in _waiting if core.is_open and not core.abandon_within(PATIENCE, reason)]
        return
    _waiting.append(file.core)
    warnings.warn(
        f"{file.path} is left open: in {PATIENCE:g} s not all ranks came to discard it ({reason}). They may wait in a "
        "call on another communicator; "
        "those that come later learn of it.",
        RuntimeWarning,
        stacklevel=4,
    )


@atexit.register  # mpi4py and this package finalize MPI later
def _end() -> None:
    left = [(file.order, file.path, file.core, None) for file in _open if file.is_open] + [
        entry for entry in _lost if entry[2].is_open
    ]
    error = getattr(sys, "last_value", None)
    problem = problem_alone(error)
    if problem is not None:  # the other ranks may wait for this one in an open on "world"
        _core.Communicator.named("world").tell(PATIENCE, problem)
    reason = (
        "the program ended without closing the file" if error is None else readable(f"{type(error).__name__}: {error}")
    )
    end = time.monotonic() + PATIENCE
    for _, path, core, _ in sorted(left, key=lambda entry: (entry[2].size > 1, entry[0])):
        _discard(path, core, reason, max(end - time.monotonic(), 0.1))


def _discard(path: str, core: _core.OpenFile, reason: str, seconds: float) -> None:
    try:
        if core.abandon_within(seconds, reason):
            warnings.warn(f"{path} was not closed", ResourceWarning, stacklevel=1)
            return
        problem = "not all ranks came to discard it"
    except Exception as failure:  # for example MPI has been finalized
        problem = str(failure)
    warnings.warn(
        f"{path} was not closed ({problem})"
        + (": what was written of a new file stays beside its name" if isinstance(core, _core.File) else ""),
        RuntimeWarning,
        stacklevel=1,
    )
