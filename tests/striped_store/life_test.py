# SPDX-License-Identifier: BSD-3-Clause
"""How a store begins and ends: in good order, by signals, and when its process is killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, os.path.dirname(__file__))
from store import LIMIT_S, TOOL, StoreTest, call, main, mounts


class LifeTest(StoreTest):
    def process(self) -> int:
        return int((self.backing / "striped-store.pid").read_text())

    def wait_until_gone(self, process: int) -> None:
        limit = time.monotonic() + LIMIT_S
        while (
            os.path.exists(f"/proc/{process}")
            and "Z" not in Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
        ):
            self.assertLess(time.monotonic(), limit)
            time.sleep(0.01)

    def is_mounted(self) -> bool:
        return str(self.folder).replace(" ", "\\040") in mounts()

    def test_down_by_a_mount_or_the_backing_folder_and_twice(self):
        for name in ("client 1", "backing", "client 0/"):
            self.up(2)
            process = self.process()
            self.assertTrue(self.is_mounted())
            for _ in range(2):
                done = call("down", f"{self.folder}/{name}")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertFalse(self.is_mounted())
            self.wait_until_gone(process)

    def test_files_and_layouts_stay_in_a_backing_folder(self):
        (mount,) = self.up(1, "--targets", "4", "--stripe", "64KiB")
        (mount / "file").write_bytes(b"kept")
        layout = os.getxattr(mount / "file", "lustre.lov")
        call("down", str(mount))
        (mount,) = self.up(1, "--targets", "4", "--stripe", "1MiB")
        self.assertEqual((mount / "file").read_bytes(), b"kept")
        self.assertEqual(os.getxattr(mount / "file", "lustre.lov"), layout)

    def test_a_layout_that_does_not_fit_stays_with_its_file(self):
        (mount,) = self.up(1, "--targets", "4", "--stripe", "64KiB")
        (mount / "file").write_bytes(b"kept")
        layout = os.getxattr(mount / "file", "lustre.lov")
        call("down", str(mount))
        (mount,) = self.up(1, "--targets", "2", "--stripe", "1MiB")
        self.assertIn(b"1048576", os.getxattr(mount / "file", "user.striped_store.layout"))
        self.assertEqual((mount / "file").read_bytes(), b"kept")
        call("down", str(mount))
        (mount,) = self.up(1, "--targets", "4", "--stripe", "1MiB")
        self.assertEqual(os.getxattr(mount / "file", "lustre.lov"), layout)

    def test_mounts_lie_beside_each_other(self):
        (self.folder / "a").mkdir()
        (self.folder / "link").symlink_to(self.folder / "a")
        for folders in (["a", "a"], ["a", "a/b"], ["a/b", "a"], ["a", "link"], ["link/b", "a"]):
            with self.subTest(folders=folders):
                done = call("up", "--mounts", *(f"{self.folder}/{name}" for name in folders))
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("beside each other", done.stderr)
        done = call("up", "--mounts", f"{self.folder}/backing 2/mount", "--backing", f"{self.folder}/backing 2")
        self.assertIn("beside each other", done.stderr)
        self.assertFalse(self.is_mounted())

    def test_a_store_in_memory_ends_with_its_files(self):
        mount = self.folder / "mount"
        self.addCleanup(call, "down", str(mount))
        for kill in (False, True):
            self.assertEqual(call("up", "--mounts", str(mount)).returncode, 0)
            (line,) = [line for line in mounts().splitlines() if str(mount).replace(" ", "\\040") in line]
            backing = Path(line.split()[0])
            (mount / "file").write_bytes(b"x")
            self.assertTrue((backing / "files" / "file").exists())
            if kill:
                os.kill(int((backing / "striped-store.pid").read_text()), signal.SIGKILL)
            self.assertEqual(call("down", str(mount)).returncode, 0)
            self.assertFalse(backing.exists())

    def test_a_killed_one_leaves_mounts_that_down_removes(self):
        first, second = self.up(2)
        opened = os.open(first / "file", os.O_WRONLY | os.O_CREAT)
        os.kill(self.process(), signal.SIGKILL)
        self.wait_until_gone(self.process())
        with self.assertRaises(OSError):
            (second / "file").stat()
        again = call("up", "--mounts", str(second), "--backing", str(self.backing))
        self.assertEqual(again.returncode, 1)
        self.assertIn("striped-store down", again.stderr)
        self.assertEqual(call("down", str(second)).returncode, 0)
        self.assertFalse(self.is_mounted())
        with self.assertRaises(OSError):
            os.write(opened, b"x")
        with self.assertRaises(OSError):  # it is closed nevertheless
            os.close(opened)
        self.up(2)
        self.assertTrue((first / "file").exists())

    def test_a_stopped_one_is_ended(self):
        self.up(1)
        process = self.process()
        os.kill(process, signal.SIGSTOP)
        self.assertEqual(call("down", str(self.backing)).returncode, 0)
        self.wait_until_gone(process)

    def test_a_request_that_sleeps_holds_nothing_up(self):
        (mount,) = self.up(1, "--request-cost", "300s")
        writer = subprocess.Popen(
            ["dd", "if=/dev/zero", f"of={mount}/file", "bs=1", "count=1"], stderr=subprocess.DEVNULL
        )
        self.addCleanup(writer.wait, LIMIT_S)
        self.addCleanup(writer.kill)
        while not any(client["requests_written"] for client in self.record()["clients"]):
            time.sleep(0.01)
        self.assertEqual(call("down", str(mount)).returncode, 0)
        self.assertNotEqual(writer.wait(LIMIT_S), 0)

    def test_signals_and_a_last_unmount_end_it(self):
        for end in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, "unmount"):
            self.clients = [self.folder / "one", self.folder / "two"]
            process = subprocess.Popen(
                [TOOL, "up", "--foreground", "--mounts", *map(str, self.clients), "--backing", str(self.backing)]
            )
            while mounts().count(str(self.folder).replace(" ", "\\040")) < 4:  # each line has the folder twice
                self.assertIsNone(process.poll())
                time.sleep(0.01)
            (self.clients[0] / "file").write_bytes(b"x")
            if end == "unmount":
                for mount in self.clients:
                    unmount = ["umount"] if os.geteuid() == 0 else ["fusermount3", "-u"]
                    subprocess.run([*unmount, str(mount)], check=True, timeout=LIMIT_S)
            else:
                process.send_signal(end)
            self.assertEqual(process.wait(LIMIT_S), 0)
            self.assertFalse(self.is_mounted())

    def test_one_store_to_a_backing_folder(self):
        self.up(1)
        again = call("up", "--mounts", f"{self.folder}/other", "--backing", str(self.backing))
        self.assertEqual(again.returncode, 1)
        self.assertIn("is up already", again.stderr)
        self.assertNotIn(f"{self.folder}/other".replace(" ", "\\040"), mounts())

    def test_two_stores_do_not_meet(self):
        (mount,) = self.up(1)
        other = self.folder / "other"
        self.assertEqual(call("up", "--mounts", str(other)).returncode, 0)
        (mount / "file").write_bytes(b"x")
        self.assertEqual(os.listdir(other), [])
        self.assertEqual(call("down", str(other)).returncode, 0)
        self.assertEqual(os.listdir(mount), ["file"])

    def test_mistakes_are_said(self):
        mount = str(self.folder / "mount")
        for words, text in [
            (["--targets", "0"], "--targets"),
            (["--stripe", "100KB"], "64 KiB"),
            (["--targets", "2", "--count", "3"], "3 stripes side by side; there are 2 targets"),
            (["--rate", "quick"], '"quick"'),
            (["--lock-cost", "2"], '"2" is not a time'),
            (["--component", "1MiB:64KiB:1"], "end of file"),
            (["--component", "1MiB:64KiB"], "END:STRIPE:COUNT"),
            (["--component", "96KiB:64KiB:1", "--component", "end:64KiB:1"], "inside a stripe"),
            (["--component", "64KiB:1MiB:1", "--component", "end:64KiB:1"], "inside a stripe"),
            (["--component", "end:64KiB:1", "--count", "2"], "--count excludes --component"),
            (["--stripe", "1MiB", "--component", "end:64KiB:1"], "--stripe excludes --component"),
        ]:
            done = call("up", "--mounts", mount, *words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(text, done.stderr)
        self.assertFalse(self.is_mounted())


main()
