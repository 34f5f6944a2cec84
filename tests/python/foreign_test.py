# SPDX-License-Identifier: BSD-3-Clause
"""What other programs put into files: names and texts that are no UTF-8, null spaces."""

import os

import numpy as np
import pytest

import windrow

h5py = pytest.importorskip("h5py")
CAFE = os.fsdecode(b"caf\xe9")  # Latin-1


def text_type(length):
    made = h5py.h5t.C_S1.copy()
    made.set_size(length)
    return made


def scalar():
    return h5py.h5s.create(h5py.h5s.SCALAR)


def make_latin(path):
    with h5py.File(path, "w") as f:
        group = h5py.h5g.create(f.id, b"d\xe9p\xf4t")
        values = h5py.h5d.create(group, b"caf\xe9", h5py.h5t.NATIVE_DOUBLE, h5py.h5s.create_simple((3,)))
        values.write(h5py.h5s.ALL, h5py.h5s.ALL, np.arange(3.0))
        h5py.h5a.create(values, b"unit\xe9", text_type(5), scalar()).write(np.array(b"m\xe8tr", "S5"))
        h5py.h5a.create(values, b"long", text_type(h5py.h5t.VARIABLE), scalar()).write(np.array(b"\xe9t\xe9", object))
        texts = h5py.h5d.create(f.id, b"texts", text_type(h5py.h5t.VARIABLE), h5py.h5s.create_simple((2,)))
        texts.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([b"\xe9", "\u00e9".encode()], object))
        f["ok"] = h5py.SoftLink("texts")
        f.attrs["plain"] = 1


@pytest.fixture
def latin(folder, rank, barrier):
    if rank == 0:
        make_latin(folder / "latin.h5")
    barrier()
    return folder / "latin.h5"


def test_names_and_texts_that_are_no_utf8(latin, comm):
    depot = os.fsdecode(b"d\xe9p\xf4t")
    with windrow.open(latin, comm=comm) as f:
        assert list(f) == sorted([depot, "ok", "texts"]) and list(f.attrs) == ["plain"]
        assert list(f[depot]) == [CAFE] and f[f"{depot}/{CAFE}"] == f[depot][CAFE]
        v = f[depot][CAFE]
        assert v[...].tolist() == [0, 1, 2] and v.name == f"/{depot}/{CAFE}"
        unit = os.fsdecode(b"unit\xe9")
        assert sorted(v.attrs) == sorted(["long", unit])
        assert v.attrs[unit] == os.fsdecode(b"m\xe8tr") and os.fsencode(v.attrs["long"]) == b"\xe9t\xe9"
        assert f["texts"][...].tolist() == f["ok"][...].tolist() == [os.fsdecode(b"\xe9"), "\u00e9"]
        assert CAFE in f[depot] and "caf\u00e9" not in f[depot] and "a\ud800" not in f and "a\0" not in f
        for shown in (f, f[depot], v, v.attrs):
            assert repr(shown).encode("utf-8")
        with pytest.raises(KeyError):
            f[CAFE]


def test_what_is_no_utf8_is_not_made(latin, comm, raises_on_all):
    with windrow.open(latin, "r+", comm=comm) as f:
        v = f[os.fsdecode(b"d\xe9p\xf4t")][CAFE]
        raises_on_all(lambda: f.create_variable(CAFE, (1,), "i4"), 0, "half a character")
        raises_on_all(lambda: f.create_group(CAFE), 0, "half a character")
        raises_on_all(lambda: v.attrs.__setitem__(CAFE, 1), 0, "half a character")
        v.attrs["new"] = 5  # on an object of such a name
        v[1:] = 7
        f.attrs.copy(v.attrs, "new")
        assert v.attrs["new"] == f.attrs["new"] == 5 and v[...].tolist() == [0, 7, 7]


def test_null_spaces(folder, comm, rank, barrier, raises_on_all):
    if rank == 0:
        with h5py.File(folder / "null.h5", "w") as f:
            f["number"] = h5py.Empty("f4")
            f["text"] = h5py.Empty(h5py.string_dtype())
            f["fixed"] = h5py.Empty("S3")
            f["number"].attrs["a"] = h5py.Empty("i2")
    barrier()
    with windrow.open(folder / "null.h5", "r+", comm=comm) as f:
        for name in ("number", "text", "fixed"):
            v = f[name]
            assert v.is_null and v.size == 0 and v[...] is None, name
            assert "null space" in repr(v)
            v[...] = None
            raises_on_all(lambda v=v: v.__setitem__(..., "abc" if v.dtype == object else 5), 0, "null space")
        assert f["number"].dtype == np.float32 and f["number"].attrs["a"] is None
        same = windrow.same(comm, ())
        for out in (None, np.ones((), np.float32)):
            with pytest.raises(ValueError, match="null space"):
                f["number"].read(out=out)
            with pytest.raises(windrow.WindrowError, match="null space"):
                f["number"].read(same, out=out)
        with pytest.raises(windrow.WindrowError, match="null space"):
            f["number"].write(1.0, same)
        x = f.create_variable("x", (), "f4")
        assert not x.is_null and x[...] == 0


def test_elements_that_cannot_be_read(folder, comm, rank, barrier):
    if rank == 0:
        with h5py.File(folder / "lzf.h5", "w") as f:
            f.create_dataset("x", data=np.arange(100), compression="lzf")
            f["ok"] = 1
    barrier()
    with windrow.open(folder / "lzf.h5", comm=comm) as f:
        with pytest.raises(
            windrow.WindrowError,
            match=r'"/x": its elements cannot be read or written: filtered with .*lzf.*, which is not built in',
        ) as caught:
            f["x"][...]
        assert caught.value.code == windrow.Code.UNSUPPORTED and f["ok"][...] == 1


def test_types_that_h5py_has_made(folder, comm, rank, size, barrier, raises_on_all):
    """numpy has objects and integers for them, and tells what they are beside that."""
    last = rank == size - 1
    members = {"RED": 0, "GREEN": 1, "dark blue": 42}
    kind = h5py.enum_dtype(members, basetype="i2")
    with windrow.open(folder / "types.h5", "w", comm=comm) as f:
        f.create_variable("enum", (3,), kind)[...] = [0, 1, 42]
        f.create_variable("data", data=np.array([42, 0], kind))
        f.create_variable("big", (2,), h5py.enum_dtype(members, basetype=">i4"))
        f.create_variables({"many": dict(shape=(2,), dtype=kind)})
        f.attrs.create("enum", 1, kind)
        f.create_variable("text", (1,), h5py.string_dtype())[...] = "größe"
        f.create_variable("ascii", (1,), h5py.string_dtype("ascii"))[...] = "a"
        f.create_variable("fixed", (1,), h5py.string_dtype("utf-8", 8))[...] = "größe"
        for wrong, said in (
            (h5py.vlen_dtype("i4"), "arrays of any length"), (h5py.ref_dtype, "references"),
            (h5py.regionref_dtype, "references"), (h5py.vlen_dtype(h5py.vlen_dtype("i4")), "arrays of any length"),
            (h5py.enum_dtype({"a=b": 1}), "of the enumeration"),
        ):  # fmt: skip
            right = dict(shape=(2,), dtype="i4")
            raises_on_all(
                lambda: f.create_variable("v", (2,), wrong) if last else f.create_variable("v", **right), size - 1, said
            )
            raises_on_all(
                lambda: f.create_variables({"v": dict(shape=(2,), dtype=wrong) if last else right}), size - 1, said
            )
            raises_on_all(lambda: f.attrs.create("v", 1, wrong), 0, said)
        lists = np.array([np.arange(2), np.arange(3)], h5py.vlen_dtype("i4"))
        raises_on_all(lambda: f.create_variable("v", data=lists), 0, "arrays of any length")
        raises_on_all(lambda: f.attrs.__setitem__("v", lists), 0, "arrays of any length")
        assert "v" not in f and list(f.attrs) == ["enum"]
    barrier()
    with h5py.File(folder / "types.h5") as file:
        assert all(h5py.check_enum_dtype(file[name].dtype) == members for name in ("enum", "data", "big", "many"))
        assert h5py.check_enum_dtype(file.attrs.get_id("enum").dtype) == members and file["big"].dtype.str == ">i4"
        assert (
            file["enum"][:].tolist() == [0, 1, 42] and file["text"][0].decode() == file["fixed"][0].decode() == "größe"
        )
