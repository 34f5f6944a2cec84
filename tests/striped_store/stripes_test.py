# SPDX-License-Identifier: BSD-3-Clause
"""windrow on the store: the layouts that it gets and sets, and domains that end at stripes."""

import json
import os
import shlex
import subprocess
import sys
import unittest
from pathlib import Path

import h5py
import numpy as np

sys.path.insert(0, os.path.dirname(__file__))
from store import KIB, LIMIT_S, StoreTest, main

COMMAND = os.environ["WINDROW_COMMAND"]
LAUNCHER = shlex.split(os.environ["WINDROW_LAUNCHER"])
# With an attribute that does not fit into the room after the header of netCDF classic.
ANEW = """
import sys
import numpy as np
import windrow
with windrow.open(sys.argv[1], "r+", comm=windrow._core.Communicator.named("world"), domains="target", writers=2) as f:
    f.attrs["long"] = "x" * 200000
    values = np.arange(1300.0 * 128).reshape(1300, 128)
    variable = f.create_variable("more", values.shape, values.dtype)
    variable[...] = values
    assert np.array_equal(variable[...], values) and f["values"][...].sum() == 601 * 1013 * 0.5
    if f.rank == 0:
        print(f.report()["layout"])
"""


class StripesTest(StoreTest):
    def setUp(self) -> None:
        super().setUp()
        self.values = np.random.default_rng(3).random((601, 1013))
        self.source = self.folder / "in.h5"
        with h5py.File(self.source, "w") as file:
            file["values"] = self.values

    def copy(self, to: Path, *settings: str, ranks: int = 3) -> dict:
        options = [word for setting in (*settings, "domains=aligned", "writers=3") for word in ("--set", setting)]
        words = [
            *LAUNCHER,
            "-n",
            str(ranks),
            COMMAND,
            "copy",
            "--json",
            "--explain",
            *options,
            str(self.source),
            str(to),
        ]
        done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with h5py.File(to, "r") as file:
            np.testing.assert_array_equal(file["values"][...], self.values)
        return json.loads(done.stdout)["report"]["write"]

    def layout(self, file: Path) -> list[str]:
        return os.getxattr(file, "user.striped_store.layout").decode().splitlines()

    def test_the_layout_is_told(self):
        (mount,) = self.up(1, "--targets", "4", "--stripe", "192KiB", "--count", "3")
        report = self.copy(mount / "out.h5")
        self.assertEqual(report["layout"], "lustre: stripe size 192 KiB, stripe count 3 on targets 0, 1, 2")

    def test_components_are_told(self):
        (mount,) = self.up(1, "--targets", "4", "--component", "1MiB:64KiB:1", "--component", "end:256KiB:all")
        report = self.copy(mount / "out.h5")
        self.assertIn("up to 1 MiB stripe size 64 KiB, stripe count 1 on target", report["layout"])
        self.assertIn("then stripe size 256 KiB, stripe count 4 on targets", report["layout"])

    def test_stripes_are_set_and_handed_down(self):
        (mount,) = self.up(1, "--targets", "4", "--stripe", "64KiB", "--count", "1")
        out = mount / "a b.h5"
        report = self.copy(out, "stripe=size=128KiB,count=3,first=2")
        self.assertEqual(self.layout(out), [f"0..end stripe {128 * KIB} targets 2,3,0"])
        self.assertEqual(report["layout"], "lustre: stripe size 128 KiB, stripe count 3 on targets 2, 3, 0")
        self.copy(out)  # over it: as it was
        self.assertRegex(self.layout(out)[0], f"stripe {128 * KIB} targets .,.,.$")
        self.copy(out, "stripe=site")
        self.assertRegex(self.layout(out)[0], f"stripe {64 * KIB} targets .$")
        self.assertEqual([file.name for file in mount.iterdir() if file.name != ".striped-store"], ["a b.h5"])

    @unittest.skipUnless("WINDROW_PACKAGE" in os.environ, "the package of Python and netCDF classic are not built")
    def test_a_file_that_is_written_anew_keeps_its_stripes(self):
        (mount,) = self.up(1, "--targets", "4", "--stripe", "64KiB")
        self.values = np.full((601, 1013), 0.5)
        with h5py.File(self.source, "w") as file:
            file["values"] = self.values
        for stripe, count in ("size=128KiB,count=1", 1), ("size=256KiB,count=3,first=2", 3), ("site", 4):
            out = mount / f"{count}.nc"
            words = [*LAUNCHER, "-n", "2", COMMAND, "copy", "--set", f"stripe={stripe}", str(self.source), str(out)]
            done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            before, file = self.layout(out), out.stat().st_ino
            told = self.extend(out)
            self.assertNotEqual(out.stat().st_ino, file, "it was not written anew")
            stripes, targets = self.layout(out)[0].rsplit(" ", 1)
            self.assertEqual(stripes, before[0].rsplit(" ", 1)[0])
            self.assertEqual(len(targets.split(",")), count)
            # The current offsets
            self.assertRegex(told, f"stripe count {count} on targets? {targets.replace(',', ', ')}$")

    def extend(self, out: Path) -> str:
        words = [*LAUNCHER, "-n", "2", sys.executable, "-c", ANEW, str(out)]
        environment = os.environ | {"PYTHONPATH": os.environ["WINDROW_PACKAGE"]}
        done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S, env=environment, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout.strip()

    def test_what_the_store_refuses_is_an_error(self):
        (mount,) = self.up(1, "--targets", "2")
        words = [
            *LAUNCHER,
            "-n",
            "2",
            COMMAND,
            "copy",
            "--set",
            "stripe=count=2,first=77",
            str(self.source),
            str(mount / "out.h5"),
        ]
        done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn("first target 77", done.stderr)
        self.assertIn("out.h5", done.stderr)
        self.assertEqual([file.name for file in mount.iterdir() if file.name != ".striped-store"], [])


main()
