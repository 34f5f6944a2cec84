# SPDX-License-Identifier: BSD-3-Clause
"""Installs into a fresh folder, moves that folder, and builds and runs a user's project against it, without
LD_LIBRARY_PATH.

Arguments: cmake|pkg-config|readme, c|cxx|fortran|scorpio, the build folder, the compiler (readme: MPI's wrapper of
it), the launcher with its arguments in one word, and the name endings of the formats to write.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
README = HERE.parents[1] / "README.md"
# A language's (or a compatible library's) project, source, variable of CMake for the compiler and package of
# pkg-config.
LANGUAGES = {
    "c": (HERE / "project", "main.c", "CMAKE_C_COMPILER", "windrow"),
    "cxx": (HERE / "project_cxx", "main.cpp", "CMAKE_CXX_COMPILER", "windrow"),
    "fortran": (HERE / "project_fortran", "main.f90", "CMAKE_Fortran_COMPILER", "windrow-fortran"),
    "scorpio": (HERE / "project_scorpio", "main.c", "CMAKE_C_COMPILER", "windrow-scorpio"),
}


def run(*command: str | Path, **more) -> str:
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, **more)
    if result.returncode != 0:
        sys.exit(f"{shlex.join(map(str, command))}: exit code {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def build_by_cmake(language: str, prefix: Path, work: Path, compiler: str) -> Path:
    project, _, variable, _ = LANGUAGES[language]
    run("cmake", "-S", project, "-B", work, f"-DCMAKE_PREFIX_PATH={prefix}", f"-D{variable}={compiler}")
    run("cmake", "--build", work)
    return work / "user"


def build_by_pkg_config(language: str, prefix: Path, work: Path, compiler: str) -> Path:
    project, source, _, package = LANGUAGES[language]
    (folder,) = prefix.rglob("pkgconfig")
    environment = {**os.environ, "PKG_CONFIG_PATH": str(folder)}
    flags = shlex.split(run("pkg-config", "--cflags", "--libs", package, env=environment))
    run(compiler, project / source, "-o", work / "user", *flags)
    return work / "user"


def run_readme(language: str, prefix: Path, work: Path, wrapper: str, launcher: str) -> None:
    """README's program, compiled by the line that follows it there, with this build's MPI under the names of the
    line."""
    name, ending = {"c": ("mpicc", "c"), "fortran": ("mpifort", "f90")}[language]
    text = README.read_text()
    (block,) = re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (line,) = re.findall(rf"^{name} program\.{ending} .*$", text, re.MULTILINE)
    (work / f"program.{ending}").write_text(block)
    tools = work / "tools"
    tools.mkdir()
    for tool, command in ((name, wrapper), ("mpirun", launcher)):
        (tools / tool).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        (tools / tool).chmod(0o755)
    (folder,) = prefix.rglob("pkgconfig")
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "PKG_CONFIG_PATH": str(folder)}
    if "mpirun" not in line:
        line += " && mpirun -n 4 ./program"
    run("sh", "-c", line, cwd=work, env=environment)
    if not (work / "out.h5").is_file():
        sys.exit("out.h5 was not written")


def main(way: str, language: str, build: str, compiler: str, launcher: str, *formats: str) -> None:
    os.environ.pop("LD_LIBRARY_PATH", None)
    with tempfile.TemporaryDirectory(prefix="windrow-install-") as folder:
        installed, prefix, work = Path(folder, "installed"), Path(folder, "a moved prefix"), Path(folder, "work")
        run("cmake", "--install", build, "--prefix", installed)
        work.mkdir()
        if way == "readme":
            return run_readme(language, installed, work, compiler, launcher)
        shutil.move(installed, prefix)
        program = (build_by_cmake if way == "cmake" else build_by_pkg_config)(language, prefix, work, compiler)
        for ending in formats:
            file = work / f"user.{ending}"
            output = run(*shlex.split(launcher), "-n", "3", program, file)
            if not (output.startswith("windrow 0.") and output.endswith(": 3 rows\n")):
                sys.exit(f"unexpected output: {output!r}")
            if not file.is_file():
                sys.exit(f"{file.name} was not written")


if __name__ == "__main__":
    main(*sys.argv[1:])
