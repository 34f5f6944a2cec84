# SPDX-License-Identifier: BSD-3-Clause
"""One system writes and reads an array of rows, each rank its own; run by bench/python/run under mpirun, a system a
process, since several HDF5 libraries cannot live in one. Prints seconds as JSON.   systems.py SYSTEM FOLDER
MIB_A_RANK REPETITIONS"""

import ctypes
import json
import os
import shutil
import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

COMM = MPI.COMM_WORLD
COLUMNS = 1024


class Windrow:
    """v[start:stop] = array"""

    ending = "h5"

    def write(self, path, array, start):
        import windrow

        with windrow.open(path, "w", comm=COMM) as f:
            v = f.create_variable("x", (len(array) * COMM.size, COLUMNS), "float64")
            v[start : start + len(array)] = array

    def read(self, path, rows, start):
        import windrow

        with windrow.open(path, comm=COMM) as f:
            return f["x"][start : start + rows]


class WindrowInC:
    """windrow_write_block() of the shared library of the same build, without the package."""

    ending = "h5"

    def __init__(self):
        self.library = ctypes.CDLL(os.environ["WINDROW_LIBRARY"])
        # Of Open MPI a communicator is a pointer, of MPICH a number: mpi4py has its bytes.
        handle = ctypes.c_void_p if MPI._sizeof(MPI.Comm) == ctypes.sizeof(ctypes.c_void_p) else ctypes.c_int
        self.comm = handle.from_address(MPI._addressof(COMM))
        self.library.windrow_error_message.restype = ctypes.c_char_p

    def call(self, name, *arguments):
        if getattr(self.library, name)(*arguments) != 0:
            raise RuntimeError(self.library.windrow_error_message().decode())

    def write(self, path, array, start):
        file, variable = ctypes.c_void_p(), ctypes.c_int()
        pair = ctypes.c_int64 * 2
        self.call("windrow_create", self.comm, os.fsencode(path), None, ctypes.byref(file))
        shape = pair(len(array) * COMM.size, COLUMNS)
        self.call("windrow_define_variable", file, b"x", 10, 2, shape, ctypes.byref(variable))
        self.call(
            "windrow_write_block",
            file,
            variable,
            pair(start, 0),
            pair(*array.shape),
            ctypes.c_void_p(array.ctypes.data),
        )
        self.call("windrow_close", file)

    def read(self, path, rows, start):
        file, variable = ctypes.c_void_p(), ctypes.c_int()
        pair = ctypes.c_int64 * 2
        array = np.empty((rows, COLUMNS))
        self.call("windrow_open", self.comm, os.fsencode(path), 0, None, ctypes.byref(file))
        self.call("windrow_find_variable", file, b"x", ctypes.byref(variable))
        self.call(
            "windrow_read_block",
            file,
            variable,
            pair(start, 0),
            pair(rows, COLUMNS),
            ctypes.c_void_p(array.ctypes.data),
        )
        self.call("windrow_close", file)
        return array


class H5py:
    """h5py: serial with one rank, else the driver mpio, collective."""

    ending = "h5"

    def open(self, path, mode):
        import h5py

        if COMM.size == 1:
            return h5py.File(path, mode)
        if not h5py.get_config().mpi:
            raise ImportError("h5py without MPI")
        return h5py.File(path, mode, driver="mpio", comm=COMM)

    def write(self, path, array, start):
        with self.open(path, "w") as f:
            x = f.create_dataset("x", (len(array) * COMM.size, COLUMNS), "float64")
            if COMM.size == 1:
                x[...] = array
            else:
                with x.collective:
                    x[start : start + len(array)] = array

    def read(self, path, rows, start):
        with self.open(path, "r") as f:
            if COMM.size == 1:
                return f["x"][...]
            with f["x"].collective:
                return f["x"][start : start + rows]


class NetCDF4:
    """netCDF4-python, serial"""

    ending = "nc"
    serial = True

    def write(self, path, array, start):
        import netCDF4

        with netCDF4.Dataset(path, "w") as f:
            f.createDimension("row", len(array))
            f.createDimension("column", COLUMNS)
            f.createVariable("x", "f8", ("row", "column"), fill_value=False)[:] = array

    def read(self, path, rows, start):
        import netCDF4

        with netCDF4.Dataset(path) as f:
            f.set_auto_mask(False)
            return f["x"][:]


class Zarr:
    """zarr: chunks of 4 MiB, not compressed; each rank writes its own"""

    ending = "zarr"

    def write(self, path, array, start):
        import zarr

        if COMM.rank == 0:
            zarr.open(
                str(path),
                mode="w",
                shape=(len(array) * COMM.size, COLUMNS),
                chunks=(512, COLUMNS),
                dtype="f8",
                compressor=None,
            )
        COMM.Barrier()
        zarr.open(str(path), mode="r+")[start : start + len(array)] = array

    def read(self, path, rows, start):
        import zarr

        return zarr.open(str(path), mode="r")[start : start + rows]


class Adios2:
    """adios2 of PyPI, without MPI: a BP5 file for each rank"""

    ending = "bp"

    def write(self, path, array, start):
        import adios2

        with adios2.Stream(f"{path}/{COMM.rank}.bp", "w") as s:
            s.write("x", array, list(array.shape), [0, 0], list(array.shape))

    def read(self, path, rows, start):
        import adios2

        with adios2.FileReader(f"{path}/{COMM.rank}.bp") as s:
            return s.read("x")


SYSTEMS = {
    "windrow": Windrow,
    "windrow-c": WindrowInC,
    "h5py": H5py,
    "netcdf4": NetCDF4,
    "zarr": Zarr,
    "adios2": Adios2,
}


def remove(path):
    if COMM.rank == 0:
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    COMM.Barrier()


def timed(action):
    """Seconds from the last rank's begin to the last rank's end, and what the action gave."""
    COMM.Barrier()
    begin = MPI.Wtime()
    result = action()
    COMM.Barrier()
    return COMM.allreduce(MPI.Wtime() - begin, MPI.MAX), result


def size_of(path):
    return (
        sum(part.stat().st_size for part in path.rglob("*") if part.is_file()) if path.is_dir() else path.stat().st_size
    )


def main(name, folder, mib, repetitions):
    rows = int(mib) * (1 << 20) // (8 * COLUMNS)
    start = rows * COMM.rank
    system = SYSTEMS[name]()
    if COMM.size > 1 and getattr(system, "serial", False):
        raise ImportError("serial")
    path = Path(folder, f"bench.{system.ending}")
    samples = {"write_s": [], "read_s": []}
    for repetition in range(int(repetitions) + 1):
        remove(path)
        if name == "adios2" and COMM.rank == 0:
            path.mkdir()
        COMM.Barrier()
        array = np.arange(rows * COLUMNS, dtype="f8").reshape(rows, COLUMNS) + start * COLUMNS + repetition
        write, _ = timed(lambda array=array: system.write(path, array, start))
        read, found = timed(lambda: system.read(path, rows, start))
        if not COMM.allreduce(bool(np.array_equal(found, array)), MPI.LAND):
            raise AssertionError("what was read is not what was written")
        if repetition > 0:  # the first imports, and warms up
            samples["write_s"].append(write)
            samples["read_s"].append(read)
    size = size_of(path) if COMM.rank == 0 else 0
    remove(path)
    if COMM.rank == 0:
        print(json.dumps({"system": name, "ranks": COMM.size, "bytes": size, **samples}))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except ImportError as error:
        if COMM.rank == 0:
            print(json.dumps({"system": sys.argv[1], "ranks": COMM.size, "missing": str(error)}))
