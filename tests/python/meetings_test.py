# SPDX-License-Identifier: BSD-3-Clause
"""Several files, and other collective calls on their communicator. If a rank leaves a file, the other ranks get the
error in any of these calls."""

import os
import signal
from contextlib import ExitStack

import numpy as np
import pytest

import windrow
from windrow import _ends

ELSEWHERE = {
    "the other file": lambda comm, folder, x: x.__setitem__(..., 1),
    "the other file's close": lambda comm, folder, x: x.file.close(),
    "a decomposition": lambda comm, folder, x: windrow.rows(comm, 6),
    "an open": lambda comm, folder, x: windrow.open(folder / "third.h5", "w", comm=comm),
    "a mesh": lambda comm, folder, x: windrow.mesh.decompose(
        comm, windrow.mesh.neighbours([[0, 1, 2]], "triangle"), [0, 0, 0]
    ),
}


@pytest.fixture(params=["first", "last"])
def culprit(request, size):
    if size == 1:
        pytest.skip("needs ranks that can disagree")
    return 0 if request.param == "first" else size - 1


def two(comm, folder):
    outer = windrow.open(folder / "outer.h5", "w", comm=comm)
    return outer, outer.create_variable("x", (6,), "float64")


@pytest.mark.parametrize("case", ELSEWHERE)
def test_an_exception_while_the_others_are_elsewhere(folder, comm, rank, culprit, barrier, case):
    import windrow.mesh  # noqa: F401

    with pytest.raises(ZeroDivisionError if rank == culprit else windrow.WindrowError) as caught:
        outer, x = two(comm, folder)
        with outer, windrow.open(folder / "inner.h5", "w", comm=comm) as inner:
            inner.create_variable("y", (6,), "float64")
            if rank == culprit:
                1 / 0
            ELSEWHERE[case](comm, folder, x)
    if rank != culprit:
        assert caught.value.rank == culprit and f'(rank {culprit}, which has left "{folder / "inner.h5"}")' in str(
            caught.value
        )
    assert not outer.is_open and not inner.is_open
    barrier()
    assert os.listdir(folder) == []


def test_an_exception_that_the_others_catch(folder, comm, rank, culprit, barrier):
    """The inner file is discarded on all ranks, and the outer one is not affected."""
    outer, x = two(comm, folder)
    with outer:
        try:
            with windrow.open(folder / "inner.h5", "w", comm=comm):
                if rank == culprit:
                    1 / 0
                x[...] = 1
        except (ZeroDivisionError, windrow.WindrowError):
            pass
        x[...] = 2
    with windrow.open(folder / "outer.h5", comm=comm) as f:
        assert (f["x"][...] == 2).all()
    barrier()
    assert os.listdir(folder) == ["outer.h5"]


def test_an_interrupt_between_two_files(folder, comm, rank, culprit, barrier):
    with pytest.raises(KeyboardInterrupt if rank == culprit else windrow.WindrowError):
        outer, x = two(comm, folder)
        with outer, windrow.open(folder / "inner.h5", "w", comm=comm) as inner:
            y = inner.create_variable("y", (6,), "float64")
            for step in range(1000):
                y[...] = step
                if rank == culprit and step == 3:
                    os.kill(os.getpid(), signal.SIGINT)
                x[...] = step
    barrier()
    assert os.listdir(folder) == []


def test_a_put_that_one_rank_alone_hears_of(folder, comm, rank, culprit, barrier):
    with pytest.raises(windrow.WindrowError) as caught:
        outer, x = two(comm, folder)
        with outer:
            rows = windrow.rows(comm, 6)
            outer.put(x, np.zeros(99 if rank == culprit else rows.row_count), rows)
            windrow.rows(comm, 6)
            outer.flush()
    assert caught.value.rank == culprit and "an array of (99,)" in str(caught.value)
    barrier()
    assert os.listdir(folder) == []


def test_ranks_in_calls_of_different_files(folder, comm, rank, size, raises_on_all):
    if size == 1:
        pytest.skip("needs ranks that can disagree")
    outer, x = two(comm, folder)
    a, b = folder / "outer.h5", folder / "inner.h5"
    with outer, windrow.open(b, "w", comm=comm) as inner:
        y = inner.create_variable("y", (6,), "float64")
        raises_on_all(
            lambda: (y if rank == 1 else x)[...],
            1,
            f'the ranks are in different calls: rank 0 in read of "{a}", rank 1 in read of "{b}" (rank 1)',
        )
        raises_on_all(
            lambda: windrow.rows(comm, 6) if rank == 1 else inner.flush(),
            1,
            f'rank 0 in flush of "{b}", rank 1 in rows',
        )
        raises_on_all(lambda: x.__setitem__(..., 1) if rank == 1 else x[...], 1, "rank 0 in read, rank 1 in write")
        with windrow.open(a, "w", comm=comm) as again:
            z = again.create_variable("x", (6,), "float64")
            raises_on_all(lambda: (z if rank == 1 else x)[...], 1, f'rank 0 in read of "{a}", the file number ')
        x[...] = y[...]


def test_ranks_that_leave_different_files(folder, comm, rank, size):
    """One rank leaves the outer file, another the inner one: all ranks discard both."""
    if size == 1:
        pytest.skip("needs ranks that can disagree")
    outer, x = two(comm, folder)
    inner = windrow.open(folder / "inner.h5", "w", comm=comm)
    if rank < 2:
        (outer if rank == 0 else inner).discard("enough")
    else:
        with pytest.raises(windrow.WindrowError, match="enough .rank 0"):
            windrow.rows(comm, 6)
    assert not outer.is_open and not inner.is_open
    assert windrow.rows(comm, 6).row_count >= 0


def test_files_of_different_communicators(folder, comm, rank, culprit, barrier, monkeypatch):
    """The ranks wait in different communicators: a rank that leaves a file waits for some seconds and warns. The others
    get the error when they call."""
    if not hasattr(comm, "Dup"):
        pytest.skip("needs mpi4py")
    monkeypatch.setattr(_ends, "PATIENCE", 0.3)
    copy = comm.Dup()
    with ExitStack() as checks:
        if rank == culprit:
            checks.enter_context(pytest.warns(RuntimeWarning, match="is left open: in 0.3 s not all ranks came"))
        with pytest.raises(ZeroDivisionError if rank == culprit else windrow.WindrowError) as caught:
            outer, x = two(comm, folder)
            with outer, windrow.open(folder / "inner.h5", "w", comm=copy) as inner:
                inner.create_variable("y", (6,), "float64")
                monkeypatch.setattr(_ends, "PATIENCE", 0.3 if rank == culprit else 60)
                if rank == culprit:
                    1 / 0
                x[...] = 1
                inner.flush()
            monkeypatch.setattr(_ends, "PATIENCE", 60)
    if rank != culprit:
        assert caught.value.rank == culprit and "ZeroDivisionError" in str(caught.value)
    barrier()
    with pytest.raises(windrow.WindrowError, match="closed"):
        inner.flush()
    assert windrow.rows(copy, 6).row_count >= 0  # which ends what is left
    copy.Free()
    barrier()
    assert os.listdir(folder) == []


def test_communicators_come_and_go(folder, comm, size):
    if not hasattr(comm, "Dup"):
        pytest.skip("needs mpi4py")
    for number in range(3):
        copy = comm.Dup()
        windrow.rows(copy, 6)
        f = windrow.open(folder / "out.h5", "w", comm=copy)
        copy.Free()
        f.create_variable("x", (size,), "int64")[...] = number
        f.close()
    with windrow.open(folder / "out.h5", comm=comm) as f:
        assert (f["x"][...] == 2).all()


def test_an_intercommunicator_is_refused_on_all_ranks(folder, comm, rank, size):
    if not hasattr(comm, "Create_intercomm"):
        pytest.skip("needs mpi4py")
    if size == 1:
        pytest.skip("needs two groups")
    own = comm.Split(rank % 2)
    both = own.Create_intercomm(0, comm, 1 - rank % 2)
    for call in (lambda: windrow.open(folder / "out.h5", "w", comm=both), lambda: windrow.rows(both, 4)):
        with pytest.raises(windrow.WindrowError, match="is an intercommunicator"):
            call()
    both.Free()
    own.Free()
