# SPDX-License-Identifier: BSD-3-Clause
"""Files that scenarios read: the mesh, by gmsh and windrow-mesh, and the decomposition map. Made once."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

from . import box


# Suffixes of a mesh's name, and how its nodes are numbered.
GENERATOR = {"": "generator"}
ALL = GENERATOR | {"-cm": "cuthill-mckee", "-random": "random"}


class InputMissing(Exception):
    """Why a scenario cannot run here."""


def _run(command: list[str], folder: Path) -> None:
    try:
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except OSError as error:
        raise InputMissing(f"{command[0]}: {error.strerror}") from error
    if run.returncode != 0:
        raise InputMissing(f"{command[0]}: {(run.stderr or run.stdout).strip()[-200:]}")


def _part(build: Path, mesh: Path, ranks: int, numberings: dict[str, str]) -> Path:
    """The prefix of the mesh's parts files for so many ranks, by suffix and numbering."""
    for suffix, numbering in numberings.items():
        parts = mesh.with_name(f"{mesh.stem}{suffix}.{ranks}.parts")
        if not parts.exists() or parts.stat().st_mtime < mesh.stat().st_mtime:
            tool = str((build / "bin" / "windrow-mesh").resolve())
            _run([tool, mesh.name, mesh.stem + suffix, "--parts", str(ranks), "--numbering", numbering], mesh.parent)
    return mesh.with_suffix("")


def mesh_prefix(build: Path, root: Path, ranks: int, nodes: int | None = None) -> Path:
    """The prefix of the mesh's parts files for so many ranks, in all numberings; of the example's mesh, or of a box
    of so many nodes."""
    if nodes is not None:
        return box_prefix(build, nodes, ranks, ALL)
    folder = build / "bench" / "mesh"
    folder.mkdir(parents=True, exist_ok=True)
    geometry = root / "examples" / "mesh" / "transistor.geo"
    mesh = folder / "transistor.msh"
    if not mesh.exists() or mesh.stat().st_mtime < geometry.stat().st_mtime:
        _run(["gmsh", "-3", str(geometry), "-o", "new.msh", "-v", "2"], folder)
        (folder / "new.msh").rename(mesh)
    return _part(build, mesh, ranks, ALL)


def map_prefix(build: Path, source: Path | None) -> Path:
    """The prefix of the map's parts files."""
    if source is None:
        raise InputMissing("give a decomposition map by --map FILE (Parallel-NetCDF/E3SM-IO, datasets/)")
    if not source.exists():
        raise InputMissing(f'there is no "{source}"')
    folder = build / "bench" / "maps"
    folder.mkdir(parents=True, exist_ok=True)
    prefix = folder / source.stem
    for stale in folder.glob(f"{source.stem}.D*.parts"):
        stale.unlink()
    _run([str((build / "bin" / "bench-maps").resolve()), str(source.resolve()), prefix.name], folder)
    return prefix


def map_ranks(prefix: Path) -> int:
    """How many ranks a map is for: the header's third number (examples/mesh/parts.hpp)."""
    header = Path(f"{prefix}.D1.parts").read_bytes()[:24]
    return int(struct.unpack("<8sqq", header)[2])


def box_prefix(build: Path, nodes: int, ranks: int, numberings: dict[str, str] = GENERATOR) -> Path:
    """The prefix of the parts files of a box mesh of so many nodes for so many ranks."""
    folder = build / "bench" / "mesh"
    folder.mkdir(parents=True, exist_ok=True)
    mesh, source = folder / f"box-{nodes}.msh", Path(box.__file__)
    if not mesh.exists() or mesh.stat().st_mtime < source.stat().st_mtime:
        box.write_msh(folder / "new.msh", nodes)
        (folder / "new.msh").rename(mesh)
    return _part(build, mesh, ranks, numberings)
