# SPDX-License-Identifier: BSD-3-Clause
"""xarray: ``xr.open_dataset(path, engine="windrow")`` reads HDF5, netCDF classic, raw files and sets of subfiles lazily; `write` writes datasets."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from xarray.backends import BackendArray, BackendEntrypoint, CachingFileManager
from xarray.core import indexing

from ._communicators import communicator_of
from ._files import open as open_file
from ._types import REFERENCE, TEXT

if TYPE_CHECKING:
    from ._files import File
    from ._groups import Group
    from ._variables import Variable

# What netCDF keeps for itself in HDF5 files.
_BOOKKEEPING = {
    "_NCProperties", "_Netcdf4Coordinates", "_Netcdf4Dimid", "_nc3_strict", "CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST",
}  # fmt: skip
_LOCK = threading.RLock()  # one thread at a time is inside a file, and inside MPI


class _Held:
    """A file that stays open: with several ranks nobody may close and open it on one of them alone."""

    def __init__(self, file: File) -> None:
        self._file = file

    def acquire(self) -> File:
        return self._file

    def close(self) -> None:
        self._file.close()


class _LazyArray(BackendArray):
    """A variable that is read when its elements are asked for."""

    def __init__(self, manager: Any, variable: Variable) -> None:
        self._manager = manager
        self._path = variable.name
        self.shape = variable.shape
        self.dtype = variable.dtype

    def __getitem__(self, key: Any) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER, self._read)

    def _read(self, key: tuple[Any, ...]) -> Any:
        with _LOCK:
            return np.asarray(self._manager.acquire()[self._path][key])

    def __getstate__(self) -> dict[str, Any]:
        if isinstance(self._manager, _Held):
            raise TypeError("a dataset that was opened with a communicator stays on its ranks")
        return dict(self.__dict__)


class WindrowBackend(BackendEntrypoint):
    """What xarray knows as the engine "windrow"."""

    description = "Open HDF5, netCDF classic and raw files, and sets of subfiles, with Windrow"
    url = "https://github.com/windrow/windrow"
    open_dataset_parameters = (
        "filename_or_obj", "drop_variables", "mask_and_scale", "decode_times", "concat_characters", "decode_coords", "use_cftime", "decode_timedelta",
        "group", "comm", "options",
    )  # fmt: skip

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """By the name alone: other engines that are installed know more of files that anybody made."""
        return isinstance(filename_or_obj, (str, os.PathLike)) and os.path.splitext(os.fspath(filename_or_obj))[1] == ".raw"

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
        group: str = "/",
        comm: Any = None,
        options: Mapping[str, Any] | None = None,
    ) -> xr.Dataset:
        """Open one group of a file lazily.

        Parameters
        ----------
        group : str
            Which group's variables.
        comm : mpi4py.MPI.Comm, optional
            None: this process alone. Else the dataset is opened, and each of its arrays loaded, by all ranks together.
        options : mapping, optional
            Of `windrow.open`.

        The others are xarray's own.
        """
        path, more = os.path.abspath(os.fspath(filename_or_obj)), dict(options or {})
        manager: Any
        if comm is None:
            manager = CachingFileManager(open_file, path, mode="r", kwargs=more, lock=False)
        else:
            manager = _Held(open_file(path, "r", comm, **more))
        dropped = {drop_variables} if isinstance(drop_variables, str) else set(drop_variables or ())
        with _LOCK:
            found = manager.acquire()[group]
            variables = {name: _lazy(manager, variable, dims) for name, variable, dims in _with_dimensions(found) if name not in dropped}
            attributes = _attributes(found)
        dataset = xr.decode_cf(
            xr.Dataset(variables, attrs=attributes),
            mask_and_scale=mask_and_scale,
            decode_times=decode_times,
            concat_characters=concat_characters,
            decode_coords=decode_coords,
            use_cftime=use_cftime,
            decode_timedelta=decode_timedelta,
        )
        dataset.encoding["source"] = path
        dataset.set_close(manager.close)
        return dataset


def _with_dimensions(group: Group) -> Iterator[tuple[str, Variable, tuple[str, ...]]]:
    """Variables of a group with names of all their dimensions: those without get one for each length, as netCDF has them."""
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


def _lazy(manager: Any, variable: Variable, dims: tuple[str, ...]) -> xr.Variable:
    info = variable._info
    encoding: dict[str, Any] = {"original_shape": variable.shape, "filters": variable.filters}
    if variable.chunks is not None:
        encoding["chunksizes"] = variable.chunks
        encoding["preferred_chunks"] = dict(zip(dims, variable.chunks))
    if info["type"] == TEXT and info["element_bytes"] == 0:
        encoding["dtype"] = str
    data = indexing.LazilyIndexedArray(_LazyArray(manager, variable))
    return xr.Variable(dims, data, _attributes(variable), encoding)


def _attributes(owner: Group | Variable) -> dict[str, Any]:
    """Attributes as other engines have them: of one element they are that element."""

    def simple(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return value[0] if value.shape == (1,) else value.tolist() if value.dtype == object else value
        return value

    return {name: simple(value) for name, value in owner.attrs.items() if name not in _BOOKKEEPING}


def write(
    dataset: xr.Dataset,
    path: str | os.PathLike[str],
    *,
    comm: Any = None,
    dim: str | None = None,
    encoding: Mapping[str, Mapping[str, Any]] | None = None,
    mode: str = "w",
    group: str = "/",
    **options: Any,
) -> None:
    """Write a dataset. Collective over `comm`.

    Parameters
    ----------
    dataset : xarray.Dataset
        Arrays of dask are computed chunk by chunk, each by one rank.
    path : str or path
    comm : mpi4py.MPI.Comm, "world", "self" or None
    dim : str, optional
        The dimension that the ranks share: each has its part along it, which may be empty, and the parts follow each other in rank order. What has no such
        dimension is the same on all ranks. None: all of the dataset is the same on all ranks, its chunks too.
    encoding : mapping of str to mapping, optional
        For each variable what xarray encodes (``dtype``, ``scale_factor``, ``_FillValue``, ``units``) and what `Group.create_variable` takes (``chunks``,
        ``compression``, ``shuffle``); netCDF's names ``zlib``, ``complevel`` and ``chunksizes`` too.
    mode : {"w", "x", "a", "r+"}
    group : str
    **options
        Of `windrow.open`.
    """
    ranks = communicator_of(comm)
    made = {name: _storage(dict((encoding or {}).get(str(name), {}))) for name in dataset.variables}
    variables, attributes = _encoded(dataset, {name: cf for name, (cf, _) in made.items()}, dim)
    before, total = ranks.place(dataset.sizes.get(dim, 0) if dim is not None else 0)
    with open_file(path, mode, comm, **options) as file:
        target = file.create_group(group) if group.strip("/") else file
        target.attrs.update({name: value for name, value in attributes.items() if value is not None})
        # Those that name a dimension come first: a variable with coordinates must be there before its dimension is named.
        for name in sorted(variables, key=lambda name: (variables[name].dims != (name,), str(name))):
            part = (dim, before, total) if dim is not None and dim in variables[name].dims else None
            _write_variable(target, str(name), variables[name], part, made[name][1], shared=dim is not None)


def _storage(given: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What xarray encodes, and what becomes arguments of create_variable."""
    theirs = {"dtype", "_FillValue", "missing_value", "scale_factor", "add_offset", "units", "calendar", "_Unsigned"}
    ours = {key: value for key, value in given.items() if key not in theirs}
    if ours.pop("zlib", False):
        ours.setdefault("compression", "deflate")
    for name, here in (("complevel", "compression_level"), ("chunksizes", "chunks")):
        if name in ours:
            ours[here] = ours.pop(name)
    return {key: value for key, value in given.items() if key in theirs}, ours


def _encoded(dataset: xr.Dataset, encoding: Mapping[Any, Mapping[str, Any]], dim: str | None) -> tuple[dict[Any, xr.Variable], dict[Any, Any]]:
    copies = dataset.copy()
    for name, variable in copies.variables.items():
        kept = {key: variable.encoding[key] for key in ("units", "calendar", "dtype", "scale_factor", "add_offset", "_FillValue") if key in variable.encoding}
        variable.encoding = {**kept, **encoding[name]}
        if dim is not None and variable.dtype.kind in "mM" and "units" not in variable.encoding:
            # The ranks choose the same unit, whatever their part is, and one that loses nothing.
            variable.encoding["units"] = "nanoseconds since 1970-01-01" if variable.dtype.kind == "M" else "nanoseconds"
            variable.encoding["dtype"] = "int64"
    variables, attributes = xr.conventions.encode_dataset_coordinates(copies)
    encoded, attributes = xr.conventions.cf_encoder(variables, attributes)
    return dict(encoded), dict(attributes)


def _write_variable(group: Group, name: str, variable: xr.Variable, part: tuple[str, int, int] | None, storage: dict[str, Any], *, shared: bool) -> None:
    """`part` has the dimension that the ranks share, where this rank's part begins, and how long all of it is."""
    shape = list(variable.shape)
    axis, begin = None, 0
    if part is not None:
        axis, begin = variable.dims.index(part[0]), part[1]
        shape[axis] = part[2]
    is_text = variable.dtype.kind in "UO" or variable.encoding.get("dtype") is str
    fill = variable.attrs.get("_FillValue")
    target = group.create_variable(
        name, shape, str if is_text else variable.dtype, dims=[str(d) for d in variable.dims],
        fill_value=None if is_text else fill if fill is None else variable.dtype.type(fill), **storage,
    )  # fmt: skip
    for key, value in variable.attrs.items():
        if value is not None:
            target.attrs[str(key)] = variable.dtype.type(value) if key == "_FillValue" and not is_text else value
    if is_text:
        if axis is not None:
            raise TypeError(f"{name}: text of any length cannot be shared along a dimension: encode it with a dtype such as 'S16'")
        target[...] = np.asarray(variable.values, object)
    elif axis is not None:
        for offset, block in _blocks(variable):
            here = tuple(slice(o + begin * (d == axis), o + begin * (d == axis) + n) for d, (o, n) in enumerate(zip(offset, block.shape)))
            _write_together(target, here, block)
        _finish(target)
    else:
        # All of it is the same on all ranks, its chunks too: they are dealt out. Beside a shared dimension rank 0's are written.
        writers = 1 if shared else group.file.size
        group.file._core.agree(f"write of {name}" if shared else f"write of {name} in chunks of {variable.chunks}", "")
        for number, (offset, block) in enumerate(_blocks(variable)):
            if number % writers == group.file.rank:
                _write_together(target, tuple(slice(o, o + n) for o, n in zip(offset, block.shape)), block)
        _finish(target)


def _blocks(variable: xr.Variable) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Where the chunks of dask begin, and they, not yet computed; all of an array that has none."""
    chunks = variable.chunks
    if chunks is None:
        yield (0,) * variable.ndim, variable.data
        return
    begins = [np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(int).tolist() for lengths in chunks]
    for place in np.ndindex(*(len(lengths) for lengths in chunks)):
        yield tuple(begin[i] for begin, i in zip(begins, place)), variable.data.blocks[place]


def _write_together(target: Variable, here: tuple[slice, ...], block: Any) -> None:
    """Write a block while the other ranks write theirs: ranks may have different numbers of them."""
    target.file._core.any(True)
    target[here] = np.asarray(block)


def _finish(target: Variable) -> None:
    """Take part with nothing until every rank has written its blocks."""
    while target.file._core.any(False):
        target._move(True, None, np.zeros(0), "")
