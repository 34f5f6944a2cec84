# SPDX-License-Identifier: BSD-3-Clause
"""tools/ceph-loopback: a real striped file system with two clients. Skipped where Ceph is not installed."""

import os
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy as np

TOOL = str(Path(__file__).resolve().parents[2] / "tools" / "ceph-loopback")
COMMAND = os.environ["WINDROW_COMMAND"]
LAUNCHER = shlex.split(os.environ["WINDROW_LAUNCHER"])
SKIP = 77
LIMIT_S = 200


def run(*words: str, **more) -> subprocess.CompletedProcess:
    return subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S, check=False, **more)


class CephTest(unittest.TestCase):
    folder: Path

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(tempfile.mkdtemp(prefix="windrow-ceph-")) / "ceph"  # short: Ceph's sockets are in it
        os.environ["WINDROW_CEPH"] = str(cls.folder)
        done = run(TOOL, "up", "3", "2")
        if done.returncode == SKIP:
            print(done.stderr)
            sys.exit(SKIP)
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
        cls.clients = [cls.folder / f"client-{number}" for number in range(2)]

    @classmethod
    def tearDownClass(cls) -> None:
        done = run(TOOL, "down")
        left = [path for path in Path("/proc").glob("[0-9]*/cmdline") if str(cls.folder) in words_of(path)]
        assert done.returncode == 0 and not left and not cls.folder.exists(), (done, left)
        cls.folder.parent.rmdir()

    def test_a_layout_is_set_and_read(self):
        file = self.clients[0] / "file"
        file.touch()
        os.setxattr(file, "ceph.file.layout.stripe_unit", b"65536")
        os.setxattr(file, "ceph.file.layout.stripe_count", b"3")
        layout = os.getxattr(self.clients[1] / "file", "ceph.file.layout").decode()
        self.assertIn("stripe_unit=65536 stripe_count=3", layout)

    def test_windrow_writes_and_reads_on_two_clients(self):
        values = np.random.default_rng(2).random((301, 1009))
        first, second = self.clients
        with h5py.File(first / "a b.h5", "w") as file:
            file["values"] = values
        for source, copy in [(first / "a b.h5", first / "c.h5"), (second / "c.h5", second / "d.h5")]:
            done = run(*LAUNCHER, "-n", "3", COMMAND, "copy", str(source), str(copy))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with h5py.File(first / "d.h5", "r") as file:
            np.testing.assert_array_equal(file["values"][...], values)

    def test_one_at_a_time(self):
        done = run(TOOL, "up")
        self.assertEqual(done.returncode, 1)
        self.assertIn("there already", done.stderr)

    def test_what_is_missing_is_said(self):
        with tempfile.TemporaryDirectory() as empty:
            for program in ("bash", "id", "env"):
                os.symlink(f"/usr/bin/{program}", f"{empty}/{program}")
            done = run("/bin/bash", TOOL, "up", env={"PATH": empty, "WINDROW_CEPH": f"{empty}/ceph"})
        self.assertEqual(done.returncode, SKIP)
        self.assertIn("ceph-osd", done.stderr)
        self.assertIn("tools/install-packages ceph", done.stderr)


def words_of(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


unittest.main()
