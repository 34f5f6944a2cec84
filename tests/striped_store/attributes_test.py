# SPDX-License-Identifier: BSD-3-Clause
"""Layouts, as they are read and set by the attribute lustre.lov: byte by byte as Lustre has it."""

import errno
import os
import struct
import sys
from pathlib import Path

sys.path.insert(0, os.path.dirname(__file__))
from store import KIB, MIB, StoreTest, main

V1, V3, COMPOSITE = 0x0BD10BD0, 0x0BD30BD0, 0x0BD60BD0
ANY = 0xFFFF
END = 2**64 - 1


def head(magic: int, number: int, stripe: int, count: int, first: int) -> bytes:
    return struct.pack("<IIQQIHH", magic, 1, number, 0, stripe, count, first)


def objects(number: int, targets: list[int], begin: int = 0) -> bytes:
    return b"".join(struct.pack("<QQII", number, begin + place, 0, target) for place, target in enumerate(targets))


class AttributesTest(StoreTest):
    def lov(self, path: Path, name: str = "lustre.lov") -> bytes:
        return os.getxattr(path, name)

    def refuses(self, code: int, path: Path, value: bytes) -> None:
        with self.assertRaises(OSError) as caught:
            os.setxattr(path, "lustre.lov", value)
        self.assertEqual(caught.exception.errno, code)

    def test_of_a_file(self):
        first, second = self.up(2, "--targets", "5", "--stripe", "256KiB", "--count", "3")
        expected = [[0, 1, 2], [3, 4, 0], [1, 2, 3]]  # targets are taken in turn
        for number, targets in enumerate(expected):
            file = first / f"file {number}"
            file.touch()
            inode = file.stat().st_ino
            blob = head(V1, inode, 256 * KIB, 3, 0) + objects(inode, targets)
            for name in ("lustre.lov", "user.lov", *(["trusted.lov"] if os.geteuid() == 0 else [])):
                self.assertEqual(self.lov(second / file.name, name), blob)
            text = f"0..end stripe 262144 targets {','.join(map(str, targets))}\n"
            self.assertEqual(os.getxattr(file, "user.striped_store.layout").decode(), text)
            self.assertEqual(file.stat().st_blksize, 256 * KIB)
            self.assertIn("lustre.lov", os.listxattr(file))

    def test_is_set_on_an_empty_file(self):
        first, second = self.up(2, "--targets", "4")
        file = first / "file"
        file.touch()
        inode = file.stat().st_ino
        os.setxattr(file, "lustre.lov", head(V1, 0, 128 * KIB, 2, 3))
        self.assertEqual(self.lov(second / "file"), head(V1, inode, 128 * KIB, 2, 0) + objects(inode, [3, 0]))
        pool = b"fast".ljust(16, b"\0")
        os.setxattr(second / "file", "lustre.lov", head(V3, 0, 64 * KIB, ANY, 1) + pool)
        self.assertEqual(self.lov(file), head(V3, inode, 64 * KIB, 4, 0) + pool + objects(inode, [1, 2, 3, 0]))
        os.setxattr(file, "lustre.lov", head(V1, 0, 0, 0, 2))  # stripe and count of the store
        self.assertEqual(self.lov(file), head(V1, inode, MIB, 4, 0) + objects(inode, [2, 3, 0, 1]))
        self.refuses(errno.EINVAL, file, head(V1, 0, 64 * KIB + 1, 1, 0))
        self.refuses(errno.EINVAL, file, head(V1, 0, 64 * KIB, 5, 0))
        self.refuses(errno.EINVAL, file, head(V1, 0, 64 * KIB, 1, 4))
        self.refuses(errno.EINVAL, file, head(0x12345678, 0, 64 * KIB, 1, 0))
        for size in (0, 3, 31):
            self.refuses(errno.EINVAL, file, head(V1, 0, 64 * KIB, 1, 0)[:size])
        file.write_bytes(b"x")
        self.refuses(errno.EEXIST, file, head(V1, 0, 64 * KIB, 1, 0))
        self.assertEqual(self.lov(file)[24:28], struct.pack("<I", MIB))

    def test_says_where_bytes_go(self):
        (mount,) = self.up(1, "--targets", "4")
        (mount / "file").touch()
        os.setxattr(mount / "file", "lustre.lov", head(V1, 0, 64 * KIB, 2, 2))
        (mount / "file").write_bytes(bytes(64 * KIB + 64 * KIB + 100))
        self.assertEqual(self.matrix("bytes_written"), [[0, 0, 64 * KIB + 100, 64 * KIB]])

    def test_of_a_folder_goes_to_what_is_made_in_it(self):
        first, second = self.up(2, "--targets", "4")
        folder = first / "out put"
        folder.mkdir()
        self.assertEqual(self.lov(folder), head(V1, folder.stat().st_ino, MIB, ANY, ANY))
        os.setxattr(folder, "lustre.lov", head(V1, 0, 4 * MIB, 2, 1))
        self.assertEqual(self.lov(second / "out put"), head(V1, folder.stat().st_ino, 4 * MIB, 2, 1))
        (second / "out put" / "deep").mkdir()
        file = second / "out put" / "deep" / "file"
        file.touch()
        inode = file.stat().st_ino
        self.assertEqual(self.lov(file), head(V1, inode, 4 * MIB, 2, 0) + objects(inode, [1, 2]))
        (first / "beside").touch()
        self.assertEqual(self.lov(first / "beside")[24:28], struct.pack("<I", MIB))
        self.refuses(errno.EINVAL, folder, head(V1, 0, 100, 2, 1))

    def test_of_components(self):
        (mount,) = self.up(1, "--targets", "4", "--component", "1MiB:64KiB:1", "--component", "end:1MiB:3")
        file = mount / "file"
        file.touch()
        inode = file.stat().st_ino
        parts = [
            head(V1, inode, 64 * KIB, 1, 0) + objects(inode, [0]),
            head(V1, inode, MIB, 3, 0) + objects(inode, [1, 2, 3], 1),
        ]
        offset = 32 + 2 * 48
        whole = struct.pack("<IIIHHHHHHQ", COMPOSITE, offset + len(parts[0]) + len(parts[1]), 0, 0, 2, 0, 0, 0, 0, 0)
        for number, (begin, end) in enumerate([(0, MIB), (MIB, END)]):
            whole += struct.pack("<IIQQIIIQI", number + 1, 0x10, begin, end, offset, len(parts[number]), 0, 0, 0)
            offset += len(parts[number])
        self.assertEqual(self.lov(file), whole + b"".join(parts))
        # Stripes are counted from the file's beginning: MiB 1 is in column 1 of the second component
        file.write_bytes(bytes(5 * MIB))
        self.assertEqual(self.matrix("bytes_written"), [[MIB, MIB, 2 * MIB, MIB]])
        other = mount / "other"
        other.touch()
        os.setxattr(other, "lustre.lov", whole + b"".join(parts))
        self.assertEqual(
            os.getxattr(other, "user.striped_store.layout").decode(),
            os.getxattr(file, "user.striped_store.layout").decode(),
        )
        for size in range(0, len(whole) + len(parts[0]), 7):  # cut short anywhere
            self.refuses(errno.EINVAL, other, (whole + b"".join(parts))[:size])

    def test_other_attributes_are_kept(self):
        first, second = self.up(2)
        (first / "file").touch()
        try:
            os.setxattr(first / "file", "user.mine", b"value")
        except OSError as error:
            self.assertEqual(error.errno, errno.ENOTSUP)
            self.skipTest("the file system of the backing folder has no attributes of users")
        self.assertEqual(os.getxattr(second / "file", "user.mine"), b"value")
        self.assertEqual(os.listxattr(second / "file"), ["lustre.lov", "user.mine"])
        os.removexattr(second / "file", "user.mine")
        with self.assertRaises(OSError):
            os.getxattr(first / "file", "user.mine")


main()
