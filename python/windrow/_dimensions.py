# SPDX-License-Identifier: BSD-3-Clause
"""Checks of names of dimensions before a variable is defined, because a definition cannot be reverted."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from typing import Any

from . import _core
from ._errors import counted


def check_dims(
    core: _core.File, planned: Mapping[str, Sequence[int]], wanted: Mapping[str, Sequence[str]], growing: set[str]
) -> None:
    """Raise if the library would refuse to name dimensions.

    Parameters
    ----------
    planned : mapping of path to shape
        Variables to be defined.
    wanted : mapping of path to names
        Names of the dimensions of some of these, in the order of `in_turn`.
    growing : set of path
        Variables of `planned` that may still be shorter than others along their first dimension.
    """
    lengths: dict[str, int] = dict(core.dimensions())
    for path in in_turn(wanted):
        names = wanted[path]
        for number, (name, length) in enumerate(zip(names, planned[path])):
            if not name:
                continue
            may_be_own = number == 0 or names[0] in _own_names(path)
            found, known = _length_of(core, planned, lengths, path, name, may_be_own)
            if known is None:
                lengths[found] = length
            elif known != length and not (number == 0 and path in growing and length < known):
                raise ValueError(f"dimension {number} has length {length}; {found!r} has {known}")


def in_turn(wanted: Mapping[str, Sequence[str]]) -> list[str]:
    """Paths of variables in the order in which their dimensions are named: first the variables that have the name of
    one of their dimensions."""
    return sorted(wanted, key=lambda path: _own_names(path).isdisjoint(wanted[path]))


def _own_names(path: str) -> set[str]:
    return {path, posixpath.basename(path)}


def _length_of(
    core: _core.File,
    planned: Mapping[str, Sequence[int]],
    lengths: Mapping[str, int],
    path: str,
    name: str,
    may_be_own: bool,
) -> tuple[str, int | None]:
    """The path of a name, in the group of `path` or one above, and its length. None: there is nothing yet.

    A variable with the name of a dimension has its coordinates if that is its first dimension (`may_be_own`).
    """
    if "/" in name and not name.startswith("/"):
        raise ValueError(f"dimension {name!r}: a name must not contain a slash, and a path must begin with one")
    group = posixpath.dirname(path)
    first = posixpath.join(group, name)
    while True:
        here = posixpath.join(group, name)
        if here in lengths:
            return here, lengths[here]
        if here == path:
            return here, planned[path][0] if may_be_own else None
        shape = planned[here] if here in planned else _shape_of(core, here)
        if shape is not None:
            if len(shape) != 1:
                raise ValueError(
                    f"{here!r} cannot name a dimension: it is a variable of {counted(len(shape), 'dimension')}"
                )
            return here, shape[0]
        if group == "/" or name.startswith("/"):
            break
        group = posixpath.dirname(group)
    if core.kind(first) != _core.NOTHING:
        raise ValueError(f"{first!r} is not a dimension")
    return first, None


def _shape_of(core: _core.File, path: str) -> Sequence[int] | None:
    number = core.find_variable(path)
    found: dict[str, Any] = core.variable(number) if number >= 0 else {}
    if found.get("path") != path:  # nothing, or a soft link
        return None
    own = found["dimensions"][0] if found["dimensions"] else ""
    if own in _own_names(path):
        return list(found["shape"][:1])
    if len(found["shape"]) == 1 and own:
        raise ValueError(f"{path!r} cannot name a dimension: its own is called {own!r}")
    return list(found["shape"])
