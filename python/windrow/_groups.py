# SPDX-License-Identifier: BSD-3-Clause
"""Groups: variables and other groups by name."""

from __future__ import annotations

import operator
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from . import _core
from ._attributes import Attributes
from ._definitions import Arguments, Definition
from ._dimensions import check_dims, in_turn
from ._errors import WindrowError, attempt, passable, readable
from ._handle import Handle
from ._types import fill_value_of, is_masked, unmasked
from ._variables import Variable

_METHODS_ELSEWHERE = {
    "create_dataset": "create_variable", "require_dataset": "create_variable", "createVariable": "create_variable",
    "require_group": "create_group", "createGroup": "create_group", "createDimension": "create_dimension",
}  # fmt: skip
# Bytes of names of other programs that are not UTF-8, as in os.fsdecode()
_FOREIGN = re.compile("[\udc80-\udcff]")


class Group(Mapping[str, Any]):
    """A group of a file: a mapping of names to `Variable` and `Group`. A name may be a path such as ``"a/b"``."""

    def __init__(self, handle: Handle, path: str) -> None:
        self._handle = handle
        self._path = path

    @property
    def name(self) -> str:
        """Its path, from ``/`` on."""
        return self._path

    @property
    def file(self) -> Any:
        """The `File` of this group."""
        return self._handle.file

    @property
    def attrs(self) -> Attributes:
        return Attributes(self._handle, self._path)

    def __getitem__(self, name: str) -> Any:
        """The `Variable` or `Group` of this name. Soft links are followed."""
        path = self._resolve(name)
        core = self._handle.core
        number = core.find_variable(path)
        if number >= 0:
            return Variable(self._handle, number)
        path = self._followed(path)
        if path == "/" or core.kind(path) == _core.GROUP:
            return Group(self._handle, path)
        raise KeyError(f"{self._path} has no variable and no group {name!r}")

    if not TYPE_CHECKING:  # the library has no such names

        def __getattr__(self, name):
            here = _METHODS_ELSEWHERE.get(name)
            said = f": here that is {here}()" if here else ""
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{said}")

        def __setitem__(self, name, value):
            there = f"[{name!r}][...] = array writes one that is there"
            raise TypeError(
                f"a group takes no arrays: create_variable({name!r}, data=...) defines a variable, and {there}"
            )

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        core = self._handle.core
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
        """Whether the file is open, as in h5py; an empty group is true."""
        return self._handle.is_open

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Group) and other._handle is self._handle and other._path == self._path

    def __hash__(self) -> int:
        return hash((id(self._handle), self._path))

    @property
    def variables(self) -> dict[str, Variable]:
        """The variables of this group by name, without those of its groups."""
        return {name: found for name, found in self.items() if isinstance(found, Variable)}

    @property
    def groups(self) -> dict[str, Group]:
        return {name: found for name, found in self.items() if isinstance(found, Group)}

    def create_group(self, name: str) -> Group:
        """Define a group and its parents. Collective. An existing group is not an error."""
        path, problem = attempt(lambda: self._resolve(name))
        self._handle.core.define_group(path or "", problem)
        return Group(self._handle, self._resolve(name))

    def create_dimension(self, name: str, length: int) -> None:
        """Define a dimension. Collective. A variable of its name is its coordinates if that is the variable's first
        dimension."""
        ready, problem = attempt(lambda: (self._resolve(name), operator.index(length)))
        self._handle.core.define_dimension(*(ready or ("", 0)), problem)

    def create_link(self, name: str, target: str) -> None:
        """Define a soft link: a name that refers to another object, which need not exist. Collective."""
        ready, problem = attempt(lambda: (self._resolve(name), str(target)))
        self._handle.core.define_link(*(ready or ("", "")), problem)

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
            Integers, float16, float32, float64, bool, complex64, complex128, "S8" (text of 8 bytes), "V8" (opaque
            bytes), str (text of any length). h5py's types of text and of enumerations are these.
        data : array_like, optional
            All of the variable, the same on every rank. It determines shape and dtype if they are not given. A masked
            array needs a `fill_value`.
        dims : sequence of str or None, optional
            Names of the dimensions, as in netCDF-4 and xarray.
        chunks : sequence of int or True, optional
            Shape of a chunk; True: chosen.
        compression : {"deflate", "gzip", "zstd", "lz4"} or int, optional
            An integer is a level of deflate. ``filters="blosc:zstd:5"`` supports all filters (docs/filters.md).
        compression_level : int, optional
        shuffle, fletcher32 : bool
            Whether bytes are shuffled before compression, and have a checksum after it.
        fill_value : optional
            Value of elements that were never written; default: zeros. For an integer variable 3.0 is 3. For an opaque
            variable it is bytes.
        extendible : bool
            Whether the first dimension grows when records are put beyond its end.
        **options
            Other options of a variable: "byte_order", "enumeration", "split", ... (docs/settings.md).

        Raises
        ------
        WindrowError
            On every rank, if any rank's arguments are refused.
        """

        asked = Arguments(
            shape,
            dtype,
            data,
            dims,
            chunks,
            compression,
            compression_level,
            shuffle,
            fletcher32,
            fill_value,
            extendible,
            options,
        )

        def arguments() -> Definition:
            made = self._definition(name, asked)
            self._check_dims([made])
            return made

        ready, problem = attempt(arguments)
        made = ready or Definition()
        # The calls after the definition belong to this call, so that all ranks make them.
        call = (
            "create_variable"
            + (" with dims" if made.dims is not None else "")
            + (" with data" if data is not None else "")
        )
        variable = self._handle.core.define_variable(
            call, made.path, made.number, made.extent, made.settings, problem and f"create_variable {name!r}: {problem}"
        )
        if made.dims is not None:
            self._handle.core.name_dimensions(variable, made.dims, "")
        result = Variable(self._handle, variable)
        if data is not None:
            filled = (
                unmasked(data, fill_value_of(made.settings["fill_value"], result.dtype), result.dtype, name)
                if is_masked(data)
                else data
            )
            result._write_all(filled)
        return result

    def create_variables(self, definitions: Mapping[str, Mapping[str, Any]]) -> list[Variable]:
        """Define several variables at once. Collective. It takes two collective operations in total, instead of one or
        two for each variable.

        Parameters
        ----------
        definitions : mapping of name to keyword arguments
            Those of `create_variable` without ``data``: ``{"u": dict(shape=(8, 8), dtype="float32"), "v": ...}``. A
            variable with names of its dimensions takes one collective operation more.

        Returns
        -------
        list of Variable

        Raises
        ------
        WindrowError
            On every rank, if any rank's arguments are refused; then none is defined.
        """

        def one(name: str, definition: Mapping[str, Any]) -> Definition:
            if "data" in definition:
                raise TypeError("data is written by create_variable, or afterwards")
            return self._definition(name, Arguments.of(definition))

        def arguments() -> list[Definition]:
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
        core = self._handle.core
        # Those whose dimensions are named afterwards
        call = " ".join(["create_variables", *(each.path for each in made if each.dims is not None)])
        numbers = core.define_variables(
            call,
            [each.path for each in made],
            [each.number for each in made],
            [each.extent for each in made],
            [each.settings for each in made],
            problem,
        )
        named = {each.path: (number, each.dims) for number, each in zip(numbers, made) if each.dims is not None}
        for path in in_turn({path: dims for path, (_, dims) in named.items()}):
            core.name_dimensions(*named[path], "")
        return [Variable(self._handle, number) for number in numbers]

    def _definition(self, name: str, asked: Arguments) -> Definition:
        made = asked.definition("")
        return replace(made, path=self._resolve(name))

    def _check_dims(self, made: list[Definition]) -> None:
        if self._handle.mode == "r":  # refused by the library
            return
        wanted = {each.path: each.dims for each in made if each.dims is not None}
        growing = {each.path for each in made if each.is_extendible}
        check_dims(self._handle.core, {each.path: each.extent for each in made}, wanted, growing)

    def _resolve(self, name: str) -> str:
        if not isinstance(name, str):
            raise TypeError(f"names are str, not {type(name).__name__}")
        passable(_FOREIGN.sub("?", name))  # names that are not UTF-8 can be found but not defined
        return "/" + posixpath.normpath(posixpath.join(self._path, name)).lstrip("/") if name else self._path

    def _followed(self, path: str) -> str:
        """Target of `path` after following soft links, including its last name, as far as the library follows them."""
        links = self._handle.core.links()
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
        core = self._handle.core
        paths = [core.variable(number)["path"] for number in range(core.variable_count())]
        paths += [*core.groups(), *core.links()]
        above = self._path.rstrip("/") + "/"
        below = {path[len(above) :] for path in paths if path.startswith(above)}
        # A soft link may refer to nothing
        return sorted(name for name in below if name and "/" not in name and name in self)

    def __repr__(self) -> str:
        try:
            return readable(f"<windrow.Group {self._path} of {self._handle.path}: {', '.join(self) or 'empty'}>")
        except WindrowError:
            return readable(f"<windrow.Group {self._path} of a closed file>")
