#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program of MPI with and without libwindrow-mpiio and compares: what it prints, its files, and its own checks.

compare.py --launcher "tools/mpirun --mpi NAME" --library LIBRARY [--ranks N] TEST PROGRAM ARGUMENTS ...

The library is preloaded for the ranks alone. Its report says which calls it took. A test without calls that were taken
fails. Exit code 77: the test cannot run here.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
# Calls are passed only because of what the program does.
TAKE_ALL = {"WINDROW_MPIIO_SMALL": "0", "WINDROW_MPIIO_CHOICE": "take"}

AT, BY_POINTER = {"write_at_all", "read_at_all"}, {"write_all", "read_all"}
SPLIT = {"write_all_begin", "read_at_all_begin", "write_at_all_begin", "read_all_begin"}

# For each case of calls/: calls that must be taken, reasons for calls that must be passed, reasons for files that must
# be passed, and whether MPI is told to let each rank move its own bytes: an error of one rank then does not make others
# wait, and OMPIO 4.1 does not lose the error of a file that is read only.
CALLS = {
    "end_of_file": ({"read_at_all", "read_all"}, set(), set(), False),
    "end_in_view": ({"read_at_all"}, set(), set(), False),
    "own_bytes": ({"write_at_all"}, set(), set(), False),
    "overlap": ({"write_at_all"}, set(), set(), False),
    "far": (AT, set(), set(), False),
    "large": (AT, set(), set(), False),
    "zero_counts": (AT, set(), set(), False),
    "many_small": (AT, set(), set(), False),
    "types": (AT, set(), set(), False),
    "pointers": (BY_POINTER | {"write_at_all"}, set(), set(), False),
    "shared_pointer": ({"write_all", "read_at_all"}, set(), set(), False),
    "split": (SPLIT, set(), set(), False),
    "nonblocking": ({"read_at_all"}, set(), set(), False),
    "error_handler": ({"read_at_all"}, {"arguments"}, set(), True),
    "wrong_arguments": ({"write_at_all"}, {"arguments"}, set(), False),
    "one_wrong": ({"write_at_all"}, {"arguments"}, set(), True),
    "no_space": (AT, set(), set(), False),
    "file_limit": (AT, set(), set(), False),
    "in_place": ({"write_all"}, set(), set(), False),
    "write_only": ({"write_at_all"}, set(), set(), False),
    "removed": ({"write_at_all"}, {"file changed"}, set(), False),
    "replaced": ({"write_at_all"}, {"file changed"}, set(), False),
    "truncated": (AT, set(), set(), False),
    "deleted_on_close": ({"write_at_all"}, set(), set(), False),
    "two_handles": (AT, set(), set(), False),
    "many_files": ({"write_at_all"}, set(), set(), False),
    "info": ({"write_at_all"}, set(), {"hint", "one rank"}, False),
    "atomic": ({"read_at_all"}, {"atomic"}, set(), False),
    "modes": ({"write_all"}, set(), {"sequential"}, False),
    "paths": ({"write_at_all"}, {"file changed"}, set(), False),
    "openings": (set(), set(), {"hint", "not a regular file"}, False),
    "views": ({"write_at_all"}, set(), set(), False),
    "freed_communicator": (AT, set(), set(), False),
    "parts": (AT, set(), set(), False),
    "session": (AT, set(), set(), False),
    "threads": (AT, set(), set(), False),
}


class Failure(Exception):
    pass


def expect(good, text):
    if not good:
        raise Failure(text)


class Run:
    """One run of a program: what it printed, what its folder had afterwards, and the report."""

    def __init__(self, options, command, folder, variables=None, preloaded=True, wrapper=(), reported=True):
        self.folder = folder
        folder.mkdir()
        report = options.reports / folder.name
        environment = dict(variables or {})
        if preloaded:
            # tools/mpirun preloads this one, and env replaces that.
            patient = os.environ.get("WINDROW_PATIENT_YIELD", "")
            libraries = [options.library] + ([patient] if patient and Path(patient).exists() else [])
            environment |= {"LD_PRELOAD": ":".join(libraries)}
            if reported:
                environment |= {"WINDROW_MPIIO_REPORT": str(report)}
        settings = [f"{name}={value}" for name, value in environment.items()]
        words = [*wrapper, *options.launcher, "-n", str(options.ranks), "env", *settings, *command]
        self.code, self.text = run(words, options.limit)
        self.lines = self.text.splitlines()
        self.report = [json.loads(line) for line in report.read_text().splitlines()] if report.exists() else []

    def results(self):
        return sorted(line for line in self.lines if line.startswith("result"))

    def expect_good(self, what):
        faults = [line for line in self.lines if line.startswith("FAULT")]
        expect(
            not faults and self.code == 0, f"{what}: exit code {self.code}\n" + "\n".join(faults[:20] or [self.text])
        )

    def files(self):
        return {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}

    def taken(self):
        return taken_of(self.report)

    def reasons(self):
        return reasons_of(self.report)

    def number(self, taken):
        return sum(call["calls"] for file in self.report for call in file["calls"] if call["taken"] == taken)


def taken_of(report):
    return {call["name"] for file in report for call in file["calls"] if call["taken"] and call["calls"] > 0}


def reasons_of(report):
    return {call["because"] for file in report for call in file["calls"] if not call["taken"]}


def run(words, limit):
    process = subprocess.Popen(
        [str(word) for word in words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        text, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            text, _ = process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            text, _ = process.communicate()
        return "no end", text
    return process.returncode, text


def individual(options):
    """Variables with which each rank of a collective call of MPI moves its own bytes."""
    hints = options.reports / "hints"
    hints.write_text("".join(f"romio_{kind} disable\n" for kind in ("cb_write", "cb_read", "ds_write", "ds_read")))
    return {"OMPI_MCA_fcoll": "individual", "ROMIO_HINTS": str(hints)}


def test_calls(options, folder):
    """Cases of calls/ in one launch; each has a folder of its name, so that the report tells its files."""
    program, names = options.command
    cases = names.split(",")
    variables = individual(options) if any(CALLS[case][3] for case in cases) else {}
    wrapper = small_storage(folder) if "no_space" in cases else []
    alone = Run(options, [program, names, folder / "alone"], folder / "alone", variables, False, wrapper)
    alone.expect_good("without the library")
    whole = variables | TAKE_ALL
    with_it = Run(options, [program, names, folder / "with", "judged"], folder / "with", whole, True, wrapper)
    with_it.expect_good("with the library")
    expect(alone.results() == with_it.results(), difference(alone.results(), with_it.results()))
    skipped = [case for case in cases if f"skipped {case}" in with_it.lines]
    print(f"skipped: {skipped}")
    for case in cases:
        taken, passed, files, _ = CALLS[case]
        if case in skipped:
            continue
        report = [file for file in with_it.report if f"/{case}/" in file["file"]]
        given = taken_of(report)
        expect(taken <= given, f"{case}: taken: {given}, not all of {taken}\n{report}")
        given = reasons_of(report)
        expect(passed <= given, f"{case}: passed because of {given}, not all of {passed}")
        given = {file["passed_because"] for file in report}
        expect(files <= given, f"{case}: files passed because of {given}, not all of {files}")
    return SKIPPED if skipped == cases else 0


def small_storage(folder):
    """The rest of the command runs where the folder is a file system of 256 KiB."""
    mount = f"mount -t tmpfs -o size=256k none {shlex.quote(str(folder))}"
    code, text = run(["unshare", "-m", "sh", "-c", mount], 20)
    if code != 0:
        print(f"no file system of its own can be mounted here:\n{text}")
        sys.exit(SKIPPED)
    # The folders of the runs are made there too.
    folders = " ".join(shlex.quote(str(folder / name)) for name in ("alone", "with"))
    script = f'{mount} && mkdir {folders} && exec "$@"'
    return ["unshare", "-m", "sh", "-c", script, "sh"]


def test_silent(options, folder):
    """Without a report, files have the same hints."""
    program, case = options.command
    done = Run(options, [program, case, folder / "with", "judged"], folder / "with", TAKE_ALL, reported=False)
    done.expect_good("with the library")
    expect(not done.report, f"a report: {done.report}")
    return 0


def test_small(options, folder):
    """Without settings, small calls are passed."""
    program, case = options.command
    done = Run(options, [program, case, folder / "with"], folder / "with")
    done.expect_good("with the library")
    expect(not done.taken(), f"taken: {done.report}")
    expect("small" in done.reasons(), f"passed because of {done.reasons()}")
    done = Run(options, [program, case, folder / "off"], folder / "off", {"WINDROW_MPIIO": "off"})
    done.expect_good("with the library, off")
    expect(not done.taken(), f"taken: {done.report}")
    done = Run(options, [program, "many_small", folder / "many"], folder / "many")
    done.expect_good("with the library, many calls")
    expect(done.taken() == AT, f"taken: {done.report}")
    return 0


def test_programs(options, folder):
    program, *arguments = options.command
    own = individual(options)  # programs/programs.cpp says why
    alone = Run(options, [program, folder / "alone", *arguments], folder / "alone", own, False)
    alone.expect_good("without the library")
    for name, variables, more in (
        ("taken", {}, ["--strict"]),
        ("mixed", {"WINDROW_MPIIO_SMALL": "3000"}, []),
        ("hosts", {"WINDROW_RANKS_PER_HOST": "4", "WINDROW_BUFFER": "4096"}, ["--strict"]),
    )[: options.variants]:
        done = Run(options, [program, folder / name, *arguments, *more], folder / name, own | TAKE_ALL | variables)
        done.expect_good(f"with the library, {name}")
        expect(alone.results() == done.results(), difference(alone.results(), done.results()))
        counted = sum(int(line.split()[2]) for line in done.lines if re.match(r"calls \w+ \d+$", line))
        print(f"{name}: {done.number(True)} calls taken, {done.number(False)} passed: {sorted(done.reasons())}")
        expect(done.number(True) + done.number(False) >= counted > 0, f"{counted} calls, and fewer in the report")
        expect(done.number(True) >= (0.1 if name == "mixed" else 0.5) * counted, "too few calls were taken")
    return 0


def difference(one, other):
    return "results differ:\n" + "\n".join(
        [f"only without: {line}" for line in one if line not in set(other)][:10]
        + [f"only with: {line}" for line in other if line not in set(one)][:10]
    )


def test_files(options, folder):
    """A program in another language: the same files, and both kinds of calls taken."""
    runs = []
    for name, preloaded in (("alone", False), ("with", True)):
        runs.append(Run(options, [*options.command, folder / name], folder / name, TAKE_ALL, preloaded))
        runs[-1].expect_good(name)
        expect("all right" in runs[-1].text, runs[-1].text)
    expect(runs[0].files() and runs[0].files() == runs[1].files(), "the files differ")
    wanted = {"write_all", "read_at_all", "write_at_all", "read_all"}
    expect(wanted <= runs[1].taken(), f"taken: {runs[1].report}")
    return 0


def test_bystanders(options, folder):
    """Programs without MPI, and the launcher, do as before; the library needs no MPI."""
    folder.mkdir(exist_ok=True)
    environment = {"LD_PRELOAD": options.library, "WINDROW_MPIIO_REPORT": str(folder / "report")}
    preload = ["env", *(f"{name}={value}" for name, value in environment.items())]
    for words in (
        ["sh", "-c", "echo a | cat; (exit 3); echo $?"],
        [sys.executable, "-c", "import json, ctypes; print(json.dumps([1, 2]))"],
        [*options.command, "a", "b"],
        [*options.launcher, "-n", "2", "sh", "-c", "echo rank"],
    ):
        alone, with_it = run(words, options.limit), run([*preload, *words], options.limit)
        expect(alone[0] == 0 and alone == with_it, f"{words}: {alone}\n{with_it}")
    expect(not (folder / "report").exists(), "a report without a file of MPI")
    code, text = run(["readelf", "-d", options.library], options.limit)
    expect(code == 0, text)
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", text)
    print(f"needed: {needed}")
    expect(needed and not [name for name in needed if re.search(r"mpi|stdc|gfortran|windrow", name)], text)
    code, text = run(["nm", "-D", "--defined-only", options.library], options.limit)
    symbols = [line.split()[-1].split("@")[0] for line in text.splitlines()]
    others = [name for name in symbols if not re.fullmatch(r"P?MPI_File_\w+|_init|_fini|_edata|_end|__bss_start", name)]
    expect(code == 0 and not others, f"exported: {others}")
    for name in ("open", "close", "set_view", "write_all", "read_at_all", "write_at_all_begin", "read_all_end"):
        expect(f"MPI_File_{name}" in symbols and f"PMPI_File_{name}" in symbols, f"not exported: {name}")
    return 0


def test_other_mpi(options, folder):
    """A program of an MPI that the core is not built for: it is named, and the program does as before."""
    compiler, launcher, *sources = options.command
    if shutil.which(compiler) is None:
        print(f"there is no {compiler}")
        return SKIPPED
    folder.mkdir(exist_ok=True)
    program = folder / "program"
    code, text = run([compiler, *sources, "-o", program, "-lpthread"], options.limit)
    expect(code == 0, text)
    options.launcher = shlex.split(launcher)
    alone = Run(options, [program, "pointers", folder / "alone"], folder / "alone", {}, False)
    alone.expect_good("without the library")
    done = Run(options, [program, "pointers", folder / "with"], folder / "with", TAKE_ALL)
    done.expect_good("with the library")
    expect(not done.taken(), f"taken: {done.report}")
    told = [line for line in done.lines if "windrow-mpiio" in line]
    print(told)
    expect(len(told) == 1, f"{len(told)} messages: {done.text}")
    return 0


def test_standard_abi(options, folder):
    """A program of MPI's standard ABI is named, and its calls are passed: its handles are not MPI's own."""
    source, compiler = options.command
    folder.mkdir(exist_ok=True)
    library, program = folder / "libmpi_abi.so.1", folder / "program"
    for words in (
        [compiler, "-DIS_MPI", "-shared", "-fPIC", source, "-o", library],
        [compiler, source, library, f"-Wl,-rpath,{folder}", "-o", program],
    ):
        code, text = run(words, options.limit)
        expect(code == 0, text)
    code, text = run(["env", f"LD_PRELOAD={options.library}", program], options.limit)
    print(text)
    told = [line for line in text.splitlines() if "standard ABI" in line]
    expect(code == 0 and "passed" in text.splitlines() and len(told) == 1, f"exit code {code}\n{text}")
    return 0


TESTS = {
    "calls": test_calls,
    "silent": test_silent,
    "small": test_small,
    "programs": test_programs,
    "files": test_files,
    "bystanders": test_bystanders,
    "other_mpi": test_other_mpi,
    "standard_abi": test_standard_abi,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--ranks", type=int, default=3)
    parser.add_argument("--limit", type=float, default=120, help="seconds of each run")
    parser.add_argument("--variants", type=int, default=3, help="of the library's settings in `programs`")
    parser.add_argument("test", choices=TESTS)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    options.launcher = shlex.split(options.launcher)
    with tempfile.TemporaryDirectory(prefix="mpiio ") as name, tempfile.TemporaryDirectory() as reports:
        options.reports = Path(reports)
        try:
            return TESTS[options.test](options, Path(name).resolve())
        except Failure as failure:
            print(failure)
            return 1


sys.exit(main())
