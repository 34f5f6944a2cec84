# SPDX-License-Identifier: BSD-3-Clause
"""Benchmark programs that stay alive between measurements and are asked for one at a time.

A program waits for its next command in a read on a named pipe (one a rank), which costs no processor time; so all
systems can take turns without being started for each measurement.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import machine

START_LIMIT_S = 60.0
END_LIMIT_S = 5.0
# Programs keep their buffers while they wait, and those of all systems together may be more than the machine has:
# when less than this part of it is free, those that waited longest leave.
LEAST_FREE = 0.4


class RunFailed(Exception):
    """A measurement that gave no times: what to show in its place."""


def what_failed(said: list[str]) -> str:
    """The line that says why, "" if there is none: what a rank says comes before mpirun's own words about errors,
    whichever was printed first."""
    for is_it in (lambda line: line.startswith("rank "), lambda line: "error" in line.lower(), bool):
        if found := next((line for line in said if is_it(line)), ""):
            return found
    return ""


@dataclass(frozen=True)
class ServerKey:
    """What makes two measurements use the same running program."""

    program: str
    ranks: int
    io: str
    unchanged: bool = False


class Server:
    """One running benchmark program with all its ranks."""

    def __init__(self, key: ServerKey, command: list[str], folder: Path, preload: Path | None = None) -> None:
        pipes = [folder / f"command.{rank}" for rank in range(key.ranks if key.program != "limit" else 1)]
        for pipe in pipes:
            os.mkfifo(pipe)
        environment = dict(os.environ)
        if key.io:
            environment["OMPI_MCA_io"] = key.io
        if preload:
            environment["LD_PRELOAD"] = str(preload)
        self._errors_path = folder / "errors"
        with self._errors_path.open("wb") as errors:
            self._process = subprocess.Popen(
                [*command, "--serve", str(folder / "command")],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=environment,
                start_new_session=True,
            )
        # Read and write, so that the open does not wait for the other side. The programs get the end of the file when
        # this process ends.
        self._pipes = [os.open(pipe, os.O_RDWR | os.O_CLOEXEC) for pipe in pipes]
        self._text = b""

    def ask(self, arguments: str, limit_s: float) -> dict[str, Any]:
        """Send a command to all ranks and wait for the answer of rank 0."""
        for pipe in self._pipes:
            os.write(pipe, (arguments + "\n").encode())
        deadline = time.monotonic() + limit_s
        while True:
            for line in self._lines(deadline):
                if line.startswith(b"BENCH "):
                    answer: dict[str, Any] = json.loads(line[6:])
                    return answer

    def _lines(self, deadline: float) -> list[bytes]:
        assert self._process.stdout is not None
        source = self._process.stdout.fileno()
        left_s = deadline - time.monotonic()
        if left_s <= 0 or not select.select([source], [], [], left_s)[0]:
            raise RunFailed("timeout")
        chunk = os.read(source, 65536)
        if not chunk:
            raise RunFailed("failed: " + self._last_error())
        *lines, self._text = (self._text + chunk).split(b"\n")
        return lines

    def _last_error(self) -> str:
        return (what_failed(self._errors_path.read_text(errors="replace").splitlines()) or "no message")[:200]

    def end(self, *, at_once: bool = False) -> None:
        """Ask the program to leave, or make it; mpirun takes its ranks with it."""
        if not at_once:
            for pipe in self._pipes:
                os.write(pipe, b"quit\n")
        try:
            if at_once:
                self._process.send_signal(signal.SIGTERM)
            self._process.wait(END_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._process.terminate()
            try:
                self._process.wait(END_LIMIT_S)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
        for pipe in self._pipes:
            os.close(pipe)
        if self._process.stdout is not None:
            self._process.stdout.close()


def free_memory() -> float:
    """Which part of the machine's memory programs may still take, files in memory not counted."""
    lines = (line.split() for line in Path("/proc/meminfo").read_text().splitlines())
    kib = {words[0].rstrip(":"): int(words[1]) for words in lines}
    return kib["MemAvailable"] / kib["MemTotal"]


class Pool:
    """Servers by key. One that failed or hung is ended, and started again at its next turn. The same applies to those
    that were ended to free memory."""

    def __init__(self, binaries: Path, launcher: Path, free: Callable[[], float] = free_memory) -> None:
        self._binaries = binaries
        self._launcher = launcher
        self._free = free
        self._scratch = tempfile.TemporaryDirectory(prefix="windrow-bench-")
        self._servers: dict[ServerKey, Server] = {}
        self._started = 0

    def distance_ns(self) -> float:
        return machine.round_trip_ns(self._binaries)

    def has(self, program: str) -> bool:
        return (self._binaries / f"bench-{program}").exists()

    def ask(self, key: ServerKey, arguments: str, limit_s: float) -> dict[str, Any]:
        server = self._servers.pop(key, None)
        self._make_room()
        if server is None:
            server = self._start(key)
            limit_s += START_LIMIT_S
        self._servers[key] = server  # the last to have waited
        try:
            return server.ask(arguments, limit_s)
        except RunFailed:
            self._servers.pop(key).end(at_once=True)
            raise

    def _make_room(self) -> None:
        while self._servers and self._free() < LEAST_FREE:
            self._servers.pop(next(iter(self._servers))).end()

    def _start(self, key: ServerKey) -> Server:
        self._started += 1
        folder = Path(self._scratch.name) / str(self._started)
        folder.mkdir()
        binary = str(self._binaries / f"bench-{key.program}")
        if key.program == "limit":
            return Server(key, [binary, str(key.ranks)], folder)
        preload = self._binaries.parent / "lib" / "libwindrow-mpiio.so" if key.unchanged else None
        return Server(key, [str(self._launcher), "-n", str(key.ranks), binary], folder, preload)

    def end(self) -> None:
        for server in self._servers.values():
            server.end()
        self._servers.clear()
