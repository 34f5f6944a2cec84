# SPDX-License-Identifier: BSD-3-Clause
"""The engine "windrow" of xarray gives what others give for the same file, and what it writes the others read."""

import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest

import windrow

xr = pytest.importorskip("xarray")
h5py = pytest.importorskip("h5py")
windrow_xarray = pytest.importorskip("windrow.xarray")


@pytest.fixture
def dataset():
    """What CF conventions are about: times, gaps, packed numbers, coordinates of two dimensions, text."""
    generator = np.random.default_rng(1)
    temperature = generator.normal(size=(4, 6, 5)).astype("float32")
    temperature[1, 2, 3] = np.nan
    return xr.Dataset(
        {
            "temperature": (
                ("time", "y", "x"),
                temperature,
                {"units": "K", "range": [0.0, 400.0], "long_name": "Größe"},
            ),
            "packed": (("y", "x"), np.round(generator.normal(size=(6, 5)), 1)),
            "flag": (("x",), np.array([True, False, True, True, False])),
            "count": (("time",), np.arange(4, dtype="int16"), {"valid_min": np.int16(0)}),
            "scalar": ((), 3.5),
            "name": (("y",), np.array(["a", "bc", "größer", "", "e", "f"], object)),
        },
        {
            "time": np.datetime64("2026-11-22", "ns") + np.arange(4) * np.timedelta64(6, "h"),
            "x": ("x", np.linspace(0, 1, 5), {"axis": "X"}),
            "longitude": (("y", "x"), generator.normal(size=(6, 5))),
        },
        {"title": "a dataset", "version": 3},
    )


PACKED = {"packed": {"dtype": "int16", "scale_factor": 0.1, "_FillValue": -999}}


def alone(rank, size):
    if size > 1 and rank > 0:
        pytest.skip("rank 0 does it alone")


@pytest.mark.parametrize("other", ["netcdf4", "h5netcdf"])
@pytest.mark.parametrize("kind", ["NETCDF4", "NETCDF3_64BIT"])
def test_what_others_wrote(folder, dataset, rank, size, kind, other):
    alone(rank, size)
    if kind != "NETCDF4" and (other == "h5netcdf" or not windrow.has("netcdf")):
        pytest.skip("not for this engine")
    path = folder / "others.nc"
    more = {"temperature": {"zlib": True, "chunksizes": (2, 3, 5)}} if kind == "NETCDF4" else {}
    try:
        dataset.to_netcdf(path, engine="netcdf4", format=kind, encoding={**PACKED, **more}, unlimited_dims=["time"])
    except ValueError as error:
        pytest.skip(f"no netCDF4: {error}")
    options = {} if kind == "NETCDF4" else {"options": {"format": "netcdf"}}
    with xr.open_dataset(path, engine="windrow", **options) as mine, xr.open_dataset(path, engine=other) as theirs:
        xr.testing.assert_identical(mine.load(), theirs.load())
        assert mine.time.dtype == "datetime64[ns]" and mine.temperature.attrs["range"].tolist() == [0, 400]
        assert mine.encoding["unlimited_dims"] == theirs.encoding["unlimited_dims"] == {"time"}
        if kind == "NETCDF4":
            assert mine.temperature.encoding["chunksizes"] == (2, 3, 5)


def test_hdf5_without_names_of_dimensions(folder, rank, size):
    alone(rank, size)
    pytest.importorskip("netCDF4")
    with h5py.File(folder / "plain.h5", "w") as file:
        file["a"] = np.arange(12.0).reshape(3, 4)
        file["b"] = np.arange(9).reshape(3, 3)
        file["group/c"] = np.arange(4)
        file["a"].attrs["units"] = "m"
    for group in ("/", "group"):
        mine = xr.open_dataset(folder / "plain.h5", engine="windrow", group=group)
        theirs = xr.open_dataset(folder / "plain.h5", engine="netcdf4", group=group)
        assert set(mine) == set(theirs) and mine.attrs == theirs.attrs
        for name in mine:  # netCDF counts the names of dimensions through all groups
            theirs_renamed = theirs[name].rename(dict(zip(theirs[name].dims, mine[name].dims)))
            xr.testing.assert_identical(mine[name].load(), theirs_renamed.load())
        mine.close()


def test_reading_is_lazy(folder, rank, size, numbers):
    alone(rank, size)
    whole = numbers(6, 5, 4)
    path = folder / "lazy.h5"
    with windrow.open(path, "w", comm="self") as f:
        f.create_variable("x", data=whole, dims=("a", "b", "c"), chunks=(2, 5, 4), compression="deflate")
        f.create_variable("damaged", data=whole, chunks=(2, 5, 4), compression="deflate", dims=("a", "b", "c"))
    with h5py.File(path) as file:
        place = file["damaged"].id.get_chunk_info(0).byte_offset
    with open(path, "r+b") as raw:
        raw.seek(place)
        raw.write(b"\xff" * 16)
    with xr.open_dataset(path, engine="windrow") as found:  # which does not look at what cannot be read
        assert np.array_equal(found.x[1:3, 2], whole[1:3, 2])
        assert np.array_equal(found.x.isel(a=[4, 0], b=slice(None, None, 2), c=-1), whole[[4, 0]][:, ::2, -1])
        points = xr.DataArray([0, 5], dims="p")
        assert np.array_equal(found.x.isel(a=points, b=points[::-1] % 5), whole[[0, 5], [0, 0]])
        assert np.array_equal(pickle.loads(pickle.dumps(found.x)), whole)
        with pytest.raises(windrow.WindrowError):
            found.damaged.load()


def test_chunks_of_dask(folder, rank, size, numbers):
    alone(rank, size)
    pytest.importorskip("dask")
    whole = numbers(6, 5)
    with windrow.open(folder / "chunks.h5", "w", comm="self") as f:
        f.create_variable("x", data=whole, dims=("a", "b"), chunks=(2, 5))
    with xr.open_dataset(folder / "chunks.h5", engine="windrow", chunks={}) as found:
        assert found.x.chunks == ((2, 2, 2), (5,))
        assert found.x.sum().compute() == whole.sum() and np.array_equal(found.x.compute(), whole)


def test_a_set_of_subfiles_is_one_dataset(folder, comm, rank, size, numbers, barrier):
    whole = numbers(4 * size, 3)
    with windrow.open(folder / "set.h5", "w", comm=comm, files="subfiles(3)") as f:
        f.create_variable("x", whole.shape, "float64", dims=("a", "b"))[4 * rank : 4 * rank + 4] = whole[
            4 * rank : 4 * rank + 4
        ]
    with xr.open_dataset(folder / "set.h5", engine="windrow") as found:  # each rank alone
        assert np.array_equal(found.x, whole)
    with xr.open_dataset(folder / "set.h5", engine="windrow", comm=comm) as found:  # together, each its part
        assert np.array_equal(found.x[rank::size], whole[rank::size])


@pytest.mark.parametrize("ending", ["h5", "nc"])
def test_what_is_written_is_read_by_others(folder, comm, dataset, rank, barrier, ending):
    if ending == "nc" and not windrow.has("netcdf"):
        pytest.skip("built without netCDF")
    given = dataset if ending == "h5" else dataset.drop_vars(["name", "version"], errors="ignore")
    path = folder / f"mine.{ending}"
    more = (
        {"temperature": {"zlib": True, "complevel": 1, "shuffle": True, "chunksizes": (2, 3, 5)}}
        if ending == "h5"
        else {}
    )
    windrow_xarray.write(given, path, comm=comm, encoding={**PACKED, **more})
    barrier()
    for engine in ["windrow", "netcdf4"] + ["h5netcdf"] * (ending == "h5"):
        if engine == "netcdf4":
            pytest.importorskip("netCDF4")
        with xr.open_dataset(path, engine=engine) as found:
            xr.testing.assert_allclose(found.load(), given)
            assert found.temperature.attrs["long_name"] == "Größe" and found.attrs == dataset.attrs
            assert found.time.dtype == "datetime64[ns]" and np.array_equal(found.time, given.time)
            assert set(found.coords) == set(given.coords)


def test_ranks_share_a_dimension(folder, comm, dataset, rank, size, barrier):
    """Rank 1 has nothing of it."""
    given = dataset.drop_vars("name")
    bounds = [0, 2, 2, 3, 4] if size > 2 else [0, 4, 4][: size + 1]
    mine = given.isel(time=slice(bounds[rank], bounds[rank + 1] if rank + 1 < size else 4))
    windrow_xarray.write(mine, folder / "shared.h5", comm=comm, dim="time", encoding=PACKED)
    barrier()
    with xr.open_dataset(folder / "shared.h5", engine="h5netcdf") as found:
        xr.testing.assert_allclose(found.load(), given)
        assert np.array_equal(found.time, given.time)


def test_chunks_of_dask_are_written_by_all_ranks(folder, comm, dataset, rank, size, barrier):
    pytest.importorskip("dask")
    given = dataset.chunk({"time": 1, "y": 4})
    windrow_xarray.write(given, folder / "chunks.h5", comm=comm)
    part = dataset.isel(y=slice(6 * rank // size, 6 * (rank + 1) // size)).drop_vars("name")
    windrow_xarray.write(part.chunk({"time": 1 + rank}), folder / "shared.h5", comm=comm, dim="y")
    barrier()
    with xr.open_dataset(folder / "chunks.h5", engine="h5netcdf") as found:
        xr.testing.assert_allclose(found.load(), dataset)
    with xr.open_dataset(folder / "shared.h5", engine="h5netcdf") as found:
        xr.testing.assert_allclose(found.load(), dataset.drop_vars("name"))


def test_an_error_of_one_rank_when_writing(folder, comm, dataset, rank, size, raises_on_all):
    wrong = (
        dataset.assign(bad=("x", np.zeros(5, [("a", "i4")])))
        if rank == size - 1
        else dataset.assign(bad=("x", np.zeros(5)))
    )
    with pytest.raises(Exception) as caught:
        windrow_xarray.write(wrong, folder / "out.h5", comm=comm)
    assert rank == size - 1 or isinstance(caught.value, windrow.WindrowError)
    assert list(folder.iterdir()) == []


def part_of(dataset, dim, rank, size):
    """This rank's part; rank 0 has nothing where there are others."""
    length, sharers = dataset.sizes[dim], max(size - 1, 1)
    first = max(rank - (size > 1), 0)
    end = 0 if size > 1 and rank == 0 else length * (first + 1) // sharers
    return dataset.isel({dim: slice(length * first // sharers, end)})


@pytest.mark.parametrize("units", [None, "hours since 2001-02-03"])
@pytest.mark.parametrize("calendar", ["noleap", "360_day", None])
def test_ranks_encode_their_times_alike(folder, comm, rank, size, barrier, calendar, units):
    """Each rank by itself would count from its own first time."""
    if calendar is None:
        times = np.datetime64("1999-12-31T23:30", "ns") + np.arange(7) * np.timedelta64(90, "m")
    else:
        times = xr.cftime_range("1850-01-01 00:30", periods=7, freq="31D", calendar=calendar).values
    given = xr.Dataset({"x": ("time", np.arange(7.0))}, {"time": times})
    encoding = {"time": {"units": units}} if units else {}
    windrow_xarray.write(
        part_of(given, "time", rank, size), folder / "times.h5", comm=comm, dim="time", encoding=encoding
    )
    barrier()
    for engine in ("windrow", "h5netcdf"):
        with xr.open_dataset(folder / "times.h5", engine=engine) as found:
            assert list(found.time.values) == list(given.time.values) and np.array_equal(found.x, given.x)


def test_a_dataset_that_cannot_be_written_is_an_error_on_all_ranks(folder, comm, dataset, rank, size, raises_on_all):
    """Before a file is opened."""
    last = rank == size - 1
    good = dataset.drop_vars("name")

    def write(given=good, **more):
        windrow_xarray.write(given, folder / "out.h5", comm=comm, **{"dim": "time", **more})

    raises_on_all(lambda: write(dim="typo"), 0, 'dim="typo": the dataset has the dimensions time')
    raises_on_all(lambda: write(dim="typo" if last else "time"), size - 1, 'dim="typo"')
    raises_on_all(lambda: write(encoding={"count": {"dtype": "nonsense" if last else "int16"}}), size - 1)
    raises_on_all(lambda: write(encoding={"count": 3} if last else {}), size - 1)
    raises_on_all(
        lambda: write(encoding={"Count": {}} if last else {}),
        size - 1,
        'encoding of "Count": the dataset has no such variable',
    )
    raises_on_all(lambda: write(None if last else good), size - 1)
    mixed = good.assign(mixed=("x", np.array(["a", 1.5, "c", "d", "e"], object)))
    text = good.assign(mixed=("x", np.array(["a", "b", "c", "d", "e"], object)))
    raises_on_all(lambda: write(mixed if last else text), size - 1)
    if size > 1:
        raises_on_all(lambda: write(good.drop_vars("packed") if last else good), size - 1, "different calls")
        raises_on_all(
            lambda: write(good.assign(count=good["count"].astype("int32")) if last else good),
            size - 1,
            "count (time) of int32",
        )
    assert list(folder.iterdir()) == []


def test_every_rank_loads_what_it_wants(folder, comm, rank, size, barrier, raises_on_all):
    """Also when it is the only one, and in the order of dask's threads."""
    pytest.importorskip("dask")
    given = xr.Dataset({f"v{i}": (f"y{i}", np.arange(30.0 + i)) for i in range(6)})
    windrow_xarray.write(given, folder / "many.h5", comm=comm, encoding={name: {"chunks": (5,)} for name in given})
    with xr.open_dataset(folder / "many.h5", engine="windrow", comm=comm) as found:
        if rank == 0:
            assert np.array_equal(found.v3, given.v3)
            assert np.array_equal(pickle.loads(pickle.dumps(found)).v1, given.v1)
    with xr.open_dataset(folder / "many.h5", engine="windrow", comm=comm, chunks={}) as found:
        xr.testing.assert_identical(found.load(), given)
    missing = folder / ("missing.h5" if rank == size - 1 else "many.h5")
    raises_on_all(lambda: xr.open_dataset(missing, engine="windrow", comm=comm), size - 1, "missing.h5")
    with pytest.raises(FileNotFoundError):
        xr.open_dataset(folder / "missing.h5", engine="windrow")


def test_parts_that_are_packed_in_different_ways(folder, comm, rank, size, barrier, raises_on_all):
    """As files are that each have a scale of their own: the values count, not the numbers that stood for them. The
    last rank has nothing."""
    values = np.array([280.0, 281.5, 283.0]) + 10 * rank
    values = values[:0] if 0 < rank == size - 1 else values
    whole = np.concatenate([np.array([280.0, 281.5, 283.0]) + 10 * r for r in range(max(size - 1, 1))])
    cases = [
        (0.5 * (rank + 1), 280.0, -9999),
        (0.5, 280.0 + 10 * rank, -9999),
        (0.5, 280.0, -9999 + rank),
        (0.5, 280.0, -9999),
    ]
    for case, (scale, offset, fill) in enumerate(cases):
        part = xr.Dataset({"t": ("time", values), "gaps": ("time", np.where(values == 281.5, np.nan, values))})
        for variable in part.variables.values():
            variable.encoding = {
                "dtype": np.dtype("int16"),
                "scale_factor": scale,
                "add_offset": offset,
                "_FillValue": np.int16(fill),
            }
        windrow_xarray.write(part, folder / "packed.h5", comm=comm, dim="time")
        barrier()
        with xr.open_dataset(folder / "packed.h5", engine="h5netcdf") as found:
            assert np.allclose(found.t, whole) and np.allclose(
                found.gaps, np.where(whole == 281.5, np.nan, whole), equal_nan=True
            )
            # Where all with elements agree it stays packed.
            assert (found.t.encoding["dtype"] == "int16") == (size < 3 or case == 3)
    if size > 2:
        wrong = {"t": {"dtype": "int16", "scale_factor": 2.0 if rank == 1 else 3.0}}
        raises_on_all(
            lambda: windrow_xarray.write(part, folder / "no.h5", comm=comm, dim="time", encoding=wrong),
            1,
            "t: its encoding differs between the ranks: scale_factor",
        )
        assert not (folder / "no.h5").exists()


@pytest.mark.parametrize("ending", ["h5", "nc"])
def test_text_of_fixed_length_is_read_by_others(folder, comm, rank, size, barrier, raises_on_all, ending):
    """netCDF-C ends the program that opens a file with texts of HDF5 of fixed length."""
    if ending == "nc" and not windrow.has("netcdf"):
        pytest.skip("built without netCDF")
    path = folder / f"texts.{ending}"
    names = np.array([f"größe {rank}{i}" for i in range(2 if rank != 1 else 0)])
    part = xr.Dataset(
        {
            "name": ("x", names),
            "object": ("x", names.astype(object)),
            "bytes": ("x", np.array([b"ab%d" % i for i in range(len(names))], "S6")),
        }
    )
    part["same"] = ("y", np.array([b"a", b"bcd"]))
    encoding = {
        "name": {"dtype": "S16"},
        "object": {"dtype": "S10", "chunks": (1,)} if ending == "h5" else {"dtype": "S10"},
    }
    windrow_xarray.write(part, path, comm=comm, dim="x", encoding=encoding)
    barrier()
    whole = [f"größe {r}{i}" for r in range(size) if r != 1 for i in range(2)]
    for engine in ["windrow", "netcdf4"] + ["h5netcdf"] * (ending == "h5"):
        if engine == "netcdf4":
            pytest.importorskip("netCDF4")
        with xr.open_dataset(path, engine=engine) as found:
            assert found.name.values.tolist() == whole and found.object.values.tolist() == whole
            assert found.bytes.values.tolist() == [b"ab0", b"ab1"] * (
                len(whole) // 2
            ) and found.same.values.tolist() == [b"a", b"bcd"]
    raises_on_all(
        lambda: windrow_xarray.write(part, path, comm=comm, dim="x", encoding={**encoding, "name": {"dtype": "S8"}}),
        0,
        "a text of 10 bytes does not fit into 8",
    )
    if ending == "nc":
        return
    with pytest.raises(
        (TypeError, windrow.WindrowError), match="give it a length, as in encoding=.*'name': .*'dtype': 'S16'"
    ):
        windrow_xarray.write(
            part.assign(name=("x", names.astype("U"))), path, comm=comm, dim="x", encoding={"object": {"dtype": "S10"}}
        )


def test_texts_of_any_length_are_selected_as_other_engines_do(folder, rank, size):
    alone(rank, size)
    whole = np.array([["a", "b", "c"], ["d", "e", "f"]], object)
    windrow_xarray.write(xr.Dataset({"t": (("y", "x"), whole)}), folder / "texts.h5", comm="self")
    for engine in ("windrow", "h5netcdf"):
        with xr.open_dataset(folder / "texts.h5", engine=engine) as found:
            assert found.t.isel(y=[0, 1], x=[0, 2]).values.tolist() == [["a", "c"], ["d", "f"]]
            assert found.t.isel(y=[1, 0], x=slice(None, None, 2)).values.tolist() == [["d", "f"], ["a", "c"]]
            assert found.t.isel(x=-1).values.tolist() == ["c", "f"]


LAST = np.arange(12, dtype="int32").reshape(3, 4)


def short_variables(path):
    """A file of netCDF-4 in which variables have fewer records than others; a dimension of a group above, and one
    that is not the first."""
    import netCDF4

    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("time", None)
        file.createDimension("x", 3)
        file.createVariable("time", "f8", ("time",))[:] = np.arange(5)
        for kind in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"):
            file.createVariable(kind, kind, ("time", "x"))[0:2] = np.arange(6).reshape(2, 3)
        file.createVariable("filled", "i2", ("time", "x"), fill_value=-5)[0:2] = 1
        file.createVariable("gaps", "f4", ("time", "x"), fill_value=-1)[0:3] = 2
        file.createVariable("nothing", "f4", ("time", "x"))
        file.createVariable("text", str, ("time",))[0:2] = np.array(["a", "bc"], object)
        file.createVariable("letter", "S1", ("time",))[0:1] = b"a"
        group = file.createGroup("group")
        group.createVariable("longest", "i4", ("time",))[0:7] = np.arange(7)
        group.createVariable("last", "i4", ("x", "time"))[:, 0:4] = LAST
        own = group.createGroup("own")
        own.createDimension("time", None)
        own.createVariable("long", "i4", ("time",))[0:3] = 1
        own.createVariable("short", "i4", ("time",))[0:2] = 1


def test_variables_with_fewer_records_than_others(folder, comm, rank, size, barrier):
    """netCDF fills what is missing up to the longest."""
    pytest.importorskip("netCDF4")
    if rank == 0:
        short_variables(folder / "short.nc")
    barrier()
    for group in ("/", "group", "group/own"):
        for decoded in (True, False):
            mine = xr.open_dataset(
                folder / "short.nc", engine="windrow", group=group, comm=comm, mask_and_scale=decoded
            )
            theirs = xr.open_dataset(folder / "short.nc", engine="netcdf4", group=group, mask_and_scale=decoded)
            assert mine.sizes["time"] == (3 if group.endswith("own") else 7)
            assert (
                mine.encoding["unlimited_dims"]
                == theirs.encoding["unlimited_dims"]
                == (set() if group == "group" else {"time"})
            )
            # netCDF-C 4.9.0 returns uninitialised memory after the end of a dimension other than the first
            if "last" in mine:
                theirs = theirs.assign(
                    last=theirs["last"].copy(data=np.pad(LAST, ((0, 0), (0, 3)), constant_values=-2147483647))
                )
            for keys in (
                {}, {"time": slice(1, 3)}, {"time": slice(None, None, -2)}, {"time": [6 % mine.sizes["time"], 0, 1]},
                {"time": 1}, {"time": -1}, {"time": slice(5, None)}, {"time": slice(0, 0)},
                {"time": slice(4, None, -1)},
            ):  # fmt: skip
                part, whole = mine.isel(keys), theirs.load().isel(keys)
                xr.testing.assert_identical(part.load(), whole)
                assert all(part[name].dtype == whole[name].dtype for name in whole)
            mine.close()
            theirs.close()


def test_records_that_were_put_now_and_then(folder, comm, rank, size, barrier):
    rows = windrow.rows(comm, 6)
    with windrow.open(folder / "records.h5", "w", comm=comm) as f:
        f.create_variable("time", (0,), "f8", extendible=True, dims=("time",))
        kinds = {"u": "f8", "w": "f4", "half": "f2", "flag": "?", "wave": "c8"}
        for name, kind in kinds.items():
            f.create_variable(name, (0, 6), kind, extendible=True, dims=("time", "x"))
        f.create_variable("filled", (0, 6), "i4", extendible=True, fill_value=7, dims=("time", "x"))
        for step in range(4):
            for name in kinds if step == 0 else ("u", "filled") if step == 2 else ("u",):
                f.put(name, np.ones(rows.row_count), rows, record=step)
            f.flush()
    with xr.open_dataset(folder / "records.h5", engine="windrow", decode_times=False) as found:
        assert (
            found.encoding["unlimited_dims"] == {"time"} and found.sizes == {"time": 4, "x": 6} and found.u.values.all()
        )
        assert found.w.values[:, 0].tolist() == [1] + 3 * [np.float32(9.9692099683868690e36)]
        assert found.filled.values[:, 5].tolist() == [7, 7, 1, 7] and found.flag.values[:, 2].tolist() == [
            True,
            False,
            False,
            False,
        ]
        assert np.isnan(found.half.values[1:]).all() and np.isnan(found.wave.values[1:]).all()
        assert (found.time.values == 9.9692099683868690e36).all()
        chunked = found.chunk({"time": 1}) if pytest.importorskip("dask") else found
        assert np.array_equal(chunked.filled.values, found.filled.values)


def test_lengths_that_contradict_each_other(folder, rank, size):
    """For a dimension that cannot grow, the value of missing elements is unknown."""
    alone(rank, size)
    with h5py.File(folder / "wrong.h5", "w") as file:
        file["x"], file["long"] = np.arange(3), np.arange(4)
        file["x"].make_scale("x")
        file["long"].dims[0].attach_scale(file["x"])
    with pytest.raises(ValueError, match="conflicting sizes"):
        xr.open_dataset(folder / "wrong.h5", engine="windrow")


def test_what_a_copy_should_keep(folder, comm, rank, size, barrier):
    """The order of bytes, which netCDF classic has for all, and which dimensions grow."""
    path = folder / "kept.h5"
    with windrow.open(path, "w", comm=comm) as f:
        f.create_variable("time", (0,), ">f8", extendible=True, dims=("time",))
        f.create_variable("big", data=np.arange(4, dtype=">i4"), dims=("x",))
        f.create_variable("little", data=np.arange(4, dtype="<f4"), dims=("x",))
        f.create_variable("fixed", data=np.arange(5.0), dims=("fixed",))
        f.create_variable("later", (2,), "f4", extendible=True, dims=("fixed",))
        f.put("time", np.array(1.0), windrow.same(comm, ()), record=0)
    kinds = {"time": ">f8", "big": ">i4", "little": "<f4"}
    with xr.open_dataset(path, engine="windrow") as mine:
        assert mine.encoding["unlimited_dims"] == {"time"} and mine.sizes["fixed"] == 5
        assert {name: mine[name].encoding["dtype"].str for name in kinds} == kinds
        windrow_xarray.write(mine, folder / "copy.h5", comm=comm)
        if windrow.has("netcdf"):
            windrow_xarray.write(mine, folder / "copy.nc", comm=comm)
        if rank == 0:
            mine.to_netcdf(folder / "others.nc", engine="h5netcdf")
    barrier()
    with h5py.File(folder / "copy.h5") as copy, h5py.File(folder / "others.nc") as others:
        assert (
            {name: copy[name].dtype.str for name in kinds} == {name: others[name].dtype.str for name in kinds} == kinds
        )
        assert others["time"].maxshape == (None,) and copy["big"][:].tolist() == [0, 1, 2, 3]
    if windrow.has("netcdf"):
        with xr.open_dataset(folder / "copy.nc", engine="windrow") as classic:
            assert classic.big.encoding["dtype"] == "=i4" and classic.big.values.tolist() == [0, 1, 2, 3]


def test_masked_chunks_of_dask(folder, comm, rank, size, barrier):
    """As masked arrays of numpy, in which xarray has NaN."""
    dask_array = pytest.importorskip("dask.array")
    plain = np.ma.masked_equal(np.arange(6), 3)
    chunks = dask_array.ma.masked_equal(dask_array.arange(6, chunks=2), 3)
    given = xr.Dataset(
        {"chunked": ("x", chunks), "plain": ("x", plain), "half": ("x", chunks.astype("f2")), "same": ("x", chunks + 1)}
    )
    encoding = {"plain": {"_FillValue": -9, "dtype": "i8"}, "chunked": {"_FillValue": -9, "dtype": "i8"}}
    windrow_xarray.write(given, folder / "masked.h5", comm=comm, encoding=encoding)
    barrier()
    with h5py.File(folder / "masked.h5") as file:
        assert file["plain"][:].tolist() == file["chunked"][:].tolist() == [0, 1, 2, -9, 4, 5]
        assert (
            file["half"].dtype == "f2"
            and np.isnan(file["half"][3])
            and np.isnan(file["same"][3])
            and file["same"][5] == 6
        )


def test_what_netcdf_does_not_have(folder, comm, rank, size, barrier, raises_on_all):
    given = xr.Dataset(
        {"wave": ("x", [1 + 2j, 0]), "seen": ("x", [True, False], {"flags": [True, False], "one": 1})},
        attrs={"flag": True, "empty": None},
    )
    path = folder / "unseen.h5"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        windrow_xarray.write(given, path, comm=comm)
        windrow_xarray.write(
            given[["seen"]].assign_attrs(flag=1).assign(seen=("x", [True, False])), folder / "seen.h5", comm=comm
        )
    told = [str(each.message) for each in caught if "readers of netCDF" in str(each.message)]
    assert len(told) == (rank == 0)
    if rank == 0:
        assert 'do not see variable "wave", attribute "flag", attribute "flags" of "seen":' in told[0]
        assert next(each.filename for each in caught if "readers of netCDF" in str(each.message)) == __file__
    barrier()
    with xr.open_dataset(path, engine="windrow") as found:
        assert (
            found.wave.values.tolist() == [1 + 2j, 0]
            and found.attrs["flag"]
            and found.seen.attrs["flags"].tolist() == [True, False]
        )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        raises_on_all(lambda: windrow_xarray.write(given, folder / "no.h5", comm=comm), 0, "readers of netCDF")
    assert not (folder / "no.h5").exists()


def test_paths_and_groups(folder, comm, rank, size, barrier, monkeypatch, raises_on_all):
    monkeypatch.setenv("HOME", str(folder))
    given = xr.Dataset({"x": ("a", [1.0, 2.0])})
    windrow_xarray.write(given, "~/home.h5", comm=comm, group="g")
    assert (folder / "home.h5").exists()
    for path in ("~/home.h5", Path("~/home.h5"), str(folder / "home.h5").encode()):
        with xr.open_dataset(path, engine="windrow", group="g") as found:
            assert found.x.values.tolist() == [1, 2] and found.encoding["source"] == str(folder / "home.h5")
    with xr.open_dataset("~/home.h5", engine="windrow", group=None) as found:
        assert len(found) == 0
    with pytest.raises(FileNotFoundError):
        xr.open_dataset("~/nothing.h5", engine="windrow")
    for group, said in (("nothing", 'has no "nothing"'), ("g/x", '"g/x" of .* is a variable')):
        with pytest.raises(
            OSError, match=f"group not found: .*{said}" if group == "nothing" else f"group not found: {said}"
        ):
            xr.open_dataset("~/home.h5", engine="windrow", group=group)
        last = rank == size - 1
        raises_on_all(
            lambda: xr.open_dataset("~/home.h5", engine="windrow", group=group if last else "g", comm=comm),
            size - 1,
            "group not found",
        )
    with open(folder / "home.h5", "rb") as file, pytest.raises(
        TypeError, match="by its path, not by an object of BufferedReader"
    ):
        xr.open_dataset(file, engine="windrow")


def test_what_is_no_dataset(folder, comm, rank, size, barrier, raises_on_all):
    array = xr.DataArray([1.0 + rank, 2.0], {"a": [rank, 5]}, ["a"], name="x")
    windrow_xarray.write(array, folder / "array.h5", comm=comm, dim="a")
    barrier()
    with xr.open_dataarray(folder / "array.h5", engine="windrow") as found:
        assert (
            found.name == "x"
            and found.values.tolist() == [value for r in range(size) for value in (1 + r, 2)]
            and found.a.size == 2 * size
        )
    last = rank == size - 1
    for wrong, said in (
        (array.rename(None), "without a name"),
        ({"x": array}, "an xarray.Dataset can be written, not dict"),
    ):
        raises_on_all(
            lambda: windrow_xarray.write(wrong if last else array, folder / "no.h5", comm=comm), size - 1, said
        )
