# SPDX-License-Identifier: BSD-3-Clause
"""A 3-d grid, cut into one block per rank, each with a layer of ghost cells around it; written to one HDF5 file and
read back in another cut, as a restart on another machine would.   mpirun -n 4 python grid.py [FILE]"""

import sys

import numpy as np
from mpi4py import MPI

import windrow


def values_at(start, count):
    """The field's values in a block."""
    z, y, x = np.ix_(*(np.arange(s, s + n) for s, n in zip(start, count)))
    return z * 10000.0 + y * 100 + x


def main(path):
    comm = MPI.COMM_WORLD
    shape = (30, 20, 10)
    cut = MPI.Compute_dims(comm.size, 3)
    place = np.unravel_index(comm.rank, cut)
    start = [n * p // c for n, p, c in zip(shape, place, cut)]
    count = [n * (p + 1) // c - s for n, p, c, s in zip(shape, place, cut, start)]
    box = [n + 2 for n in count]  # the block and one ghost cell on each side
    values = values_at([s - 1 for s in start], box)

    # Write: the ghost cells stay in memory, only the blocks reach the file.
    with windrow.open(path, "w", comm=comm) as f:
        temperature = f.create_variable("temperature", shape, "float64")
        temperature.attrs["units"] = "K"
        blocks = windrow.block(comm, shape, start, count, memory_shape=box, memory_start=(1, 1, 1))
        temperature.write(values, blocks)  # put and flush; the blocks serve the next time step too

    # Read: the same array in slabs along its slowest dimension, divided by the library.
    rows = windrow.rows(comm, shape[0])
    with windrow.open(path, comm=comm) as f:
        slab = f["temperature"].read(rows)
    wrong = comm.allreduce(int((slab != values_at((rows.first_row, 0, 0), slab.shape)).sum()))
    if comm.rank == 0:
        print(f"grid: wrote and read {path} on {comm.size} ranks, {wrong} values differ")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "grid.h5"))
