# SPDX-License-Identifier: BSD-3-Clause
"""Plans and reports, as text, as tables in a notebook, and as pictures."""

from __future__ import annotations

import json
from html import escape
from io import BytesIO
from typing import Any


class _Account:
    """A text for users, and the same data for programs."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text.rstrip("\n")

    def _tables(self) -> list[dict[str, Any]]:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return (
            "".join(_table(rows) for rows in self._tables())
            + f"<details><summary>as text</summary><pre>{escape(self._text)}</pre></details>"
        )


class Plan(_Account):
    """The plan of a flush: the choice on each axis and its reason. Made by ``File.explain()``.

    Attributes
    ----------
    plans : list of dict
        One for each direction and kind of variable: "direction", "strategy", "owner", "gather", "domains", "codec",
        "access", "files", "reasons", ...
    """

    def __init__(self, text: str, data: str) -> None:
        super().__init__(text)
        found = json.loads(data)
        self.plans: list[dict[str, Any]] = found if isinstance(found, list) else [found]

    def _tables(self) -> list[dict[str, Any]]:
        return self.plans


class Picture:
    """The result of ``Report.plot``. A notebook shows it with any backend of matplotlib.

    Attributes
    ----------
    axes : matplotlib.axes.Axes
    figure : matplotlib.figure.Figure
    """

    def __init__(self, axes: Any) -> None:
        self.axes = axes
        self.figure = axes.figure

    def save(self, path: Any) -> None:
        """Write it to a file, in the format of its name."""
        self.figure.savefig(path)

    def _repr_png_(self) -> bytes:
        data = BytesIO()
        self.figure.savefig(data, format="png")
        return data.getvalue()


class Report(_Account):
    """What the last flush did. Made by ``File.report()``. ``report["bytes"]`` is one of its numbers, and
    ``report.data`` has all of them."""

    def __init__(self, text: str, data: str) -> None:
        super().__init__(text)
        self.data: dict[str, Any] = json.loads(data)

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    def _tables(self) -> list[dict[str, Any]]:
        return [self.data]

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds by stage, of the slowest rank."""
        return {stage: float(seconds) for stage, seconds in self.data.get("seconds", {}).items()}

    def plot(self, axes: Any = None) -> Picture:
        """Draw the seconds of each stage with matplotlib, into the given axes or into new ones."""
        if axes is None:
            from matplotlib.figure import Figure

            axes = Figure(figsize=(7, 3), layout="constrained").subplots()
        stages = self.seconds
        axes.barh(list(stages), list(stages.values()))
        axes.invert_yaxis()
        axes.set_xlabel("seconds")
        return Picture(axes)


class Advice(_Account):
    """What ``auto`` would choose for the flushes of a trace. Made by `windrow.advise`. ``advice.data`` is for
    programs."""

    def __init__(self, text: str, data: str) -> None:
        super().__init__(text)
        self.data: Any = json.loads(data)

    def _tables(self) -> list[dict[str, Any]]:
        return self.data if isinstance(self.data, list) else [self.data]


def _table(rows: dict[str, Any]) -> str:
    cells = (
        f"<tr><th style='text-align:left'>{escape(key.replace('_', ' '))}</th><td>{_html(value)}</td></tr>"
        for key, value in rows.items()
    )
    return f"<table>{''.join(cells)}</table>"


def _html(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{escape(str(key))}: {_html(part)}" for key, part in value.items())
    if isinstance(value, list):
        return "<br>".join(_html(part) for part in value)
    return escape(f"{value:.6g}" if isinstance(value, float) else str(value))
