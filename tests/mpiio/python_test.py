# SPDX-License-Identifier: BSD-3-Clause
"""Collective calls of MPI-IO by mpi4py: python_test.py FOLDER. Each rank has every ranks-th integer."""

import array
import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
mine = array.array("i", [1000 * comm.rank + i for i in range(50)])
back = array.array("i", [0] * 50)
turn = MPI.INT.Create_resized(0, 4 * comm.size).Commit()
status = MPI.Status()
file = MPI.File.Open(comm, f"{sys.argv[1]}/numbers", MPI.MODE_CREATE | MPI.MODE_RDWR)
file.Set_view(4 * comm.rank, MPI.INT, turn)
file.Write_all(mine, status)
good = status.Get_count(MPI.INT) == 50
file.Write_at_all(50, mine)
file.Read_at_all(50, back, status)
good = good and status.Get_count(MPI.INT) == 50 and back == mine
file.Seek(0)
back = array.array("i", [0] * 50)
file.Read_all(back)
good = good and back == mine
file.Close()
turn.Free()
if comm.allreduce(good, MPI.LAND) and comm.rank == 0:
    print("all right")
