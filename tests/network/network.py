# SPDX-License-Identifier: BSD-3-Clause
"""For the tests over tools/network: run it, and skip where it cannot run."""

import os
import shlex
import subprocess
import sys
import unittest
from pathlib import Path

TOOL = str(Path(__file__).resolve().parents[2] / "tools" / "network")
LAUNCHER = shlex.split(os.environ["WINDROW_LAUNCHER"])
SKIP = 77
LIMIT_S = 60  # a hang is a failure
WITH = [TOOL, "with", "--hosts", "4", "--ranks-per-host", "2"]
# The staying network of these tests, beside one that a developer may have up.
STAYING = {**os.environ, "WINDROW_NETWORK": f"windrow-test{os.getpid()}"}


def run(*command: str, **more) -> subprocess.CompletedProcess:
    return subprocess.run(command, **{"capture_output": True, "text": True, "timeout": LIMIT_S, **more})


def spaces(name: str) -> list[str]:
    return [line for line in run("ip", "netns", "list").stdout.split() if line.startswith(name + "-")]


def main() -> None:
    tried = run(*WITH, "--", *LAUNCHER, "-n", "1", "true")
    if tried.returncode == SKIP:
        print(tried.stderr)
        sys.exit(SKIP)
    unittest.main()
