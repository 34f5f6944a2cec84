# SPDX-License-Identifier: BSD-3-Clause
"""Scenarios, systems, and the variants of a system, the best of which counts."""

from __future__ import annotations

from dataclasses import dataclass, replace

SCENARIOS = (
    "grid-64",
    "grid-128",
    "mesh-1",
    "mesh-100",
    "mesh-500",
    "mesh-1-cm",
    "mesh-100-cm",
    "mesh-500-cm",
    "mesh-1-float32",
    "mesh-1-cm-float32",
    "mesh-1-random-float32",
    "mesh-100-float32",
    "mesh-100-random-float32",
    "e3sm",
    "flash",
    "s3d",
    "points",
    "scorpio",
    "scorpio-rows",
    "scorpio-blocks",
    "compressed",
    "subfiling-64",
    "subfiling-128",
    "subfiling-flash",
    "subfiling-s3d",
)
# Only when asked for: a mesh numbered by Cuthill and McKee, by each technique and owner of the paper on BIPS3D.
OWNER_SCENARIOS = ("owners-1", "owners-10", "owners-100", "owners-500")
QUICK_SCENARIOS = ("grid-64", "mesh-1", "mesh-100", "e3sm", "s3d")
STRATEGIES = ("auto", "auto:raw", "two-phase", "scorpio", "list", "idg", "tpc", "ylib", "bips3d-tree")

COMPONENTS = ("romio321", "ompio")
LIMIT = "limit"
URING = "limit io_uring"  # a question put to the machine, not the limit
FLOOR = "floor, no library"  # what the ranks themselves can do: neither the limit nor a peer
FILES = "file per process"
OWN_HDF5 = "hdf5 file per process"
AUTO = "windrow auto"
UNCHANGED = "unchanged "  # before the row of the peer
# As bench-floor calls them, and their signs in the table.
FLOORS = {
    "direct": "d",
    "raked-256-16-1": "q",
    "raked-1024-8-1": "1",
    "raked-1024-8-2": "2",
    "any-256-16": "a",
    "any-1024-2": "b",
    "mapped": "m",
}


@dataclass(frozen=True)
class Variant:
    """One way of one system: a row's candidate."""

    row: str  # as the table calls it
    program: str  # bench-PROGRAM
    system: str  # what the program calls it
    io: str = ""  # Open MPI's io component, where there is a choice
    ranks: int = 0  # the same at every number of ranks of the cell; 0: the cell's
    unchanged: bool = False  # the peer's program with libwindrow-mpiio.so

    @property
    def name(self) -> str:
        alone = f"{self.ranks}-rank" if self.ranks else ""
        unchanged = "unchanged" if self.unchanged else ""
        return "/".join(part for part in (self.program, self.system, self.io, alone, unchanged) if part)

    @property
    def mark(self) -> str:
        """A short sign for the table; README.md explains it."""
        letters = {"ompio": "o", "romio321": "r"}.get(self.io, "")
        if self.program == "mpiio":
            letters += "s" if "subarray" in self.system else "i"
            letters += "n" if self.system.endswith("-nosieve") else ""
        if self.program == "floor":
            letters = FLOORS[self.system]
        if self.program == "limit":
            letters = self.system.split("-", 1)[1]
        return letters


def find(known: dict[str, Variant], name: str) -> Variant | None:
    """The variant of that name. A windrow/STRATEGY may be followed by settings, +KEY=VALUE."""
    plain, plus, settings = name.partition("+")
    if name in known or not plus or not name.startswith("windrow/"):
        return known.get(name)
    found = known.get(plain)
    return found and replace(found, system=found.system + plus + settings)


def is_peer(row: str) -> bool:
    """Whether a row is a peer that makes one file."""
    return row not in (LIMIT, URING, FLOOR, FILES, OWN_HDF5) and not row.startswith(("windrow ", UNCHANGED))


def _limits() -> list[Variant]:
    return [Variant(LIMIT, "limit", f"limit-{count}") for count in (1, 2)]


def _floors() -> list[Variant]:
    return [Variant(FLOOR, "floor", system) for system in FLOORS]


def _scorpio_variants() -> list[Variant]:
    """SCORPIO's benchmark (its section V): teams of several sizes beside parallel HDF5."""
    found = [*_limits(), *_floors(), Variant(AUTO, "windrow", "auto")]
    for name, size in (("1", 1), ("4", 4), ("all", 1024)):  # a team is never larger than all ranks
        found.append(Variant(f"windrow team({name})", "windrow", f"auto+gather=team({size})"))
    for mode in ("collective", "independent"):
        found += [Variant(f"hdf5 {mode}", "hdf5", mode, io) for io in COMPONENTS]
    return found


def _compressed_variants() -> list[Variant]:
    """Deflate by ISA-L, by libdeflate and by zlib, in all ranks and in one; HDF5 has zlib only."""
    found = _limits()
    for ranks, alone in ((0, ""), (1, ", one")):
        found.append(Variant(AUTO + alone, "windrow", "auto", ranks=ranks))
        for library in ("libdeflate", "zlib"):
            found.append(Variant(f"windrow {library}{alone}", f"windrow-{library}", "auto", ranks=ranks))
    found.append(Variant("hdf5 serial, one", "hdf5-serial", "serial", ranks=1))
    found += [Variant("hdf5 collective", "hdf5", "collective", io) for io in COMPONENTS]
    return found


def _owner_variants() -> list[Variant]:
    """The techniques of section 6.1 of the paper with each owner of a node that several ranks hold, its tree, and
    auto."""
    found = [*_limits(), *_floors()]
    # The peers of MPI-IO write raw
    found += [Variant(AUTO, "windrow", "auto"), Variant("windrow auto raw", "windrow", "auto:raw")]
    found.append(Variant("windrow bips3d-tree", "windrow", "bips3d-tree"))
    techniques = (("list", "list"), ("2-phase", "two-phase"), ("root", f"auto+domains=none+gather=team({1 << 20})"))
    for name, strategy in techniques:
        for owner in ("partitioner", "idg", "first", "random", "balanced"):
            label = owner.replace("partitioner", "metis")
            found.append(Variant(f"windrow {name} {label}", "windrow", f"{strategy}+owner={owner}"))
    for mode in ("collective", "independent"):
        found += [Variant(f"mpi-io {mode}", "mpiio", f"{mode}-indexed", io) for io in COMPONENTS]
    found.append(Variant("mpi-io independent", "mpiio", "independent-indexed-nosieve", "romio321"))
    for mode in ("collective", "independent"):
        found += [Variant(f"hdf5 {mode}", "hdf5", mode, io) for io in COMPONENTS]
    return found


def _subfiling_variants() -> list[Variant]:
    """The paper on subfiling, its section V: one file and several, by the number of ranks to a subfile, beside peers
    and a file for each process."""
    found = [*_limits(), *_floors()]
    found += [Variant(AUTO, "windrow", "auto"), Variant("windrow auto netcdf", "windrow", "auto:netcdf")]
    for label, files in (
        ("1", "per-rank"),
        ("2", "ranks/2"),
        ("4", "ranks/4"),
        ("8", "ranks/8"),
        ("all", "subfiles(1)"),
    ):
        found.append(Variant(f"windrow b={label}", "windrow", f"auto+files={files}"))
        found.append(Variant(f"windrow netcdf b={label}", "windrow", f"auto:netcdf+files={files}"))
    found.append(Variant("windrow b=1 blocks", "windrow", "auto+files=per-rank+split=0,1,2"))
    for mode in ("collective", "independent"):
        for io in COMPONENTS:
            found += [Variant(f"mpi-io {mode}", "mpiio", f"{mode}-subarray", io)]
    for mode in ("collective", "independent"):
        found += [Variant(f"hdf5 {mode}", "hdf5", mode, io) for io in COMPONENTS]
    for mode in ("blocking", "nonblocking"):
        found += [Variant(f"pnetcdf {mode}", "pnetcdf", mode, io) for io in COMPONENTS]
    return [*found, Variant(OWN_HDF5, "hdf5-serial", "own"), Variant(FILES, "files", "files")]


def variants(scenario: str) -> list[Variant]:
    """All that can run a scenario, in the order of the table."""
    if scenario.startswith("owners"):
        return _owner_variants()
    if scenario.startswith("scorpio"):
        return _scorpio_variants()
    if scenario == "compressed":
        return _compressed_variants()
    if scenario.startswith("subfiling"):
        return _subfiling_variants()
    blocks = not scenario.startswith(("mesh", "e3sm", "points"))
    views = ("indexed", "subarray") if blocks else ("indexed",)
    found = [*_limits(), *_floors()]
    found += [Variant(URING, "limit", f"uring-{count}-{depth}") for count in (1, 2) for depth in (4, 8)]
    for strategy in STRATEGIES:
        found.append(Variant("windrow " + strategy.replace(":", " "), "windrow", strategy))
    found.append(Variant("windrow bytes", "bytes", "auto"))
    for mode in ("collective", "independent"):
        for io in COMPONENTS:
            found += [Variant(f"mpi-io {mode}", "mpiio", f"{mode}-{view}", io) for view in views]
        if mode == "independent":  # sieving is ROMIO's; its absence is worth a try on writes
            found += [Variant(f"mpi-io {mode}", "mpiio", f"{mode}-{view}-nosieve", "romio321") for view in views]
    for mode in ("collective", "independent"):
        found += [Variant(f"hdf5 {mode}", "hdf5", mode, io) for io in COMPONENTS]
    for mode in ("blocking", "nonblocking"):
        found += [Variant(f"pnetcdf {mode}", "pnetcdf", mode, io) for io in COMPONENTS]
    found.append(Variant(FILES, "files", "files"))
    return found


def unchanged(scenario: str) -> list[Variant]:
    """Programs of peers that reach their file by collective MPI-IO, without and with libwindrow-mpiio.so."""
    collective = ("collective", "blocking", "nonblocking")
    peers = [
        v
        for v in variants(scenario)
        if v.program in ("mpiio", "hdf5", "pnetcdf") and v.system.startswith(collective) and v.io
    ]
    found = [*_limits(), Variant("windrow bytes", "bytes", "auto")]
    for v in peers:
        found += [v, replace(v, row=f"{UNCHANGED}{v.row}/{v.io.removesuffix('321')}", unchanged=True)]
    return [replace(v, row=f"{v.row}/{v.io.removesuffix('321')}") if is_peer(v.row) and v.io else v for v in found]


def select(scenario: str, wanted: list[str], with_unchanged: bool = False) -> list[Variant]:
    """The variants whose row or name contains one of the wanted words; the limit is always there."""
    everything = unchanged(scenario) if with_unchanged else variants(scenario)
    if not wanted:
        return everything
    return [v for v in everything if v.row == LIMIT or any(word in v.row or word in v.name for word in wanted)]
