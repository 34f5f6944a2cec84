# SPDX-License-Identifier: BSD-3-Clause
"""Files: modes, groups, attributes, the queue, decompositions."""

import gc
import os
import subprocess
import sys

import numpy as np
import pytest

import windrow

h5py = pytest.importorskip("h5py")


def test_modes(folder, comm, barrier, raises_on_all):
    path = folder / "out.h5"
    with windrow.open(path, "a", comm=comm) as f:
        f.create_variable("x", data=np.zeros(3))
    error = raises_on_all(lambda: windrow.open(path, "x", comm=comm), 0, "exists")
    assert error.code == windrow.Code.EXISTS
    with windrow.open(path, "a", comm=comm) as f:
        f["x"][...] = 1
        f.create_variable("y", data=np.arange(2))
    with windrow.open(path, "r+", comm=comm) as f:
        f["x"][0] = 2
    with windrow.open(os.fspath(path), comm=comm) as f:
        assert f["x"][...].tolist() == [2, 1, 1] and list(f) == ["x", "y"] and f.mode == "r"
        with pytest.raises(windrow.WindrowError, match="open for reading only") as caught:
            f["x"][0] = 1
        assert caught.value.code == windrow.Code.BAD_STATE
    raises_on_all(lambda: windrow.open(path, "rw", comm=comm), 0, "there are r, r+, w, x, a")
    assert raises_on_all(lambda: windrow.open(folder / "none.h5", comm=comm), 0).code == windrow.Code.NOT_FOUND
    barrier()


def test_groups_are_mappings(folder, comm):
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        inner = f.create_group("a").create_group("b c")
        inner.create_variable("x", data=np.ones(2))
        f.create_variable("/a/y", (2,), "int8")
        f.create_link("short cut", "a/b c/x")
        f.create_link("nowhere", "not/there")
        assert (list(f), list(f["a"]), list(f["a/b c"])) == (["a", "short cut"], ["b c", "y"], ["x"])
        assert "a/b c/x" in f and "/a" in f and "z" not in f and 3 not in f
        assert (
            f["short cut"].name == "/a/b c/x" and f["a"].groups.keys() == {"b c"} and f["a"].variables.keys() == {"y"}
        )
        assert f["a/b c"]["/a"].name == "/a" and f["a"].file is f
        with pytest.raises(KeyError):
            f["z"]
        assert f["a"] == f["/a"] != f["a/b c"] and len({f["a"], f["/a"], f}) == 2 and f.create_group("empty")
        assert "b c" in repr(f["a"]) and "out.h5" in repr(f)
    assert not f and "closed" in repr(f) and "closed" in repr(inner)


def test_attributes_are_a_mapping(folder, comm, rank, raises_on_all):
    values = {
        "text": "größer", "number": 3, "float32": np.float32(0.5), "list": [1, 2, 3],
        "table": np.arange(6, dtype="u2").reshape(2, 3), "bool": True, "complex": 1 + 2j, "texts": ["a", "bcd"],
        "none": np.zeros(0), "bytes": b"of bytes", "swapped": np.array([1, 2], ">i4"),
    }  # fmt: skip
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        v = f.create_variable("x", (2,), "float64")
        for name, value in values.items():
            v.attrs[name] = value if rank == 0 else "of another rank"
        v.attrs["gone"] = 1
        v.attrs["text"] = "größer still"
        del v.attrs["gone"]
        f.attrs.update(title="a file")
        raises_on_all(lambda: f.attrs.__setitem__("x", object() if rank == 0 else 1), 0, "cannot be stored")
        with pytest.raises(KeyError):
            v.attrs["gone"]
    with windrow.open(folder / "out.h5", comm=comm) as f:
        attrs = f["x"].attrs
        assert set(attrs) == set(values) and len(attrs) == len(values) and dict(f.attrs) == {"title": "a file"}
        assert attrs["text"] == "größer still" and attrs["float32"].dtype == "float32" and attrs["bytes"] == "of bytes"
        assert attrs["table"].dtype == "uint16" and attrs["table"].tolist() == [[0, 1, 2], [3, 4, 5]]
        assert (
            attrs["texts"].tolist() == ["a", "bcd"]
            and attrs["complex"] == 1 + 2j
            and attrs["bool"]
            and attrs["swapped"].tolist() == [1, 2]
        )
    with h5py.File(folder / "out.h5") as file:
        assert file["x"].attrs["text"] == "größer still" and file["x"].attrs["texts"].tolist() == ["a", "bcd"]


def test_what_is_queued_moves_together(folder, comm, rank, size, numbers):
    rows = windrow.rows(comm, 3 * size + 1, count=3 + (rank == size - 1))
    assert (rows.first_row, rows.row_count) == (3 * rank, 3 + (rank == size - 1))
    whole = numbers(3 * size + 1, 4)
    mine = slice(rows.first_row, rows.first_row + rows.row_count)
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        for name in "abc":
            f.create_variable(name, whole.shape, "float64")
        for number, name in enumerate("abc" if rank % 2 == 0 else "cba"):
            # A temporary: the queue keeps it
            f.put(name, (number if rank % 2 == 0 else 2 - number) + whole[mine], rows)
            gc.collect()
        f.flush()
        assert len(f.explain().plans) >= 1 and f.report()["bytes"] == 3 * whole.nbytes
    with windrow.open(folder / "out.h5", comm=comm) as f:
        even = windrow.rows(comm, len(whole))
        found = {name: f.get(name, even) for name in "abc"}
        f.flush()
        for number, name in enumerate("abc"):
            assert np.array_equal(found[name], number + whole[even.first_row : even.first_row + even.row_count])


def test_a_flush_in_two_parts(folder, comm, rank, size):
    rows = windrow.rows(comm, 2 * size)
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        x, y = (f.create_variable(name, (2 * size,), "int32") for name in "xy")
        f.put(x, np.full(2, rank, "int32"), rows)
        f.flush_begin()
        f.put(y, np.full(2, -rank, "int32"), rows)
        gc.collect()
        f.flush_end()
        f.flush()
        assert np.array_equal(x[...], np.repeat(np.arange(size), 2)) and np.array_equal(
            y[...], -np.repeat(np.arange(size), 2)
        )


def test_decompositions(folder, comm, rank, size, numbers):
    whole = numbers(4 * size, 6)
    ghosts = np.pad(whole[4 * rank : 4 * rank + 4], 1, constant_values=-1)
    points = np.arange(rank, 4 * size, size)[::-1]  # dealt out, backwards
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        x = f.create_variable("x", whole.shape, "float64")
        x.write(
            ghosts, windrow.block(comm, whole.shape, (4 * rank, 0), (4, 6), memory_shape=(6, 8), memory_start=(1, 1))
        )
        y = f.create_variable("y", whole.shape, "float32")
        y.write(whole[points], windrow.points(comm, 4 * size, points))  # float64 becomes float32
        z = f.create_variable("z", whole.shape, "float64")
        two = windrow.blocks(comm, whole.shape, [[4 * rank, 0], [4 * rank, 3]], [[4, 3], [4, 3]])
        z.write(
            np.concatenate([whole[4 * rank : 4 * rank + 4, :3].ravel(), whole[4 * rank : 4 * rank + 4, 3:].ravel()]),
            two,
        )
        s = f.create_variable("s", (2, 3), "int64")
        s.write(np.full((2, 3), rank), windrow.same(comm))
        c = f.create_variable("c", (), "float64")
        c.write(np.array(2.5), windrow.block(comm, (), (), ()))
        assert c.read() == 2.5
        for v in (x, y, z):
            assert np.array_equal(v.read(), whole), v
        assert np.array_equal(y.read(windrow.points(comm, 4 * size, points)), whole[points])
        part = windrow.same(comm, whole.shape, (1, 2), (2, 3))
        assert np.array_equal(x.read(part), whole[1:3, 2:5]) and part.array_shape(x.shape) == (2, 3)
        out = np.empty(whole.shape)
        assert x.read(windrow.same(comm), out=out) is out and np.array_equal(out, whole)
        assert s[...].tolist() == np.zeros((2, 3)).tolist()
        assert "points" in repr(windrow.points(comm, 8, [])) and windrow.points(comm, 8, []).holes == 8
        owned, intervals = windrow.points(comm, size, [rank], [True]).owned("partitioner")
        assert owned.tolist() == [rank] and intervals == 1


@pytest.mark.parametrize("empty", [0, -1])
def test_decompositions_with_an_empty_rank(folder, comm, rank, size, numbers, empty):
    absent = rank == empty % size
    whole = numbers(3 * size, 2)
    mine = np.arange(3 * rank, 3 * rank + (0 if absent else 3))
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        v = f.create_variable("x", whole.shape, "float64")
        for part, array in (
            (windrow.block(comm, whole.shape, (3 * rank, 0), (0 if absent else 3, 2)), whole[mine]),
            (
                windrow.blocks(comm, whole.shape, [] if absent else [[3 * rank, 0]], [] if absent else [[3, 2]]),
                whole[mine].ravel(),
            ),
            (windrow.points(comm, 3 * size, mine), whole[mine]),
        ):
            v.write(-array, part)
            v.write(array, part)
            assert np.array_equal(v.read(part), array)
        f.flush()
        f.sync()
        f.attrs["x"] = 1
        f.explain()
        f.set_strategy(gather="none")
        expected = whole.copy()
        expected[np.arange(3 * size) // 3 == empty % size] = 0
        assert np.array_equal(v[...], expected)


def test_many_variables_at_once(folder, comm, rank, size, raises_on_all):
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        g = f.create_group("g")
        definitions = {f"v{n}": dict(shape=(n, 3), dtype="float32", compression=1) for n in range(1, 40)}
        definitions |= {"named": dict(shape=(4,), dtype="S3", dims=("x",)), "texts": dict(shape=2, dtype=str)}
        made = g.create_variables(definitions)
        assert [v.name for v in made] == [f"/g/{name}" for name in definitions]
        assert (
            made[4].shape == (5, 3)
            and made[4].filters == "deflate:1"
            and made[-2].dims == ("x",)
            and made[-2].dtype == "S3"
        )
        made[4][...] = 2
        assert (g["v5"][...] == 2).all()
        for wrong, text in (
            (dict(shape=(2,), dtype="nonsense"), "create_variables 'b'"),
            (dict(data=[1]), "data is written"),
            (dict(shape=(2,), kind=3), "'b'"),
        ):
            here = wrong if rank == size - 1 else dict(shape=(2,), dtype="int8")
            raises_on_all(lambda: f.create_variables({"a": dict(shape=(2,), dtype="int8"), "b": here}), size - 1, text)
        with pytest.raises(windrow.WindrowError):
            f.create_variables({"a": dict(shape=(2,), dtype="int8"), "g/v1": dict(shape=(2,), dtype="int8")})
        assert "a" not in f and f.create_variables({}) == []


def test_records(folder, comm, rank, size):
    rows = windrow.rows(comm, 2 * size)
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        v = f.create_variable("t", (0, 2 * size, 3), "float64", extendible=True)
        for step in range(3):
            f.put(v, np.full((2, 3), step + rank / 8, "float32"), rows, record=step)
            f.flush()
        assert v.shape == (3, 2 * size, 3) and v.extendible
        found = f.get(v, rows, record=1)
        f.flush()
        assert np.array_equal(found, np.full((2, 3), 1 + rank / 8))
        assert np.array_equal(v[:, 2 * rank, 0], np.arange(3) + rank / 8)


def test_reports_and_plans(folder, comm, rank, size, numbers):
    with windrow.open(folder / "out.h5", "w", comm=comm, strategy="two-phase") as f:
        v = f.create_variable("x", (size, 4), "float64")
        v[rank] = numbers(4)
        report, plan = f.report(), f.explain()
        assert report["bytes"] == 32 * size and "flush of" in repr(report) and "<table>" in report._repr_html_()
        assert (
            plan.plans[0]["strategy"] == "two-phase" and "two-phase" in repr(plan) and "<table>" in plan._repr_html_()
        )
        assert report.seconds["total"] > 0
        f.set_strategy(gather="none", domains="even")
        v[rank] = numbers(4)
        assert f.explain().plans[0]["domains"] == "even"
        pytest.importorskip("matplotlib")
        picture = report.plot()
        picture.save(folder / f"report {rank}.png")
        assert (folder / f"report {rank}.png").read_bytes()[1:4] == b"PNG"
        assert picture._repr_png_()[1:4] == b"PNG" and report.plot(picture.axes).figure is picture.figure


def test_subfiles_are_one_file(folder, comm, rank, size, numbers):
    whole = numbers(4 * size, 4)
    with windrow.open(folder / "out.h5", "w", comm=comm, files="subfiles(2)") as f:
        f.create_variable("x", whole.shape, "float64")[4 * rank : 4 * rank + 4] = whole[4 * rank : 4 * rank + 4]
    with windrow.open(folder / "out.h5", comm=comm) as f:
        assert len(f.subfiles) == 2 and np.array_equal(f["x"][...], whole)


@pytest.mark.skipif(not windrow.has("netcdf"), reason="built without netCDF")
def test_netcdf_classic(folder, comm, rank, size, numbers):
    whole = numbers(2 * size, 4)
    with windrow.open(folder / "out.nc", "w", comm=comm) as f:
        v = f.create_variable("x", whole.shape, "float64", dims=("row", "column"))
        v.attrs["units"] = "K"
        v[2 * rank : 2 * rank + 2] = whole[2 * rank : 2 * rank + 2]
    with windrow.open(folder / "out.nc", comm=comm) as f:
        assert (
            np.array_equal(f["x"][::-1], whole[::-1])
            and f["x"].attrs["units"] == "K"
            and f["x"].dims == ("row", "column")
        )


ALONE = """
import sys, numpy as np
before = set(sys.modules)
import windrow
assert "mpi4py" not in sys.modules and "xarray" not in sys.modules and "matplotlib" not in sys.modules
with windrow.open(sys.argv[1], "w") as f:
    f.create_variable("x", data=np.arange(3.0))
with windrow.open(sys.argv[1]) as f:
    assert f["x"][...].tolist() == [0, 1, 2] and f.size == 1
windrow.open(sys.argv[1])  # not closed: MPI is finalized all the same
"""


def test_one_process_needs_neither_mpirun_nor_mpi4py(folder, rank):
    if rank == 0:
        free = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("OMPI_", "PMI", "PMIX", "HYDI_", "LD_PRELOAD"))
        }
        free |= {key: value for key, value in os.environ.items() if key.startswith("OMPI_MCA_btl")}
        subprocess.run([sys.executable, "-c", ALONE, folder / "alone.h5"], env=free, check=True, timeout=60)


def test_soft_links_lead_to_groups(folder, comm):
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        f.create_group("a/b").create_variable("x", data=[1, 2])
        for name, target in {
            "whole": "/a/b",
            "part": "a/b",
            "a/again": "./b",
            "none": "/nothing",
            "round": "round",
            "up": "../whole",
        }.items():
            f.create_link(name, target)
    with windrow.open(folder / "out.h5", comm=comm) as f:
        for name in ("whole", "part", "a/again"):
            assert list(f[name]) == ["x"] and f[name + "/x"] == f["a/b/x"] and f[name].name == "/a/b" and name in f
        assert list(f) == ["a", "part", "whole"] and "none" not in f and "round" not in f and "up" not in f
        with pytest.raises(KeyError):
            f["round"]


def test_an_attribute_that_cannot_be_read_leaves_the_others(folder, comm, rank, barrier):
    if rank == 0:
        with h5py.File(folder / "theirs.h5", "w") as file:
            file["x"] = np.arange(3.0)
            for owner in (file, file["x"]):
                owner.attrs["good"] = 1
                owner.attrs.create("bad", np.zeros(2, [("a", "i4"), ("b", "f8")]))
    barrier()
    with windrow.open(folder / "theirs.h5", comm=comm) as f:
        for owner in (f, f["x"]):
            assert dict(owner.attrs) == {"good": 1} and len(owner.attrs) == 1 and "bad" in owner.attrs
            with pytest.raises(TypeError, match="cannot be read yet"):
                owner.attrs["bad"]
    xarray = pytest.importorskip("xarray")
    with xarray.open_dataset(folder / "theirs.h5", engine="windrow") as found:
        assert found.attrs == found.x.attrs == {"good": 1} and found.x[2] == 2
