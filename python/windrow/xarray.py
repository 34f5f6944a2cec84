# SPDX-License-Identifier: BSD-3-Clause
"""xarray: ``xr.open_dataset(path, engine="windrow")`` reads HDF5, netCDF classic, raw files and sets of subfiles
lazily; `write` writes datasets."""

from ._xarray_reading import WindrowBackend
from ._xarray_writing import write

__all__ = ["WindrowBackend", "write"]
