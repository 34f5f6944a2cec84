# SPDX-License-Identifier: BSD-3-Clause
"""The tests that are marked mpi of an installed h5py that was built with MPI, such as Debian's python3-h5py-mpi, at 3
ranks. PYTHON names an interpreter that has it."""

import os

SCRIPT = """
import importlib, sys, pytest
from mpi4py import MPI
class FixtureOfPytestMpi:
    @pytest.fixture
    def mpi_file_name(self, tmp_path):
        return MPI.COMM_WORLD.bcast(str(tmp_path / "file.h5"))
file = importlib.import_module("h5py.tests").__path__[0] + "/test_file.py"
sys.exit(pytest.main(["-v", "-p", "no:cacheprovider", "-m", "mpi", file], [FixtureOfPytestMpi()]))
"""


def build(bench):
    pass


def tests(bench):
    logs = bench.build / "logs"
    program = [os.environ.get("PYTHON", "python3"), "-c", SCRIPT]
    verdicts = all_say("h5py", logs, r"^\S+::(\w+::\w+) (\w+)")
    yield Test("h5py", bench.launch_apart(3, program, logs), bench.build, verdicts)
