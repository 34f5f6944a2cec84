# SPDX-License-Identifier: BSD-3-Clause
"""The state that the objects of one open file share: the library's file, and the arrays that are queued or in
flight."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core


class OpenHandle:
    """An open file of any kind.

    Attributes
    ----------
    core : _core.OpenFile
    path, mode : str
    order : int
        The number of the opening in this program. All ranks open files in the same order.
    queued, moving : list
        The arrays of queued requests, and of requests that ``flush_begin`` has started.
    """

    core: _core.OpenFile

    def __init__(self, path: str, mode: str) -> None:
        self.path = path
        self.mode = mode
        self.order = 0
        self.queued: list[Any] = []
        self.moving: list[Any] = []

    @property
    def is_open(self) -> bool:
        return self.core.is_open

    @property
    def rank(self) -> int:
        return self.core.rank

    def release(self) -> None:
        """Release the arrays after a call that has moved them. If the call failed because ranks were in different
        calls, the requests are still queued, and the arrays are kept."""
        self.queued, self.moving = [], []

    def release_closed(self) -> None:
        if not self.is_open:
            self.release()


class ByteHandle(OpenHandle):
    """An open file of plain bytes."""

    core: _core.ByteFile

    def __init__(self, core: _core.ByteFile, path: str, mode: str) -> None:
        super().__init__(path, mode)
        self.core = core


class Handle(OpenHandle):
    """An open file, for its groups, variables and attributes.

    Attributes
    ----------
    file : File
        The owner of this. It exists as long as any object of it.
    copied_bytes : int
    """

    core: _core.File

    def __init__(self, core: _core.File, path: str, mode: str, file: Any) -> None:
        super().__init__(path, mode)
        self.core = core
        self.file = file
        self.copied_bytes = 0

    def queue(
        self, put: bool, variable: int, record: int, decomposition: Any, number: int, array: np.ndarray[Any, Any]
    ) -> None:
        """Queue an array, and keep it until the flush. `decomposition`: a `Decomposition`; `record`: -1 for none;
        `number`: of the array's type."""
        self.queued.append((array, decomposition))
        self.core.queue(put, variable, record, decomposition._handle, number, array.ctypes.data)

    def flush(self) -> None:
        self.core.flush("")
        self.release()

    def flush_begin(self) -> None:
        self.core.flush_begin("")
        self.moving += self.queued
        self.queued = []

    def flush_end(self) -> None:
        self.core.flush_end("")
        self.moving = []
