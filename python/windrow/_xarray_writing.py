# SPDX-License-Identifier: BSD-3-Clause
"""Datasets of xarray that the ranks write together."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import xarray as xr
from xarray.coding import strings

from ._communicators import communicator_of
from ._errors import attempt, counted, readable
from ._files import open as open_file
from ._groups import Group
from ._variables import Variable

# The keys of xarray's encoding that convert elements to the numbers of a file.
_PACKING = ("dtype", "scale_factor", "add_offset", "_FillValue", "missing_value", "_Unsigned")


def write(
    dataset: xr.Dataset | xr.DataArray,
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

    HDF5 supports complex numbers and attributes of bool, and netCDF does not. They are written, and rank 0 warns that
    readers of netCDF do not see them.

    Parameters
    ----------
    dataset : xarray.Dataset, or xarray.DataArray with a name
        Arrays of dask are computed chunk by chunk, each by one rank.
    path : str or path
        ``~`` is the user's home.
    comm : mpi4py.MPI.Comm, "world", "self" or None
    dim : str, optional
        The dimension that is divided over the ranks. Each has a part along it, which may be empty, and the parts are in
        rank order. Variables without this dimension are the same on all ranks. None: the whole dataset is the same on
        all ranks, including its chunks.
    encoding : mapping of str to mapping, optional
        For each variable the keys of xarray (``dtype``, ``scale_factor``, ``_FillValue``, ``units``) and arguments of
        `Group.create_variable` (``chunks``, ``compression``, ``shuffle``). netCDF's names ``zlib``, ``complevel`` and
        ``chunksizes`` are also accepted.
    mode : {"w", "x", "a", "r+"}
    group : str
    **options
        Of `windrow.open`.
    """
    ranks = communicator_of(comm)

    def arguments() -> tuple[str, xr.Dataset, dict[Any, dict[str, Any]], dict[str, dict[str, Any]]]:
        given = _dataset_of(dataset)
        if dim is not None and dim not in given.dims:
            raise ValueError(
                f'dim="{dim}": the dataset has the dimensions {", ".join(map(str, given.dims)) or "of a scalar"}'
            )
        for name in encoding or {}:
            if name not in given.variables:
                raise ValueError(f'encoding of "{name}": the dataset has no such variable')
        made = {name: _storage(dict((encoding or {}).get(str(name), {}))) for name in given.variables}
        copies = _with_encoding(given, {name: cf for name, (cf, _) in made.items()})
        packing = _packing_of(copies, {name: cf for name, (cf, _) in made.items()}, dim)
        return _named(copies.variables), copies, {name: storage for name, (_, storage) in made.items()}, packing

    ready, problem = attempt(arguments)
    ranks.agree(ready[0] if ready else "write of a dataset", problem)
    assert ready is not None  # else all ranks have raised
    _, copies, storage, packing = ready
    times: dict[str, dict[str, str]] = {}
    if dim is not None:
        _pack_alike(ranks, copies, packing, dim)
        times = json.loads(ranks.first(json.dumps(_times_of(copies)) if copies.sizes[dim] else "") or "{}")

    def as_stored() -> tuple[dict[Any, xr.Variable], dict[Any, Any]]:
        variables, attributes = _encoded(copies, times)
        if ranks.rank == 0 and (unseen := _unseen(variables, attributes)):
            # Here, so that all ranks get it if a warning is an error.
            warnings.warn(
                f"readers of netCDF do not see {unseen}: netCDF has neither complex numbers nor attributes of bool",
                UserWarning,
                stacklevel=4,
            )
        return variables, attributes

    encoded, problem = attempt(as_stored)
    ranks.agree("write of a dataset" if encoded is None else _named(encoded[0], dim), problem)
    assert encoded is not None
    variables, attributes = encoded
    before, total = ranks.place(copies.sizes[dim] if dim is not None else 0)
    whole, _ = attempt(lambda: os.path.expanduser(os.fspath(path)))
    with open_file(path if whole is None else whole, mode, comm, **options) as file:
        target = file.create_group(group) if group.strip("/") else file
        target.attrs.update({name: value for name, value in attributes.items() if value is not None})
        # Coordinates first: a variable with coordinates must exist before its dimension is named.
        for name in sorted(variables, key=lambda name: (variables[name].dims != (name,), str(name))):
            part = (dim, before, total) if dim is not None and dim in variables[name].dims else None
            _write_variable(target, str(name), variables[name], part, storage[name], shared=dim is not None)


def _dataset_of(given: Any) -> xr.Dataset:
    if isinstance(given, xr.DataArray):
        if given.name is None:
            raise TypeError(
                'an xarray.DataArray without a name cannot be written: give it one, as in array.rename("temperature")'
            )
        return given.to_dataset()
    if not isinstance(given, xr.Dataset):
        raise TypeError(f"an xarray.Dataset can be written, not {type(given).__name__}")
    return given


def _storage(given: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The encoding for xarray, and the arguments of create_variable."""
    theirs = {"dtype", "_FillValue", "missing_value", "scale_factor", "add_offset", "units", "calendar", "_Unsigned"}
    ours = {key: value for key, value in given.items() if key not in theirs}
    if ours.pop("zlib", False):
        ours.setdefault("compression", "deflate")
    for name, here in (("complevel", "compression_level"), ("chunksizes", "chunks")):
        if name in ours:
            ours[here] = ours.pop(name)
    return {key: value for key, value in given.items() if key in theirs}, ours


def _with_encoding(dataset: xr.Dataset, encoding: Mapping[Any, Mapping[str, Any]]) -> xr.Dataset:
    copies = dataset.copy()
    for name, variable in copies.variables.items():
        kept = {key: variable.encoding[key] for key in ("units", "calendar", *_PACKING) if key in variable.encoding}
        variable.encoding = {**kept, **encoding[name]}
    return copies


def _packing_of(
    dataset: xr.Dataset, encoding: Mapping[Any, Mapping[str, Any]], dim: str | None
) -> dict[str, dict[str, Any]]:
    """The packing of each variable with a dimension, as text that ranks can compare, and the requested part of it."""

    def known(key: str, value: Any) -> list[Any]:
        if key == "dtype":
            return ["", "str" if value is str else np.dtype(value).str]
        plain = np.asarray(value)
        return [plain.dtype.str, plain.tolist() if plain.dtype.kind in "biuf" else str(plain.tolist())]

    packing = {}
    for name, variable in dataset.variables.items():
        if dim in variable.dims:
            how = {
                key: known(key, variable.encoding[key]) for key in _PACKING if variable.encoding.get(key) is not None
            }
            packing[str(name)] = {"how": how, "asked": [key for key in _PACKING if key in encoding[name]]}
    return packing


def _pack_alike(ranks: Any, dataset: xr.Dataset, packing: Mapping[str, Mapping[str, Any]], dim: str) -> None:
    """Collective. Variables whose parts are packed differently on different ranks are stored unpacked, because one
    packing cannot describe all parts."""
    is_empty = dataset.sizes[dim] == 0
    first = json.loads(ranks.first("" if is_empty else json.dumps(packing, sort_keys=True)) or json.dumps(packing))
    # As text, so that NaN is equal to NaN.
    differ = (
        []
        if is_empty
        else [
            name
            for name in packing
            if json.dumps(packing[name], sort_keys=True) != json.dumps(first[name], sort_keys=True)
        ]
    )
    wrong = [
        f"{name}: its encoding differs between the ranks: {key}"
        for name in differ
        for key in _PACKING
        if key in packing[name]["asked"] + first[name]["asked"]
        and packing[name]["how"].get(key) != first[name]["how"].get(key)
    ]
    ranks.agree("write of a dataset", wrong[0] if wrong else "")
    some = ranks.any(bool(differ))
    for name in sorted(packing):
        encoding = dataset.variables[name].encoding
        loses = some and ranks.any(name in differ)
        if is_empty:
            encoding.update({key: _value_of(key, *stated) for key, stated in first[name]["how"].items()})
        for key in _PACKING if loses else ():
            if key not in first[name]["asked"]:
                encoding.pop(key, None)


def _value_of(key: str, kind: str, value: Any) -> Any:
    if key == "dtype":
        return str if value == "str" else np.dtype(value)
    return np.dtype(kind).type(value) if np.ndim(value) == 0 else np.array(value, kind)


def _times_of(dataset: xr.Dataset) -> dict[str, dict[str, str]]:
    """The encoding of times by variable. xarray would choose units by this rank's first element."""
    times = {}
    for name, variable in dataset.variables.items():
        first = variable[(0,) * variable.ndim].values.item() if variable.dtype.kind == "O" and variable.size else None
        if variable.dtype.kind not in "mM" and not hasattr(first, "calendar"):
            continue
        given = {key: str(variable.encoding[key]) for key in ("units", "calendar") if key in variable.encoding}
        if hasattr(first, "calendar"):  # of cftime, which counts microseconds
            given.setdefault("calendar", first.calendar)
        exact = {"M": "nanoseconds since 1970-01-01", "m": "nanoseconds"}.get(
            variable.dtype.kind, "microseconds since 1970-01-01"
        )
        # In requested units one rank may have whole numbers and another not.
        kind = np.dtype(variable.encoding.get("dtype", "float64" if "units" in given else "int64"))
        times[str(name)] = {"units": exact, **given, "dtype": kind.str}
    return times


def _encoded(
    dataset: xr.Dataset, times: Mapping[str, Mapping[str, str]]
) -> tuple[dict[Any, xr.Variable], dict[Any, Any]]:
    """Variables and attributes as stored. `times`: the encoding of times on all ranks."""
    variables, attributes = xr.conventions.encode_dataset_coordinates(dataset)
    variables = dict(variables)
    for name, variable in variables.items():
        if (
            variable.chunks is not None
            and isinstance(variable.data._meta, np.ma.MaskedArray)
            and variable.dtype.kind in "biufc"
        ):
            variables[name] = variable = _as_gaps(variable)
        if _bytes_of(variable):
            variables[name] = _as_bytes(str(name), variable)
        how = dict(times.get(str(name), {}))
        if how and variable.size:
            variable.encoding.update(how)
        elif how:  # xarray cannot recognise times without an element
            kind = how.pop("dtype")
            variables[name] = xr.Variable(
                variable.dims, np.empty(variable.shape, kind), {**variable.attrs, **_calendar_of(how)}
            )
    encoded, attributes = xr.conventions.cf_encoder(variables, attributes)
    return dict(encoded), dict(attributes)


def _as_gaps(variable: xr.Variable) -> xr.Variable:
    """Chunks of dask with NaN for masked elements. xarray converts masked arrays of numpy like this, but ignores the
    masks of chunks."""
    dtype = (
        np.result_type(variable.dtype, np.float16 if variable.dtype.itemsize < 2 else np.float32)
        if variable.dtype.kind in "biu"
        else variable.dtype
    )

    def filled(block: Any) -> Any:
        return (
            np.where(np.ma.getmaskarray(block), dtype.type("nan"), np.ma.getdata(block).astype(dtype))
            if isinstance(block, np.ma.MaskedArray)
            else block
        )

    data = variable.data.map_blocks(filled, dtype=dtype, meta=np.empty((0,) * variable.ndim, dtype))
    return xr.Variable(variable.dims, data, variable.attrs, variable.encoding)


def _unseen(variables: Mapping[Any, xr.Variable], attributes: Mapping[Any, Any]) -> str:
    """The parts of a dataset that HDF5 supports and netCDF does not."""

    def among(values: Mapping[Any, Any]) -> list[str]:
        return [f'"{key}"' for key, value in values.items() if np.asarray(value).dtype.kind in "bc"]

    found = [f'variable "{name}"' for name, variable in variables.items() if variable.dtype.kind == "c"]
    found += [f"attribute {key}" for key in among(attributes)]
    found += [f'attribute {key} of "{name}"' for name, variable in variables.items() for key in among(variable.attrs)]
    return ", ".join(found)


def _bytes_of(variable: xr.Variable) -> int:
    """Bytes of a text by its encoding; 0: not set."""
    wanted = variable.encoding.get("dtype")
    # An empty list is an array of numbers in numpy
    is_text = variable.dtype.kind in "UO" or variable.size == 0 and variable.dtype.kind != "S"
    if not is_text or wanted is None or wanted is str or np.dtype(wanted).kind != "S":
        return 0
    return max(np.dtype(wanted).itemsize, 1)


def _as_bytes(name: str, variable: xr.Variable) -> xr.Variable:
    """Text as this many bytes of UTF-8, which xarray reads as text. One byte, as in xarray, means as many as the
    longest text needs."""
    texts = np.asarray(variable.values, object)
    if not all(isinstance(text, str) for text in texts.ravel()):
        raise TypeError(f"{name}: its encoding is of text, and it has other elements")
    encoded = np.char.encode(texts.astype(str), "utf-8")
    longest = int(np.char.str_len(encoded).max()) if encoded.size else 0
    wanted = _bytes_of(variable)
    if 1 < wanted < longest:
        raise ValueError(f"{name}: a text of {counted(longest, 'byte')} does not fit into {wanted}")
    encoding = {key: value for key, value in variable.encoding.items() if key != "dtype"}
    return xr.Variable(
        variable.dims,
        encoded.astype(f"S{wanted if wanted > 1 else max(longest, 1)}"),
        {**variable.attrs, "_Encoding": "utf-8"},
        encoding,
    )


def _calendar_of(how: Mapping[str, str]) -> dict[str, str]:
    """The attributes of encoded times; durations have no calendar."""
    return (
        {"units": how["units"], "calendar": how.get("calendar", "proleptic_gregorian")}
        if " since " in how["units"]
        else dict(how)
    )


def _named(variables: Mapping[Any, xr.Variable], dim: str | None = None) -> str:
    """A text for the agreement on what is written: each variable and its dimensions, and with `dim` its encoding."""

    def described(name: Any) -> str:
        variable = variables[name]
        kind = f" of {'text' if _is_text(variable) else variable.dtype}" if dim is not None else ""
        units = f' in "{variable.attrs["units"]}"' if dim in variable.dims and "units" in variable.attrs else ""
        return f"{name} ({', '.join(map(str, variable.dims))}){kind}{units}"

    return readable("write of " + "; ".join(described(name) for name in sorted(variables, key=str)))


def _is_text(variable: xr.Variable) -> bool:
    return variable.dtype.kind in "UO" or variable.encoding.get("dtype") is str


def _write_variable(
    group: Group,
    name: str,
    variable: xr.Variable,
    part: tuple[str, int, int] | None,
    storage: dict[str, Any],
    *,
    shared: bool,
) -> None:
    """`part`: the dimension that the ranks share, the begin of this rank's part, and the total length."""
    if variable.dtype.kind == "S" and not _is_text(variable):
        # One character per element, like xarray's own writers: netCDF-C 4.9.0 aborts when it opens a file with text of
        # fixed length.
        variable = strings.CharacterArrayCoder().encode(variable, name=name)
        if storage.get("chunks") is not None and len(storage["chunks"]) == variable.ndim - 1:
            storage = {**storage, "chunks": (*storage["chunks"], variable.shape[-1])}
    shape = list(variable.shape)
    axis, begin = None, 0
    if part is not None:
        axis, begin = variable.dims.index(part[0]), part[1]
        shape[axis] = part[2]
    is_text = _is_text(variable)
    fill = variable.attrs.get("_FillValue")
    # Without h5py's metadata of the type, which would define an enumeration; netCDF does not read these.
    dtype = variable.dtype if variable.dtype.metadata is None else np.dtype(variable.dtype.str)
    target = group.create_variable(
        name, shape, str if is_text else dtype, dims=[str(d) for d in variable.dims],
        fill_value=None if is_text else fill if fill is None else variable.dtype.type(fill), **storage,
    )  # fmt: skip
    for key, value in variable.attrs.items():
        if value is not None:
            target.attrs[str(key)] = variable.dtype.type(value) if key == "_FillValue" and not is_text else value
    if is_text:
        if axis is not None:
            raise TypeError(
                f"{name}: text of any length cannot be shared along a dimension: give it a length, as in "
                f"encoding={{'{name}': {{'dtype': 'S16'}}}}"
            )
        target[...] = np.asarray(variable.values, object)
    elif axis is not None:
        for offset, block in _blocks(variable):
            here = tuple(
                slice(o + begin * (d == axis), o + begin * (d == axis) + n)
                for d, (o, n) in enumerate(zip(offset, block.shape))
            )
            _write_together(target, here, block)
        _finish(target)
    else:
        # The data and its chunks are the same on all ranks, so the chunks are distributed. If the ranks share a
        # dimension, rank 0 writes what does not have it.
        writers = 1 if shared else group.file.size
        group.file._handle.core.agree(
            f"write of {name}" if shared else f"write of {name} in chunks of {variable.chunks}", ""
        )
        for number, (offset, block) in enumerate(_blocks(variable)):
            if number % writers == group.file.rank:
                _write_together(target, tuple(slice(o, o + n) for o, n in zip(offset, block.shape)), block)
        _finish(target)


def _blocks(variable: xr.Variable) -> Iterator[tuple[tuple[int, ...], Any]]:
    """The chunks of dask, not yet computed, with their starts; the whole array if it has none."""
    chunks = variable.chunks
    if chunks is None:
        yield (0,) * variable.ndim, variable.data
        return
    begins = [np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(int).tolist() for lengths in chunks]
    for place in np.ndindex(*(len(lengths) for lengths in chunks)):
        yield tuple(begin[i] for begin, i in zip(begins, place)), variable.data.blocks[place]


def _write_together(target: Variable, here: tuple[slice, ...], block: Any) -> None:
    """Write a block while the other ranks write theirs: ranks may have different numbers of them."""
    target.file._handle.core.any(True)
    computed = block.compute() if hasattr(block, "compute") else block
    target[here] = computed if isinstance(computed, np.ma.MaskedArray) else np.asarray(computed)


def _finish(target: Variable) -> None:
    """Make empty writes until every rank has written its blocks."""
    while target.file._handle.core.any(False):
        target._move(True, None, np.zeros(0), "")
