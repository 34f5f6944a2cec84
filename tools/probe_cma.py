#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Exit code 0: one process may read another's memory by process_vm_readv, as MPI does with large messages."""

import ctypes
import os
import sys

PR_SET_PTRACER = 0x59616D61


class IoVec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


def may_read(libc: ctypes.CDLL, pid: int, address: int) -> bool:
    target = ctypes.create_string_buffer(8)
    local = IoVec(ctypes.cast(target, ctypes.c_void_p), 8)
    remote = IoVec(address, 8)
    return libc.process_vm_readv(pid, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0) == 8


def main() -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    source = ctypes.create_string_buffer(b"windrow")  # 8 bytes; at the same address in the child
    libc.prctl(PR_SET_PTRACER, ctypes.c_ulong(-1), 0, 0, 0)
    child = os.fork()
    if child == 0:  # reads its parent, which ptrace_scope 1 forbids without the line above: as among ranks
        os._exit(0 if may_read(libc, os.getppid(), ctypes.addressof(source)) else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    sys.exit(main())
