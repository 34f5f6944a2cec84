# SPDX-License-Identifier: BSD-3-Clause
"""Sets of subfiles: a process is killed while one is changed, and other programs read it; one is replaced while others
read or replace it; and what is left beside it is removed.

Run by CTest with WINDROW_CHANGES, WINDROW_COMMAND and WINDROW_MPIRUN in the environment.
"""

import fcntl
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

import h5py
import numpy as np

try:
    import netCDF4
except ImportError:
    netCDF4 = None

CHANGES, COMMAND = os.environ["WINDROW_CHANGES"], os.environ["WINDROW_COMMAND"]
MPIRUN = shlex.split(os.environ["WINDROW_MPIRUN"])
STRIDE = int(os.environ.get("WINDROW_TEST_STRIDE", "1"))
LIMIT_S = 60  # a hang is a failure
KINDS = {
    "HDF5": (0, "h5"),
    "netCDF": (1, "nc"),
    "raw": (2, "raw"),
    "HDF5 set": (3, "h5"),
    "netCDF set": (4, "nc"),
    "raw set": (5, "raw"),
}
CHANGE_NAMES = ("define", "attributes", "append", "overwrite", "replace")
LOG = b"windrow undo log"
MARKS = {".h5": 8, ".nc": 3}  # offsets of the byte whose highest bit makes other programs refuse the file
RECORDS = 3  # of the old variables that grow


def windrow(*arguments):
    return subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=LIMIT_S)


def files_of(path):
    return [path, *sorted(path.parent.glob(f"*/*{path.suffix}"))]


def is_half_changed(path):
    content = path.read_bytes()
    return content.endswith(LOG) or (path.suffix in MARKS and content[MARKS[path.suffix]] >= 0x80)


def read_by_others(path):
    """The old variables of a file; None: other programs refuse it, or there are none that read it."""
    if path.suffix == ".raw" or (path.suffix == ".nc" and netCDF4 is None):
        return None
    try:
        with h5py.File(path) if path.suffix == ".h5" else netCDF4.Dataset(path) as file:
            variables = file if path.suffix == ".h5" else file.variables
            there = {name: variables[name] for name in ("v0", "v1", "v2", "g0", "g1") if name in variables}
            return {
                name: np.array(each[:RECORDS] if name[0] == "g" and each.ndim > 0 else each[...])
                for name, each in there.items()
            }
    except OSError:
        return None


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="windrow sets "))
        self.addCleanup(shutil.rmtree, self.folder)

    def folders(self):
        return sorted(each.name for each in self.folder.iterdir() if each.is_dir())


class Killed(Folder):
    def kill(self, kind, change, rank, nth, checksums=False):
        """None: there were not so many calls."""
        there = self.folder / "there"
        shutil.rmtree(there, ignore_errors=True)
        environment = dict(
            os.environ,
            WINDROW_KILLED_AT=str(there),
            WINDROW_KILLED=f"{KINDS[kind][0]} {CHANGE_NAMES.index(change)} {rank} {nth} {int(checksums)}",
        )
        done = subprocess.run(
            [*MPIRUN, "-n", "2", CHANGES, "--gtest_filter=Killed.*"],
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            env=environment,
        )
        return None if done.returncode == 0 else there / f"a.{KINDS[kind][1]}"

    def read_all_by_others(self, path):
        return {file.name: read_by_others(file) for file in files_of(path)}

    def expect_same(self, found, old):
        """A file that other programs do not refuse has the old values of all old variables."""
        for name, variables in found.items():
            if variables is None:
                continue
            self.assertEqual(variables.keys(), old[name].keys(), name)
            for each, values in variables.items():
                self.assertTrue((values == old[name][each]).all(), f"{name} {each}: {values}")

    def check(self, path, *arguments):
        done = windrow("check", "--json", *arguments, path)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def half_changed(self, path):
        files = files_of(path)
        names = [str(path), *(f"{each.parent.name}/{each.name}" for each in files[1:])]
        return [name for name, file in zip(names, files) if is_half_changed(file)]

    def expect_sound(self, path, old):
        half_changed = self.half_changed(path)
        self.assertEqual(self.check(path)["half_changed"], half_changed)
        if old is None:
            return half_changed
        found = self.read_all_by_others(path)
        self.expect_same(found, old)
        if not half_changed and path.suffix == ".h5":
            self.assertNotIn(None, found.values())
        # Restored, other programs read all of it, whatever they have refused.
        done = self.check(path, "--clean")
        self.assertEqual((done["restored"], done["half_changed"], done["not_restored"]), (half_changed, [], []))
        self.assertEqual(self.half_changed(path), [])
        found = self.read_all_by_others(path)
        self.expect_same(found, old)
        self.assertEqual([name for name, each in found.items() if each is None and old[name] is not None], [])
        return half_changed

    def test_each_call(self):
        killed = half_changed = 0
        for kind in KINDS:
            # Changed by nobody who was killed.
            path = self.kill(kind, "attributes", 0, 0) or self.folder / "there" / f"a.{KINDS[kind][1]}"
            old = self.read_all_by_others(path)
            for change in ("define", "append", "append with checksums", "attributes", "replace"):
                if (kind.startswith("raw") and "append" in change) or ("sums" in change and kind != "HDF5 set"):
                    continue
                change, checksums = change.split()[0], "sums" in change
                for rank in (0, 1):
                    for nth in range(1 + killed % STRIDE, 1000, STRIDE):
                        path = self.kill(kind, change, rank, nth, checksums)
                        if path is None:
                            break
                        killed += 1
                        with self.subTest(kind=kind, change=change, sums=checksums, rank=rank, nth=nth):
                            half_changed += len(self.expect_sound(path, None if change == "replace" else old))
        self.assertGreater(killed, 3, "nobody was killed: this test tests nothing")
        if STRIDE == 1:
            self.assertGreater(half_changed, 100)


class Replaced(Folder):
    def setUp(self):
        super().setUp()
        self.plain, self.base = self.folder / "plain.h5", self.folder / "a.h5"
        with h5py.File(self.plain, "w") as file:
            for name in "uvw":
                file[name] = np.arange(2400.0).reshape(12, 200)

    def split(self, number=2, base=None):
        done = windrow("copy", "--quiet", "--set", f"files=subfiles({number})", self.plain, base or self.base)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_while_others_read_and_replace(self):
        self.split()
        until, failures, counts = time.monotonic() + 5, [], {"read": 0, "write": 0}

        def repeat(what, *arguments):
            while time.monotonic() < until:
                done = windrow(*arguments)
                counts[what] += 1
                if done.returncode != 0:
                    failures.append((arguments[0], done.stdout + done.stderr))

        writer = ("copy", "--quiet", "--set", "files=subfiles(3)", self.plain, self.base)
        threads = [
            threading.Thread(target=repeat, args=each)
            for each in (("write", *writer), ("write", *writer), ("read", "check", self.base))
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        self.assertEqual(failures, [])
        self.assertGreater(min(counts.values()), 3, counts)
        self.split()
        self.assertLessEqual(len(self.folders()), 2, "the set's own, and the one before")
        with h5py.File(self.base) as file:
            self.assertTrue((file["v"][...] == np.arange(2400.0).reshape(12, 200)).all())

    def test_clean(self):
        self.split()
        first = self.folders()
        self.base.rename(self.folder / "renamed.h5")
        self.split()
        second = [each for each in self.folders() if each not in first]
        self.split()
        third = [each for each in self.folders() if each not in first + second]
        unpublished = self.folder / ".a.h5.windrow-0a1b.subfiles"
        unpublished.mkdir()
        (unpublished / "0.h5").write_bytes(b"half")
        other = self.folder / "b.h5.subfiles-12345678"
        other.mkdir()
        done = windrow("check", self.base)
        self.assertEqual((done.returncode, len(self.folders())), (0, 5), done.stderr)

        damaged = self.folder / "damaged.h5"
        damaged.write_bytes(self.plain.read_bytes()[:700])
        done = windrow("check", "--clean", self.base)
        self.assertEqual((done.returncode, len(self.folders())), (0, 4), done.stderr)
        self.assertIn(unpublished.name, done.stdout)
        self.assertIn('"damaged.h5", which cannot be opened, may refer to it', done.stdout)
        damaged.unlink()

        held = os.open(self.folder / second[0], os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(held, fcntl.LOCK_SH)
        done = windrow("check", "--clean", self.base)
        self.assertEqual((done.returncode, len(self.folders())), (0, 4), done.stderr)
        self.assertIn("a program is using its files", done.stdout)
        os.close(held)
        done = windrow("check", "--clean", self.base)
        self.assertIn(f'removed: "{second[0]}"', done.stdout)
        self.assertEqual((done.returncode, self.folders()), (0, sorted([*first, *third, other.name])), done.stderr)
        for name in ("a.h5", "renamed.h5"):
            self.assertEqual(windrow("check", self.folder / name).returncode, 0)

    def test_clean_of_each_format(self):
        (self.folder / "notes.txt").write_text("notes")
        (self.folder / "empty").touch()
        (self.folder / "other.kerchunk.json").write_text("{}")
        for ending in ("h5", "nc", "raw"):
            with self.subTest(ending):
                base = self.folder / f"b.{ending}"
                before = self.folders()
                for number in (2, 3):
                    self.split(number, base)
                self.assertEqual(len(self.folders()), len(before) + 2)
                done = windrow("check", "--clean", base)
                self.assertEqual(
                    (done.returncode, len(self.folders())), (0, len(before) + 1), done.stdout + done.stderr
                )
                self.assertIn(f'removed: "{base.name}.subfiles-', done.stdout)
                self.assertEqual(windrow("check", base).returncode, 0)

    def test_what_may_name_a_folder(self):
        for name, content in (
            ("damaged.nc", b""),
            ("broken", b"CDF\1\0"),
            ("described", b""),
            (".c.h5.windrow-0000", b""),
        ):
            with self.subTest(name):
                for number in (2, 3):
                    self.split(number)
                before = self.folders()
                (self.folder / name).write_bytes(content)
                (self.folder / "described.json").write_bytes(b'{"windrow": "raw"')
                done = windrow("check", "--clean", self.base)
                self.assertEqual((done.returncode, self.folders()), (0, before), done.stdout + done.stderr)
                self.assertIn("which cannot be opened, may refer to it", done.stdout)
                (self.folder / name).unlink()

    def test_two_who_replace_a_set_have_its_references(self):
        base = self.folder / "a.nc"
        until, failures = time.monotonic() + 4, []

        def repeat(number):
            while time.monotonic() < until:
                done = windrow("copy", "--quiet", "--set", f"files=subfiles({number})", self.plain, base)
                if done.returncode != 0:
                    failures.append(done.stdout + done.stderr)

        threads = [threading.Thread(target=repeat, args=(each,)) for each in (2, 3)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        self.assertEqual(failures, [])
        own = json.loads(windrow("info", "--json", base).stdout)["subfiles"][0]["name"]
        named = set(re.findall(r"a\.nc\.subfiles-[0-9a-f]+", (self.folder / "a.nc.kerchunk.json").read_text()))
        self.assertEqual(named, {own.split("/")[0]})

    def test_records_behind_the_end_are_one_fault(self):
        with h5py.File(self.plain, "a") as file:
            file.create_dataset("t", data=np.arange(300.0).reshape(3, 100), maxshape=(None, 100), chunks=(1, 100))
        for settings in ((), ("--set", "files=subfiles(2)")):
            with self.subTest(settings):
                base = self.folder / "a.nc"
                done = windrow("copy", "--quiet", "--set", "netcdf_version=5", *settings, self.plain, base)
                self.assertEqual(done.returncode, 0, done.stderr)
                content = bytearray(base.read_bytes())
                self.assertEqual((bytes(content[:4]), int.from_bytes(content[4:12], "big")), (b"CDF\5", 3))
                for records in (1 << 20, (1 << 31) - 1, 1 << 40):
                    content[4:12] = records.to_bytes(8, "big")
                    base.write_bytes(content)
                    done = windrow("check", base)  # LIMIT_S is far from what 2^40 records take slice by slice
                    self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                    self.assertEqual(done.stderr.count("damaged: /t:"), 1, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
