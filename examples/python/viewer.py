# SPDX-License-Identifier: BSD-3-Clause
"""A 3-d grid at two times and a mesh of tetrahedra, written to one HDF5 file with an XDMF text beside it: ParaView
opens viewer.xmf (File, Open, "Xdmf3 Reader").   mpirun -n 4 python viewer.py [FILE.h5]"""

import sys

import numpy as np
from mpi4py import MPI

import windrow

NODES = (5, 7, 9)  # z, y, x
CELLS = (4, 6, 8)
CUBES = 3
SIDE = CUBES + 1
comm = MPI.COMM_WORLD


def mine(rows):
    """The numbers of this rank's rows."""
    return np.arange(rows.first_row, rows.first_row + rows.row_count)


def write_step(f, step, time):
    """One time of the grid: temperature and velocity at the nodes, material in the cells. Each rank has whole planes
    of them."""
    temperature = f.create_variable(f"step {step}/temperature", NODES, "float64")
    velocity = f.create_variable(f"step {step}/velocity", (*NODES, 3), "float32")
    material = f.create_variable(f"step {step}/material", CELLS, "int32")
    grid = f.xdmf.uniform_grid("air & water", NODES, origin=(-1, 10, 100), spacing=(0.5, 0.25, 2), time=time)  # z, y, x
    grid.field("temperature", temperature)
    grid.field("velocity", velocity)
    grid.field("material <1>", material, at="cells")

    # A program keeps these for all its steps
    at_nodes, at_cells = windrow.rows(comm, NODES[0]), windrow.rows(comm, CELLS[0])
    z, y, x = np.meshgrid(mine(at_nodes), np.arange(NODES[1]), np.arange(NODES[2]), indexing="ij")
    f.put(temperature, z * 100 + y * 10 + x + time, at_nodes)
    f.put(velocity, np.stack([x, y, z], axis=-1).astype("float32"), at_nodes)
    z, y, x = np.meshgrid(mine(at_cells), np.arange(CELLS[1]), np.arange(CELLS[2]), indexing="ij")
    f.put(material, (z * 100 + y * 10 + x + step * 1000).astype("int32"), at_cells)
    f.flush()


def write_mesh(f):
    """A box of cubes, each cut into six tetrahedra around its diagonal. Each rank has a run of nodes and a run of
    cells."""
    # Bits: x, y, z
    corners = np.array([[0, 1, 3, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7], [0, 4, 5, 7], [0, 5, 1, 7]])
    places = f.create_variable("mesh/places", (SIDE**3, 3), "float64")
    cells = f.create_variable("mesh/cells", (6 * CUBES**3, 4), "int64")
    potential = f.create_variable("mesh/potential", (SIDE**3,), "float64")
    part = f.create_variable("mesh/part", (6 * CUBES**3,), "uint8")
    box = f.xdmf.mesh("box", "tetrahedron", cells, places)
    box.field("potential", potential)
    box.field("part", part, at="cells")

    at_nodes, at_cells = windrow.rows(comm, SIDE**3), windrow.rows(comm, 6 * CUBES**3)
    node = mine(at_nodes)
    here = np.stack([node % SIDE, node // SIDE % SIDE * 2, node // SIDE**2 * 3], axis=-1).astype("float64")
    cube, corner = mine(at_cells)[:, None] // 6, corners[mine(at_cells) % 6]
    x, y, z = cube % CUBES, cube // CUBES % CUBES, cube // CUBES**2
    f.put(places, here, at_nodes)
    f.put(cells, ((z + (corner >> 2)) * SIDE + y + (corner >> 1 & 1)) * SIDE + x + (corner & 1), at_cells)
    f.put(potential, here @ [1, 10, 100], at_nodes)
    f.put(part, np.full(at_cells.row_count, comm.rank, "uint8"), at_cells)
    f.flush()


def main(path):
    with windrow.open(path, "w", comm=comm) as f:  # at its end the file and its text appear together
        for step in range(2):
            write_step(f, step, 0.25 + step)
        write_mesh(f)
    if comm.rank == 0:
        print(f"viewer: wrote {path}, and the .xmf beside it")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "viewer.h5"))
