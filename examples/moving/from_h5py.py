# SPDX-License-Identifier: BSD-3-Clause
"""What docs/moving.md says of h5py: rows of a table and a choice of its rows, written and read back.   mpirun -n 4
python from_h5py.py [FILE]"""

import sys

import numpy as np
from mpi4py import MPI

import windrow


def write_rows(comm, path, rows, first, count, values):
    with windrow.open(path, "w", comm=comm) as file:
        temperature = file.create_variable("temperature", (rows, 8), "float64")
        temperature.attrs["units"] = "K"
        temperature[first : first + count] = values  # collective; the file appears at the end of the block


def read_chosen(comm, path, chosen):
    with windrow.open(path, comm=comm) as file:
        values = file["temperature"][chosen]  # in any order, other ones on each rank
    return values


def main(path):
    comm = MPI.COMM_WORLD
    rows, first = 3 * comm.size, 3 * comm.rank
    whole = np.arange(8.0 * rows).reshape(rows, 8)
    write_rows(comm, path, rows, first, 3, whole[first : first + 3])
    chosen = np.array([rows - 1 - comm.rank, comm.rank])
    wrong = comm.allreduce(int((read_chosen(comm, path, chosen) != whole[chosen]).sum()))
    if comm.rank == 0:
        print(f"from_h5py: wrote and read {path} on {comm.size} ranks, {wrong} values differ")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "from_h5py.h5"))
