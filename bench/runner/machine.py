# SPDX-License-Identifier: BSD-3-Clause
"""Facts about the machine, for the results: a number without them means nothing."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
from pathlib import Path
from typing import Any


def _first_line(command: list[str]) -> str:
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except OSError:
        return "not found"
    return (run.stdout.strip().splitlines() or ["unknown"])[0].strip()


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def _memory_gib() -> float:
    return round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1)


def round_trip_ns(binaries: Path) -> float:
    """How long a word takes from one core to another and back; 0: not known. A host may move a virtual machine's
    cores: ranks that share memory feel it, one process does not."""
    try:
        return float(_first_line([str(binaries / "bench-limit"), "distance"]))
    except ValueError:
        return 0.0


def yield_patiently(build: Path) -> None:
    """All programs, peers too, are launched so: tools/patient-yield/yield.c. What the caller has set wins; empty:
    not."""
    os.environ.setdefault("WINDROW_PATIENT_YIELD", str((build / "lib" / "patient-yield.so").resolve()))


def facts(directory: Path, root: Path) -> dict[str, Any]:
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "cores": os.cpu_count(),
        "processor": _processor(),
        "memory_gib": _memory_gib(),
        "kernel": platform.release(),
        "directory": str(directory),
        "file_system": _first_line(["findmnt", "--noheadings", "--output", "FSTYPE", "--target", str(directory)]),
        "mpi": _first_line(["mpirun.openmpi", "--version"]),
        "hdf5": _first_line(["pkg-config", "--modversion", "hdf5-openmpi"]),
        "pnetcdf": _first_line(["pkg-config", "--modversion", "pnetcdf"]),
        "commit": _first_line(["git", "-C", str(root), "describe", "--always", "--dirty"]),
        "load_before": os.getloadavg()[0],
        "environment": {key: value for key, value in os.environ.items() if key.startswith(("WINDROW_", "OMPI_MCA_"))},
    }
