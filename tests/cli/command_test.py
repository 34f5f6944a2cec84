# SPDX-License-Identifier: BSD-3-Clause
"""The command windrow from outside: files made by h5py, results judged by h5py and h5diff, mistakes by their one line.

Run by CTest with WINDROW_COMMAND, WINDROW_MPIRUN (a shell-split command that takes -n) and WINDROW_RANKS in the
environment.
"""

import fcntl
import json
import os
import pty
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy as np

COMMAND = os.environ["WINDROW_COMMAND"]
MPIRUN = shlex.split(os.environ["WINDROW_MPIRUN"])
RANKS = int(os.environ["WINDROW_RANKS"])
LIMIT_S = 60  # a hang is a failure


def windrow(*words, ranks=RANKS, env=None):
    launch = [COMMAND] if ranks == 1 else [*MPIRUN, "-n", str(ranks), COMMAND]  # alone it needs no launcher
    launch += map(str, words)
    return subprocess.run(
        launch,
        capture_output=True,
        text=True,
        errors="backslashreplace",
        timeout=LIMIT_S,
        env={**os.environ, **(env or {})},
    )


def our_lines(done):
    """What the command itself said on standard error; mpirun adds its own lines when a program fails."""
    return [line for line in done.stderr.splitlines() if line.startswith("windrow: ")]


class CommandTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="windrow-cli-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def make_input(self, name="in.h5"):
        path = self.path(name)
        rng = np.random.default_rng(1)
        with h5py.File(path, "w") as f:
            for kind in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"):
                f[f"types/{kind}"] = np.arange(37).astype(kind).reshape(37)
            f["types/big"] = np.arange(24, dtype=">f8").reshape(2, 3, 4)
            f["scalar"] = 42.5
            f["deep/er/grid"] = rng.random((31, 17, 5))
            f["empty"] = np.zeros((0, 3))
            f["one/row/too/wide"] = rng.integers(0, 99, (2, 50000))
            f.create_group("nothing/inside")
            f.create_group("tracked", track_order=True).attrs["large"] = np.arange(20000.0)
            for kind in (">c8", "<c16"):
                f[f"types/{kind}"] = np.arange(12).reshape(3, 4).astype(kind) * (1 + 2j)
            f["types/bool"] = np.arange(10) % 3 == 0
            f.create_dataset(
                "types/enum", data=np.arange(7) % 3, dtype=h5py.enum_dtype({"A": 0, "B": 1, "C = D": 2}, basetype=">i4")
            )
            f["types/fixed"] = np.array([b"ab", b"", b"abc"])
            f["types/opaque"] = np.frombuffer(b"0123456789abcdef" * 3, "V16")
            f["types/texts"] = np.array(["a", "", "ü" * 5000], dtype=h5py.string_dtype())
            f["types/text"] = "one"
            f["types/null"] = h5py.Empty("f8")
            f["link"] = h5py.SoftLink("types/bool")
            f["nothing/dangling"] = h5py.SoftLink("../nowhere")
            f.attrs["flag"] = np.bool_(True)
            f.attrs["complex"] = np.complex64(1 + 2j)
            f.attrs["null"] = h5py.Empty("i2")
            f["x"] = np.arange(2)
            f["x"].make_scale("a label")
            f["types/big"].dims[0].attach_scale(f["x"])
            f.attrs["title"] = "Ünïcode"
            f.attrs["fixed"] = np.bytes_(b"ascii")
            f.attrs["names"] = np.array(["a", "bcd", ""], dtype=h5py.string_dtype())
            f["deep"].attrs["version"] = np.int32(7)
            f["deep"].attrs["nothing"] = np.zeros((3, 0), dtype="f4")
            f["deep"].attrs["no names"] = np.array([], dtype=h5py.string_dtype())
            f["deep/er/grid"].attrs["spacing"] = np.array([0.1, 0.2, 0.3])
            f["deep/er/grid"].attrs["matrix"] = np.arange(6, dtype="i2").reshape(2, 3)
        return path

    def without_new_numbers(self, left, right):
        """What is written numbers dimensions as netCDF does, also where they come from a file that does not, and
        h5diff counts attributes."""
        path = self.path("compared.h5")
        shutil.copy(right, path)
        with h5py.File(left) as a, h5py.File(path, "r+") as b:

            def drop(name, item):
                for key in ("_Netcdf4Dimid", "_Netcdf4Coordinates"):
                    if key in item.attrs and name in a and key not in a[name].attrs:
                        del item.attrs[key]

            b.visititems(drop)
        return path

    def assert_same(self, left, right):
        right = self.without_new_numbers(left, right)
        diff = subprocess.run(["h5diff", "-c", left, right], capture_output=True, text=True)
        # h5diff says this of any variable without bytes, even when it compares a file with itself
        said = [
            line
            for line in diff.stdout.splitlines()
            if not re.fullmatch("Not comparable: <(.*)> or <.*> is an empty dataset", line)
        ]
        self.assertEqual((diff.returncode, said), (0, []), diff.stderr)
        with h5py.File(left) as a, h5py.File(right) as b:
            names = []
            a.visit(names.append)
            others = []
            b.visit(others.append)
            self.assertEqual(sorted(names), sorted(others))
            for name in ["/", *names]:
                self.assertEqual(sorted(a[name].attrs), sorted(b[name].attrs), name)
                for key in a[name].attrs:
                    if key in ("DIMENSION_LIST", "REFERENCE_LIST"):
                        continue  # references: what they say is compared below
                    np.testing.assert_array_equal(a[name].attrs[key], b[name].attrs[key])
                if isinstance(a[name], h5py.Dataset):
                    self.assertEqual(a[name].dtype, b[name].dtype, name)
                    np.testing.assert_array_equal(a[name][()], b[name][()])
                    scales = [
                        [[scale.name for scale in dimension.values()] for dimension in f[name].dims]
                        if f[name].shape
                        else []
                        for f in (a, b)
                    ]
                    self.assertEqual(scales[0], scales[1], name)

    def assert_mistake(self, done, *words):
        self.assertEqual(done.returncode, 2, done.stderr)
        lines = our_lines(done)
        self.assertEqual(len(lines), 1, done.stderr)
        for word in words:
            self.assertIn(word, lines[0])

    def leftovers(self):
        return [name for name in os.listdir(self.folder) if ".windrow-" in name]


class Copy(CommandTest):
    def test_everything_by_each_strategy(self):
        source = self.make_input()
        for strategy in ("auto", "scorpio", "two-phase", "list"):
            out = self.path(f"{strategy}.h5")
            done = windrow("copy", source, out, "--strategy", strategy)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("copied 25 variables", done.stdout)
            self.assert_same(source, out)
        self.assertEqual(self.leftovers(), [])

    def test_in_a_buffer_smaller_than_a_row(self):
        source, out = self.make_input(), self.path("out.h5")
        done = windrow("copy", source, out, "--buffer", "4kB")
        self.assert_mistake(done, "--buffer")
        done = windrow("copy", source, out, "--buffer", "4k", "--json")  # a bare letter is binary
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_same(source, out)
        result = json.loads(done.stdout)
        with h5py.File(source) as f:
            sizes = []
            # Texts of variable length are pointers in h5py's memory, and go another way here.
            f.visititems(
                lambda _, item: sizes.append(item.nbytes)
                if isinstance(item, h5py.Dataset) and item.dtype != object
                else None
            )
        self.assertEqual(result["bytes"], sum(sizes))
        self.assertEqual(result["ranks"], RANKS)
        for key in ("plan", "report"):
            self.assertEqual(set(result[key]), {"read", "write"})
        self.assertGreater(result["seconds"], 0)

    @unittest.skipIf(RANKS < 2, "one rank sends no messages")
    def test_adds_up_what_became_of_messages_in_all_slices(self):
        done = windrow(
            "copy",
            self.make_input(),
            self.path("out.h5"),
            "--buffer",
            "64KiB",
            "--json",
            "--set",
            "domains=even",
            "--set",
            "direct_bytes=1G",
            "--set",
            "codec=off",
            "--set",
            "check_messages=true",
            env={"WINDROW_RANKS_PER_HOST": "1"},
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)["report"]["write"]
        self.assertGreater(report["messages"], RANKS)
        for key, total in (("messages", "messages"), ("bytes_in", "bytes_before_codec"), ("bytes_out", "bytes_sent")):
            self.assertEqual(sum(each[key] for each in report["codecs"]), report[total], key)
        receivers = [each["to"] for each in report["sent_by_this_rank"]]
        self.assertEqual(len(receivers), len(set(receivers)))
        self.assertNotIn(0, receivers)

    def test_replaces_a_file_and_explains(self):
        source, out = self.make_input(), self.path("out.h5")
        with h5py.File(out, "w") as f:
            f["old"] = 1
        done = windrow("copy", source, out, "--explain", "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("writing:", done.stdout)
        self.assertNotIn("copied", done.stdout)
        self.assert_same(source, out)

    def test_copies_chunked_variables_as_they_are(self):
        source, out = self.path("in.h5"), self.path("out.h5")
        with h5py.File(source, "w") as f:
            data = np.arange(30 * 40 * 5, dtype=">f8").reshape(30, 40, 5)
            f.create_dataset("packed", data=data, chunks=(7, 40, 2), compression=4, shuffle=True, fletcher32=True)
            f.create_dataset("cut", data=data, chunks=(30, 9, 5))
        done = windrow("copy", source, out)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_same(source, out)
        with h5py.File(out) as f:
            packed = f["packed"]
            self.assertEqual((packed.chunks, packed.compression, packed.compression_opts), ((7, 40, 2), "gzip", 4))
            self.assertTrue(packed.shuffle and packed.fletcher32)
            self.assertEqual((f["cut"].chunks, f["cut"].compression), ((30, 9, 5), None))
        done = windrow("info", out)
        self.assertIn("chunks 7 x 40 x 2, shuffle,deflate:4,fletcher32", done.stdout)
        raw = self.path("out.raw")
        self.assertEqual(windrow("copy", out, raw).returncode, 0)
        self.assertEqual(windrow("copy", raw, out, "--set", "filters=deflate:1").returncode, 0)
        with h5py.File(out) as f:
            self.assertEqual(f["cut"].compression, "gzip")
            self.assertTrue((f["cut"][...] == np.arange(6000).reshape(30, 40, 5)).all())

    def test_names_what_it_cannot_copy_and_writes_nothing(self):
        source = self.make_input()
        with h5py.File(source, "a") as f:
            f.create_dataset("compressed", data=np.arange(1000), compression="lzf")
            f["compound"] = np.zeros(3, dtype=[("a", "i4"), ("b", "f8")])
            f["regions"] = np.array([h5py.RegionReference()], dtype=h5py.regionref_dtype)
            f["elsewhere"] = h5py.ExternalLink("other.h5", "/x")
            f["deep"].attrs["region"] = f["x"].regionref[1:]
        out = self.path("out.h5")
        done = windrow("copy", source, out)
        self.assertEqual(done.returncode, 3, done.stderr)
        lines = our_lines(done)
        for name in ("/compressed", "/compound", "/regions", "/elsewhere", "attribute region"):
            self.assertEqual(sum(name in line and "cannot copy " in line for line in lines), 1, (name, lines))
        self.assertEqual(len(lines), 6)
        self.assertFalse(os.path.exists(out))
        self.assertEqual(self.leftovers(), [])

    def test_references_lead_to_the_copies(self):
        source, out = self.path("in.h5"), self.path("out.h5")
        with h5py.File(source, "w") as f:
            f["z/v"] = np.arange(10.0)
            f["a"] = np.array([f["z/v"].ref, h5py.Reference(), f["z"].ref, f.ref], dtype=h5py.ref_dtype)
            f["packed"] = f["a"][...]
            f["a"].attrs["itself"] = f["a"].ref
            f.attrs["list"] = f["a"][...]
        done = windrow("copy", source, out)
        self.assertEqual(done.returncode, 0, done.stderr)
        with h5py.File(out) as f:
            for references in (f["a"][...], f["packed"][...], f.attrs["list"]):
                self.assertEqual([f[each].name if each else "" for each in references], ["/z/v", "", "/z", "/"])
            self.assertEqual(f[f["a"].attrs["itself"]].name, "/a")
        done = windrow("copy", source, self.path("out.raw"))
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("only HDF5 supports references", done.stderr)

    def test_names_what_the_output_cannot_hold_before_data_moves(self):
        source, out = self.path("in.h5"), self.path("out.h5")
        with h5py.File(source, "w", libver="latest") as f:
            f["data"] = np.arange(1000)
            f["group/.."] = 1
            f[".."] = 2
            f.attrs["small"] = 3
        with h5py.File(source, "a") as f:
            f[b"gr\xf6\xdfe"] = 4
            f[b"gr\xf6\xdfe"].attrs["unit"] = "m"
        done = windrow("copy", source, out)
        self.assertEqual(done.returncode, 3, done.stderr)
        lines = our_lines(done)
        for name in (" /group/..:", " /..:", "UTF-8"):
            self.assertEqual(sum(name in line and "cannot copy " in line for line in lines), 1, (name, lines))
        self.assertEqual(len(lines), 4)
        self.assertIn("3 parts", lines[-1])
        self.assertFalse(os.path.exists(out))
        self.assertEqual(self.leftovers(), [])
        self.assertEqual(windrow("info", source).returncode, 0)

    def test_copies_fill_values(self):
        source, out = self.path("in.h5"), self.path("out.h5")
        with h5py.File(source, "w") as f:
            for name, value in (("nine", 9), ("group/minus", -1), ("zero", 0), ("none", None)):
                f.create_dataset(name, data=np.arange(10), fillvalue=value)
            f.create_dataset("nan", data=np.arange(4.0), fillvalue=np.nan, dtype=">f4")
            f.create_dataset("complex", data=np.arange(4) * 1j, fillvalue=1.5 - 2j)
            f.create_dataset("unwritten", shape=(3, 5), dtype="i2", fillvalue=-7)
        done = windrow("copy", source, out, "--quiet")
        self.assertEqual((done.returncode, our_lines(done)), (0, []), done.stderr)
        self.assert_same(source, out)
        with h5py.File(out) as f:
            values = [f[name].fillvalue for name in ("nine", "group/minus", "zero", "complex", "unwritten")]
            self.assertEqual(values, [9, -1, 0, 1.5 - 2j, -7])
            self.assertTrue(np.isnan(f["nan"].fillvalue))
            self.assertTrue((f["unwritten"][:] == -7).all())
        self.assertEqual(json.loads(windrow("info", out, "--json").stdout)["variables"][0]["fill_value"], "1.5,-2")

    def test_a_growing_dimension_without_a_variable_still_grows(self):
        if "format netcdf\n" not in windrow("info", "--features", ranks=1).stdout:
            self.skipTest("built without PnetCDF")
        source, middle, out = self.path("in.h5"), self.path("middle.nc"), self.path("out.nc4")
        with h5py.File(source, "w") as f:
            f.create_dataset("b", data=np.arange(12.0).reshape(4, 3), maxshape=(None, 3), chunks=(1, 3))
            f["plain"] = np.arange(3)
        self.assertEqual(windrow("copy", source, middle, "--quiet").returncode, 0)
        self.assertEqual(windrow("copy", middle, out, "--quiet").returncode, 0)
        with h5py.File(out) as f:
            self.assertEqual(f["b"].maxshape, (None, 3))
            scale = f[f["b"].attrs["DIMENSION_LIST"][0][0]]
            self.assertEqual(scale.maxshape, (None,))
            self.assertTrue((f["b"][...] == np.arange(12.0).reshape(4, 3)).all())

    def test_who_grows_makes_the_dimension_whatever_comes_first(self):
        source, out = self.path("in.h5"), self.path("out.h5")
        with h5py.File(source, "w") as f:
            scale = f.create_dataset("t", (4,), ">f4", maxshape=(None,), chunks=(16,))
            scale.make_scale("This is a netCDF dimension but not a netCDF variable.         4")
            f["a"] = np.arange(12.0).reshape(3, 4)
            f.create_dataset("z", data=np.arange(4.0), maxshape=(None,), chunks=(16,))
            f["a"].dims[1].attach_scale(scale)
            f["z"].dims[0].attach_scale(scale)
        done = windrow("copy", source, out, "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        with h5py.File(out) as f:
            self.assertEqual(f["t"].maxshape, (None,))
            self.assertEqual(f["a"].dims[1][0].name, "/t")
            self.assertEqual(f["z"].dims[0][0].name, "/t")

    # A fill value that is no attribute of the input would make readers of netCDF classic take values for missing.
    def test_netcdf_gets_no_attributes_that_nobody_gave(self):
        if "format netcdf\n" not in windrow("info", "--features", ranks=1).stdout:
            self.skipTest("built without PnetCDF")
        source, out = self.path("in.h5"), self.path("out.nc")
        with h5py.File(source, "w") as f:
            f.create_dataset("plain", data=np.array([1, 2, -127, 127], "i1"), fillvalue=-127)
            marked = f.create_dataset("marked", data=np.array([1, 2, -127, 127], "i1"), fillvalue=-127)
            marked.attrs["_FillValue"] = np.array([-127], "i1")
            f.attrs["_NCProperties"] = "version=2"
            marked.attrs["_Netcdf4Dimid"] = np.int32(0)
        done = windrow("copy", source, out, "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = {
            each["path"]: {one["name"] for one in each["attributes"]}
            for each in json.loads(windrow("info", out, "--json").stdout)["variables"]
        }
        self.assertEqual(found, {"/plain": set(), "/marked": {"_FillValue"}})

    def test_a_subfile_by_itself_is_copied_without_its_map(self):
        source, base, part, again = (self.path(name) for name in ("in.h5", "set.h5", "part.h5", "again.h5"))
        with h5py.File(source, "w") as f:
            f["v"] = np.arange(24.0).reshape(8, 3)
            f["v"].attrs["units"] = "K"
        subfiles = ("--set", "files=subfiles(2)")
        self.assertEqual(windrow("copy", source, base, "--quiet", *subfiles).returncode, 0)
        first = next(Path(self.folder).glob("set.h5.subfiles-*/0.h5"))
        for one, other, options in ((first, part, ()), (part, again, subfiles)):
            done = windrow("copy", one, other, "--quiet", *options)
            self.assertEqual(done.returncode, 0, done.stderr)
        with h5py.File(part) as f, h5py.File(again) as g:
            self.assertEqual((dict(f.attrs), dict(f["v"].attrs)), ({}, {"units": "K"}))
            for each in (f, g):
                self.assertTrue((each["v"][...] == np.arange(12.0).reshape(4, 3)).all())

    def test_long_names(self):
        source = self.make_input()
        for length in (241, 242, 255):
            out = self.path("n" * (length - 3) + ".h5")
            done = windrow("copy", source, out)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assert_same(source, out)
        with open(self.path("." + "n" * 223 + ".windrow-0000"), "w") as f:  # left by a killed run
            f.write("half")
        self.assertIn("windrow-0000", windrow("info", out).stdout)

    def test_a_locked_file(self):
        source, out = self.make_input(), self.path("out.h5")
        with open(source) as f:
            fcntl.flock(f, fcntl.LOCK_EX)
            for words in (("copy", source, out), ("info", source), ("check", source)):
                self.assert_mistake(windrow(*words), "locked")

    @unittest.skipIf(os.geteuid() != 0, "only root mounts file systems")
    def test_a_full_disk(self):
        source, disk = self.path("in.h5"), self.path("disk")
        with h5py.File(source, "w") as f:
            for i in range(100):
                f[f"group {i}/variable"] = np.arange(3000.0)
        os.mkdir(disk)
        if (
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], capture_output=True).returncode
            != 0
        ):
            self.skipTest("no file system can be mounted here")
        self.addCleanup(subprocess.run, ["umount", disk])
        for room in (1 << 20, 8192):
            with open(os.path.join(disk, "filler"), "wb") as f:
                f.write(bytes((1 << 20) - room))
            done = windrow("copy", source, os.path.join(disk, "out.h5"))
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertEqual(len(our_lines(done)), 1, done.stderr)
            self.assertIn("no space left", our_lines(done)[0])
            self.assertEqual(os.listdir(disk), ["filler"])

    def test_takes_nothing_away_that_it_reads(self):
        source, base, also, soft = self.make_input(), self.path("a.h5"), self.path("b.h5"), self.path("soft.h5")
        self.assertEqual(windrow("copy", source, base, "--set", "files=subfiles(2)").returncode, 0)
        (own,) = [self.path(name) for name in os.listdir(self.folder) if name.startswith("a.h5.subfiles-")]
        shutil.copy(base, also)  # has the same subfiles
        os.symlink(os.path.join(own, "1.h5"), soft)
        cases = {
            "a subfile": (base, os.path.join(own, "1.h5"), "lies among the subfiles"),
            "a subfile by a link": (base, soft, "lies among the subfiles"),
            "a subfile of the same set": (also, os.path.join(own, "0.h5"), "lies among the subfiles"),
            "another base file": (also, base, "would be removed when it is replaced"),
            "the base file of a subfile": (os.path.join(own, "0.h5"), base, "would be removed when it is replaced"),
        }
        for name, (given, taken, expected) in cases.items():
            with self.subTest(name):
                self.assert_mistake(windrow("copy", given, taken), expected)
                self.assertIn("sound", windrow("check", base, ranks=1).stdout)
        os.remove(base)
        shutil.copy(source, base)  # the folder looks like one of this file, which has none
        self.assertEqual(windrow("copy", also, base).returncode, 0)
        self.assertIn("sound", windrow("check", also, ranks=1).stdout)

    def test_mistakes(self):
        source, out = self.make_input(), self.path("out.h5")
        text = self.path("text.h5")
        with open(text, "w") as f:
            f.write("not a file of numbers\n" * 100)
        hard, soft = self.path("hard.h5"), self.path("soft.h5")
        os.link(source, hard)
        os.symlink("in.h5", soft)
        cases = {
            "missing": (("copy", self.path("none.h5"), out), "no such file"),
            "not HDF5": (("copy", text, out), "neither an HDF5 nor a netCDF classic file"),
            "folder in": (("copy", self.folder, out), "folder"),
            "folder out": (("copy", source, self.folder), "folder"),
            "no folder": (("copy", source, self.path("no/such/out.h5")), "no/such"),
            "unwritable": (("copy", source, "/proc/out.h5"), "/proc"),
            "same": (("copy", source, source), "same file"),
            "same by hard link": (("copy", source, hard), "same file"),
            "same by symbolic link": (("copy", soft, source), "same file"),
            "strategy": (("copy", source, out, "--strategy", "fast"), "fast"),
            "key": (("copy", source, out, "--set", "colour=red"), "colour"),
            "no value": (("copy", source, out, "--set", "strategy"), "key=value"),
            "buffer": (("copy", source, out, "--buffer", "much"), "--buffer"),
            "tiny buffer": (("copy", source, out, "--buffer", "1"), "--buffer"),
            "format": (("copy", source, out, "--format", "xls"), "xls"),
            "ending": (("copy", source, self.path("out.what")), "out.what"),
            "no OUT": (("copy", source), "OUT"),
            "below a file": (("copy", source, source + "/out.h5"), "not a directory"),
            "name too long": (("copy", source, self.path("n" * 253 + ".h5")), "too long"),
            "fault of no store": (("copy", source, out, "--set", "fault=operation=write,error=io"), "faulty"),
            "progress": (("copy", source, out, "--progress", "maybe"), 'takes auto, always or never, not "maybe"'),
            "empty strategy": (("copy", source, out, "--strategy", ""), "--strategy: the name is empty"),
            "empty format": (("copy", source, out, "--format", ""), "--format: the name is empty"),
            "no command": ((), "ommand"),
            "unknown command": (("cut", source), "cut"),
            "unknown flag": (("copy", source, out, "--fast"), "--fast"),
        }
        for name, (words, expected) in cases.items():
            with self.subTest(name):
                self.assert_mistake(windrow(*words), expected)
        with self.subTest("environment"):
            self.assert_mistake(windrow("copy", source, out, env={"WINDROW_STRATEGY": "fast"}), "fast")
        with self.subTest("fault"):
            env = {"WINDROW_STORE": "faulty", "WINDROW_FAULT": "garbage"}
            self.assert_mistake(windrow("copy", source, out, env=env), "fault: garbage")
        self.assertFalse(os.path.exists(out))
        self.assertEqual(self.leftovers(), [])

    def test_progress_bar_on_a_terminal_only(self):
        source, out = self.make_input(), self.path("out.h5")
        done = windrow("copy", source, out, "--progress", "always")
        self.assertIn("\x1b[Kcopy [", done.stderr)
        self.assertNotIn("copy [", windrow("copy", source, out).stderr)
        ours, theirs = pty.openpty()
        launch = [COMMAND, "copy", source, out]
        done = subprocess.run(launch, stdout=subprocess.DEVNULL, stderr=theirs, timeout=LIMIT_S, check=False)
        os.close(theirs)
        shown = os.read(ours, 65536).decode(errors="replace")
        os.close(ours)
        self.assertEqual(done.returncode, 0, shown)
        self.assertIn("copy [", shown)


class Info(CommandTest):
    def test_lists_all(self):
        source = self.make_input()
        with open(self.path(".in.h5.windrow-1a2b"), "w") as f:
            f.write("half")
        done = windrow("info", source)
        self.assertEqual(done.returncode, 0, done.stderr)
        for text in (
            "HDF5",
            "/nothing/inside",
            "/types/big",
            "big-endian",
            "2 x 3 x 4",
            'title = "Ünïcode"',
            ".in.h5.windrow-1a2b",
        ):
            self.assertIn(text, done.stdout)
        found = json.loads(windrow("info", "--json", source).stdout)
        variables = {variable["path"]: variable for variable in found["variables"]}
        with h5py.File(source) as f:
            self.assertEqual(variables["/deep/er/grid"]["shape"], list(f["deep/er/grid"].shape))
            self.assertEqual(variables["/deep/er/grid"]["offset"], f["deep/er/grid"].id.get_offset())
        self.assertEqual(variables["/types/u2"]["type"], "uint16")
        deep = next(group for group in found["groups"] if group["path"] == "/deep")
        self.assertEqual(
            {entry["name"]: entry["values"] for entry in deep["attributes"]},
            {"version": [7], "nothing": [], "no names": []},
        )
        self.assertEqual(len(found["leftovers"]), 1)

    def test_names_what_it_cannot_read(self):
        source = self.make_input()
        with h5py.File(source, "a") as f:
            f.create_dataset("compressed", data=np.arange(1000), compression="lzf")
        done = windrow("info", source)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("cannot be read or copied yet", done.stdout)
        self.assertIn("/compressed", done.stdout)

    # As HDF5 2.0 writes complex numbers: a datatype of version 5 where earlier ones know 3.
    def test_an_object_of_a_newer_hdf5_is_named_and_the_rest_read(self):
        source = self.path("newer.h5")
        with h5py.File(source, "w") as f:
            f["old"] = np.arange(10, dtype="f8")
            f["new"] = np.arange(3, dtype=">i2")
        big_endian_i2 = b"\x10\x09\x00\x00\x02\x00\x00\x00"
        with open(source, "r+b") as f:
            whole = f.read()
            self.assertEqual(whole.count(big_endian_i2), 1)
            f.seek(whole.index(big_endian_i2))
            f.write(b"\x50")
        done = windrow("info", source)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("/old", done.stdout)
        self.assertIn("/new: written by a newer HDF5", done.stdout)
        self.assertEqual(windrow("check", source).returncode, 3)

    def test_help_version_features(self):
        for words, expected in (
            (["--help"], "Exit codes"),
            (["help", "copy"], "--strategy"),
            (["--version"], "windrow 0."),
            (["info", "--features"], "auto"),
        ):
            done = windrow(*words)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.count(expected), 1 if expected != "auto" else done.stdout.count("auto"))
            self.assertIn(expected, done.stdout)
        self.assertNotIn("memory", windrow("info", "--features").stdout)  # what WINDROW_STORE does not take
        self.assert_mistake(windrow("info", self.path("none.h5")), "no such file")
        self.assert_mistake(windrow("info"), "FILE")


class MpiioEnv(CommandTest):
    def test_a_shell_preloads_the_library(self):
        done = windrow("mpiio-env")
        self.assertEqual(done.returncode, 0, done.stderr)
        words = done.stdout + 'echo "$LD_PRELOAD"'
        for before, expected in (("", ""), ("/other.so", "/other.so:")):
            environment = {**os.environ, "LD_PRELOAD_BEFORE": before}
            shell = subprocess.run(
                ["sh", "-c", 'LD_PRELOAD="$LD_PRELOAD_BEFORE"; ' + words],
                env=environment,
                capture_output=True,
                text=True,
            )
            path = shell.stdout.strip().removeprefix(expected)
            self.assertTrue(Path(path).is_file(), shell.stdout)
            self.assertEqual(Path(path).name, "libwindrow-mpiio.so")


class Check(CommandTest):
    def test_sound(self):
        done = windrow("check", self.make_input(), "--buffer", "4096")
        self.assertEqual((done.returncode, our_lines(done)), (0, []), done.stderr)
        self.assertIn("sound: read 25 variables", done.stdout)

    def test_parts_that_cannot_be_read_yet(self):
        source = self.make_input()
        with h5py.File(source, "a") as f:
            f.create_dataset("compressed", data=np.arange(1000), compression="lzf")
        done = windrow("check", source)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(len(our_lines(done)), 1)
        self.assertIn("/compressed", our_lines(done)[0])

    def test_damaged(self):
        source = self.make_input()
        os.truncate(source, os.path.getsize(source) - 1000)
        done = windrow("check", source)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(len(our_lines(done)), 1)

    def test_not_hdf5(self):
        path = self.path("text.h5")
        with open(path, "w") as f:
            f.write("text")
        self.assert_mistake(windrow("check", path), "neither an HDF5 nor a netCDF classic file")


if __name__ == "__main__":
    unittest.main()
