# SPDX-License-Identifier: BSD-3-Clause
"""What `v[start:stop] = array` costs beside windrow_write_block(): two files that stay open, written in turn by the package and by the C interface in one
process, so that what else the machine does hits both.   pairs.py FOLDER MIB_A_RANK PAIRS, under mpirun; WINDROW_LIBRARY names libwindrow.so"""

import ctypes
import os
import sys
from pathlib import Path
from statistics import median, quantiles

import numpy as np
from systems import COLUMNS, COMM, WindrowInC, timed

import windrow


def main(folder, mib, pairs):
    rows = int(float(mib) * (1 << 20)) // (8 * COLUMNS)
    start = rows * COMM.rank
    array = np.arange(rows * COLUMNS, dtype="f8").reshape(rows, COLUMNS)
    c = WindrowInC()
    file, variable, pair = ctypes.c_void_p(), ctypes.c_int(), ctypes.c_int64 * 2
    c.call("windrow_create", c.comm, os.fsencode(Path(folder, "c.h5")), None, ctypes.byref(file))
    c.call("windrow_define_variable", file, b"x", 10, 2, pair(rows * COMM.size, COLUMNS), ctypes.byref(variable))
    arguments = (file, variable, pair(start, 0), pair(rows, COLUMNS), ctypes.c_void_p(array.ctypes.data))
    f = windrow.open(Path(folder, "python.h5"), "w", comm=COMM)
    v = f.create_variable("x", (rows * COMM.size, COLUMNS), "float64")
    seconds = []
    for number in range(int(pairs) + 2):
        actions = {"c": lambda: c.call("windrow_write_block", *arguments), "python": lambda: v.__setitem__(slice(start, start + rows), array)}
        order = ["c", "python"] if number % 2 else ["python", "c"]
        taken = {name: timed(actions[name])[0] for name in order}
        if number >= 2:  # the first make the files' blocks
            seconds.append((taken["c"], taken["python"]))
    f.discard()
    c.call("windrow_discard", file)
    if COMM.rank == 0:
        ratios = [python / c for c, python in seconds]
        low, _, high = quantiles(ratios)
        fastest = [min(part) for part in zip(*seconds)]
        print(f"{COMM.size} ranks, {mib} MiB a rank, {len(ratios)} pairs: seconds of v[...] in parts of windrow_write_block()'s: median {median(ratios):.3f}, "
              f"quartiles {low:.3f} to {high:.3f}; fastest {fastest[1] * 1e3:.3f} and {fastest[0] * 1e3:.3f} ms")  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
