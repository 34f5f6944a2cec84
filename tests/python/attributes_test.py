# SPDX-License-Identifier: BSD-3-Clause
"""Attributes of types of their own, and copies; what h5py makes of them."""

import numpy as np
import pytest

import windrow


def by_h5py(path, read):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "r") as f:
        return read(h5py, f)


def test_types_that_are_chosen(folder, comm, rank, barrier):
    path = folder / "out.h5"
    with windrow.open(path, "w", comm=comm) as f:
        a = f.create_group("g").attrs
        a.create("fixed", "gr\u00fc", "S6", text_padding="space_padded")
        a.create("several", ["a", "bcd"], "S3")
        a.create("big", [1.5, 2], ">f4")
        a.create("half", 0.1, "float16")
        a.create("colour", np.int16(2), enumeration="RED=1\nGREEN=2")
        a.create("bytes", np.array([b"ab\0"], "V3"), opaque_tag="three")
        a.create("nothing", None, "float64", null_space=True)
        a.create("words", ["any", "length"], str)
        a["empty"] = np.zeros((0, 40), "S4")
        assert a["empty"].shape == (0, 40)
        assert a["fixed"] == "gr\u00fc" and a["several"].tolist() == ["a", "bcd"] and a["big"].tolist() == [1.5, 2]
        assert (
            a["half"] == np.float16(0.1)
            and a["colour"] == 2
            and a["bytes"][0].tobytes() == b"ab\0"
            and a["nothing"] is None
        )
    barrier()

    def read(h5py, f):
        a = f["g"].attrs
        fixed = a.get_id("fixed").get_type()
        assert fixed.get_size() == 6 and fixed.get_strpad() == h5py.h5t.STR_SPACEPAD
        assert (
            a.get_id("several").dtype == "S3" and a.get_id("big").dtype == ">f4" and a.get_id("half").dtype == "float16"
        )
        assert h5py.check_enum_dtype(a.get_id("colour").dtype) == {"RED": 1, "GREEN": 2}
        assert (
            a.get_id("bytes").get_type().get_tag() == b"three"
            and a["nothing"].shape is None
            and a["words"].tolist() == ["any", "length"]
        )

    by_h5py(path, read)


def test_a_copy_is_stored_as_it_was(folder, comm, rank, size, barrier, raises_on_all):
    with windrow.open(folder / "from.h5", "w", comm=comm) as f:
        f.attrs.create("fixed", "abc", "S8", text_characters="ascii")
    barrier()
    with windrow.open(folder / "from.h5", comm=comm) as source, windrow.open(folder / "out.h5", "w", comm=comm) as f:
        v = f.create_variable("x", (2,), "int8")
        v.attrs.copy(source.attrs, "fixed")
        raises_on_all(lambda: v.attrs.copy(source.attrs, 3 if rank == size - 1 else "fixed"), size - 1, "names are str")
        with pytest.raises(windrow.WindrowError) as caught:
            v.attrs.copy(source.attrs, "none")
        assert caught.value.code == windrow.Code.NOT_FOUND
        source.close()
        with pytest.raises(windrow.WindrowError, match="from.h5 is closed"):
            v.attrs.copy(source.attrs, "fixed")
        assert v.attrs["fixed"] == "abc"
    barrier()
    assert by_h5py(folder / "out.h5", lambda h5py, f: f["x"].attrs.get_id("fixed").dtype) == "S8"


@pytest.mark.parametrize("arguments", [
    ("text", "float32"), ([1, 2], "S4"), ("too long", "S3"), (1, "longdouble"), (object(), None), (None, None),
    (1, "int8", {"enumeration": "A=300"}), (1, "int8", {"nonsense": 1}),
])  # fmt: skip
def test_what_cannot_be_stored(folder, comm, arguments, raises_on_all):
    value, dtype, options = (*arguments, {})[:3]
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        with pytest.raises(windrow.WindrowError) as caught:
            f.attrs.create("a", value, dtype, **options)
        assert caught.value.code == windrow.Code.BAD_ARGUMENT
        f.attrs["a"] = 1
        assert f.attrs["a"] == 1


@pytest.mark.parametrize("value, dtype", [
    (300, "i1"), (-1, "u1"), (np.nan, "i4"), (2.5, "i2"), (1 + 2j, "f4"), (1 + 2j, "i4"), (1e6, "f2"), (1e300, "f4"),
    (1e300, "c8"), (np.uint64(2**64 - 1), "i8"), ([1, 2, 200], "i1"), (2, "bool"),
])  # fmt: skip
def test_a_type_that_cannot_hold_the_value(folder, comm, value, dtype, raises_on_all):
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        raises_on_all(lambda: f.attrs.create("a", value, dtype), 0, "does not fit into")
        assert "a" not in f.attrs


def test_a_type_that_holds_the_value(folder, comm):
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        for value, dtype in (
            (127, "i1"),
            (3.0, "i4"),
            (0.1, "f4"),
            (np.inf, "f2"),
            (np.nan, "f4"),
            (3 + 0j, "f8"),
            (2, "c8"),
            (1, "bool"),
            (2**63, "u8"),
            (-7, ">i2"),
        ):
            f.attrs.create("a", value, dtype)
            assert np.array_equal(
                f.attrs["a"],
                np.array(value).astype(np.dtype(dtype)).real if dtype == "f8" else np.array(value, dtype),
                equal_nan=True,
            ), value
