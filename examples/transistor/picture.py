#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A picture of a checkpoint of windrow-transistor:   picture.py FILE.h5 [PICTURE.png] [--step N]

Above a cut through the middle of the emitter with the potential, below what a line straight down through emitter,
base and collector meets. Needs h5py and matplotlib (Debian: python3-h5py python3-matplotlib).
"""

import argparse
import itertools
import sys
from pathlib import Path

try:
    import h5py
    import matplotlib
    import numpy as np
except ImportError as error:
    sys.exit(f"picture.py: {error} (Debian: python3-h5py python3-matplotlib)")
matplotlib.use("Agg")
from matplotlib import pyplot

# Slightly beside where meshes like to have planes of nodes.
CUT_Y = 5.0003  # um; the plane of the cut
LINE_X = 4.2503  # um; the line through the emitter's middle
FIELDS = ("potential", "electrons", "holes")
# Contacts in the plane of the cut, as in device.hpp: from x to x at a height z, um.
CONTACTS = {"emitter": (3.5, 5.0, 0.0), "base": (6.5, 8.3, 0.0), "collector": (0.0, 12.0, -6.0)}
INK, ELECTRONS, HOLES, DOPING, JUNCTION = "#222222", "#1f5fa8", "#c0392b", "#8a8a8a", "#ff4d3d"


def cut(
    places: np.ndarray, values: np.ndarray, cells: np.ndarray, axis: int, at: float
) -> "tuple[np.ndarray, np.ndarray, np.ndarray]":
    """The intersection of simplices with the plane `axis` = `at`: places without that axis, values there, and the
    simplices of one dimension less."""
    above = places[:, axis] > at
    cells = cells[np.isin(above[cells].sum(axis=1), range(1, cells.shape[1]))]
    corners = cells.shape[1]
    pairs = np.array(list(itertools.combinations(range(corners), 2)))
    edges = np.sort(cells[:, pairs], axis=2)  # [cell][pair][2]
    crossed = above[edges[..., 0]] != above[edges[..., 1]]
    unique, number = np.unique(edges[crossed], axis=0, return_inverse=True)
    points = np.full(crossed.shape, -1)
    points[crossed] = number.ravel()
    pieces = []
    for cell_edges, cell_points in ((crossed[i], points[i]) for i in range(len(cells))):
        met = cell_points[cell_edges]
        # Four edges of a tetrahedron, in the order of `pairs`: the first and the last have no corner in common.
        pieces.extend([met] if len(met) < 4 else [met[[0, 1, 2]], met[[1, 2, 3]]])
    first, second = places[unique[:, 0]], places[unique[:, 1]]
    share = ((at - first[:, axis]) / (second[:, axis] - first[:, axis]))[:, None]
    between = np.delete(first + share * (second - first), axis, axis=1)
    return between, values[unique[:, 0]] + share * (values[unique[:, 1]] - values[unique[:, 0]]), np.array(pieces)


def draw_cut(axes: "pyplot.Axes", places: np.ndarray, values: np.ndarray, triangles: np.ndarray) -> None:
    potential, doping = values[:, 0], values[:, 3]
    colors = axes.tricontourf(*places.T, triangles, potential, levels=48, cmap="viridis", antialiased=False)
    axes.tricontour(
        *places.T,
        triangles,
        potential,
        levels=np.linspace(potential.min(), potential.max(), 14)[1:-1],
        colors="white",
        linewidths=0.6,
        linestyles="solid",
        alpha=0.8,
    )
    axes.tricontour(
        *places.T,
        triangles,
        np.sign(doping) * np.log1p(np.abs(doping) / 1e10),
        levels=[0],
        colors=JUNCTION,
        linewidths=1.6,
        linestyles="dashed",
    )
    for name, (begin, end, height) in CONTACTS.items():
        axes.plot([begin, end], [height, height], color=INK, linewidth=6, solid_capstyle="butt", clip_on=False)
        up = height > -1
        axes.annotate(
            name,
            ((begin + end) / 2, height),
            xytext=(0, 7 if up else 9),
            textcoords="offset points",
            ha="center",
            va="bottom",
            color=INK,
            fontsize=10,
            annotation_clip=False,
        )
    axes.axvline(LINE_X, color="white", linewidth=1, linestyle=":")
    axes.set(aspect="equal", xlabel="x (µm)", ylabel="z (µm)", xlim=(0, 12), ylim=(-6, 0))
    bar = axes.figure.colorbar(colors, ax=axes, pad=0.02, fraction=0.026, ticks=matplotlib.ticker.MaxNLocator(7))
    bar.set_label("potential (V)")
    axes.text(
        0.99,
        0.10,
        "dashed: junctions, where donors and acceptors are equal",
        transform=axes.transAxes,
        ha="right",
        color=INK,
        fontsize=8.5,
    )


def shade(axes: "pyplot.Axes", depth: np.ndarray, doping: np.ndarray) -> None:
    """Names the regions between the junctions, and marks those."""
    places = [depth[0], *((depth[i] + depth[i + 1]) / 2 for i in np.flatnonzero(np.diff(np.sign(doping)))), depth[-1]]
    for i, name in enumerate(("emitter n", "base p", "collector n")[: len(places) - 1]):
        if i > 0:
            axes.axvline(places[i], color=JUNCTION, linewidth=1, linestyle="--")
        axes.text(
            (places[i] + places[i + 1]) / 2,
            1.02,
            name,
            transform=axes.get_xaxis_transform(),
            ha="center",
            fontsize=9,
            color=INK,
        )
    axes.set(xlabel="depth (µm)", xlim=(depth[0], depth[-1]))
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)


def draw_line(left: "pyplot.Axes", right: "pyplot.Axes", depth: np.ndarray, values: np.ndarray) -> None:
    potential, electrons, holes, doping = values.T
    electrons, holes = np.exp(electrons), np.exp(holes)
    left.plot(depth, potential, color=INK, linewidth=1.8)
    left.set_ylabel("potential (V)")
    right.semilogy(depth, electrons, color=ELECTRONS, linewidth=1.8, label="electrons")
    right.semilogy(depth, holes, color=HOLES, linewidth=1.8, label="holes")
    right.semilogy(depth, np.abs(doping), color=DOPING, linewidth=1.4, linestyle="-.", label="|donors - acceptors|")
    right.set(ylabel="density (cm⁻³)", ylim=(1e0, 1e20))
    right.legend(loc="upper right", fontsize=8.5, framealpha=0.9)
    for axes in (left, right):
        shade(axes, depth, doping)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("picture", type=Path, nargs="?", help="else the file's name with .png")
    parser.add_argument("--step", type=int, help="else the last")
    arguments = parser.parse_args()
    with h5py.File(arguments.file) as file:
        step = file.attrs["last_step"] if arguments.step is None else arguments.step
        places, cells = file["mesh/coordinates"][()], file["mesh/tetrahedra"][()]
        potential, electrons, holes = (file[f"step {step}/{name}"][()] for name in FIELDS)
        # The potential is linear in an element: so are the logarithms of the densities.
        values = np.stack(
            [potential, *(np.log(np.maximum(each, 1e-99)) for each in (electrons, holes)), file["mesh/doping"][()]],
            axis=1,
        )
        voltages, residual = file.attrs["voltages"], file[f"step {step}"].attrs["residual"]
    plane, on_plane, triangles = cut(places, values, cells, 1, CUT_Y)
    line, on_line, _ = cut(plane, on_plane, triangles, 0, LINE_X)
    order = np.argsort(-line[:, 0])

    figure = pyplot.figure(figsize=(10, 8.6), layout="constrained")
    grid = figure.add_gridspec(2, 2, height_ratios=[1.35, 1])
    draw_cut(figure.add_subplot(grid[0, :]), plane, on_plane, triangles)
    draw_line(figure.add_subplot(grid[1, 0]), figure.add_subplot(grid[1, 1]), -line[order, 0], on_line[order])
    figure.suptitle(
        f"Bipolar transistor: potential at y = {CUT_Y:.0f} µm, profile at x = {LINE_X:.2f} µm (dotted)\n"
        f"{len(places)} nodes, base {voltages[1]:g} V, collector {voltages[2]:g} V, Newton step {step}, residual "
        f"{residual:.0e}",
        fontsize=11,
    )
    output = arguments.picture or arguments.file.with_suffix(".png")
    figure.savefig(output, dpi=110)
    print(f"{output}")


if __name__ == "__main__":
    main()
