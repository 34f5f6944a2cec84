# SPDX-License-Identifier: BSD-3-Clause
"""All ranks run all tests: what they have in common."""

import os
import re
from pathlib import Path

import numpy as np
import pytest

import windrow
from windrow import _core


@pytest.fixture(scope="session")
def comm():
    """All ranks, through mpi4py where it is of the same MPI, else without."""
    if os.environ["WINDROW_TEST_MPI4PY"] == "TRUE":
        from mpi4py import MPI

        return MPI.COMM_WORLD
    return _core.Communicator.named("world")


@pytest.fixture(scope="session")
def rank(comm):
    return comm.rank


@pytest.fixture(scope="session")
def size(comm):
    return comm.size


@pytest.fixture
def barrier(comm):
    ranks = _core.Communicator.named("world")
    return lambda: ranks.agree("barrier", "")


@pytest.fixture
def folder(request, rank, barrier):
    """A folder that all ranks see, with a name that has a space; empty at the beginning of each test."""
    path = Path(os.environ["WINDROW_TEST_FOLDER"], re.sub(r"\W+", " ", request.node.name).strip())
    if rank == 0:
        path.mkdir(parents=True, exist_ok=True)
        for old in path.iterdir():
            if old.is_file():
                old.unlink()
    barrier()
    return path


@pytest.fixture
def numbers():
    """An array of some shape in which each element is another."""
    return lambda *shape: np.arange(float(np.prod(shape))).reshape(shape)


@pytest.fixture
def raises_on_all(size):
    """Runs an action that shall fail on every rank, with the rank that it came from; returns the error."""

    def run(action, culprit, text=""):
        with pytest.raises(windrow.WindrowError) as caught:
            action()
        assert caught.value.rank == culprit, caught.value
        assert text in str(caught.value), caught.value
        return caught.value

    return run
