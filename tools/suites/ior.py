# SPDX-License-Identifier: BSD-3-Clause
"""IOR 4, collective: writes, checks what was written (-W), reads and checks what was read (-R)."""

LEAST_TAKEN = 0.9
VIEW = "--mpiio.useFileView"
CASES = {
    "contiguous": "-b 4m -t 1m",
    "interleaved": "-b 256k -t 256k -s 16",
    "several segments": "-b 1m -t 256k -s 4",
    "small": "-b 4k -t 1k -s 64",
    "reordered": "-b 1m -t 256k -s 4 -C",
    "preallocated": "-b 1m -t 1m -s 4 --mpiio.preallocate",
    "view": f"-b 1m -t 256k -s 4 {VIEW}",
    "view, interleaved": f"-b 64k -t 64k -s 32 {VIEW}",
    "file per rank": "-b 1m -t 256k -F",
}


def build(bench):
    bench.shell(f"cp -r {bench.source('ior*')}/. . && autoreconf -i && ./configure MPICC={bench.cc} && make -C src ior")


def tests(bench):
    for ranks in (3, 4):
        for case, options in CASES.items():
            name = f"{case}, {ranks} ranks"
            words = "-a MPIIO -c -w -W -r -R -o ior.data".split() + options.split()
            verdict = says(name, r"(?s)^(?!.*([Ii]ncorrect|FAILED|errors? found)).*\nread .*Finished")
            yield Test(name, bench.launch(ranks) + ["src/ior"] + words, bench.build, verdict)
