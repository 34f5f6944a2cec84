# SPDX-License-Identifier: BSD-3-Clause
"""A mesh, cut into parts: each rank holds the nodes of its part by number, those at the seams are held by two ranks.
Written to one HDF5 file in the mesh's numbering, whatever the cut, and read back in plain rows.   mpirun -n 4 python
mesh.py [FILE]"""

import sys

import numpy as np
from mpi4py import MPI

import windrow

LEVELS = 5


def field_at(nodes):
    return nodes[:, None] + np.arange(LEVELS) / 16


def main(path):
    comm = MPI.COMM_WORLD
    nodes = 1009

    # A closed ring: this part owns the nodes [begin, end) and has a copy of the next part's first node. Its own order
    # is backwards.
    begin, end = nodes * comm.rank // comm.size, nodes * (comm.rank + 1) // comm.size
    numbers = np.arange(end, begin - 1, -1) % nodes
    owned = np.arange(len(numbers)) > 0  # the copy comes first

    with windrow.open(path, "w", comm=comm) as f:
        potential = f.create_variable("mesh/potential", (nodes, LEVELS), "float64")  # makes the group too
        points = windrow.points(comm, nodes, numbers, owned)
        # Local: queued. More variables may follow, and all move together at the end of the block
        f.put(potential, field_at(numbers), points)

    rows = windrow.rows(comm, nodes)
    with windrow.open(path, comm=comm) as f:
        read = f["mesh/potential"].read(rows)
    mine = np.arange(rows.first_row, rows.first_row + rows.row_count)
    wrong = comm.allreduce(int((read != field_at(mine)).sum()))
    if comm.rank == 0:
        print(f"mesh: wrote and read {path} on {comm.size} ranks, {wrong} values differ")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "mesh.h5"))
