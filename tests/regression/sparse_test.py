# SPDX-License-Identifier: BSD-3-Clause
"""Sparse variables: chunks that were never written are neither read nor written by `windrow copy` and `windrow check`,
in one file and in sets of subfiles.

Run by CTest with WINDROW_COMMAND and WINDROW_MPIRUN in the environment.
"""

import itertools
import json
import re
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy as np

sys.path.append(str(Path(__file__).parent.parent))
from sets import settings, windrow  # noqa: E402


def chunks_in(dataset):
    """First elements of the stored chunks."""
    infos = (dataset.id.get_chunk_info(i) for i in range(dataset.id.get_num_chunks()))
    return sorted(tuple(map(int, info.chunk_offset)) for info in infos)


def chunks_of(path, name):
    """The same of a file or a set, from the beginning of the whole array."""
    with h5py.File(path) as file:
        if not file[name].is_virtual:
            return chunks_in(file[name])
        folder = path.parent / file.attrs["windrow_folder"].decode()
        parts = int(file[name].attrs["windrow_split_parts"])
    found = []
    for part in range(parts):
        with h5py.File(folder / f"{part}.h5") as file:
            begin = file[name].attrs["windrow_split_range"][: file[name].ndim]
            found += [tuple(int(b + e) for b, e in zip(begin, each)) for each in chunks_in(file[name])]
    return sorted(found)


def allocated(path):
    return path.stat().st_blocks * 512


class Sparse(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="windrow sparse "))
        self.addCleanup(shutil.rmtree, self.folder)
        self.plain = self.folder / "plain.h5"

    def add(self, file, name, shape, chunk, where, dtype="f4", **more):
        """A variable with values in the chunks of the grid that where(indexes) picks."""
        dataset = file.create_dataset(name, shape=shape, chunks=chunk, dtype=dtype, **more)
        grid = [range(-(-extent // edge)) for extent, edge in zip(shape, chunk)]
        for number, indexes in enumerate(itertools.product(*grid)):
            if where(indexes):
                box = tuple(slice(i * e, min((i + 1) * e, n)) for i, e, n in zip(indexes, chunk, shape))
                dataset[box] = np.arange(dataset[box].size).reshape(dataset[box].shape) % 89 + number + 1
        return dataset

    def fill(self, path):
        """Variables of 1 to 4 dimensions, small and large, with chunks that are cut off by the edge."""
        odd = lambda indexes: sum(indexes) % 2 == 1  # noqa: E731
        diagonal = lambda indexes: len(set(indexes)) == 1  # noqa: E731
        with h5py.File(path, "w") as file:
            self.add(file, "line", (1000,), (64,), lambda i: i[0] in (0, 3, 4, 15))
            self.add(file, "diagonal", (4096, 1024), (64, 64), diagonal)
            self.add(file, "odd", (60, 50, 40), (16, 16, 16), odd, "i2", fillvalue=-7)
            self.add(file, "packed", (60, 50), (16, 7), odd, "f8", compression="gzip")
            self.add(file, "four", (12, 9, 8, 10), (4, 4, 4, 3), diagonal, "u1")
            self.add(file, "grows", (50, 64), (8, 16), lambda i: i[0] < 4 and odd(i), maxshape=(None, 64))
            self.add(file, "column", (512, 32), (64, 16), lambda i: i[0] == 7, "i8")
            self.add(file, "none", (300, 200), (64, 64), lambda i: False, fillvalue=2.5)
            self.add(file, "all", (300, 200), (64, 64), lambda i: True)
            self.add(file, "one", (5,), (5,), lambda i: False, "i4")
        with h5py.File(path) as file:
            self.chunks = {name: chunks_in(file[name]) for name in file}
            return {name: file[name][...] for name in file}

    def copy(self, source, target, *options, ranks=1):
        told = json.loads(windrow("copy", "--json", source, target, *settings(*options), ranks=ranks))
        return told["bytes"]

    def check(self, path, ranks=1):
        return json.loads(windrow("check", "--json", path, ranks=ranks))

    def expect_values(self, path, values):
        with h5py.File(path) as file:
            for name, expected in values.items():
                np.testing.assert_array_equal(file[name][...], expected, name)

    def expect_chunks(self, path):
        for name, expected in self.chunks.items():
            self.assertEqual(chunks_of(path, name), expected, name)

    def overlapped(self, path, name):
        """The chunks of a copy that overlap those of the source."""
        with h5py.File(self.plain) as file:
            old, shape = file[name].chunks, file[name].shape
        with h5py.File(path) as file:
            new = file[name].chunks
        found = set()
        for first in self.chunks[name]:
            grid = [range(f // n, -(-min(f + o, s) // n)) for f, o, n, s in zip(first, old, new, shape)]
            found.update(tuple(i * n for i, n in zip(each, new)) for each in itertools.product(*grid))
        return sorted(found)


class OneFile(Sparse):
    def test_copies_have_the_same_chunks(self):
        values = self.fill(self.plain)
        moved = set()
        for ranks in (1, 2, 3, 5):
            with self.subTest(ranks=ranks):
                copy = self.folder / f"copy on {ranks}.h5"
                moved.add(self.copy(self.plain, copy, ranks=ranks))
                self.expect_chunks(copy)
                self.expect_values(copy, values)
        self.assertEqual(moved, {self.check(self.plain)["bytes"]}, "what is moved is what is stored")

    def test_a_small_buffer_makes_no_difference(self):
        values = self.fill(self.plain)
        copy = self.folder / "copy.h5"
        windrow("copy", "--buffer", "4096", self.plain, copy)
        self.expect_chunks(copy)
        self.expect_values(copy, values)

    def test_other_chunks_are_those_that_overlap(self):
        values = self.fill(self.plain)
        for ranks, name, chunk in ((1, "diagonal", "100x60"), (3, "odd", "7x50x16"), (2, "packed", "32x32")):
            with self.subTest(chunk=chunk):
                alone, copy = self.folder / f"{name}.h5", self.folder / f"other {name}.h5"
                with h5py.File(alone, "w") as to, h5py.File(self.plain) as file:
                    file.copy(name, to)
                self.copy(alone, copy, f"chunks={chunk}", ranks=ranks)
                self.assertEqual(chunks_of(copy, name), self.overlapped(copy, name))
                self.expect_values(copy, {name: values[name]})

    def test_what_has_no_chunks_gets_holes(self):
        values = self.fill(self.plain)
        del values["grows"]  # only chunked variables of HDF5 grow
        contiguous = self.folder / "contiguous.h5"
        self.copy(self.plain, contiguous, "chunks=none", ranks=2)
        self.expect_values(contiguous, values)
        for ending in ("nc", "raw"):
            there, back = self.folder / f"there.{ending}", self.folder / f"back from {ending}.h5"
            self.copy(self.plain, there)
            self.copy(there, back, ranks=3)
            self.expect_values(back, values)

    def test_the_work_depends_on_what_is_stored(self):
        """4 TiB, of which 1 MiB is stored."""
        extent, edge, step = 1 << 20, 128, 1 << 16
        with h5py.File(self.plain, "w") as file:
            dataset = file.create_dataset("x", shape=(extent, extent), dtype="f4", chunks=(edge, edge))
            for first in range(0, extent, step):
                dataset[first : first + edge, extent - edge - first : extent - first] = first + 1
        self.chunks = {"x": chunks_of(self.plain, "x")}
        stored = extent // step * edge * edge * 4
        self.assertEqual(self.check(self.plain, ranks=2)["bytes"], stored)
        for ranks in (1, 3):
            copy = self.folder / f"copy on {ranks}.h5"
            self.assertEqual(self.copy(self.plain, copy, ranks=ranks), stored)
            self.expect_chunks(copy)
            self.assertLess(allocated(copy), 2 * stored)


class Sets(Sparse):
    def test_splits_have_the_same_chunks(self):
        values = self.fill(self.plain)
        stored = self.check(self.plain)["bytes"]
        one, other, joined = (self.folder / f"{name}.h5" for name in ("one", "other", "joined"))
        for ranks in (1, 5):
            with self.subTest(ranks=ranks):
                self.assertEqual(self.copy(self.plain, one, "files=subfiles(3)", ranks=ranks), stored)
                self.expect_chunks(one)
                self.expect_values(one, values)
                self.assertEqual(self.check(one, ranks=ranks)["bytes"], stored)
                self.assertEqual(self.copy(one, other, "files=subfiles(2)", "split=1", ranks=ranks), stored)
                self.expect_chunks(other)
                self.assertEqual(self.copy(other, joined, ranks=ranks), stored)
                self.expect_chunks(joined)
                self.expect_values(joined, values)

    def test_parts_that_begin_within_chunks(self):
        """The chunks of a part begin where it begins."""
        with h5py.File(self.plain, "w") as file:
            self.add(file, "x", (100, 30), (16, 10), lambda i: i in ((0, 0), (2, 1), (6, 2)))
        with h5py.File(self.plain) as file:
            values = {"x": file["x"][...]}
        base, again, joined = (self.folder / f"{name}.h5" for name in ("base", "again", "joined"))
        split = ("files=subfiles(3)", "split_parts=40+7+53x1")
        self.copy(self.plain, base, *split, ranks=2)
        chunks = [(0, 0), (32, 10), (40, 10), (47, 10), (47 + 48, 20)]
        self.assertEqual(chunks_of(base, "x"), chunks)
        self.expect_values(base, values)
        stored = (16 + 8 + 7 + 16 + 5) * 10 * 4
        self.assertEqual(self.check(base, ranks=3)["bytes"], stored)
        self.assertEqual(self.copy(base, again, *split, ranks=3), stored)
        self.assertEqual(chunks_of(again, "x"), chunks)
        self.assertEqual(self.copy(base, joined, ranks=2), stored)
        self.assertEqual(chunks_of(joined, "x"), [(0, 0), (32, 10), (48, 10), (80, 20), (96, 20)])
        self.expect_values(joined, values)

    def test_the_work_depends_on_what_is_stored(self):
        """64 GiB in 4 subfiles, of which 1 MiB is stored."""
        extent, edge, step = 1 << 17, 128, 1 << 13
        with h5py.File(self.plain, "w") as file:
            dataset = file.create_dataset("x", shape=(extent, extent), dtype="f4", chunks=(edge, edge))
            for first in range(0, extent, step):
                dataset[first : first + edge, extent - edge - first : extent - first] = first + 1
        self.chunks = {"x": chunks_of(self.plain, "x")}
        stored = extent // step * edge * edge * 4
        base, joined = self.folder / "base.h5", self.folder / "joined.h5"
        self.assertEqual(self.copy(self.plain, base, "files=subfiles(4)", "checksum=on", ranks=2), stored)
        self.expect_chunks(base)
        self.assertEqual(self.check(base, ranks=2)["bytes"], stored)
        self.assertEqual(self.copy(base, joined), stored)
        self.expect_chunks(joined)

    def test_a_missing_subfile_is_an_error(self):
        """Nobody knows what it had."""
        self.fill(self.plain)
        base, joined = self.folder / "base.h5", self.folder / "joined.h5"
        self.copy(self.plain, base, "files=subfiles(3)")
        (folder,) = self.folder.glob("base.h5.subfiles-*")
        (folder / "1.h5").unlink()
        self.assertRegex(windrow("check", base, code=1), "damaged: /diagonal: .*1.h5")
        self.assertIn("1.h5", windrow("copy", base, joined, code=1))
        self.assertFalse(joined.exists())

    def test_a_damaged_index_is_an_error(self):
        """It is not taken for one that has no chunks."""
        copied = self.folder / "copied.h5"
        for libver, signature in (("earliest", b"TREE\1\0"), ("latest", b"FADB")):
            with h5py.File(self.plain, "w", libver=libver) as file:
                file["whole"] = np.arange(7)
                file.create_dataset("x", data=np.arange(40000).reshape(200, 200), chunks=(10, 10))
            content = bytearray(self.plain.read_bytes())
            nodes = [found.start() for found in re.finditer(re.escape(signature), content)]
            content[nodes[len(nodes) // 2] + 3] ^= 1
            self.plain.write_bytes(content)
            self.assertRegex(windrow("check", self.plain, code=1), "damaged: /x: index of the chunks of")
            self.assertIn("index of the chunks of", windrow("copy", self.plain, copied, code=1))
            self.assertFalse(copied.exists())


if __name__ == "__main__":
    unittest.main()
