# SPDX-License-Identifier: BSD-3-Clause
"""The engine "windrow" of xarray: variables of a file that are read on demand."""

from __future__ import annotations

import errno
import os
import posixpath
import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from xarray.backends import BackendArray, BackendEntrypoint, CachingFileManager
from xarray.core import indexing

from ._communicators import communicator_of
from ._errors import WindrowError, attempt
from ._files import open as open_file
from ._groups import Group
from ._types import REFERENCE, TEXT, fill_value_of
from ._variables import Variable

if TYPE_CHECKING:
    from ._files import File

# Internal attributes of netCDF in HDF5 files.
_BOOKKEEPING = {
    "_NCProperties", "_Netcdf4Coordinates", "_Netcdf4Dimid", "_nc3_strict", "CLASS", "NAME", "DIMENSION_LIST",
    "REFERENCE_LIST",
}  # fmt: skip
# netCDF-C's values of elements that were never written, by type.
_FILL_VALUES = {
    "int8": -127, "uint8": 255, "int16": -32767, "uint16": 65535, "int32": -2147483647, "uint32": 4294967295,
    "int64": -9223372036854775806, "uint64": 18446744073709551614, "float32": 9.9692099683868690e36,
    "float64": 9.9692099683868690e36,
}  # fmt: skip
_LOCK = threading.RLock()  # one thread at a time uses files and MPI


class _LazyArray(BackendArray):
    """A variable that is read on demand. It is extended to `shape` by its fill value."""

    def __init__(self, manager: Any, variable: Variable, shape: tuple[int, ...]) -> None:
        self._manager = manager
        self._path = variable.name
        self._stored = variable.shape
        self._fill_value = _fill_value_of(variable) if shape != variable.shape else None
        self.shape = shape
        self.dtype = variable.dtype

    def __getitem__(self, key: Any) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER, self._read)

    def _read(self, key: tuple[Any, ...]) -> Any:
        if self.shape == self._stored:
            return self._read_stored(key)
        wanted = [np.arange(length)[part] for part, length in zip(key, self.shape)]
        there = [np.asarray(indices < stored) for indices, stored in zip(wanted, self._stored)]
        found = np.full([length for indices in wanted for length in indices.shape], self._fill_value, self.dtype)
        if all(flags.any() for flags in there):
            kept = tuple(indices[flags] if indices.ndim else int(indices) for indices, flags in zip(wanted, there))
            found[np.ix_(*(np.flatnonzero(flags) for flags in there if flags.ndim))] = self._read_stored(kept)
        return found

    def _read_stored(self, key: tuple[Any, ...]) -> Any:
        with _LOCK:
            return np.asarray(self._manager.acquire()[self._path][key])


def _fill_value_of(variable: Variable) -> Any:
    """The value of the elements after the end of a variable that is shorter than others along its dimension."""
    info, dtype = variable._info, variable.dtype
    if dtype.kind in "OSV":
        return "" if dtype.kind == "O" else np.zeros((), dtype)[()]
    given: Any = variable.attrs.get("_FillValue")
    if (
        np.size(given) == 1
        and np.asarray(given).dtype.kind in "biufc"
        and (dtype.kind in "fc" or np.isfinite(given).all())
    ):
        return np.asarray(given).ravel()[0]
    if info["fill_value"]:
        return fill_value_of(info["fill_value"], dtype)
    return False if dtype.kind == "b" else _FILL_VALUES.get(dtype.name, np.nan)


class WindrowBackend(BackendEntrypoint):
    """The engine "windrow" of xarray."""

    description = "Open HDF5, netCDF classic and raw files, and sets of subfiles, with Windrow"
    url = "https://github.com/windrow/windrow"
    open_dataset_parameters = (
        "filename_or_obj", "drop_variables", "mask_and_scale", "decode_times", "concat_characters", "decode_coords",
        "use_cftime", "decode_timedelta", "group", "comm", "options",
    )  # fmt: skip

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """By the name alone, because other installed engines may support more files."""
        return (
            isinstance(filename_or_obj, (str, os.PathLike))
            and os.path.splitext(os.fspath(filename_or_obj))[1].lower() == ".raw"
        )

    def open_dataset(  # type: ignore[override]  # as xarray's own engines do
        self,
        filename_or_obj: Any,
        *,
        drop_variables: str | Iterable[str] | None = None,
        mask_and_scale: bool = True,
        decode_times: bool = True,
        concat_characters: bool = True,
        decode_coords: bool = True,
        use_cftime: bool | None = None,
        decode_timedelta: bool | None = None,
        group: str | None = "/",
        comm: Any = None,
        options: Mapping[str, Any] | None = None,
    ) -> xr.Dataset:
        """Open one group of a file lazily.

        Parameters
        ----------
        filename_or_obj : str or path
            ``~`` is the user's home. Open files and URLs are not supported.
        group : str
            The group whose variables are opened. OSError: there is none.
        comm : mpi4py.MPI.Comm, optional
            All ranks open the dataset, or all raise the error of one of them. Afterwards each rank reads independently,
            because the order of reads of xarray and dask differs between ranks. `windrow.open` reads collectively.
        options : mapping, optional
            Of `windrow.open`.

        The other parameters are xarray's own.
        """

        def alone() -> xr.Dataset:
            manager, dataset = _opened(filename_or_obj, group, drop_variables, options)
            try:
                decoded = xr.decode_cf(
                    dataset,
                    mask_and_scale=mask_and_scale,
                    decode_times=decode_times,
                    concat_characters=concat_characters,
                    decode_coords=decode_coords,
                    use_cftime=use_cftime,
                    decode_timedelta=decode_timedelta,
                )
            except BaseException:
                manager.close()
                raise
            decoded.encoding["source"] = _whole_path(filename_or_obj)
            decoded.set_close(manager.close)
            return decoded

        if comm is None:
            return alone()
        ranks = communicator_of(comm)
        found, problem = attempt(alone)
        try:
            ranks.agree("open_dataset", problem)
        except BaseException:
            if found is not None:
                found.close()
            raise
        assert found is not None  # else all ranks have raised
        return found


def _opened(
    file: Any, group: str | None, drop_variables: str | Iterable[str] | None, options: Mapping[str, Any] | None
) -> tuple[CachingFileManager, xr.Dataset]:
    """A file that this process opened alone, and one of its groups as stored."""
    path = _whole_path(file)
    manager = CachingFileManager(open_file, path, mode="r", kwargs=dict(options or {}), lock=False)
    dropped = {drop_variables} if isinstance(drop_variables, str) else set(drop_variables or ())
    try:
        with _LOCK:
            found = _group_of(manager.acquire(), group)
            lengths = _Lengths(found.file)
            keeps_order = not _is_classic(path)
            variables = {
                name: _lazy(manager, variable, dims, lengths, keeps_order)
                for name, variable, dims in _with_dimensions(found)
                if name not in dropped
            }
            dataset = xr.Dataset(variables, attrs=_attributes(found))
            dataset.encoding["unlimited_dims"] = lengths.unlimited(found)
            return manager, dataset
    except BaseException as error:
        manager.close()
        if isinstance(error, WindrowError) and not os.path.exists(path):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path) from error
        raise


def _whole_path(file: Any) -> str:
    """A path, with ~ expanded as in xarray's own engines."""
    if not isinstance(file, (str, bytes, os.PathLike)):
        raise TypeError(
            f'engine="windrow" opens a file by its path, not by an object of {type(file).__name__}: its ranks open '
            "it, and subfiles lie beside it"
        )
    return os.path.abspath(os.path.expanduser(os.fsdecode(file)))


def _group_of(file: File, name: str | None) -> Group:
    """A group of a file. Raises OSError like other engines."""
    path = name or "/"
    if path not in file:
        raise OSError(f'group not found: {file.path} has no "{path}"')
    found = file[path]
    if isinstance(found, Variable):
        raise OSError(f'group not found: "{path}" of {file.path} is a variable')
    assert isinstance(found, Group)
    return found


def _is_classic(path: str) -> bool:
    """Whether a file is netCDF classic, in which all numbers are big-endian."""
    with open(path, "rb") as file:
        return file.read(3) == b"CDF"


def _with_dimensions(group: Group) -> Iterator[tuple[str, Variable, tuple[str, ...]]]:
    """Variables of a group with names for all their dimensions. Those without a name get one for each length, as in
    netCDF."""
    made: list[tuple[str, int]] = []
    for name, variable in group.variables.items():
        info = variable._info
        if info["type"] in (0, REFERENCE) or info["is_null"]:
            continue
        names: list[str] = []
        for given, length in zip(variable.dims, variable.shape):
            called = given.rsplit("/", 1)[-1]
            if not called:
                called = next((old for old, size in made if size == length and old not in names), "")
            if not called:
                called = f"phony_dim_{len(made)}"
                made.append((called, length))
            names.append(called)
        yield name, variable, tuple(names)


class _Lengths:
    """The lengths of the dimensions of a file's variables as in netCDF: along a dimension that grows, all variables are
    as long as the longest."""

    def __init__(self, file: File) -> None:
        infos = [file._handle.core.variable(number) for number in range(file._handle.core.variable_count())]
        known = set(file.dimensions) | {info["path"] for info in infos if len(info["shape"]) == 1}
        having: dict[str, list[tuple[int, bool, bool]]] = {}
        self._dimensions = {
            info["path"]: [_path_of(name, info["path"], known) for name in info["dimensions"]] for info in infos
        }
        for info in infos:
            # Chunks of such texts are not reported
            could_grow = info["chunks"] is not None or (info["type"] == TEXT and info["element_bytes"] == 0)
            for axis, (path, length) in enumerate(zip(self._dimensions[info["path"]], info["shape"])):
                having.setdefault(path, []).append((length, info["extendible"] and axis == 0, could_grow))
        # Growth of another dimension than the first is not reported. Then all variables with it are chunked, and
        # their lengths may differ.
        self._longest = {
            path: max(length for length, _, _ in found)
            for path, found in having.items()
            if path and (any(grows for _, grows, _ in found) or all(could_grow for _, _, could_grow in found))
        }

        fixed = {info["path"] for info in infos if not info["extendible"]}
        self._unlimited = {
            path
            for path in self._longest
            if path not in fixed
            and (any(grows for _, grows, _ in having[path]) or len({length for length, _, _ in having[path]}) > 1)
        }

    def unlimited(self, group: Group) -> set[str]:
        """Names of the dimensions of a group that grow."""
        return {posixpath.basename(path) for path in self._unlimited if posixpath.dirname(path) == group.name}

    def of(self, variable: Variable) -> tuple[int, ...]:
        """The shape of a variable."""
        return tuple(
            self._longest.get(path, length) for path, length in zip(self._dimensions[variable.name], variable.shape)
        )


def _path_of(dimension: str, variable: str, known: set[str]) -> str:
    """The path of a dimension of a variable, which is in its group or in one above; "": none."""
    group = posixpath.dirname(variable)
    while group != "/" and posixpath.join(group, dimension) not in known:
        group = posixpath.dirname(group)
    return posixpath.join(group, dimension) if dimension else ""


def _lazy(manager: Any, variable: Variable, dims: tuple[str, ...], lengths: _Lengths, keeps_order: bool) -> xr.Variable:
    info = variable._info
    shape = lengths.of(variable)
    encoding: dict[str, Any] = {"original_shape": shape, "filters": variable.filters}
    if variable.chunks is not None:
        encoding["chunksizes"] = variable.chunks
        encoding["preferred_chunks"] = dict(zip(dims, variable.chunks))
    if info["type"] == TEXT and info["element_bytes"] == 0:
        encoding["dtype"] = str
    elif info["big_endian"] and keeps_order:
        encoding["dtype"] = variable.dtype.newbyteorder(">")
    data = indexing.LazilyIndexedArray(_LazyArray(manager, variable, shape))
    return xr.Variable(dims, data, _attributes(variable), encoding)


def _attributes(owner: Group | Variable) -> dict[str, Any]:
    """Attributes as in other engines: a single element is a scalar."""

    def simple(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return value[0] if value.shape == (1,) else value.tolist() if value.dtype == object else value
        return value

    return {name: simple(value) for name, value in owner.attrs.items() if name not in _BOOKKEEPING}
