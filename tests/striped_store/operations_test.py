# SPDX-License-Identifier: BSD-3-Clause
"""Three clients of a store do at random what files and folders let be done, and so does a plain folder: every answer
is the same."""

import os
import random
import stat
import sys
import threading
from pathlib import Path

sys.path.insert(0, os.path.dirname(__file__))
from store import KIB, MIB, StoreTest, main

NAMES = ["a", "b c", "d", "folder", "folder/a", "folder/e f", "folder/deep", "folder/deep/g"]


def outcome(work) -> object:
    """What came of it, so that two can be compared: a value, or the error's number."""
    try:
        return work()
    except OSError as error:
        return error.errno


def about(path: Path) -> tuple:
    found = os.lstat(path)
    size = found.st_size if stat.S_ISREG(found.st_mode) else 0
    links = found.st_nlink if not stat.S_ISDIR(found.st_mode) else 0
    return found.st_mode, size, links


class Walk:
    """One thing done at random, the same to each folder it is asked to do it in."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.opened: list[tuple[int, int]] = []  # descriptors of the same file, in the store and in the plain folder

    def names(self) -> tuple[str, str]:
        return self.random.choice(NAMES), self.random.choice(NAMES)

    def step(self, store: Path, plain: Path) -> tuple[object, object]:
        kind = self.random.choice(
            [self.name_step, self.name_step, self.file_step, self.file_step, self.file_step, self.handle_step]
        )
        return kind(store, plain)

    def name_step(self, store: Path, plain: Path) -> tuple[object, object]:
        name, other = self.names()
        mode = self.random.choice([0o600, 0o644, 0o755])
        work = self.random.choice(
            [
                lambda at: os.mkdir(at / name),
                lambda at: os.rmdir(at / name),
                lambda at: os.unlink(at / name),
                lambda at: os.replace(at / name, at / other),
                lambda at: os.link(at / name, at / other),
                lambda at: os.symlink(name, at / other),
                lambda at: os.readlink(at / name),
                lambda at: os.chmod(at / name, mode),
                lambda at: os.utime(at / name, ns=(10**18, 10**18 + 5)) or os.stat(at / name).st_mtime_ns,
                lambda at: sorted(os.listdir(at / name)),
                lambda at: about(at / name),
            ]
        )
        return outcome(lambda: work(store)), outcome(lambda: work(plain))

    def file_step(self, store: Path, plain: Path) -> tuple[object, object]:
        name, _ = self.names()
        flags = self.random.choice([os.O_RDWR, os.O_RDWR, os.O_RDONLY, os.O_WRONLY]) | self.random.choice(
            [0, os.O_CREAT, os.O_CREAT, os.O_CREAT | os.O_EXCL, os.O_TRUNC, os.O_APPEND]
        )
        first, second = (outcome(lambda at=at: os.open(at / name, flags, 0o644)) for at in (store, plain))
        if not (self.is_open(first, store) and self.is_open(second, plain)):
            return first, second
        if os.path.isdir(f"/proc/self/fd/{second}"):  # in folders every file system has offsets of its own
            os.close(first)
            os.close(second)
            return None, None
        self.opened.append((first, second))
        return self.handle_step(store, plain)

    @staticmethod
    def is_open(result: object, folder: Path) -> bool:
        try:
            return os.readlink(f"/proc/self/fd/{result}").startswith(str(folder))
        except OSError:
            return False

    def handle_step(self, *_) -> tuple[object, object]:
        if not self.opened:
            return None, None
        pair = self.random.choice(self.opened)
        offset = self.random.choice([0, 1, 4095, 64 * KIB - 1, 64 * KIB, 3 * 64 * KIB + 17, MIB])
        length = self.random.choice([1, 100, 4096, 64 * KIB, 200 * KIB, 2 * MIB + 5])
        data = self.random.randbytes(length)
        work = self.random.choice(
            [
                lambda each: os.pwrite(each, data, offset),
                lambda each: os.pwrite(each, data, offset),
                lambda each: os.pread(each, length, offset),
                lambda each: os.ftruncate(each, offset),
                lambda each: os.posix_fallocate(each, offset, length),
                lambda each: os.fsync(each),
                lambda each: os.lseek(each, 0, os.SEEK_END),
                lambda each: (os.fstat(each).st_size, os.fstat(each).st_nlink),
            ]
        )
        answers = tuple(outcome(lambda each=each: work(each)) for each in pair)
        if self.random.random() < 0.6:
            self.opened.remove(pair)
            for each in pair:
                os.close(each)
        return answers

    def close(self) -> None:
        for pair in self.opened:
            for each in pair:
                os.close(each)


def contents(folder: Path) -> dict[str, object]:
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        about_it = about(path)
        value = path.read_bytes() if stat.S_ISREG(about_it[0]) else os.readlink(path) if path.is_symlink() else None
        found[str(path.relative_to(folder))] = (about_it, value)
    return found


class OperationsTest(StoreTest):
    def test_as_a_plain_folder(self):
        for seed in range(3):
            with self.subTest(seed=seed):
                self.setUp()
                mounts = self.up(3, "--targets", "3", "--stripe", "64KiB")
                plain = self.folder / "plain"
                plain.mkdir()
                walk = Walk(seed)
                for number in range(1500):
                    answers = walk.step(walk.random.choice(mounts), plain)
                    self.assertEqual(answers[0], answers[1], f"step {number}")
                walk.close()
                for mount in mounts:
                    self.assertEqual(contents(mount), contents(plain))
                self.assertGreater(len(contents(plain)), 1)
                self.doCleanups()

    def test_clients_write_their_parts_at_the_same_time(self):
        mounts = self.up(5, "--targets", "3", "--stripe", "64KiB", "--lock-cost", "100us")
        record = 10007  # prime: records share pages and stripes
        texts = [bytes([65 + client]) * record for client in range(5)]

        def write(client: int) -> None:
            with open(mounts[client] / "shared", "r+b", buffering=0) as file:
                for turn in range(40):
                    file.seek((turn * 5 + client) * record)
                    file.write(texts[client])

        (mounts[0] / "shared").touch()
        threads = [threading.Thread(target=write, args=[client]) for client in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        for mount in mounts:
            self.assertEqual((mount / "shared").read_bytes(), b"".join(texts) * 40)

    def test_clients_append_to_one_file(self):
        mounts = self.up(3, "--targets", "2")

        def append(client: int) -> None:
            with open(mounts[client] / "log", "ab", buffering=0) as file:
                for number in range(50):
                    file.write(b"%d %03d\n" % (client, number))

        threads = [threading.Thread(target=append, args=[client]) for client in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        lines = (mounts[0] / "log").read_text().splitlines()
        self.assertEqual(sorted(lines), sorted(f"{client} {number:03d}" for client in range(3) for number in range(50)))

    def test_a_removed_file_stays_with_who_has_it_open_and_then_takes_no_room(self):
        first, second = self.up(2)
        with open(first / "gone", "w+b", buffering=0) as file:
            file.write(bytes(8 * MIB))
            (second / "gone").unlink()
            self.assertFalse((first / "gone").exists())
            self.assertEqual(os.pread(file.fileno(), 9 * MIB, 0), bytes(8 * MIB))
        (first / "kept").write_bytes(b"new")
        (first / "over").write_bytes(bytes(8 * MIB))
        (second / "over").stat()  # its kernel knows it now
        os.replace(first / "kept", first / "over")
        self.assertEqual((second / "over").read_bytes(), b"new")
        used = sum(path.stat().st_blocks * 512 for path in (self.backing / "files").rglob("*"))
        self.assertLess(used, MIB)

    def test_holes(self):
        (mount,) = self.up(1, "--stripe", "64KiB")
        with open(mount / "sparse", "w+b", buffering=0) as file:
            os.pwrite(file.fileno(), b"x", 100 * MIB)
            self.assertEqual(os.pread(file.fileno(), 3, 50 * MIB), bytes(3))
            self.assertEqual(os.lseek(file.fileno(), 0, os.SEEK_DATA), 100 * MIB)
            self.assertEqual(os.lseek(file.fileno(), 0, os.SEEK_HOLE), 0)
        self.assertLess((mount / "sparse").stat().st_blocks * 512, MIB)

    def test_the_control_file_is_nobodys(self):
        (mount,) = self.up(1)
        control = mount / ".striped-store"
        self.assertNotIn(control.name, os.listdir(mount))
        with self.assertRaises(PermissionError):
            control.unlink()
        (mount / "a").touch()
        with self.assertRaises(PermissionError):
            os.replace(mount / "a", control)
        with self.assertRaises(OSError):
            control.write_text("nonsense")


main()
