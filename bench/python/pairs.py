# SPDX-License-Identifier: BSD-3-Clause
"""The cost of `v[start:stop] = array` compared with windrow_write_block(). The package and the C interface write files
that stay open, in turn in one process, so that other load affects both. The placement of a file's pages alone makes a
difference of 10 %. So all files are created again after a few rounds, and a second file of the C interface shows the
difference between two files that are written in the same way.

pairs.py FOLDER MIB_A_RANK BATCHES, under mpirun; WINDROW_LIBRARY names libwindrow.so"""

import ctypes
import os
import sys
from pathlib import Path
from statistics import mean, median, stdev

import numpy as np
from systems import COLUMNS, COMM, WindrowInC, timed

import windrow

ROUNDS = 10  # of a batch


class InC:
    def __init__(self, c, folder, name, start, array):
        self._c, self._file, variable, pair = c, ctypes.c_void_p(), ctypes.c_int(), ctypes.c_int64 * 2
        c.call("windrow_create", c.comm, os.fsencode(Path(folder, name)), None, ctypes.byref(self._file))
        c.call(
            "windrow_define_variable",
            self._file,
            b"x",
            10,
            2,
            pair(len(array) * COMM.size, COLUMNS),
            ctypes.byref(variable),
        )
        self._arguments = (self._file, variable, pair(start, 0), pair(*array.shape), ctypes.c_void_p(array.ctypes.data))

    def write(self):
        self._c.call("windrow_write_block", *self._arguments)

    def discard(self):
        self._c.call("windrow_discard", self._file)


class InPython:
    def __init__(self, folder, start, array):
        self._file, self._start, self._array = windrow.open(Path(folder, "python.h5"), "w", comm=COMM), start, array
        self._variable = self._file.create_variable("x", (len(array) * COMM.size, COLUMNS), "float64")

    def write(self):
        self._variable[self._start : self._start + len(self._array)] = self._array

    def discard(self):
        self._file.discard()


def batch(number, make):
    order = [list(make)[(number + place) % 3] for place in range(3)]
    files = {name: make[name]() for name in order}
    seconds = {name: [] for name in make}
    for turn in range(ROUNDS + 1):
        for name in order[:: 1 if turn % 2 else -1]:
            taken, _ = timed(files[name].write)
            if turn > 0:  # the first makes the file's blocks
                seconds[name].append(taken)
    for name in order:
        files[name].discard()
    return {name: median(parts) for name, parts in seconds.items()}


def main(folder, mib, batches):
    rows = int(float(mib) * (1 << 20)) // (8 * COLUMNS)
    start = rows * COMM.rank
    array = np.arange(rows * COLUMNS, dtype="f8").reshape(rows, COLUMNS)
    c = WindrowInC()
    make = {
        "c": lambda: InC(c, folder, "c.h5", start, array),
        "the C call, other files": lambda: InC(c, folder, "other.h5", start, array),
        "v[...]": lambda: InPython(folder, start, array),
    }
    medians = [batch(number, make) for number in range(int(batches))]
    if COMM.rank == 0:
        middle = median(one["c"] for one in medians)
        print(
            f"{COMM.size} ranks, {mib} MiB a rank, {batches} batches of {ROUNDS}; windrow_write_block() "
            f"{middle * 1e3:.3f} ms; in parts of it, by batch:"
        )
        for name in list(make)[1:]:
            ratios = [one[name] / one["c"] for one in medians]
            error = stdev(ratios) / len(ratios) ** 0.5
            print(
                f"  {name}: mean {mean(ratios):.3f} +- {error:.3f}, median {median(ratios):.3f}, {min(ratios):.3f} to "
                f"{max(ratios):.3f}"
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
