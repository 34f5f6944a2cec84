# SPDX-License-Identifier: BSD-3-Clause
"""For the tests of tools/striped-store: a store for a test, and skipping where there can be none."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = os.environ["WINDROW_STRIPED_STORE"]
SKIP = 77
LIMIT_S = 60  # a hang is a failure
KIB, MIB = 1024, 1024 * 1024


def call(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run([TOOL, *words], capture_output=True, text=True, timeout=LIMIT_S, check=False)


def mounts() -> str:
    return Path("/proc/self/mounts").read_text()


class StoreTest(unittest.TestCase):
    """Folders of a test, and a store that ends with it."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="striped store ")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.clients: list[Path] = []
        self.backing = self.folder / "backing"

    def up(self, clients: int, *options: str) -> list[Path]:
        """The mounts."""
        self.clients = [self.folder / f"client {number}" for number in range(clients)]
        self.addCleanup(call, "down", str(self.backing))  # before the folder is removed
        done = call("up", "--mounts", *map(str, self.clients), "--backing", str(self.backing), *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.clients

    def record(self) -> dict:
        return json.loads((self.clients[0] / ".striped-store").read_text())

    def matrix(self, name: str) -> list[list[int]]:
        return self.record()["matrix"][name]

    def reset(self) -> None:
        (self.clients[-1] / ".striped-store").write_text("reset\n")


def write_at(path: Path, offset: int, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)
    try:
        assert os.pwrite(descriptor, data, offset) == len(data)
    finally:
        os.close(descriptor)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        tried = call("up", "--mounts", f"{folder}/mount")
        call("down", f"{folder}/mount")
    if tried.returncode == SKIP or "cannot be mounted" in tried.stderr:
        print(tried.stderr)
        sys.exit(SKIP)
    unittest.main()
