# SPDX-License-Identifier: BSD-3-Clause
"""tools/ceph-loopback: a real striped file system with two clients. Skipped where Ceph is not installed."""

import json
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
VALUES = np.random.default_rng(3).random((401, 1009))  # 3.1 MiB


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

    def planned(self, name: str, layout: str, **settings: str) -> dict:
        """The first flush with data of a copy into a folder of this layout: the report, the layout as in the trace,
        and the writers of each target."""
        folder = self.clients[0] / name
        folder.mkdir()
        os.setxattr(folder, "ceph.dir.layout", layout.encode())
        with tempfile.TemporaryDirectory() as local:
            with h5py.File(f"{local}/in.h5", "w") as file:
                file["values"] = VALUES
            trace = f"{local}/trace"
            options = {f"WINDROW_{key.upper()}": value for key, value in settings.items()} | {
                "WINDROW_TRACE": trace,
                "CEPH_CONF": str(self.folder / "ceph.conf"),
            }
            done = run(
                *LAUNCHER,
                "-n",
                "3",
                COMMAND,
                "copy",
                f"{local}/in.h5",
                str(folder / "out.h5"),
                env=os.environ | options,
            )
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(done.stderr, "")
            lines = [json.loads(line) for line in Path(trace).read_text().splitlines()]
        with h5py.File(self.clients[1] / name / "out.h5", "r") as file:
            np.testing.assert_array_equal(file["values"][...], VALUES)
        opening = next(line for line in lines if line.get("layout", {}).get("kind") == "cephfs")
        flush = next(line for line in lines if line.get("opening") == opening["opening"] and "report" in line)
        return {
            "path": folder / "out.h5",
            "layout": opening["layout"]["components"][0],
            "report": flush["report"],
            "targets": flush["targets"],
        }

    def test_domains_end_where_stripes_do(self):
        found = self.planned(
            "aligned",
            "stripe_unit=131072 stripe_count=3 object_size=262144",
            domains="aligned",
            writers="3",
            ceph_osds="auto",
        )
        self.assertEqual(found["report"]["layout"], "cephfs: stripe size 128 KiB, stripe count 3, object size 256 KiB")
        plan = found["report"]["plans"][0]
        self.assertEqual((plan["domains"], plan["stripes_with_two_writers"]), ("aligned", 0))
        cuts = [begin for begin, _ in plan["domain_bytes"][1:]]
        self.assertEqual(len(cuts), 2)
        self.assertEqual([cut % 131072 for cut in cuts], [0, 0])
        self.assertIn("this CephFS client does not report OSDs", str(plan["reasons"]))

    def test_columns_have_a_writer_each(self):
        found = self.planned(
            "columns",
            "stripe_unit=65536 stripe_count=3 object_size=262144",
            domains="target",
            writers="3",
            ceph_osds="off",
        )
        plan = found["report"]["plans"][0]
        self.assertEqual((plan["domains"], plan["stripes_with_two_writers"]), ("target", 0))
        self.assertIn("3 writers with columns of stripes of their own", str(plan["reasons"]))
        self.assertEqual(sorted(target for _, target, _ in found["targets"]), [0, 1, 2])

    def test_osds_are_those_that_ceph_names(self):
        for name, layout in [
            ("osds-1", "stripe_unit=262144 stripe_count=1 object_size=262144"),
            ("osds-2", "stripe_unit=65536 stripe_count=2 object_size=131072"),
        ]:
            with self.subTest(layout):
                found = self.planned(name, layout, domains="target", writers="3", ceph_osds="libcephfs")
                plan = found["report"]["plans"][0]
                if "built without libcephfs" in str(plan["reasons"]):
                    self.skipTest("built without libcephfs")
                self.assertIn("on 3 targets: 0, 1, 2", found["report"]["layout"])
                self.assertEqual((plan["domains"], plan["stripes_with_two_writers"]), ("target", 0))
                self.assertIn("3 writers with targets of their own", str(plan["reasons"]))
                # In the file there are bytes of a dozen objects: each is where Ceph itself says, and each OSD has one
                # writer.
                inode = found["path"].stat().st_ino
                for number in range(0, 12):
                    self.assertEqual(
                        found["layout"]["targets"][number], self.primary(f"{inode:x}.{number:08x}"), number
                    )
                writers: dict[int, set] = {}
                for rank, target, _ in found["targets"]:
                    writers.setdefault(target, set()).add(rank)
                self.assertEqual(sorted(writers), [0, 1, 2])
                self.assertEqual(sorted(map(len, writers.values())), [1, 1, 1])

    def test_without_an_answer_columns_are_left(self):
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as wrong:
            wrong.write((self.folder / "ceph.conf").read_text().replace(":3300", ":3399"))
            wrong.flush()
            with h5py.File(self.clients[0] / "early.h5", "w") as file:
                file["values"] = VALUES[:50]
            options = {"WINDROW_CEPH_OSDS": "libcephfs", "CEPH_CONF": wrong.name}
            done = run(
                *LAUNCHER,
                "-n",
                "2",
                COMMAND,
                "copy",
                "--explain",
                str(self.clients[0] / "early.h5"),
                str(self.clients[0] / "late.h5"),
                env=os.environ | options,
            )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, "OSDs: libcephfs: cannot mount|built without libcephfs")

    def primary(self, name: str) -> int:
        done = run(
            "ceph",
            "--conf",
            str(self.folder / "ceph.conf"),
            "--connect-timeout",
            "20",
            "--format",
            "json",
            "osd",
            "map",
            "data",
            name,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["acting_primary"]

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
