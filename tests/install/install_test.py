# SPDX-License-Identifier: BSD-3-Clause
"""Installs into a fresh folder, moves that folder, and builds and runs a user's project against it.

Arguments: cmake|pkg-config, c|fortran|scorpio, the build folder, the compiler, the launcher with its arguments in one word, and the
name endings of the formats to write.
"""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
# A language's (or a compatible library's) project, source, variable of CMake for the compiler, package of pkg-config and library.
LANGUAGES = {
    "c": (HERE / "project", "main.c", "CMAKE_C_COMPILER", "windrow", "libwindrow.so"),
    "fortran": (HERE / "project_fortran", "main.f90", "CMAKE_Fortran_COMPILER", "windrow-fortran", "libwindrow_fortran.so"),
    "scorpio": (HERE / "project_scorpio", "main.c", "CMAKE_C_COMPILER", "windrow-scorpio", "libwindrow_scorpio.so"),
}


def run(*command: str | Path, **more) -> str:
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, **more)
    if result.returncode != 0:
        sys.exit(f"{shlex.join(map(str, command))}: exit code {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def build_by_cmake(language: str, prefix: Path, work: Path, compiler: str) -> Path:
    project, _, variable, _, _ = LANGUAGES[language]
    run("cmake", "-S", project, "-B", work, f"-DCMAKE_PREFIX_PATH={prefix}", f"-D{variable}={compiler}")
    run("cmake", "--build", work)
    return work / "user"


def build_by_pkg_config(language: str, prefix: Path, work: Path, compiler: str) -> Path:
    project, source, _, package, library_name = LANGUAGES[language]
    (folder,) = prefix.rglob("pkgconfig")
    environment = {**os.environ, "PKG_CONFIG_PATH": str(folder)}
    flags = shlex.split(run("pkg-config", "--cflags", "--libs", package, env=environment))
    (library,) = prefix.rglob(library_name)
    run(compiler, project / source, "-o", work / "user", *flags, f"-Wl,-rpath,{library.parent}")
    return work / "user"


def main(way: str, language: str, build: str, compiler: str, launcher: str, *formats: str) -> None:
    with tempfile.TemporaryDirectory(prefix="windrow-install-") as folder:
        installed, prefix, work = Path(folder, "installed"), Path(folder, "a moved prefix"), Path(folder, "work")
        run("cmake", "--install", build, "--prefix", installed)
        shutil.move(installed, prefix)
        work.mkdir()
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
