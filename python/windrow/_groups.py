# SPDX-License-Identifier: BSD-3-Clause
"""Groups: variables and other groups by name."""

from __future__ import annotations

import posixpath
import re
import operator
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._attributes import Attributes
from ._dimensions import check_dims
from ._errors import WindrowError, attempt, passable, readable
from ._options import fill_text, filters_of, settings_of, text_of
from ._types import dtype_of, enumeration_of, fill_value_of, is_masked, prepared, type_of, unmasked
from ._variables import Variable

if TYPE_CHECKING:
    from ._files import File


# What windrow_define_variable_with() looks at; another option of a file would be passed over.
_OPTIONS = {
    "byte_order", "chunks", "element_bytes", "enumeration", "extendible", "fill_value", "filters", "null_space", "opaque_tag", "split", "split_parts",
    "text_characters", "text_in_memory", "text_padding",
}  # fmt: skip


# What h5py and netCDF4 call them.
_NAMES_ELSEWHERE = {
    "fillvalue": "fill_value=", "compression_opts": "compression_level=", "complevel": "compression_level=", "zlib": 'compression="deflate"',
    "maxshape": "extendible=True, with which the first dimension grows", "chunksizes": "chunks=", "dimensions": "dims=", "datatype": "dtype=",
}  # fmt: skip
_METHODS_ELSEWHERE = {
    "create_dataset": "create_variable", "require_dataset": "create_variable", "createVariable": "create_variable", "require_group": "create_group",
    "createGroup": "create_group", "createDimension": "create_dimension",
}  # fmt: skip


_FOREIGN = re.compile("[\udc80-\udcff]")  # bytes of names that other programs have not made of UTF-8, as os.fsdecode() has them

_Definition = tuple[str, int, list[int], dict[str, str], "list[str] | None"]  # path, type, shape, options, names of dimensions


def _check_data(data: Any, values: np.ndarray[Any, Any], extent: list[int], number: int, bytes_each: int, settings: Mapping[str, str]) -> None:
    """Raise where data cannot be written to what is to be defined, which cannot be taken back."""
    if settings.get("null_space") == "true":
        raise ValueError("a null space has no elements for data")
    shape = values.shape
    while len(shape) > len(extent) and shape[0] == 1:
        shape = shape[1:]
    fits = len(shape) <= len(extent) and all(here in (1, there) for here, there in zip(reversed(shape), reversed(extent)))
    if not fits:
        raise ValueError(f"data of {values.shape} does not fit the shape {tuple(extent)}")
    wanted = dtype_of({"type": number, "element_bytes": bytes_each})
    if is_masked(data):
        text = settings.get("fill_value")
        values = unmasked(data, None if text is None else fill_value_of(text, wanted), wanted, "data")
    if wanted.kind == "O":
        texts = np.asarray(data, object).ravel().tolist()  # as they are given: numpy makes text of numbers beside text
        if not all(isinstance(text, str) for text in texts):
            raise TypeError("data: its elements are not all str")
        passable(texts)
        return
    prepared(values if wanted.kind == "S" else np.empty(min(values.size, 1), values.dtype), wanted, "data")
    if values.size and values.dtype.kind == "c" != wanted.kind:
        raise TypeError(f"data: elements are {values.dtype}, which cannot become {wanted}")


class Group(Mapping[str, Any]):
    """A group of a file: a mapping of names to `Variable` and `Group`. A path such as ``"a/b"`` is a name, too."""

    def __init__(self, file: File, path: str) -> None:
        self._file = file
        self._path = path

    @property
    def name(self) -> str:
        """Its path, from ``/`` on."""
        return self._path

    @property
    def file(self) -> File:
        return self._file

    @property
    def attrs(self) -> Attributes:
        return Attributes(self._file, self._path)

    def __getitem__(self, name: str) -> Any:
        """The `Variable` or `Group` of this name. Soft links lead to either."""
        path = self._resolve(name)
        core = self._file._core
        number = core.find_variable(path)
        if number >= 0:
            return Variable(self._file, number)
        path = self._followed(path)
        if path == "/" or core.kind(path) == _core.GROUP:
            return Group(self._file, path)
        raise KeyError(f"{self._path} has no variable and no group {name!r}")

    if not TYPE_CHECKING:  # for which there are no such names

        def __getattr__(self, name):
            here = _METHODS_ELSEWHERE.get(name)
            said = f": here that is {here}()" if here else ""
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{said}")

        def __setitem__(self, name, value):
            there = f"[{name!r}][...] = array writes one that is there"
            raise TypeError(f"a group takes no arrays: create_variable({name!r}, data=...) defines a variable, and {there}")

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        core = self._file._core
        try:
            path = self._resolve(name)
        except ValueError:  # no object can have it
            return False
        if core.find_variable(path) >= 0:
            return True
        path = self._followed(path)
        return path == "/" or core.kind(path) == _core.GROUP

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def __bool__(self) -> bool:
        """Whether the file is open, as h5py has it; an empty group is one."""
        return self._file.is_open

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Group) and other._file is self._file and other._path == self._path

    def __hash__(self) -> int:
        return hash((id(self._file), self._path))

    @property
    def variables(self) -> dict[str, Variable]:
        """The variables of this group by name, without those of groups in it."""
        return {name: found for name, found in self.items() if isinstance(found, Variable)}

    @property
    def groups(self) -> dict[str, Group]:
        return {name: found for name, found in self.items() if isinstance(found, Group)}

    def create_group(self, name: str) -> Group:
        """Define a group, and those above it. Collective. One that exists is fine."""
        path, problem = attempt(lambda: self._resolve(name))
        self._file._core.define_group(path or "", problem)
        return Group(self._file, self._resolve(name))

    def create_dimension(self, name: str, length: int) -> None:
        """Define a dimension that no variable has the name of. Collective."""
        ready, problem = attempt(lambda: (self._resolve(name), operator.index(length)))
        self._file._core.define_dimension(*(ready or ("", 0)), problem)

    def create_link(self, name: str, target: str) -> None:
        """Define a soft link: a name that leads to another object, which need not be there. Collective."""
        ready, problem = attempt(lambda: (self._resolve(name), str(target)))
        self._file._core.define_link(*(ready or ("", "")), problem)

    def create_variable(
        self,
        name: str,
        shape: Sequence[int] | int | None = None,
        dtype: Any = None,
        *,
        data: Any = None,
        dims: Sequence[str | None] | None = None,
        chunks: Sequence[int] | bool | None = None,
        compression: str | int | None = None,
        compression_level: int | None = None,
        shuffle: bool = False,
        fletcher32: bool = False,
        fill_value: Any = None,
        extendible: bool = False,
        **options: Any,
    ) -> Variable:
        """Define a variable, and groups above it. Collective; all arguments are the same on every rank.

        Parameters
        ----------
        name : str
            A name or a path in this group.
        shape : int or sequence of int
            Empty for a scalar.
        dtype : dtype
            Integers, float16, float32, float64, bool, complex64, complex128, "S8" (text of 8 bytes), "V8" (opaque bytes), str (text of any length).
            h5py's types of text and of enumerations are these.
        data : array_like, optional
            All of the variable, the same on every rank; it gives what is missing of shape and dtype. A masked array needs a `fill_value`.
        dims : sequence of str or None, optional
            Names of the dimensions, as netCDF-4 and xarray have them.
        chunks : sequence of int or True, optional
            Shape of a chunk; True: chosen.
        compression : {"deflate", "gzip", "zstd", "lz4"} or int, optional
            An integer is a level of deflate. ``filters="blosc:zstd:5"`` has all that there is (docs/filters.md).
        compression_level : int, optional
        shuffle, fletcher32 : bool
            Whether bytes are shuffled before they are compressed, and summed up behind.
        fill_value : optional
            What elements hold that nobody has written; zeros else. Of an integer variable 3.0 is 3; of an opaque one it is bytes.
        extendible : bool
            Whether the first dimension grows as records are put behind its end.
        **options
            Other options of a variable: "byte_order", "enumeration", "split", ... (docs/settings.md).

        Raises
        ------
        WindrowError
            On every rank, if any rank's arguments are refused.
        """

        def arguments() -> _Definition:
            made = self._definition(
                name, shape, dtype, data=data, dims=dims, chunks=chunks, compression=compression, compression_level=compression_level,
                shuffle=shuffle, fletcher32=fletcher32, fill_value=fill_value, extendible=extendible, **options,
            )  # fmt: skip
            self._check_dims([made])
            return made

        ready, problem = attempt(arguments)
        path, number, extent, settings, names = ready or ("", 0, [], {}, None)
        # What ranks do afterwards is part of the call, so that none does it alone.
        call = "create_variable" + (" with dims" if names is not None else "") + (" with data" if data is not None else "")
        variable = self._file._core.define_variable(call, path, number, extent, settings, problem and f"create_variable {name!r}: {problem}")
        if names is not None:
            self._file._core.name_dimensions(variable, names, "")
        result = Variable(self._file, variable)
        if data is not None:
            result._write_all(unmasked(data, fill_value_of(settings["fill_value"], result.dtype), result.dtype, name) if is_masked(data) else data)
        return result

    def create_variables(self, definitions: Mapping[str, Mapping[str, Any]]) -> list[Variable]:
        """Define many variables with two words between the ranks, where `create_variable` takes one or two for each. Collective.

        Parameters
        ----------
        definitions : mapping of name to keyword arguments
            Those of `create_variable`, but ``data``: ``{"u": dict(shape=(8, 8), dtype="float32"), "v": ...}``. Where a variable names its dimensions, that is
            one word more.

        Returns
        -------
        list of Variable

        Raises
        ------
        WindrowError
            On every rank, if any rank's arguments are refused; then none is defined.
        """

        def one(name: str, definition: Mapping[str, Any]) -> _Definition:
            if "data" in definition:
                raise TypeError("data is written by create_variable, or afterwards")
            return self._definition(name, **definition)

        def arguments() -> list[_Definition]:
            made = []
            for name, definition in definitions.items():
                ready, problem = attempt(partial(one, name, definition))
                if ready is None:
                    raise ValueError(f"create_variables {name!r}: {problem}")
                made.append(ready)
            self._check_dims(made)
            return made

        ready, problem = attempt(arguments)
        made = ready or []
        core = self._file._core
        call = " ".join(["create_variables", *(m[0] for m in made if m[4] is not None)])  # those whose dimensions are named afterwards
        numbers = core.define_variables(call, [m[0] for m in made], [m[1] for m in made], [m[2] for m in made], [m[3] for m in made], problem)
        for number, definition in zip(numbers, made):
            if definition[4] is not None:
                core.name_dimensions(number, definition[4], "")
        return [Variable(self._file, number) for number in numbers]

    def _definition(
        self,
        name: str,
        shape: Sequence[int] | int | None = None,
        dtype: Any = None,
        *,
        data: Any = None,
        dims: Sequence[str | None] | None = None,
        chunks: Sequence[int] | bool | None = None,
        compression: str | int | None = None,
        compression_level: int | None = None,
        shuffle: bool = False,
        fletcher32: bool = False,
        fill_value: Any = None,
        extendible: bool = False,
        **options: Any,
    ) -> _Definition:
        for key in options:
            if key in _NAMES_ELSEWHERE:
                raise ValueError(f"{key} is no option of a variable; here that is {_NAMES_ELSEWHERE[key]}")
            if key not in _OPTIONS:
                raise ValueError(f"{key} is no option of a variable; there are {', '.join(sorted(_OPTIONS))}")
        values = None if data is None else np.asarray(data)
        wanted = dtype if dtype is not None or values is None else (str if values.dtype.kind == "U" else values.dtype)
        if wanted is None:
            raise TypeError("neither dtype nor data are given")
        if shape is None and values is None:
            raise TypeError("neither shape nor data are given")
        given = values.shape if shape is None and values is not None else np.atleast_1d(np.asarray(shape, object)).tolist()
        extent = [operator.index(length) for length in given]
        number, bytes_each = type_of(wanted)
        filters = filters_of(compression, compression_level, shuffle, fletcher32)
        settings = settings_of({
            "chunks": None if chunks is None else "auto" if chunks is True else text_of(chunks),
            "filters": filters,
            "fill_value": fill_text(fill_value, dtype_of({"type": number, "element_bytes": bytes_each})),
            "extendible": extendible or None,
            "element_bytes": bytes_each or None,
            "enumeration": enumeration_of(wanted),
            "byte_order": None if wanted is str or np.dtype(wanted).isnative else "little" if sys.byteorder == "big" else "big",
            **options,
        })
        if chunks is True and filters is None:
            raise ValueError("chunks=True chooses chunks for a compression; without one give their shape")
        names = None if dims is None else [name or "" for name in dims]
        if not all(isinstance(name, str) for name in names or []):
            raise TypeError("names of dimensions are str")
        if names is not None and len(names) != len(extent):
            raise ValueError(f"{len(names)} names for {len(extent)} dimensions")
        if values is not None:
            _check_data(data, values, extent, number, bytes_each, settings)
        return self._resolve(name), number, extent, settings, names

    def _check_dims(self, made: list[_Definition]) -> None:
        if self._file.mode == "r":  # refused by the library
            return
        wanted = {path: names for path, _, _, _, names in made if names is not None}
        growing = {path for path, _, _, settings, _ in made if "extendible" in settings}
        check_dims(self._file._core, {path: extent for path, _, extent, _, _ in made}, wanted, growing)

    def _resolve(self, name: str) -> str:
        if not isinstance(name, str):
            raise TypeError(f"names are str, not {type(name).__name__}")
        passable(_FOREIGN.sub("?", name))  # what is no UTF-8 can be looked for, and not made
        return "/" + posixpath.normpath(posixpath.join(self._path, name)).lstrip("/") if name else self._path

    def _followed(self, path: str) -> str:
        """Where `path` leads by soft links, on its way and at its end; as far as the library follows them."""
        links = self._file._core.links()
        for _ in range(16):
            parts = path.split("/")
            ends = (number for number in range(2, len(parts) + 1) if "/".join(parts[:number]) in links)
            end = next(ends, None)
            if end is None:
                break
            link = "/".join(parts[:end])
            target = posixpath.join(posixpath.dirname(link), links[link], *parts[end:])
            path = "/" + "/".join(part for part in target.split("/") if part not in ("", "."))  # ".." is a name in HDF5
        return path

    def _names(self) -> list[str]:
        core = self._file._core
        paths = [core.variable(number)["path"] for number in range(core.variable_count())]
        paths += [*core.groups(), *core.links()]
        above = self._path.rstrip("/") + "/"
        below = {path[len(above) :] for path in paths if path.startswith(above)}
        return sorted(name for name in below if name and "/" not in name and name in self)  # a soft link may lead to nothing

    def __repr__(self) -> str:
        try:
            return readable(f"<windrow.Group {self._path} of {self._file.path}: {', '.join(self) or 'empty'}>")
        except WindrowError:
            return readable(f"<windrow.Group {self._path} of a closed file>")
