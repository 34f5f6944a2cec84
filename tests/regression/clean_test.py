# SPDX-License-Identifier: BSD-3-Clause
"""windrow check --clean FILE removes what killed jobs have left, and nothing that is locked. Argument: the command
windrow."""

import fcntl
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

COMMAND = sys.argv.pop()
F_OFD_SETLK = 37


class CleanTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="windrow clean ")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write("x")
        return path

    def clean(self, *words, name="a.raw"):
        run = subprocess.run(
            [COMMAND, "check", "--clean", os.path.join(self.folder, name), *words],
            capture_output=True,
            text=True,
            timeout=60,
        )
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return run.stdout

    def test_what_is_left_is_removed(self):
        for name in (
            ".a.raw.windrow-0000",
            ".a.raw.windrow-0000.json",
            ".a.raw.windrow-0000.subfiles/0.raw",
            ".a.raw.windrow-x1y2",
            ".b.raw.windrow-0000",
        ):
            self.write(name)
        removed = json.loads(self.clean("--json"))["removed"]
        self.assertEqual([os.path.basename(path) for path in removed], [".a.raw.windrow-0000", ".a.raw.windrow-x1y2"])
        self.assertEqual(os.listdir(self.folder), [".b.raw.windrow-0000"])
        self.assertEqual(self.clean(), "")

    def test_what_is_locked_stays(self):
        path = self.write(".a.raw.windrow-0000")
        self.write(".a.raw.windrow-0000.json")
        with open(path, "r+b") as file:
            lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 2**63 - 3, 1, 0)
            fcntl.fcntl(file, F_OFD_SETLK, lock)
            self.assertEqual(self.clean(), "")
        self.assertEqual(len(os.listdir(self.folder)), 2)
        self.assertIn("removed", self.clean())
        self.assertEqual(os.listdir(self.folder), [])

    def test_folders_of_the_user_stay(self):
        with open(os.path.join(self.folder, "a.nc"), "wb") as file:
            file.write(b"CDF\1" + bytes(28))  # nothing is in it
        kept = (
            "a.nc.subfiles-my-backup/0.nc",
            "a.nc.subfiles-1234abc/0.nc",
            "a.nc.subfiles-1234abcde/0.nc",
            "a.nc.subfiles-1234abcg/0.nc",
            "a.nc.subfiles-1234ABCD/0.nc",
            "a.nc.subfiles-1234abcd.subfiles-old/0.nc",
            "a.nc.subfiles-11111111/notes.txt",
            "a.nc.subfiles-22222222/0.nc/more",
        )
        removed = (
            "a.nc.subfiles-33333333/0.nc",
            "a.nc.subfiles-44444444/.windrow-replaced",
            "a.nc.subfiles-55555555/12.nc.json",
        )
        for name in (*kept, *removed, "a.nc.subfiles-11111111/0.nc"):
            self.write(name)
        os.mkdir(os.path.join(self.folder, "a.nc.subfiles-66666666"))
        done = json.loads(self.clean("--json", name="a.nc"))
        self.assertEqual(sorted(done["removed"]), [os.path.dirname(name) for name in removed])
        expected = sorted({name.split("/")[0] for name in kept} | {"a.nc.subfiles-66666666"})
        self.assertEqual(sorted(line.split(": ")[0] for line in done["not_removed"]), expected)
        self.assertEqual(sorted(set(os.listdir(self.folder)) - {"a.nc"}), expected)
        for name in (*kept, "a.nc.subfiles-11111111/0.nc"):
            self.assertTrue(os.path.exists(os.path.join(self.folder, name)), name)


if __name__ == "__main__":
    unittest.main()
