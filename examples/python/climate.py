# SPDX-License-Identifier: BSD-3-Clause
"""A climate code's history file: fields on a grid of latitudes and longitudes, one record a time step, with
coordinates, units and fill values. The name says the format: history.nc is netCDF classic, history.h5 is HDF5 as
netCDF-4 has it.   mpirun -n 4 python climate.py [FILE]"""

import sys

import numpy as np
from mpi4py import MPI

import windrow

LATITUDES, LONGITUDES, STEPS = 19, 36, 3
comm = MPI.COMM_WORLD


def field_at(step, rows):
    """This rank's latitudes of one step."""
    y = np.arange(rows.first_row, rows.first_row + rows.row_count)[:, None]
    return (250 + step + 0.5 * y + 0.125 * np.arange(LONGITUDES)).astype("float32")


def put_step(f, step, rows, everywhere):
    f.put("time", np.float64(step), everywhere, record=step)
    f.put("temperature", field_at(step, rows), rows, record=step)  # any number of variables


def create_history(path, rows, everywhere):
    with windrow.open(path, "w", comm=comm) as f:
        lat = f.create_variable("lat", (LATITUDES,), "float64", dims=("lat",))
        lon = f.create_variable("lon", (LONGITUDES,), "float64", dims=("lon",))
        time = f.create_variable("time", (0,), "float64", dims=("time",), extendible=True)  # the unlimited dimension
        temperature = f.create_variable(
            "temperature",
            (0, LATITUDES, LONGITUDES),
            "float32",
            dims=("time", "lat", "lon"),
            extendible=True,
            fill_value=1e20,
        )  # lat and lon are its coordinates; the fill value becomes _FillValue
        f.attrs["Conventions"] = "CF-1.8"
        time.attrs["units"] = "days since 2000-01-01"
        temperature.attrs["units"] = "K"
        f.put(lat, -90 + 10.0 * np.arange(LATITUDES), everywhere)
        f.put(lon, 10.0 * np.arange(LONGITUDES), everywhere)
        for step in range(STEPS):
            put_step(f, step, rows, everywhere)
            f.flush()  # in one exchange


def append_step(path, rows, everywhere):
    """A later job opens the file and appends its records."""
    with windrow.open(path, "r+", comm=comm) as f:
        put_step(f, len(f["time"]), rows, everywhere)


def main(path):
    rows = windrow.rows(comm, LATITUDES)  # made once, for all variables and steps
    everywhere = windrow.same(comm)
    create_history(path, rows, everywhere)
    append_step(path, rows, everywhere)

    with windrow.open(path, comm=comm) as f:
        steps = [f.get("temperature", rows, record=step) for step in range(STEPS + 1)]
        f.flush()
        days = f["time"][...].tolist()
    wrong = comm.allreduce(
        sum(int((found != field_at(step, rows)).sum()) for step, found in enumerate(steps)) + (days != [0, 1, 2, 3])
    )
    if comm.rank == 0:
        print(f"climate: wrote and read {path} on {comm.size} ranks, {wrong} values differ")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "history.nc"))
