# SPDX-License-Identifier: BSD-3-Clause
"""Files of plain bytes: lists, arrays, modes, and errors that all ranks get."""

import os

import numpy as np
import pytest

import windrow


@pytest.fixture(params=["first", "last"])
def culprit(request, size):
    return 0 if request.param == "first" else size - 1


def mine(rank):
    """The ten bytes of this rank."""
    return windrow.ByteList([10 * rank], [10])


def column(rank, size, rows=5):
    """A column of this rank in a table of int32 with a column for each rank."""
    return windrow.ByteList.runs(4 * rank, 4, 0, [rows], [4 * size], [4])


def test_columns_of_a_table(folder, comm, rank, size, barrier):
    path = folder / "table.dat"
    with windrow.open_bytes(path, "a", comm=comm, strategy="two-phase") as f:
        numbers = 100 * np.arange(5, dtype="i4") + rank
        assert "domains" in repr(f.explain(column(rank, size)))
        f.write(column(rank, size), numbers)
        assert f.report()["bytes"] == 20 * size and f.rank == rank and f.size == size
        f.sync()
        # The rows in reverse order, and one that is not there.
        table = np.full((6, size), -1, "i4")
        rows = windrow.ByteList(
            [4 * size * row for row in range(6)], [4 * size] * 6, [4 * size * (5 - row) for row in range(6)]
        )
        assert rows.memory == (0, 24 * size) and f.read(rows, table) == 20 * size
        assert table[0].tolist() == [-1] * size
        assert table[:0:-1].tolist() == [[100 * row + column for column in range(size)] for row in range(5)]
        assert f.explain(rows, reading=True).plans and str(path) in repr(f)
    assert not f.is_open and "closed" in repr(f)
    f.close()
    barrier()
    assert np.fromfile(path, "i4").reshape(5, size)[:, rank].tolist() == numbers.tolist()


def test_blocks_of_a_matrix(folder, comm, rank, size):
    """Two loops: 2 x 3 elements of each rank from a box with ghost cells, to a plane of a cube."""
    box = np.full((4, 5), -1.0)
    box[1:3, 1:4] = rank + np.arange(6).reshape(2, 3) / 8
    block = windrow.ByteList.runs(48 * rank, 8, 8 * 6, [[2, 3]], [[24, 8]], [[40, 8]])
    assert block.memory == (48, 112)
    with windrow.open_bytes(folder / "cube.dat", "a", comm=comm) as f:
        f.write(block, box)
        cube = np.zeros((size, 2, 3))
        whole = windrow.ByteList([0], [48 * size])
        assert f.read(whole if rank == size - 1 else None, cube) == (48 * size if rank == size - 1 else 0)
        assert rank < size - 1 or (cube[:, 1, 2] == np.arange(size) + 5 / 8).all()


def test_modes(folder, comm, rank, size, barrier, raises_on_all):
    path = folder / "plain.dat"
    missing = raises_on_all(lambda: windrow.open_bytes(path, "r+", comm=comm), 0)
    assert missing.code == windrow.Code.NOT_FOUND
    raises_on_all(lambda: windrow.open_bytes(path, "w", comm=comm), 0, "there are r, r+, a")
    raises_on_all(lambda: windrow.open_bytes(path, "a", comm=comm, nonsense=1), 0, "nonsense")
    with windrow.open_bytes(path, "a", comm=comm) as f:
        f.write(mine(rank), b"abcdefghij")
    with windrow.open_bytes(os.fspath(path), "a", comm=comm) as f:
        f.write(mine(size), bytearray(b"0123456789")) if rank == 0 else f.write()
    with windrow.open_bytes(path, "r+", comm=comm) as f:
        f.write(windrow.ByteList([1], [1]) if rank == 0 else None, b"X")
    with windrow.open_bytes(path, comm=comm) as f:
        found = bytearray(10 * size + 20)
        assert f.read(windrow.ByteList([0], [len(found)]), found) == 10 * size + 10
        assert found == b"aX" + (b"abcdefghij" * size)[2:] + b"0123456789" + bytes(10)
        error = raises_on_all(lambda: f.write(mine(rank), b"abcdefghij"), 0 if size == 1 else -1, "reading only")
        assert error.code == windrow.Code.BAD_STATE
        assert f.read() == 0
        empty = windrow.ByteList([], [])
        assert empty.memory == (0, 0) and f.read(empty, np.zeros(0)) == 0
    with pytest.raises(windrow.WindrowError, match="closed"):
        f.read()
    barrier()


WRONG = {
    "short": (lambda: (windrow.ByteList([0], [10]), np.zeros(9, "u1")), "the array has 9 bytes"),
    "before": (lambda: (windrow.ByteList([0], [4], [-4]), np.zeros(4, "u1")), "bytes from -4 to 0"),
    "none": (lambda: (windrow.ByteList([0], [4]), None), "the array has 0 bytes"),
    "no list": (lambda: ([0], np.zeros(10, "u1")), "list instead of a ByteList"),
    "gaps": (lambda: (windrow.ByteList([0], [4]), np.zeros(20, "u1")[::2]), "not C-contiguous"),
    "objects": (lambda: (windrow.ByteList([0], [4]), np.array([object()])), "no bytes of its own"),
    "numbers": (lambda: (windrow.ByteList([0], [4]), [1, 2, 3]), "bytes-like"),
}


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize("call", ["write", "read"])
def test_a_wrong_array(folder, comm, rank, culprit, barrier, raises_on_all, case, call):
    arguments, words = WRONG[case]
    with windrow.open_bytes(folder / "plain.dat", "a", comm=comm) as f:
        f.write(mine(rank), b"abcdefghij")
        right = (mine(rank), np.zeros(10, "u1"))
        error = raises_on_all(lambda: getattr(f, call)(*(arguments() if rank == culprit else right)), culprit, words)
        assert error.code == windrow.Code.BAD_ARGUMENT
        assert f.read(*right) == 10 and right[1].tobytes() == b"abcdefghij"  # nothing was written
        if call == "read":
            raises_on_all(lambda: f.read(mine(rank), bytes(10)), 0, "read-only")
            raises_on_all(lambda: f.explain(3 if rank == culprit else None, reading=True), culprit, "int instead")


def test_mpi_datatypes(folder, comm, rank, size):
    """Every second number in memory, to the columns of this rank in a table; the same through MPI.File."""
    MPI = pytest.importorskip("mpi4py.MPI") if os.environ["WINDROW_TEST_MPI4PY"] == "TRUE" else pytest.skip("no mpi4py")
    path = folder / "types.dat"
    pairs = MPI.INT32_T.Create_vector(6, 1, 2)
    block = MPI.INT32_T.Create_subarray([3, 2 * size], [3, 2], [0, 2 * rank]).Commit()
    numbers = np.full(12, -1, "i4")
    numbers[::2] = 100 * rank + np.arange(6)
    with windrow.open_bytes(path, "a", comm=comm) as f:
        f.write(windrow.ByteList.types(pairs, view=(8, MPI.INT32_T, block)), numbers)
        rest = np.zeros(4, "i4")
        assert f.read(windrow.ByteList.types(MPI.INT32_T, 4, offset=2, view=(8, MPI.INT32_T, block)), rest) == 16
        assert rest.tolist() == numbers[4::2].tolist()
        table = np.zeros((3, 2 * size), "i4")
        assert f.read(windrow.ByteList.types(MPI.INT32_T, table.size, offset=8), table) == table.nbytes
        assert table.tolist() == [[100 * (i // 2) + 2 * row + i % 2 for i in range(2 * size)] for row in range(3)]
    other = MPI.File.Open(comm, str(path))
    other.Set_view(8, MPI.INT32_T, block)
    found = np.zeros(6, "i4")
    other.Read_all(found)
    other.Close()
    assert found.tolist() == numbers[::2].tolist()
    for wrong in [(MPI.DATATYPE_NULL, 1), (MPI.BYTE, -1)]:
        with pytest.raises(windrow.WindrowError):
            windrow.ByteList.types(*wrong)
    with pytest.raises(TypeError, match="float"):
        windrow.ByteList.types(MPI.BYTE, 1.5)
    with pytest.raises(TypeError, match="int instead of a datatype"):
        windrow.ByteList.types(3)
    with pytest.raises(TypeError, match="instead of a datatype"):
        windrow.ByteList.types(comm)
    pairs.Free()
    block.Free()


def test_lists_that_are_wrong():
    with pytest.raises(ValueError, match="1, 2 entries"):
        windrow.ByteList([0], [1, 2])
    with pytest.raises(ValueError, match="2, 2, 1 entries"):
        windrow.ByteList([0, 1], [1, 2], [0])
    with pytest.raises(ValueError, match="strides"):
        windrow.ByteList.runs(0, 4, 0, [2], [4, 8], [4])
    with pytest.raises(ValueError, match="entries"):
        windrow.ByteList.runs([0, 9], 4, 0, [2], [4], [4])
    with pytest.raises(TypeError, match="float64"):
        windrow.ByteList([0.5], [1])
    with pytest.raises(windrow.WindrowError, match="entry 1 of the list: its length is -1"):
        windrow.ByteList([0, 0], [1, -1])
    with pytest.raises(ValueError, match="shape"):
        windrow.ByteList([[0]], [1])


def test_an_exception_in_the_block(folder, comm, rank, size, culprit, barrier):
    with pytest.raises(ZeroDivisionError if rank == culprit else windrow.WindrowError) as caught:
        with windrow.open_bytes(folder / "plain.dat", "a", comm=comm) as f:
            f.write(mine(rank), b"abcdefghij")
            if rank == culprit:
                1 / 0
            f.write(mine(rank), b"0123456789")
    assert not f.is_open
    assert rank == culprit or caught.value.rank == culprit
    barrier()
    assert (folder / "plain.dat").read_bytes() == b"abcdefghij" * size


def test_a_list_that_one_rank_cannot_make(folder, comm, rank, size, culprit, barrier):
    with pytest.raises(windrow.WindrowError, match="offset -1"):
        with windrow.open_bytes(folder / "plain.dat", "a", comm=comm) as f:
            f.write(mine(rank), b"abcdefghij")
            f.write(windrow.ByteList([-1], [10]) if rank == culprit else mine(rank), b"0123456789")
    barrier()
    assert (folder / "plain.dat").read_bytes() == b"abcdefghij" * size


def test_ranks_in_different_calls(folder, comm, rank, size, raises_on_all):
    if size == 1:
        pytest.skip("needs ranks that can disagree")
    with windrow.open_bytes(folder / "plain.dat", "a", comm=comm) as f:
        there = np.zeros(10, "u1")
        raises_on_all(
            lambda: (f.read if rank == 1 else f.write)(mine(rank), there), 1, "rank 0 in write, rank 1 in read"
        )
        raises_on_all(lambda: f.explain(reading=rank == 1), 1, "explain of a read")
        f.write(mine(rank), there)
