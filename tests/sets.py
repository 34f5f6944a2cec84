# SPDX-License-Identifier: BSD-3-Clause
"""Helpers of tests of sets of subfiles of all formats: the command, a set in a separate folder, and hostile maps.

Run by CTest with WINDROW_COMMAND and WINDROW_MPIRUN in the environment.
"""

import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

COMMAND, LAUNCHER = os.environ["WINDROW_COMMAND"], shlex.split(os.environ["WINDROW_MPIRUN"])
LIMIT_S = 60  # a hang is a failure
LARGEST = 2**63 - 1


def run(*command, code=0, **more):
    done = subprocess.run(
        [*map(str, command)], capture_output=True, text=True, errors="replace", timeout=LIMIT_S, **more
    )
    if done.returncode != code:
        raise AssertionError(f"{command}: {done.returncode}, not {code}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout + done.stderr


def windrow(*arguments, ranks=2, code=0, **more):
    return run(*([*LAUNCHER, "-n", ranks] if ranks > 1 else []), COMMAND, *arguments, code=code, **more)


def built_in(feature):
    return f"{feature}\n" in windrow("info", "--features", ranks=1)


def settings(*each):
    return [word for one in each for word in ("--set", one)]


class SetOfSubfiles:
    """For a unittest.TestCase: `plain` becomes the set `base`, whose subfiles are in the folder `set`."""

    ending = ".h5"

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="windrow subfiles "))
        self.addCleanup(shutil.rmtree, self.folder)
        self.plain, self.base = self.folder / f"plain{self.ending}", self.folder / f"a{self.ending}"

    def split(self, *options, ranks=2, source=None):
        windrow("copy", source or self.plain, self.base, *settings(*options), ranks=ranks)
        folders = self.folder.glob(f"{self.base.name}.subfiles-*")
        # The previous one remains for programs that have it open
        (self.set,) = [each for each in folders if not (each / ".windrow-replaced").exists()]

    def damages_of_the_set(self):
        """Attributes of the base file by the name of what is wrong with them: None for one that is missing. The set
        has three subfiles."""
        outside = self.folder.parent / (self.folder.name + " outside")
        shutil.copytree(self.set, outside)
        self.addCleanup(shutil.rmtree, outside)
        folders = {
            "up": "../" + outside.name,
            "dots": "..",
            "dot": ".",
            "absolute": str(outside),
            "below": self.set.name + "/x",
            "overlong": "x" * 300,
            "very long": "x" * 60000,
            "line": "a\nb",
            "a number": 7,
        }
        return {
            **{name: ("windrow_folder", value) for name, value in folders.items()},
            "ending up": ("windrow_ending", "/../x"),
            "ending long": ("windrow_ending", "." + "x" * 100),
            "no set": ("windrow_set", None),
            "other set": ("windrow_set", "x"),
            "no count": ("windrow_subfiles", None),
            "count 0": ("windrow_subfiles", 0),
            "count -1": ("windrow_subfiles", -1),
            "count large": ("windrow_subfiles", LARGEST),
            "count float": ("windrow_subfiles", 3.0),
            "count 2": ("windrow_subfiles", 2),
            "count list": ("windrow_subfiles", [3, 3]),
            "sum": ("windrow_map_checksum", 1),
            "no sum": ("windrow_map_checksum", None),
        }

    def expect_bad_maps(self, damages, words=r"map of its subfiles|missing|checksum"):
        """By the name of what is wrong: a function that does it to the base file. The command says it in one of these
        words, and nothing outside of the set's folder is looked at."""
        good = self.base.read_bytes()
        for name, damage in damages.items():
            with self.subTest(damage=name):
                self.base.write_bytes(good)
                damage()
                told = windrow(
                    "check",
                    self.base,
                    ranks=3 if name in ("up", "overlapping", "overflowing", "many dimensions") else 1,
                    code=1,
                )
                self.assertIn(self.base.name, told)
                self.assertNotIn(" outside/", told)
                self.assertRegex(told, words)
        self.base.write_bytes(good)
        self.assertIn("sound", windrow("check", self.base))

    def expect_survival(self, victim, random, begin, end, bytes_each, rounds):
        """Changes bytes at random places of a file's metadata: anything but a crash or a hang. Returns the output of
        each run."""
        whole, told = victim.read_bytes(), []
        for _ in range(rounds):
            bad = bytearray(whole)
            for place in random.integers(begin, end, bytes_each):
                bad[place] = random.integers(0, 256)
            victim.write_bytes(bad)
            done = subprocess.run(
                [COMMAND, "check", str(self.base)], capture_output=True, text=True, errors="replace", timeout=LIMIT_S
            )
            self.assertIn(done.returncode, (0, 1, 2), done.stderr)
            told.append((done.returncode, done.stderr))
        victim.write_bytes(whole)
        return told
