# SPDX-License-Identifier: BSD-3-Clause
"""The scenario tpc: which programs run for it, and their answers. What they mean is in tpc_results.py, how it looks
in tpc_tables.py."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .servers import RunFailed, what_failed

# Nodes of the paper's meshes 1 to 4.
MESHES = {1: 47219, 2: 32888, 3: 73260, 4: 289650}
LOADS = (100, 200, 500, 1000)
RANKS = (4, 8, 16, 32)
TYPES = ("int32", "float32")
ZEROS = (0, 25, 50, 75, 100)
CODECS = ("off", "auto", "delta", "lzo", "lz4", "zstd", "lz4+shuffle", "zstd+shuffle")
TURNS = ("off", "auto")
NOISE = {"int32": 1, "float32": 4, "float64": 4}
HOSTS = 4
SHAPED = ("none", "100mbit", "1gbit")  # networks of tools/network; another rate is one too
# One host as it is; one host taken for four, so that messages are sent; and each rank alone on a host, as the paper
# counts messages.
SHARED, PRETENDED, COUNTED = "shared", "pretended", "counted"
ONE_HOST = (SHARED, PRETENDED, COUNTED)
END_LIMIT_S = 20.0
# A file of this size takes seconds at 100 Mbit/s: fewer of them, unless a number was asked for.
LARGE_BYTES = 60e6
FILES, LARGE_FILES = 3, 2

Line = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """Elements a node, % of the nodes that are zero."""

    load: int
    zeros: int


@dataclass
class Run:
    """One start of bench-tpc."""

    network: str
    ranks: int
    nodes: int
    type: str
    files: int  # of each codec; 0: by their size
    flushes: int
    jobs: dict[Job, list[str]] = field(default_factory=dict)  # and the codecs of each

    def add(self, job: Job, codecs: tuple[str, ...]) -> None:
        known = self.jobs.setdefault(job, [])
        known += [codec for codec in codecs if codec not in known]

    def files_of(self, job: Job) -> int:
        large = self.nodes * job.load * (8 if self.type == "float64" else 4) >= LARGE_BYTES
        return self.files or (LARGE_FILES if large else FILES)

    @property
    def name(self) -> str:
        return f"{self.network}, {self.ranks} ranks, {mesh_name(self.nodes)}, {self.type}"


def mesh_name(nodes: int) -> str:
    return next((f"mesh {number}" for number, known in MESHES.items() if known == nodes), f"{nodes} nodes")


@dataclass
class Tour:
    """What runs, in the order in which it was asked for."""

    networks: tuple[str, ...]
    files: int
    flushes: int
    runs: dict[tuple[object, ...], Run] = field(default_factory=dict)

    def add(
        self,
        meshes: tuple[int, ...],
        ranks: tuple[int, ...],
        types: tuple[str, ...],
        jobs: list[Job],
        codecs: tuple[str, ...],
    ) -> None:
        """Every combination, on every network."""
        for network in self.networks:
            for count in ranks:
                for nodes in meshes:
                    for kind in types:
                        self._run(network, count, nodes, kind, self.files, self.flushes, jobs, codecs)

    def count(self, meshes: tuple[int, ...], ranks: tuple[int, ...], loads: tuple[int, ...]) -> None:
        """For the paper's tables of messages: one flush is enough, and the network does not matter."""
        for number in ranks:
            for nodes in meshes:
                self._run(COUNTED, number, nodes, "int32", 1, 1, [Job(load, 0) for load in loads], ("off",))

    def _run(
        self,
        network: str,
        ranks: int,
        nodes: int,
        kind: str,
        files: int,
        flushes: int,
        jobs: list[Job],
        codecs: tuple[str, ...],
    ) -> None:
        run = self.runs.setdefault((network, ranks, nodes, kind), Run(network, ranks, nodes, kind, files, flushes))
        for job in jobs:
            run.add(job, codecs)


def default_tour(networks: tuple[str, ...], files: int, flushes: int) -> Tour:
    """All meshes but the largest with off and auto; the other axes on the first mesh at load 200."""
    tour = Tour(networks, files, flushes)
    meshes = tuple(MESHES.values())
    tour.count(meshes[:1], RANKS, LOADS)
    tour.count(meshes, RANKS, (200,))
    tour.add(meshes[:3], RANKS, TYPES, [Job(load, 0) for load in LOADS], TURNS)
    tour.add(meshes[:1], RANKS, TYPES, [Job(200, 0)], CODECS)
    tour.add(meshes[:1], (16,), TYPES, [Job(200, zeros) for zeros in ZEROS], (*TURNS, "lzo"))
    return tour


def quick_tour(networks: tuple[str, ...], files: int, flushes: int) -> Tour:
    tour = Tour(networks, files, flushes)
    meshes = (MESHES[1],)
    tour.count(meshes, (8,), LOADS)
    tour.add(meshes, (8,), TYPES, [Job(200, 0)], CODECS)
    tour.add(meshes, (8,), TYPES, [Job(1000, 0), Job(200, 100)], TURNS)
    return tour


def full_tour(networks: tuple[str, ...], files: int, flushes: int) -> Tour:
    """Everything with everything: hours."""
    tour = Tour(networks, files, flushes)
    meshes = tuple(MESHES.values())
    tour.count(meshes, RANKS, LOADS)
    tour.add(meshes, RANKS, TYPES, [Job(load, zeros) for load in LOADS for zeros in ZEROS], CODECS)
    return tour


class Launcher:
    """Starts bench-tpc where a run wants it."""

    def __init__(self, build: Path, root: Path, directory: Path, limit_s: float) -> None:
        self._program = (build / "bin" / "bench-tpc").resolve()
        self._mpirun = root / "tools" / "mpirun"
        self._network = root / "tools" / "network"
        self._directory = directory.resolve() / "tpc"
        self._limit_s = limit_s

    def why_not(self, network: str) -> str:
        """ "" or why there is no such network here."""
        if network in ONE_HOST:
            return ""
        if not self._network.exists():
            return "there is no tools/network"
        probe = subprocess.run(
            [
                str(self._network),
                "with",
                "--rate",
                network,
                "--hosts",
                str(HOSTS),
                "--ranks-per-host",
                "1",
                "--",
                "true",
            ],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        return (
            ""
            if probe.returncode == 0
            else (probe.stderr.strip().splitlines() or [f"exit code {probe.returncode}"])[-1]
        )

    def command(self, run: Run, mesh: Path, noise: int, more: list[str]) -> tuple[list[str], dict[str, str]]:
        environment = dict(os.environ)
        each = -(-run.ranks // HOSTS)
        command: list[str] = []
        if run.network not in ONE_HOST:
            command = [
                str(self._network),
                "with",
                "--rate",
                run.network,
                "--hosts",
                str(HOSTS),
                "--ranks-per-host",
                str(each),
                "--",
            ]
        elif run.network != SHARED:
            environment["WINDROW_RANKS_PER_HOST"] = str(each if run.network == PRETENDED else 1)
        command += [str(self._mpirun), "-n", str(run.ranks), str(self._program), "--mesh", str(mesh.resolve())]
        command += ["--dir", str(self._directory), "--type", run.type, "--noise", str(noise)]
        command += ["--flushes", str(run.flushes), *more]
        for job, codecs in run.jobs.items():
            command += ["--job", f"{job.load}:{job.zeros}:{run.files_of(job)}:{','.join(codecs)}"]
        return command, environment

    def start(self, run: Run, mesh: Path, noise: int, more: list[str], tell: Callable[[Line], None]) -> None:
        """Runs it to its end and hands over each line. RunFailed: it failed, or said nothing for the time limit."""
        command, environment = self.command(run, mesh, noise, more)
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )
        said: list[str] = []
        ended = False
        try:
            for source, text in self._lines(process):
                if source == "out" and text.startswith("TPC "):
                    where = {"network": run.network, "ranks": run.ranks, "nodes": run.nodes, "type": run.type}
                    tell({**where, **json.loads(text[4:])})
                elif text:
                    said.append(text)
            ended = True
        finally:
            end(process, at_once=not ended)
        if process.returncode not in (0, 3):  # 3: a file was wrong, which its line says
            raise RunFailed((what_failed(said) or f"exit code {process.returncode}")[:300])

    def _lines(self, process: subprocess.Popen[bytes]) -> Iterator[tuple[str, str]]:
        """Of both outputs, as they come, until both are closed."""
        assert process.stdout is not None and process.stderr is not None
        names = {process.stdout.fileno(): "out", process.stderr.fileno(): "error"}
        rests = {source: b"" for source in names}
        while rests:
            ready = select.select(list(rests), [], [], self._limit_s)[0]
            if not ready:
                raise RunFailed(f"said nothing for {self._limit_s:g} s")
            for source in ready:
                chunk = os.read(source, 1 << 16)
                *lines, rest = (rests[source] + chunk).split(b"\n")
                if chunk:
                    rests[source] = rest
                else:
                    del rests[source]
                    lines.append(rest)
                yield from ((names[source], line.decode(errors="replace")) for line in lines)


def end(process: subprocess.Popen[bytes], *, at_once: bool) -> None:
    """As tools/network and mpirun end at a signal: they take what they have started with them."""
    if at_once:
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(END_LIMIT_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def run_tour(
    tour: Tour,
    launcher: Launcher,
    mesh: Callable[[int, int], Path],
    noise: dict[str, int],
    more: list[str],
    results: dict[str, Any],
    save: Callable[[], None],
) -> None:
    """One run after the other; what is done is saved even if the rest is not."""
    for place, run in enumerate(tour.runs.values(), 1):
        begin = time.monotonic()
        trouble = ""
        try:
            launcher.start(run, mesh(run.nodes, run.ranks), noise[run.type], more, results["lines"].append)
        except RunFailed as failure:
            trouble = str(failure)
        took = time.monotonic() - begin
        results["runs"].append({"name": run.name, "seconds": took, "trouble": trouble})
        print(f"[{place}/{len(tour.runs)}] {run.name}: {trouble or f'{took:.0f} s'}", flush=True)
        save()
