# SPDX-License-Identifier: BSD-3-Clause
"""An error of one rank is the same error on all ranks, and names the rank. Nothing hangs, and the old file is
unchanged."""

import os
import signal
from functools import partial

import numpy as np
import pytest

import windrow

CASES = {
    "index out of range": lambda v, f: v[99],
    "too many indices": lambda v, f: v[0, 0, 0],
    "no selection": lambda v, f: v["a"],
    "truth": lambda v, f: v[True],
    "list out of range": lambda v, f: v[[0, 99]],
    "write out of range": lambda v, f: v.__setitem__(99, 1),
    "wrong shape": lambda v, f: v.__setitem__(slice(0, 2), np.zeros((3, 4))),
    "wrong type": lambda v, f: v.__setitem__(..., np.array([object()] * 4)),
    "text for numbers": lambda v, f: v.__setitem__(..., "text"),
}


@pytest.fixture(params=["first", "last"])
def culprit(request, size):
    return 0 if request.param == "first" else size - 1


@pytest.fixture
def old(folder, comm):
    """A file that shall stay as it is."""
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        f.create_variable("x", data=np.arange(12.0).reshape(3, 4))
    return folder / "out.h5"


def is_whole(path, comm, barrier):
    barrier()
    with windrow.open(path, comm=comm) as f:
        return np.array_equal(f["x"][...], np.arange(12.0).reshape(3, 4)) and sorted(os.listdir(path.parent)) == [
            "out.h5"
        ]


@pytest.mark.parametrize("case", CASES)
def test_a_wrong_selection_or_array(old, comm, rank, culprit, case, raises_on_all):
    with windrow.open(old, "r+", comm=comm) as f:
        v = f["x"]
        right = (
            (lambda: v.__setitem__(slice(0, 0), np.zeros((0, 4))))
            if "w" in case or "text" in case or "type" in case
            else lambda: v[0]
        )
        error = raises_on_all((lambda: CASES[case](v, f)) if rank == culprit else right, culprit)
        assert error.code == windrow.Code.BAD_ARGUMENT
        assert np.array_equal(v[...], np.arange(12.0).reshape(3, 4))  # the file is still good


DEFINITIONS = {
    "type": dict(shape=(2,), dtype="longdouble"),
    "unknown type": dict(shape=(2,), dtype="nonsense"),
    "text without a length": dict(shape=(2,), dtype="U5"),
    "structure": dict(shape=(2,), dtype=[("a", "i4")]),
    "time": dict(shape=(2,), dtype="datetime64[s]"),
    "no shape": dict(dtype="int8"),
    "shape": dict(shape=(-2,), dtype="int8"),
    "shape of text": dict(shape=("a",), dtype="int8"),
    "dims": dict(shape=(2,), dtype="int8", dims=("a", "b")),
    "compression": dict(shape=(2,), dtype="int8", compression="nonsense"),
    "level": dict(shape=(2,), dtype="int8", compression_level=3),
    "option": dict(shape=(2,), dtype="int8", nonsense=3),
    "option of a file": dict(shape=(2,), dtype="int8", strategy="list"),
}


@pytest.mark.parametrize("case", DEFINITIONS)
def test_a_wrong_definition(folder, comm, rank, culprit, case, raises_on_all):
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        arguments = DEFINITIONS[case] if rank == culprit else dict(shape=(2,), dtype="int8")
        error = raises_on_all(lambda: f.create_variable("x", **arguments), culprit)
        assert error.code == windrow.Code.BAD_ARGUMENT
        f.create_variable("x", (2,), "int8")[...] = 1


NOT_TO_BE_FINISHED = {
    "length of a dimension": dict(shape=(4,), dtype="int8", dims=("x",)),
    "length of a dimension above": dict(shape=(2, 4), dtype="int8", dims=("", "only")),
    "lengths of one dimension": dict(shape=(2, 4), dtype="int8", dims=("n", "n")),
    "a table as a coordinate": dict(shape=(3, 3), dtype="int8", dims=("", "table")),
    "a coordinate called otherwise": dict(shape=(3,), dtype="int8", dims=("renamed",)),
    "a group as a dimension": dict(shape=(4,), dtype="int8", dims=("/g",)),
    "a slash in a name": dict(shape=(4,), dtype="int8", dims=("a/b",)),
    "shape of the data": dict(shape=(4,), dtype="int8", data=np.zeros(5, "int8")),
    "data of more dimensions": dict(shape=(4,), dtype="int8", data=np.zeros((2, 4))),
    "text as numbers": dict(dtype="int8", data=["a", "b"]),
    "text that is too long": dict(dtype="S2", data=["abc"]),
    "numbers as text": dict(dtype=str, data=[1, 2]),
    "numbers beside text": dict(data=["a", 1]),
    "bytes beside text": dict(dtype=str, data=["a", b"b"]),
    "text with a NUL": dict(data=["a", "b\0c"]),
    "complex numbers as real ones": dict(shape=(2,), dtype="f8", data=[1 + 2j, 2]),
    "complex numbers as integers": dict(dtype="i4", data=np.zeros(2, "c8")),
    "data for nothing": dict(shape=(), dtype="int8", data=1, null_space=True),
}


@pytest.mark.parametrize("case", NOT_TO_BE_FINISHED)
def test_what_cannot_be_finished_is_not_begun(folder, comm, case, raises_on_all):
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        f.create_variable("x", data=np.arange(3), dims=("x",))
        f.create_variable("table", (3, 3), "int8")
        f.create_variable("renamed", (3,), "int8", dims=("other",))
        f.create_dimension("only", 2)
        f.create_group("g")
        before = sorted(f)
        error = raises_on_all(lambda: f.create_variable("z", **NOT_TO_BE_FINISHED[case]), 0, "create_variable 'z'")
        assert error.code == windrow.Code.BAD_ARGUMENT and sorted(f) == before and "n" not in f.dimensions
        if "data" not in NOT_TO_BE_FINISHED[case]:
            raises_on_all(
                lambda: f.create_variables(
                    {"first": dict(shape=3, dtype="int8", dims=("x",)), "z": NOT_TO_BE_FINISHED[case]}
                ),
                0,
            )
            assert sorted(f) == before
        f.create_variable("z", (2,), "int8", dims=("only",))


def test_dimensions_that_are_right(folder, comm, raises_on_all):
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        f.create_variable("g/y", (2,), "int8", dims=("y",))
        f.create_dimension("x", 3)
        f.create_variable("g/h/v", (2, 3), "int8", dims=("y", "x"))
        f.create_variable("g/w", (3, 3, 2), "int8", dims=("x", "/x", None))
        f.create_variables(
            {"t": dict(shape=(4,), dtype="f8"), "u": dict(shape=(4, 5, 5), dtype="f8", dims=("t", "n", "n"))}
        )
        f.create_dimension("steps", 5)
        f.create_variable("log", (0, 3), "f4", dims=("steps", "x"), extendible=True)  # not as long as the dimension yet
        f.create_variable("row", (3,), "f4", data=np.ones((1, 3)), dims=("x",))
        assert (
            f["g/h/v"].dims == ("y", "x")
            and f["g/w"].dims == ("x", "x", "")
            and f["u"].dims == ("t", "n", "n")
            and f.dimensions["/n"] == 5
        )
        two = {"a": dict(shape=(7,), dtype="f8", dims=("m",)), "b": dict(shape=(8,), dtype="f8", dims=("m",))}
        raises_on_all(lambda: f.create_variables(two), 0, "'/m' has 7")
        assert "a" not in f and "/m" not in f.dimensions


def test_ranks_that_disagree(folder, comm, rank, size, barrier, raises_on_all):
    if size == 1:
        pytest.skip("needs ranks that can disagree")
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        raises_on_all(lambda: f.create_variable("x", (2 + (rank == 1),), "int8"), 1)
        v = f.create_variable("x", (2,), "int8")
        # In different calls: that would hang.
        other = f.sync if rank == 1 else lambda: v[...]
        raises_on_all(other, 1, "the ranks are in different calls: rank 0 in read, rank 1 in sync")
        v[...] = 1
        # Some would name dimensions or write data afterwards, without the other ranks, which continue elsewhere.
        for extra in (dict(dims=("d",)), dict(data=[1, 2])):
            raises_on_all(
                lambda: f.create_variable("z", (2,), "int8", **(extra if rank == 1 else {})),
                1,
                "different calls: rank 0 in create_variable, rank 1",
            )
            barrier()
        raises_on_all(
            lambda: f.create_variables({"z": dict(shape=2, dtype="int8", dims=("d",) if rank == 1 else None)}),
            1,
            "rank 1 in create_variables /z",
        )
        barrier()
        raises_on_all(
            lambda: f.create_variables({} if rank == 1 else {"z": dict(shape=2, dtype="int8")}),
            1,
            "number 1 is missing here",
        )
    raises_on_all(lambda: windrow.open(folder / "c.h5", "a" if rank == 1 else "r", comm=comm), 1)
    raises_on_all(lambda: windrow.open(folder / ("a.h5" if rank == 1 else "b.h5"), "w", comm=comm), 1)


def test_a_wrong_put_is_an_error_here_and_of_the_flush(folder, comm, rank, size, culprit, raises_on_all):
    rows = windrow.rows(comm, size)
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        v = f.create_variable("x", (size, 2), "float64")
        good = np.full((1, 2), float(rank))
        v.write(good, rows)
        for wrong in (np.zeros(3), np.zeros((1, 2), "datetime64[s]"), np.zeros((2, 2))):
            if rank == culprit:
                with pytest.raises(windrow.WindrowError) as caught:
                    f.put(v, wrong, rows)
                assert caught.value.rank == rank
            else:
                f.put(v, -good, rows)
            raises_on_all(f.flush, culprit, "/x")
            raises_on_all(lambda: v.write(wrong if rank == culprit else good, rows), culprit)
            raises_on_all(lambda: v.read(rows, out=wrong if rank == culprit else None), culprit)
        assert np.array_equal(v[:, 0], np.arange(size))


def test_a_wrong_decomposition(comm, rank, size, culprit, raises_on_all):
    bad = rank == culprit
    raises_on_all(lambda: windrow.block(comm, (4, 4), (3, 0), (2, 4) if bad else (1, 4)), culprit)
    raises_on_all(lambda: windrow.block(comm, (4, 4), (3,) if bad else (3, 0), (1, 4)), culprit, "dimensions")
    raises_on_all(lambda: windrow.blocks(comm, (4, 4), [[0, 0, 0]] if bad else [], []), culprit)
    raises_on_all(lambda: windrow.points(comm, 4, [4] if bad else [1]), culprit)
    raises_on_all(lambda: windrow.points(comm, 4, [0.5] if bad else [1]), culprit, "integers")
    raises_on_all(lambda: windrow.points(comm, 4, [1], [True, False] if bad else [True]), culprit, "flags")
    raises_on_all(lambda: windrow.points(comm, 4, [1], imbalance="much" if bad else None), culprit)
    raises_on_all(lambda: windrow.rows(comm, "a" if bad else 4), culprit)


def test_modes_that_differ(old, comm, rank, size, culprit, barrier):
    """Each pair of modes makes other calls."""
    if size == 1:
        pytest.skip("one rank has one mode")
    modes = ("r", "r+", "w", "x", "a")
    for one in modes:
        for other in modes:
            if one != other:
                with pytest.raises(windrow.WindrowError, match="different calls"):
                    windrow.open(old, other if rank == culprit else one, comm=comm)
    assert is_whole(old, comm, barrier)


def test_closed_files(old, comm):
    f = windrow.open(old, comm=comm)
    v = f["x"]
    f.close()
    f.close()
    for action in (
        lambda: v[...],
        lambda: f["x"],
        f.flush,
        f.report,
        f.explain,
        lambda: v.attrs["a"],
        lambda: f.put(v, 1, None),
    ):
        with pytest.raises(windrow.WindrowError) as caught:
            action()
        assert caught.value.code == windrow.Code.BAD_STATE


def test_an_exception_on_one_rank_discards_the_file_on_all(old, comm, rank, culprit, barrier):
    with pytest.raises(ZeroDivisionError if rank == culprit else windrow.WindrowError) as caught:
        with windrow.open(old, "w", comm=comm) as f:
            v = f.create_variable("x", (3, 4), "float64")
            v[...] = -1
            if rank == culprit:
                1 / 0
            v[...] = -2
    if rank != culprit:
        assert caught.value.rank == culprit and "ZeroDivisionError: division by zero" in str(caught.value)
    assert is_whole(old, comm, barrier)


def test_an_exception_before_the_end_of_the_block(old, comm, rank, culprit, barrier):
    """The other ranks are in close then."""
    with pytest.raises(ZeroDivisionError if rank == culprit else windrow.WindrowError):
        with windrow.open(old, "w", comm=comm) as f:
            f.create_variable("x", (3, 4), "float64")
            if rank == culprit:
                1 / 0
    assert is_whole(old, comm, barrier)


def test_an_interrupted_write(old, comm, rank, culprit, barrier):
    """Ctrl-C reaches a rank while it is in a call, or between two."""
    with pytest.raises(KeyboardInterrupt if rank == culprit else windrow.WindrowError):
        with windrow.open(old, "w", comm=comm) as f:
            v = f.create_variable("x", (3, 4), "float64")
            for step in range(1000):
                v[...] = step
                if rank == culprit and step == 3:
                    os.kill(os.getpid(), signal.SIGINT)
    assert is_whole(old, comm, barrier)


def test_what_is_queued_is_kept_when_another_call_fails(folder, comm, rank, size, culprit, raises_on_all):
    rows = windrow.rows(comm, 1000 * size)
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        v = f.create_variable("x", (1000 * size,), "float64")
        calls = [lambda: v[1000 * size if rank == culprit else 0]]
        if size > 1:
            calls.append(lambda: f.sync() if rank == 1 else f.flush())
            calls.append(lambda: f.flush_begin() if rank == 1 else f.flush())
        for step, call in enumerate(calls):
            f.put(v, np.full(1000, 7.0 + step), rows)
            with pytest.raises(windrow.WindrowError):
                call()
            others = [np.full(1000, 3.0) for _ in range(20)]  # would be at the address of a freed array
            f.flush()
            assert (v[...] == 7 + step).all() and len(others) == 20
        f.put(v, np.full(1000, 5.0), rows)
        f.flush_begin()
        with pytest.raises(windrow.WindrowError):
            calls[0]()
        others = [np.full(1000, 3.0) for _ in range(20)]
        f.flush_end()
        assert (v[...] == 5).all() and not f._handle.queued and not f._handle.moving


def test_a_block_that_ends_in_different_calls(folder, comm, rank, size, barrier):
    """Some ranks close while another reads; some do once more, having caught the error."""
    if size == 1:
        pytest.skip("one rank is in one call")
    for catches in (False, True):
        with pytest.raises(windrow.WindrowError) as caught:
            with windrow.open(folder / "out.h5", "w", comm=comm) as f:
                v = f.create_variable("x", (4,), "float64")
                if rank == 1:
                    try:
                        v[...]
                    except windrow.WindrowError:
                        if not catches:
                            raise
        assert "different calls: rank 0 in close, rank 1 in read" in str(caught.value)
        barrier()  # a discard after a mismatch does not wait
        assert not f.is_open and list(folder.iterdir()) == []


def test_several_processes_write_with_a_communicator(folder, rank, size):
    if size == 1:
        pytest.skip("one process alone needs none")
    with pytest.raises(windrow.WindrowError, match="writes without a communicator"):
        windrow.open(folder / f"{rank}.h5", "w")
    with windrow.open(folder / f"{rank}.h5", "w", comm="self") as f:
        f.create_variable("x", data=[rank])
    with windrow.open(folder / f"{rank}.h5") as f:
        assert f["x"][0] == rank and f.size == 1


def test_a_communicator_that_is_freed_while_a_file_is_open(folder, comm, rank, size):
    if not hasattr(comm, "Dup"):
        pytest.skip("needs mpi4py")
    for close_first in (True, False):
        copy = comm.Dup()
        f = windrow.open(folder / "out.h5", "w", comm=copy)
        v = f.create_variable("x", (size,), "int64")
        v[rank] = rank
        if close_first:
            f.close()
            copy.Free()
        else:
            copy.Free()
            v[rank] = rank
            assert v[...].tolist() == list(range(size))
            f.close()


def test_what_is_no_communicator(folder):
    for wrong in ("nonsense", 3, object()):
        with pytest.raises(TypeError, match="communicator"):
            windrow.open(folder / "out.h5", "w", comm=wrong)


def test_a_disk_that_is_full(old, comm, rank, size, culprit, barrier):
    """The store fails on one rank; with what it writes itself."""
    with pytest.raises(windrow.WindrowError) as caught:
        with windrow.open(
            old,
            "w",
            comm=comm,
            store="faulty",
            fault=f"rank={culprit},operation=write,after=0,error=no_space",
            strategy="list",
        ) as f:
            v = f.create_variable("x", (size, 100000), "float64")
            v[rank] = 1
    assert caught.value.code == windrow.Code.NO_SPACE and caught.value.rank == culprit
    assert is_whole(old, comm, barrier)


def test_reading_numbers_and_texts_are_different_calls(folder, comm, rank, size, raises_on_all):
    if size == 1:
        pytest.skip("needs ranks that can disagree")
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        v = f.create_variable("x", (2,), "float64")
        texts = [f.create_variable(name, data=[name, "text"]) for name in ("one", "two")]
        raises_on_all(lambda: (texts[0] if rank == 1 else v)[...], 1, "rank 0 in read, rank 1 in read texts of /one")
        raises_on_all(lambda: texts[rank == 1][...], 1, "rank 0 in read texts of /one, rank 1 in read texts of /two")
        raises_on_all(lambda: texts[rank == 1].__setitem__(..., ["a", "b"]), 1, "rank 1 in write texts of /two")
        assert [t[0] for t in texts] == ["one", "two"]


HALF, NUL = "\udc80", "a\0b"
UNPASSABLE = {
    "length": lambda f, v: f.create_dimension("d", 2**70),
    "shape": lambda f, v: f.create_variable("y", (2**70,), "int8"),
    "chunks": lambda f, v: f.create_variable("y", (2,), "int8", chunks=(2**70,)),
    "decomposition": lambda f, v: windrow.same(f._core_comm, (2**70,)),
    "rows": lambda f, v: windrow.rows(f._core_comm, 2**70),
    "index": lambda f, v: v[2**70],
    "fill value": lambda f, v: f.create_variable("y", (2,), "int8", fill_value=HALF),
    "names of dimensions": lambda f, v: f.create_variable("y", (2,), "int8", dims=(3,)),
    "dimension": lambda f, v: f.create_variable("y", (2,), "int8", dims=(NUL,)),
    "prefix": lambda f, v: f.write_references("a.json", HALF),
    "name of an attribute": lambda f, v: v.attrs.__setitem__(3, 1),
    **{
        f"{kind}: {what}": partial(lambda action, text, f, v: action(f, v, text), action, text)
        for what, text in (("half a character", HALF), ("NUL", NUL))
        for kind, action in {
            "variable": lambda f, v, text: f.create_variable(text, (2,), "int8"),
            "group": lambda f, v, text: f.create_group(text),
            "link": lambda f, v, text: f.create_link("l", text),
            "attribute": lambda f, v, text: v.attrs.__setitem__(text, 1),
            "texts": lambda f, v, text: f["t"].__setitem__(..., ["a", text]),
            "strategy": lambda f, v, text: f.set_strategy(strategy=text),
        }.items()
    },
}


@pytest.mark.parametrize("case", UNPASSABLE)
def test_what_c_has_no_room_for(folder, comm, rank, culprit, case, raises_on_all):
    """Refused before the others wait; in Python's words, not those of what binds C++."""
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        v = f.create_variable("x", (4,), "float64")
        f.create_variable("t", (2,), str)
        f._core_comm = comm
        wrong = rank == culprit
        # The others are in the same call with nothing wrong.
        right = {
            "decomposition": lambda: windrow.same(comm, (2,)), "rows": lambda: windrow.rows(comm, 2),
            "length": lambda: f.create_dimension("d", 2), "prefix": lambda: f.write_references("a.json", ""),
            "index": lambda: v[0], "group": lambda: f.create_group("g"), "link": lambda: f.create_link("l", "x"),
            "name of an attribute": lambda: v.attrs.__setitem__("a", 1),
            "attribute": lambda: v.attrs.__setitem__("a", 1), "texts": lambda: f["t"].__setitem__(..., ["a", "b"]),
            "strategy": lambda: f.set_strategy(strategy="list"),
        }.get(case.split(":")[0], lambda: f.create_variable("y", (2,), "int8"))  # fmt: skip
        error = raises_on_all((lambda: UNPASSABLE[case](f, v)) if wrong else right, culprit)
        assert "incompatible function arguments" not in str(error) and "codec can't" not in str(error)
        v[...] = 1
        assert NUL not in f and HALF not in f
    for name in (HALF, NUL):
        raises_on_all(lambda: windrow.open(folder / (name if rank == culprit else "other.h5"), "w", comm=comm), culprit)


def test_reasons_with_half_a_character(folder, comm, rank, culprit, barrier):
    with pytest.raises(ValueError if rank == culprit else windrow.WindrowError):
        with windrow.open(folder / "out.h5", "w", comm=comm) as f:
            if rank == culprit:
                raise ValueError(HALF)
    barrier()  # a discard after a mismatch does not wait
    assert list(folder.iterdir()) == []


def test_numbers_that_are_none(folder, comm, rank, size, raises_on_all):
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        v = f.create_variable("x", (4,), "float64")
        t = f.create_variable("t", (2,), "S4")
        for action in (
            lambda: f.create_variable("y", 3.5, "int8"), lambda: f.create_variable("y", (3, 2.0), "int8"),
            lambda: f.create_variable("y", (4,), "int8", chunks=(2.5,)), lambda: f.create_dimension("d", 3.5),
            lambda: windrow.rows(comm, 8.7), lambda: windrow.rows(comm, 8, 8.0), lambda: windrow.same(comm, (2.5,)),
            lambda: windrow.points(comm, 4.0, [1]),
        ):  # fmt: skip
            raises_on_all(action, 0, "integer")
        for index in (2**64 - 1, np.uint64(2**64 - 1), np.array([2**64 - 1], np.uint64), np.array([4], np.uint8)):
            raises_on_all(lambda: v[index], 0)
        raises_on_all(lambda: windrow.points(comm, 4, np.array([2**64 - 1], np.uint64)), 0, "18446744073709551615")
        raises_on_all(lambda: t.__setitem__(..., ["a", None]), 0, "an element is NoneType, the variable has text")
        t[...] = np.array([b"a", "b"], object)
        assert t[...].tolist() == [b"a", b"b"]


def test_an_interrupt_while_an_error_is_made(folder, comm, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        with monkeypatch.context() as patch:
            patch.setattr(windrow.WindrowError, "__init__", interrupted)
            with pytest.raises(KeyboardInterrupt):
                f._handle.core.agree("here", "what is wrong")
