# SPDX-License-Identifier: BSD-3-Clause
"""Variables, written and read by all ranks with their own selections, some of them empty; and read by h5py."""

import numpy as np
import pytest

import windrow

h5py = pytest.importorskip("h5py")


def read_by_h5py(path, name):
    with h5py.File(path, "r") as file:
        return file[name][()]


@pytest.mark.parametrize("empty", [0, -1], ids=["first rank empty", "last rank empty"])
@pytest.mark.parametrize(
    "filters", [{}, {"compression": "gzip", "shuffle": True, "chunks": (3, 5)}], ids=["contiguous", "compressed"]
)
def test_each_rank_writes_its_rows_and_one_has_none(folder, comm, rank, size, numbers, empty, filters):
    whole = numbers(4 * size, 7)
    mine = slice(4 * rank, 4 * rank + 4)
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        v = f.create_variable("a group/temperature", whole.shape, "float64", **filters)
        v[mine] = whole[mine]
        here = slice(0, 0) if rank == empty % size else mine
        v[here, 2:5] = -whole[here, 2:5]
    expected = whole.copy()
    written = np.arange(4 * size) // 4 != empty % size
    expected[written, 2:5] *= -1
    assert np.array_equal(read_by_h5py(folder / "out.h5", "a group/temperature"), expected)
    with windrow.open(folder / "out.h5", comm=comm) as f:
        part = f["a group"]["temperature"][0 : 0 if rank == empty % size else None]
        assert np.array_equal(part, expected if part.size else expected[:0])


@pytest.mark.parametrize("key", [
    np.s_[::2], np.s_[::-1], np.s_[:, ::3], np.s_[1::2, ::-2], np.s_[:, 3], np.s_[-1], np.s_[[2, 0]],
    np.s_[:, [6, 1, 2]], np.s_[2, 3], np.s_[3:1], np.s_[..., 1:2],
], ids=str)  # fmt: skip
def test_one_rank_selects_as_numpy_does_and_the_others_nothing(folder, comm, rank, size, numbers, key):
    whole = numbers(5, 7)
    for writer in {0, size - 1}:
        with windrow.open(folder / "out.h5", "w", comm=comm) as f:
            v = f.create_variable("x", data=whole)
            change = -1 - whole[key]
            v[key if rank == writer else np.s_[0:0]] = change if rank == writer else 0
            expected = whole.copy()
            expected[key] = change
            assert np.array_equal(v[key if rank == writer else ...], expected[key] if rank == writer else expected)
        assert np.array_equal(read_by_h5py(folder / "out.h5", "x"), expected)


def test_arrays_of_any_strides(folder, comm, rank, size, numbers):
    big = numbers(2 * size + 3, 8, 10)
    mine = slice(2 * rank, 2 * rank + 2)
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        boxes = {
            "inner": big[1:-2, 2:6, 3:7],
            "column": big[1:-2, :, 4:5],
            "steps": big[1:-2, ::2, 1:5],
            "plane": big[1:-2, :, 4],
        }
        boxes |= {
            "fortran": np.asfortranarray(big[1:-2]),
            "reversed": big[1:-2, ::-1],
            "skipped": big[1:-2, :, ::2],
            "transposed": big[1:-2].transpose(0, 2, 1),
        }
        boxes["all of it"] = np.asfortranarray(big)[-3:0:-1, ::-2, ::3][: 2 * size]
        for name, array in boxes.items():
            f.create_variable(name, array.shape, "float64")[mine] = array[mine]
        assert f.copied_bytes == 0
        structure = np.zeros((2 * size, 3), "i4, f8")
        structure["f1"] = 7
        packed = {
            "swapped": big[1:-2].astype(">f8"),
            "field": structure["f1"],
            "spread out": np.broadcast_to(np.arange(3.0), (2 * size, 3)),
        }
        for name, array in packed.items():
            before = f.copied_bytes
            f.create_variable(name, array.shape, "float64")[mine] = array[mine]
            assert f.copied_bytes - before == array[mine].nbytes, name
        f.create_variable("spread", (2 * size, 4), "int32")[mine] = [1, 2, 3, 4]
    for name, array in {**boxes, **packed, "spread": np.tile([1, 2, 3, 4], (2 * size, 1))}.items():
        assert np.array_equal(read_by_h5py(folder / "out.h5", name), array[: 2 * size]), name


TYPES = [
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float32",
    "float64",
    "bool",
    "complex64",
    "complex128",
    "S5",
]


@pytest.mark.parametrize("dtype", TYPES)
def test_types_are_those_of_h5py(folder, comm, rank, size, dtype):
    texts = np.array([b"", b"abcde", b"x"] * size, "S5")
    whole = texts if dtype == "S5" else (np.arange(3 * size) % 2).astype(dtype)
    mine = slice(3 * rank, 3 * rank + 3)
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        v = f.create_variable("x", whole.shape, dtype)
        v[mine] = whole[mine]
        assert v.dtype == dtype and np.array_equal(v[::-1], whole[::-1])
    found = read_by_h5py(folder / "out.h5", "x")
    assert found.dtype == dtype and np.array_equal(found, whole)


def apart(array):
    """The same elements, backwards and with gaps between them."""
    room = np.full(tuple(2 * n for n in array.shape), -1, array.dtype)
    view = room[tuple([slice(None, None, -2)] * array.ndim)]
    view[...] = array
    return view


KEYS = [np.s_[::2, 1:5, [0, 3, 4]], np.s_[[4, 0, 1], ::-1, 2], np.s_[::-2, [5, 0], ::3], np.s_[1, ::2, ::-1]]


@pytest.mark.parametrize("kind", ["float64", "int16"])
def test_arrays_of_any_strides_in_selections_of_several_pieces(folder, comm, rank, size, numbers, kind):
    """In the order of C on the last rank, on the others in another."""
    whole = np.zeros((5 * size, 6, 7))
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        v = f.create_variable("x", whole.shape, "float64")
        for number, key in enumerate(KEYS):
            for each in range(size):
                part = whole[5 * each : 5 * each + 5]
                places = np.ix_(*(np.atleast_1d(np.arange(n)[k]) for k, n in zip(key, part.shape)))
                part[places] = (numbers(*part[places].shape) + 1000 * each + 100 * number).astype(kind)
                if each == rank:
                    mine = (
                        part[places]
                        .astype(kind)
                        .reshape([n for n, k in zip(part[places].shape, key) if not isinstance(k, int)])
                    )
            here = np.arange(5)[key[0]] + 5 * rank
            arranged = (np.ascontiguousarray, np.asfortranarray, apart)[
                0 if rank == size - 1 and size > 1 else 1 + (number + rank) % 2
            ]
            v[(here.tolist(), *key[1:])] = arranged(mine)
            assert f.copied_bytes == 0 and np.array_equal(v[...], whole), key


def test_reading_into_an_array_of_any_strides(folder, comm, rank, numbers):
    whole = numbers(4, 5, 6)
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        v = f.create_variable("x", data=whole)
        around = np.full((9, 6, 14), -1.0)
        for out in (
            np.zeros((4, 5, 6), order="F"),
            around[7::-2, 1:, 1:-1:2],
            np.zeros((6, 5, 4), "float32").T,
            np.zeros((4, 5, 6), "int8", order="F"),
        ):
            assert v.read(out=out) is out and np.array_equal(out, whole.astype("float64"))
        assert np.count_nonzero(around == -1) == around.size - whole.size
        for wrong in (np.broadcast_to(np.zeros(6), (4, 5, 6)), np.zeros((4, 5, 6), "i4, f8")["f1"]):
            with pytest.raises(windrow.WindrowError, match="of whole elements and writeable"):
                v.read(out=wrong)


@pytest.mark.parametrize("ghosts", [0, 2])
def test_blocks_in_fortran_order(folder, comm, rank, size, numbers, ghosts):
    whole = numbers(4, 3 * size, 5)
    start, count = (0, 3 * rank, 1), (4, 0 if size > 1 and rank == size - 1 else 3, 3)
    box, within = tuple(n + 2 * ghosts for n in count), (ghosts,) * 3
    held = windrow.block(comm, whole.shape, start, count, box, within, order="F")
    inner = tuple(slice(ghosts, ghosts + n) for n in count)
    mine = tuple(slice(s, s + n) for s, n in zip(start, count))
    array = np.full(box, -1.0, order="F")
    array[inner] = whole[mine]
    expected = np.zeros_like(whole)
    written = 3 * (size - 1 if size > 1 else 1)
    expected[:, :written, 1:4] = whole[:, :written, 1:4]
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        v = f.create_variable("x", whole.shape, "float64")
        steps = f.create_variable("steps", (0, *whole.shape), "float32", extendible=True)
        f.put(v, array, held)
        f.put(steps, array, held, record=0)
        found = f.get(v, held)
        f.flush()
        assert f.copied_bytes == 0 and found.flags.f_contiguous and np.array_equal(found[inner], whole[mine])
        assert np.array_equal(v[...], expected) and np.array_equal(steps[0], expected)
        v.write(np.ascontiguousarray(array), held)
        assert f.copied_bytes == (array.nbytes if not array.flags.c_contiguous else 0) and np.array_equal(
            v[...], expected
        )
        deeper = f.create_variable("deeper", (*whole.shape, 2), "float64")
        with pytest.raises(windrow.WindrowError, match="is of all of them, not of 3"):
            f.put(deeper, array, held)
        with pytest.raises(windrow.WindrowError):
            f.flush()
        with pytest.raises(windrow.WindrowError, match="contiguous in Fortran order"):
            v.read(held, out=np.zeros((*box, 2))[..., 0])


def test_blocks_that_leave_their_boxes_are_refused(comm, rank, size, raises_on_all):
    for box, within in (((2, 2), (1, 0)), ((1, 2), (0, 0)), ((2, 2), (0, -1))):
        bad = rank == size - 1
        here = (box, within) if bad else ((2, 2), (0, 0))
        raises_on_all(
            lambda: windrow.block(comm, (2, 2), (0, 0), (2, 2), *here, order="F"), size - 1, "of its memory box"
        )
    raises_on_all(
        lambda: windrow.block(comm, (2, 2), (0, 0), (2, 2), order="F" if rank < size - 1 else "K"), size - 1, "order is"
    )


def test_opaque_bytes(folder, comm, rank):
    whole = np.array([b"\x00\x01\xff", b"abc"], "V3")
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        v = f.create_variable("x", (2,), "V3", opaque_tag="three bytes")
        v[... if rank == 0 else np.s_[0:0]] = whole if rank == 0 else whole[:0]
        assert v.dtype == "V3" and v[...].tobytes() == whole.tobytes()


def test_elements_become_the_variables_type(folder, comm):
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        v = f.create_variable("x", (4,), "int16")
        v[...] = np.array([1.7, -2, 1e9, 3], "float32")
        assert v[...].tolist() == [1, -2, 32767, 3] and v.dtype == "int16"
        w = f.create_variable("half", (2,), "float32")
        w[...] = np.array([0.5, 65504], "float16")
        assert w[...].tolist() == [0.5, 65504]


HALVES = np.arange(2**16, dtype="uint16").view("float16")  # all that there are: NaNs, infinities, subnormal ones


@pytest.mark.parametrize("order", "<>")
def test_float16(folder, comm, rank, size, barrier, order):
    """As h5py has it, bit by bit and both ways; in chunks, too."""
    rows = windrow.rows(comm, 2**16)
    mine = slice(rows.first_row, rows.first_row + rows.row_count)
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        v = f.create_variable("x", (2**16,), order + "f2")
        c = f.create_variable(
            "chunked", (2**16,), order + "f2", chunks=(1000,), compression=1, shuffle=True, fill_value=np.float16(0.1)
        )
        v[mine] = HALVES[mine]
        c[mine] = HALVES[mine].astype(">f2")
        v.attrs["some"] = np.array([1.5, -np.inf], "float16")
        assert v.dtype == "float16" and np.array_equal(v[...].view("uint16"), HALVES.view("uint16"))
    barrier()
    for name in ("x", "chunked"):
        found = read_by_h5py(folder / "out.h5", name)
        assert found.dtype == order + "f2" and np.array_equal(found.astype("=f2").view("uint16"), HALVES.view("uint16"))
    if rank == 0:
        h5py = pytest.importorskip("h5py")
        with h5py.File(folder / "theirs.h5", "w") as f:
            f["x"] = HALVES.astype(order + "f2")
            f.attrs["one"] = np.float16(0.25)
        with h5py.File(folder / "out.h5") as f:
            assert f["chunked"].fillvalue == np.float16(0.1)
    barrier()
    with windrow.open(folder / "theirs.h5", comm=comm) as f:
        assert np.array_equal(f["x"][mine].view("uint16"), HALVES[mine].view("uint16"))
        assert f.attrs["one"] == 0.25 and f.attrs["one"].dtype == "float16"
    with windrow.open(folder / "out.h5", comm=comm) as f:
        assert f["x"].attrs["some"].tolist() == [1.5, -np.inf]


@pytest.mark.parametrize("other", ["float32", "float64"])
def test_float16_becomes_other_numbers_and_back(folder, comm, rank, size, other):
    """What fits becomes what numpy makes of it."""
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        v = f.create_variable("x", (2**16,), "float16")
        wide = f.create_variable("wide", (2**16,), other)
        wide[...] = HALVES
        assert np.array_equal(wide[...], HALVES.astype(other), equal_nan=True)
        v[...] = HALVES.astype(other)
        assert np.array_equal(v[...], HALVES, equal_nan=True)
        between = np.random.default_rng(1).uniform(-65504, 65504, 2**16).astype(other) * np.logspace(
            -12, 0, 2**16, dtype=other
        )
        v[...] = between
        assert np.array_equal(v[...].view("uint16"), between.astype("float16").view("uint16"))
        v[0:2] = np.array([1e9, -1e9], other)
        assert f.report()["values_clamped"] == 2  # what several ranks hold is counted once
        assert v[0:2].tolist() == [65504, -65504]


def test_netcdf_classic_has_no_float16(folder, comm, raises_on_all):
    if not windrow.has("netcdf"):
        pytest.skip("built without netCDF")
    with windrow.open(folder / "out.nc", "w", comm=comm) as f:
        with pytest.raises(windrow.WindrowError, match="netCDF classic has no type float16") as caught:
            f.create_variable("x", (2,), "float16")
        assert caught.value.code == windrow.Code.UNSUPPORTED
        f.create_variable("x", (2,), "float32")


def test_text_of_any_length(folder, comm, rank):
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        v = f.create_variable("words", (2, 2), str)
        v[...] = [["a", "größer"], ["", "d" * 100]]
        assert v.dtype == object and v[0, 1] == "größer" and v[1].tolist() == ["", "d" * 100]
        fixed = f.create_variable("fixed", (2,), "S8")
        fixed[...] = ["größe", "b"]
        assert fixed[0].decode() == "größe"
    assert read_by_h5py(folder / "out.h5", "words")[0, 1].decode() == "größer"


def test_scalars_and_empty_variables(folder, comm, rank, size):
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        scalar = f.create_variable("scalar", (), "int64")
        scalar[...] = rank  # the highest rank's is stored
        assert scalar[()] == size - 1 and scalar.shape == ()
        nothing = f.create_variable("nothing", (0, 3), "float32")
        nothing[...] = np.zeros((0, 3))
        assert nothing[...].shape == (0, 3)


def test_what_nobody_wrote_is_the_fill_value(folder, comm, rank):
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        v = f.create_variable("x", (4,), "float64", fill_value=-999.5)
        v[1 : 2 if rank == 0 else 1] = 7 if rank == 0 else np.zeros(0)
        f.create_variable("c", (2,), "complex128", fill_value=1.5 - 2j)
        f.create_variable("b", (2,), "bool", fill_value=True)
        f.flush()
        assert v[...].tolist() == [-999.5, 7, -999.5, -999.5]
    assert read_by_h5py(folder / "out.h5", "c")[0] == 1.5 - 2j and read_by_h5py(folder / "out.h5", "b")[1]


def test_dimensions_have_names(folder, comm):
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        f.create_variable("x", data=np.arange(3.0), dims=("x",))
        v = f.create_variable("field", (2, 3), "float32", dims=("time", "x"), chunks=(1, 3))
        assert v.dims == ("time", "x") and v.chunks == (1, 3) and f.dimensions == {"/time": 2}
        assert "field" in repr(v) and "time" in repr(v)


def test_what_a_variable_says_of_itself(folder, comm):
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        v = f.create_variable("x", (30, 4), "float32", compression=1, shuffle=True, fletcher32=True, chunks=(10, 4))
        assert (v.name, v.shape, v.ndim, v.size, len(v), v.filters) == (
            "/x",
            (30, 4),
            2,
            120,
            30,
            "shuffle,deflate:1,fletcher32",
        )
        with pytest.raises(TypeError, match="collective"):
            list(v)
        assert np.asarray(v, dtype="float64").shape == (30, 4)


CONVERSIONS = [
    ("float32", [1.5, -2.25, np.inf, np.nan], "float64", True),
    ("uint8", [255.9, 0.5, 0.0, 7.0], "float64", True),
    ("uint8", [300.0, 0.0, 0.0, 0.0], "float64", False),
    ("uint8", [-5.0, 0.0, 0.0, 0.0], "float64", False),
    ("int32", [np.nan, 0.0, 0.0, 0.0], "float64", False),
    ("int64", [2.0**63, 0.0, 0.0, 0.0], "float64", False),
    ("uint64", [-1, 0, 0, 0], "int64", False),
    ("int64", [2**64 - 1, 0, 0, 0], "uint64", False),
    ("int16", [2**15 - 1, -(2**15), 0, 0], "int64", True),
    ("float32", [1e300, 0.0, 0.0, 0.0], "float64", False),
    ("float64", [1j, 0, 0, 0], "complex128", False),
    ("complex64", [1.5, 2.0, 3.0, 4.0], "float64", True),
]


@pytest.mark.parametrize("stored, values, given, fits", CONVERSIONS)
def test_a_record_is_converted_as_all_else(folder, comm, rank, size, raises_on_all, stored, values, given, fits):
    """By the rules of windrow_put_as()."""
    rows = windrow.rows(comm, 4 * size)
    if given != "complex128":
        with windrow.open(folder / "clamped.h5", "w", comm=comm) as f:
            whole = f.create_variable("whole", (4 * size,), stored)
            records = f.create_variable("records", (0, 4 * size), stored, extendible=True)
            f.put(records, np.array(values, given), rows, record=0)
            whole.write(np.array(values, given), rows)
            out = np.empty(4, "complex128")
            f.get(records, rows, record=0, out=out)
            f.flush()
            assert np.array_equal(records[0], whole[...], equal_nan=np.dtype(stored).kind == "f")
            assert np.array_equal(out, records[0, rows.first_row : rows.first_row + 4], equal_nan=True)
    with windrow.open(folder / "out.h5", "w", comm=comm, conversion="error") as f:
        whole = f.create_variable("whole", (4 * size,), stored)
        records = f.create_variable("records", (0, 4 * size), stored, extendible=True)
        array = np.array(values, given)
        if not fits:  # on the last rank
            mine = array if rank == size - 1 else np.zeros_like(array)
            if rank == size - 1:
                with pytest.raises(windrow.WindrowError):
                    f.put(records, mine, rows, record=0)
            elif given != "complex128":
                f.put(records, mine, rows, record=0)
            raises_on_all(f.flush, size - 1, "/records")
            with pytest.raises(windrow.WindrowError):
                whole.write(mine, rows)  # so it is without a record
        else:
            f.put(records, array, rows, record=0)
            whole.write(array, rows)
            assert np.array_equal(records[0], whole[...], equal_nan=np.dtype(stored).kind == "f")


def test_reading_into_an_array_of_another_type(folder, comm, rank, size):
    """By the library's conversion, not numpy's."""
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        f.create_variable("x", data=[300.0, -5.0, 2.75])
        f.create_variable("scalar", data=300.0)
    for conversion in ("clamp", "error"):
        with windrow.open(folder / "out.h5", comm=comm, conversion=conversion) as f:
            out, scalar = np.zeros(3, "uint8"), np.zeros((), "uint8")
            if conversion == "error":
                with pytest.raises(windrow.WindrowError):
                    f["x"].read(out=out)
                continue
            assert f["x"].read(out=out) is out and out.tolist() == [255, 0, 2]
            assert f["scalar"].read(out=scalar)[()] == 255
            for wrong in (np.zeros(2), np.zeros(3, "i4, f8")["f1"], [0, 0, 0], np.zeros(3, "longdouble")):
                with pytest.raises(windrow.WindrowError):
                    f["x"].read(out=wrong if rank == size - 1 else out)


def test_byte_order_and_fill_values_of_numpy(folder, comm, rank, size, barrier):
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        f.create_variable("big", (2,), ">f8")[...] = [1, 2]
        f.create_variable("data", data=np.arange(3, dtype=">i4"))
        f.create_variable("little", (2,), ">f8", byte_order="little")[...] = [1, 2]
        for number, value in enumerate((np.float32(0.1), np.complex64(1 + 2j), np.int16(3), np.bool_(True))):
            v = f.create_variable(f"v{number}", (2,), value.dtype, fill_value=value)
            assert v[0] == value
        assert f["big"] == f["/big"] and f["big"] != f["data"] and len({f["big"], f["big"]}) == 1
    barrier()
    assert read_by_h5py(folder / "out.h5", "big").dtype == ">f8" and read_by_h5py(
        folder / "out.h5", "big"
    ).tolist() == [1, 2]
    assert read_by_h5py(folder / "out.h5", "data").dtype == ">i4" and read_by_h5py(
        folder / "out.h5", "data"
    ).tolist() == [0, 1, 2]
    assert read_by_h5py(folder / "out.h5", "little").dtype == "<f8"


TEXT_KEYS = [
    np.s_[[0, 1], [0, 2]], np.s_[[0, 1], [0, 1, 2]], np.s_[:, [True, False, True]], np.s_[0], np.s_[1, 2], np.s_[0:0],
    np.s_[::-1, 1], np.s_[[1, 0], ::2], np.s_[..., -1], np.s_[:], np.s_[1:, ::-2],
]  # fmt: skip


def test_texts_are_selected_as_numbers_are(folder, comm, rank, size, raises_on_all):
    whole = np.array([["a", "b", "c"], ["d", "e", "größer"]], object)
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        t = f.create_variable("t", data=whole)
        n = f.create_variable("n", data=np.arange(6).reshape(2, 3))
        for key in TEXT_KEYS:
            texts, numbers = t[key], n[key]
            assert np.shape(texts) == np.shape(numbers)
            assert np.ravel(np.asarray(texts, object)).tolist() == whole.ravel()[np.ravel(numbers)].tolist()
        assert t[rank % 2].tolist() == whole[rank % 2].tolist()
        for key in (np.s_[:, :], np.s_[0:2], [True, True], np.s_[[0, 1], :], ...):
            t[key] = whole[::-1]
            assert t[...].tolist() == whole[::-1].tolist()
            t[key] = whole
        for key in (None, np.s_[0, 0, 0], np.ones((2, 3), bool), 7):
            raises_on_all(lambda: t[key], 0, "/t: ")
        for key in (0, np.s_[::-1], [0], [True, False], np.s_[[1, 0], :]):
            raises_on_all(lambda: t.__setitem__(key, "x"), 0, "text of any length is written as a whole")
        assert t[...].tolist() == whole.tolist()
    with windrow.open(folder / "out.h5", comm=comm) as f:
        for action in (lambda: f["t"].read(windrow.same(comm)), lambda: f["t"].write(whole, windrow.same(comm))):
            with pytest.raises(windrow.WindrowError, match="text of any length is read and written as a whole"):
                action()


@pytest.mark.parametrize("dtype", ["S4", "V4", "float64", "float16", "complex64", "bool"])
def test_a_rank_with_a_plain_empty_list(folder, comm, rank, size, dtype):
    """The last."""
    mine = np.array([b"ab"], "S4").view(dtype) if dtype[0] in "SV" else np.ones(1, dtype)
    empty = rank == size - 1
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        v = f.create_variable("v", (size,), dtype)
        points = windrow.points(comm, size, [] if empty else [rank])
        for nothing in ([], np.zeros(0, object), np.zeros(0, "U3"), np.zeros(0, "datetime64[s]")):
            v[rank : rank + (not empty)] = nothing if empty else mine
            v.write(nothing if empty else mine, points)
        assert (v[: size - 1] == np.repeat(mine, size - 1)).all()


def masked(values, mask=(False, True, False)):
    return np.ma.masked_array(values, mask)


@pytest.mark.parametrize(
    "kind, fill, values",
    [
        ("f4", -1, [1.0, 1e20, 3.0]), ("f4", np.nan, np.array([1, 7, 3])), ("i2", -999, np.array([1.0, 7.0, 3.0])),
        ("f8", 1e20, np.array([1, 7, 3], "i1")), ("u8", 2**64 - 1, np.array([1, 7, 3], "i2")),
        ("i8", -(2**63) + 2, np.array([1, 7, 3], "i4")), ("f2", np.nan, [1.0, 2.0, 3.0]),
        ("?", True, [False, False, True]), ("c16", 1 - 2j, np.array([1, 7j, 3])),
        ("c8", complex(np.nan, 1), [1.0, 7.0, 3.0]), (">f4", 0.1, [1.0, 7.0, 3.0]),
        ("S4", b"none", [b"a", b"b", b"c"]), ("S4", b"none", ["a", "b", "c"]),
        ("V2", "0x0102", np.array([b"ab", b"cd", b"ef"], "V2")),
    ],
)  # fmt: skip
def test_masked_arrays(folder, comm, rank, size, kind, fill, values):
    """Masked elements are the fill value, with any data beneath the mask."""
    rows = windrow.rows(comm, 3, 3 if rank == size - 1 else 0)
    expected = np.array(values if kind[0] != "S" else [b"a", b"b", b"c"], kind)
    expected[1] = b"\1\2" if kind == "V2" else fill

    def same(found):
        return (
            found.tobytes() == expected.astype(found.dtype).tobytes()
            or kind[0] not in "SV"
            and np.array_equal(found, expected, equal_nan=True)
        )

    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        assert same(f.create_variable("data", data=masked(values), dtype=kind, fill_value=fill)[...])
        v = f.create_variable("v", (3,), kind, fill_value=fill)
        v[...] = masked(values)
        assert same(v[...])
        v[...] = expected if kind[0] in "SV" else np.zeros(3)
        v[slice(0, 3) if rank == 0 else slice(0, 0)] = masked(values) if rank == 0 else masked(values)[:0]
        assert same(v[...])
        f.put("v", masked(values)[: rows.row_count], rows)
        f.flush()
        assert same(v[...])
        v[1] = np.ma.masked
        assert same(v[...])
        copied = f.copied_bytes
        v[...] = masked(values, False)  # nothing is masked
        assert copied > 0 and (f.copied_bytes == copied or kind[0] in "SV>")
        assert not same(v[...])


def test_masked_arrays_without_a_fill_value(folder, comm, rank, size, raises_on_all):
    last = size - 1
    rows = windrow.rows(comm, size)
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        v = f.create_variable("v", data=np.arange(3.0))
        t = f.create_variable("t", data=["a", "b", "c"])
        row = f.create_variable("row", (size,), "f4")
        wide = f.create_variable("wide", (3,), "i8", fill_value=2**63 - 1)
        bad, good = masked([1.0, 2.0, 3.0]), masked([1.0, 2.0, 3.0], False)
        raises_on_all(
            lambda: v.__setitem__(..., bad if rank == last else good),
            last,
            "/v: 1 of 3 elements are masked, and there is no fill value",
        )
        said = "cannot hold the fill value 9223372036854775807: write elements of int64"
        raises_on_all(lambda: wide.__setitem__(..., bad if rank == last else good), last, said)
        text = masked(np.array(["a", "b", "c"], object))
        raises_on_all(lambda: t.__setitem__(..., text if rank == last else ["a", "b", "c"]), last, "masked")
        if rank == last:
            with pytest.raises(windrow.WindrowError, match="masked"):
                f.put("row", masked([1.0], True), rows)
        else:
            f.put("row", masked([1.0], False), rows)
        raises_on_all(f.flush, last, "masked")
        for data in (bad, text):
            raises_on_all(
                lambda: f.create_variable(
                    "new", data=data if rank == last else good if data is bad else ["a", "b", "c"]
                ),
                last,
                "masked",
            )
        raises_on_all(lambda: f.attrs.__setitem__("a", bad), 0, "masked")
        assert "new" not in f and "a" not in f.attrs and row.shape == (size,)
        v[...] = good
        assert v[...].tolist() == [1, 2, 3]


def test_habits_of_other_packages(folder, comm, rank, size, raises_on_all):
    last = rank == size - 1
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        for key, here in {
            "fillvalue": "fill_value=",
            "compression_opts": "compression_level=",
            "maxshape": "extendible=True",
            "chunksizes": "chunks=",
        }.items():
            more = {key: 3} if last else {}
            raises_on_all(
                lambda: f.create_variable("v", (2,), "i4", **more),
                size - 1,
                f"{key} is no option of a variable; here that is {here}",
            )
        group = f.create_group("g")
        for owner in (f, group):
            with pytest.raises(
                AttributeError, match=r"no attribute 'create_dataset': here that is create_variable\(\)"
            ):
                owner.create_dataset("x", (2,))
            with pytest.raises(AttributeError, match="no attribute 'nonsense'$"):
                owner.nonsense
            assert not hasattr(owner, "createVariable")
            with pytest.raises(TypeError, match=r"create_variable\('x', data=...\) defines a variable"):
                owner["x"] = np.zeros(2)
        cases = [
            ("i4", 3.0, 3),
            ("u8", np.float32(7), 7),
            ("i2", np.array(-3.0), -3),
            ("V4", b"abcd", b"abcd"),
            ("V2", np.void(b"\x00\xff"), b"\x00\xff"),
        ]
        for number, (kind, fill, value) in enumerate(cases):
            assert f.create_variable(f"fill{number}", (2,), kind, fill_value=fill)[...].tolist() == [value, value]
        for wrong in (3.5, np.nan, np.inf, 1e30):
            with pytest.raises(windrow.WindrowError, match="is not of type int32"):
                f.create_variable("wrong", (2,), "i4", fill_value=wrong)
        assert "wrong" not in f and "v" not in f


def test_a_selection_ends_a_flush_that_was_begun(folder, comm, rank, size):
    rows = windrow.rows(comm, size)
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        v = f.create_variable("v", (size,), "i4")
        for write in (False, True):
            f.put(v, np.full(rows.row_count, 5 + write, "i4"), rows)
            f.flush_begin()
            if write:
                v[0:0] = 0
            assert (v[...] == 5 + write).all()
            with pytest.raises(windrow.WindrowError, match="flush"):
                f.flush_end()
