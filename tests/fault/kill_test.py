# SPDX-License-Identifier: BSD-3-Clause
"""A rank is killed while a checkpoint is written: the job ends, and the checkpoint before it is whole.

Run by CTest with WINDROW_CHECKPOINT, WINDROW_MPIRUN and, where it is built, WINDROW_COMMAND in the environment.
"""

import os
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

CHECKPOINT = os.environ["WINDROW_CHECKPOINT"]
MPIRUN = shlex.split(os.environ["WINDROW_MPIRUN"])
COMMAND = os.environ.get("WINDROW_COMMAND")
NAMES = os.environ["WINDROW_NAMES"].split(",")
LIMIT_S = 60  # a hang is a failure

STRATEGIES = {
    "two-phase": ["strategy=two-phase", "writers=4", "buffer=4096"],
    "list": ["strategy=list"],
    "team": ["gather=team(4)", "domains=none", "buffer=4096"],
    "split": ["files=subfiles(3)", "strategy=two-phase", "buffer=4096"],
}


def write(path, number, fault, *options, ranks):
    launch = [*MPIRUN, "-n", str(ranks), CHECKPOINT, path, str(number), fault, *options]
    return subprocess.run(launch, capture_output=True, text=True, timeout=LIMIT_S)


class KillTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="windrow kill ")
        self.addCleanup(shutil.rmtree, self.folder)

    def contents(self):
        found = {}
        for folder, _, names in os.walk(self.folder):
            for name in sorted(names):
                with open(os.path.join(folder, name), "rb") as file:
                    found[os.path.relpath(file.name, self.folder)] = file.read()
        return found

    def try_one(self, name, options, ranks, victim):
        path = os.path.join(self.folder, name)
        done = write(path, 1, "", *options, ranks=ranks)
        self.assertEqual(done.returncode, 0, done.stderr)
        before = self.contents()
        self.assertIn(name, before)

        done = write(path, 2, f"rank={victim},operation=write,after=1,error=kill", *options, ranks=ranks)
        self.assertNotEqual(done.returncode, 0, "nobody was killed: this test tests nothing")
        after = self.contents()
        left = {name: after.pop(name) for name in list(after) if name not in before}
        self.assertEqual(after, before)
        self.assertTrue(left)
        for leftover in left:
            self.assertRegex(leftover, r"^\." + re.escape(name) + r"\.windrow-[0-9a-z]{4}(\.json|\.subfiles/\d\.h5)?$")
        if COMMAND:
            told = subprocess.run(
                [*MPIRUN, "-n", "1", COMMAND, "info", path], capture_output=True, text=True, timeout=LIMIT_S
            )
            self.assertEqual(told.returncode, 0, told.stderr)
            self.assertIn(min(left).split("/")[0], told.stdout)

        done = write(path, 3, "", *options, ranks=ranks)
        self.assertEqual(done.returncode, 0, done.stderr)
        after = self.contents()
        self.assertNotEqual(after[name], before[name])
        for leftover in left:
            self.assertNotIn(leftover, after, "the next run removes what a killed one has left")
        subfiles = sum(each.startswith(f"{name}.subfiles-") for each in after)
        # The subfiles of the previous file remain for programs that have it open, with a mark.
        self.assertEqual(subfiles, 3 + 3 + 1 if "files=subfiles(3)" in options else 0)
        shutil.rmtree(self.folder)
        os.mkdir(self.folder)

    # The folder of a new set has its name, but the file that names it does not yet: the existing file has its own
    # folder.
    def test_between_the_renames_of_a_set(self):
        name = "a.h5"
        if name not in NAMES:
            self.skipTest("built without HDF5")
        path = os.path.join(self.folder, name)
        split = STRATEGIES["split"]
        for ranks in (1, 3):
            for options in (split, ["files=one"]):
                with self.subTest(ranks=ranks, before=options[0]):
                    self.assertEqual(write(path, 1, "", *options, ranks=ranks).returncode, 0)
                    before = self.contents()
                    done = write(path, 2, "rank=0,operation=publish,after=1,error=kill", *split, ranks=ranks)
                    self.assertNotEqual(done.returncode, 0, "nobody was killed: this test tests nothing")
                    after = self.contents()
                    left = {each: after.pop(each) for each in list(after) if each not in before}
                    self.assertEqual(after, before)
                    (folder,) = {each.split("/")[0] for each in left if "/" in each}
                    self.assertRegex(folder, r"^a\.h5\.subfiles-[0-9a-f]{8}$")
                    self.assertEqual(len([each for each in left if each.startswith(folder)]), 3, "all of the new set")
                    self.assertEqual(
                        [
                            each
                            for each in left
                            if not each.startswith(folder) and not re.fullmatch(r"\.a\.h5\.windrow-\w{4}", each)
                        ],
                        [],
                    )
                    if COMMAND:
                        for command in ("check", "info"):
                            told = subprocess.run(
                                [*MPIRUN, "-n", "1", COMMAND, command, path],
                                capture_output=True,
                                text=True,
                                timeout=LIMIT_S,
                            )
                            self.assertEqual(told.returncode, 0, f"the file before is sound: {told.stderr}")
                            self.assertIn(folder, told.stdout + told.stderr)
                    self.assertEqual(write(path, 3, "", *split, ranks=ranks).returncode, 0)
                    after = self.contents()
                    kept = {each for each in left if each.startswith(folder)}
                    self.assertTrue(kept <= set(after), "it may be that of a file that was renamed: not ours to remove")
                    shutil.rmtree(self.folder)
                    os.mkdir(self.folder)

    # Errors in the same place: the file before stays, and nothing of the new set.
    def test_a_rename_that_fails(self):
        name = "a.h5"
        if name not in NAMES:
            self.skipTest("built without HDF5")
        path = os.path.join(self.folder, name)
        self.assertEqual(write(path, 1, "", *STRATEGIES["split"], ranks=3).returncode, 0)
        before = self.contents()
        for after in (0, 1):
            done = write(path, 2, f"rank=0,operation=publish,after={after},error=io", *STRATEGIES["split"], ranks=3)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("publish", done.stderr)
            self.assertEqual(self.contents(), before)

    def test_the_checkpoint_before_is_whole(self):
        for name in NAMES:
            for strategy, options in STRATEGIES.items():
                if strategy == "split" and name.endswith(".raw"):
                    continue
                for ranks in (1, 3):
                    if ranks == 1 and strategy not in ("two-phase", "split"):
                        continue  # all in one request: there is no middle
                    victims = (0,) if strategy == "team" else range(ranks)
                    for victim in victims:
                        with self.subTest(name=name, strategy=strategy, ranks=ranks, victim=victim):
                            self.try_one(name, options, ranks, victim)


if __name__ == "__main__":
    unittest.main()
