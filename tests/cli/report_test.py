# SPDX-License-Identifier: BSD-3-Clause
"""The command windrow report: a program runs with WINDROW_TRACE, and the report of the trace is equal to the program's
windrow_report().

Run by CTest with WINDROW_COMMAND, WINDROW_TRACED and WINDROW_TRACED_BYTES (the programs), WINDROW_MPIRUN (a
shell-split command that takes -n) and WINDROW_RANKS.
"""

import html.parser
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
import unittest
import xml.etree.ElementTree as ElementTree

COMMAND = os.environ["WINDROW_COMMAND"]
TRACED = os.environ["WINDROW_TRACED"]
TRACED_BYTES = os.environ["WINDROW_TRACED_BYTES"]
MPIRUN = shlex.split(os.environ["WINDROW_MPIRUN"])
RANKS = int(os.environ["WINDROW_RANKS"])
LIMIT_S = 60  # a hang is a failure
NAMES = [
    "/temperature <b>of</b> \"sea\" & 'air'",
    "/a very long name of a group/and of a variable whose name is long as well, as some are in models of the climate, "
    "é",
]
SVG = "{http://www.w3.org/1999/xhtml}svg"


def run(*words, ranks=RANKS, env=None):
    launch = [] if ranks == 1 else [*MPIRUN, "-n", str(ranks)]  # alone it needs no launcher
    return subprocess.run(
        [*launch, *map(str, words)], capture_output=True, text=True, timeout=LIMIT_S, env={**os.environ, **(env or {})}
    )


def our_lines(done):
    return [line for line in done.stderr.splitlines() if line.startswith("windrow: ")]


def in_seconds(text):
    number, unit = text.split()
    return float(number) * {"µs": 1e-6, "ms": 1e-3, "s": 1}[unit]


class Links(html.parser.HTMLParser):
    """Everything that a page would load, and its tags."""

    def __init__(self):
        super().__init__()
        self.links, self.tags = [], set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.links += [value for name, value in attrs if name in ("src", "href", "srcset", "data")]


class ReportTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="windrow report ")
        self.addCleanup(shutil.rmtree, self.folder)
        self.trace = self.path("a trace & more.jsonl")

    def path(self, name):
        return os.path.join(self.folder, name)

    def make(self, steps=3, width=20, ranks=RANKS, **env):
        """Reports of the program that is traced, a flush each."""
        done = run(
            TRACED, self.path("file <&>.raw"), steps, width, ranks=ranks, env={"WINDROW_TRACE": self.trace, **env}
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]

    def lines(self):
        with open(self.trace, encoding="utf-8") as f:
            return f.read().splitlines(keepends=True)

    def report(self, *words, ranks=1):
        return run(COMMAND, "report", self.trace, *words, ranks=ranks)

    def page(self):
        out = self.path("page.html")
        done = self.report("--quiet", "--html", out)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        root = ElementTree.parse(out).getroot()
        with open(out, encoding="utf-8") as f:
            text = f.read()
        links = Links()
        links.feed(text)
        self.assertEqual(links.links, [])
        self.assertLessEqual(
            links.tags,
            {
                "html",
                "head",
                "meta",
                "title",
                "style",
                "body",
                "h1",
                "h2",
                "h3",
                "p",
                "section",
                "div",
                "table",
                "thead",
                "tbody",
                "tr",
                "th",
                "td",
                "details",
                "summary",
                "svg",
                "rect",
                "text",
                "line",
                "span",
                "b",
                "br",
                "ul",
                "li",
            },
        )
        self.assertNotRegex(text, r"@import|url\(|<script")
        self.assertEqual(text.count("http"), 1)  # the name space of XHTML
        for rectangle in root.iter("{http://www.w3.org/1999/xhtml}rect"):
            for side in ("x", "y", "width", "height"):
                number = float(rectangle.get(side, "0"))
                self.assertTrue(0 <= number < 1e5, f"{side}={number}")
        return root, text

    def assert_mistake(self, done, *words, code=2):
        self.assertEqual(done.returncode, code, done.stderr)
        lines = our_lines(done)
        self.assertEqual(len(lines), 1, done.stderr)
        for word in words:
            self.assertIn(word, lines[0])


class Traced(ReportTest):
    def test_trace_and_table_say_what_the_program_was_told(self):
        reports = self.make()
        lines = [json.loads(line) for line in self.lines()]
        details = [line for line in lines if "report" in line]
        flushes = [line for line in lines if "flush" in line]
        self.assertEqual(
            [flush["details"] for flush in flushes], [1, 1, 1, 1]
        )  # three of one plan, and of another opening one
        for flush, report in zip(flushes, reports, strict=True):
            for key in (
                "bytes",
                "bytes_written",
                "bytes_read",
                "write_requests",
                "read_requests",
                "messages",
                "bytes_sent",
                "writers",
            ):
                self.assertEqual(flush[key], report[key], key)
        for flush, report in zip(details, (reports[0], reports[3]), strict=True):
            for key, value in flush["report"].items():
                self.assertEqual(value, report[key], key)
            for key in (
                "bytes_written",
                "bytes_read",
                "write_requests",
                "read_requests",
                "messages",
                "bytes_sent",
                "bytes_copied",
                "bytes_shared",
                "writers",
            ):
                self.assertEqual(sum(flush["by_rank"][key]), report[key], key)
        self.assertEqual([each["variable"] for each in details[0]["queue"]], NAMES)
        done = self.report(ranks=RANKS)
        self.assertEqual((done.returncode, our_lines(done)), (0, []), done.stderr)
        rows = [line for line in done.stdout.splitlines() if re.match(r" +\d+  ", line)]
        self.assertEqual(len(rows), len(reports))
        for row, report in zip(rows, reports):
            fields = re.split(r"  +", row.strip())
            self.assertEqual(int(fields[11]), report["messages"])
            self.assertEqual(int(fields[12]), report["storage_requests"])
            plan = report["plans"][0]
            chosen = next(each for each in plan["predicted"]["alternatives"] if each["chosen"])
            self.assertAlmostEqual(
                in_seconds(fields[14]), chosen["seconds"]["flush"], delta=0.01 * chosen["seconds"]["flush"]
            )
            self.assertEqual(
                fields[15],
                f"{plan['strategy']}: "
                + ", ".join(plan[axis] for axis in ("owner", "gather", "domains", "codec", "access", "files")),
            )

    def test_page(self):
        reports = self.make(WINDROW_STRATEGY="two-phase", WINDROW_LAYOUT="mock:stripe=16KiB,count=5")
        root, text = self.page()
        words = " ".join(root.itertext())
        for name in NAMES:
            self.assertIn(name, words)
        self.assertNotIn("<b>of", text)
        for reason in reports[0]["plans"][0]["reasons"]:
            self.assertIn(reason, words)
        titles = [svg.get("aria-label") for svg in root.iter(SVG) if svg.get("aria-label")]
        self.assertEqual(
            {
                "Seconds of each flush by stage",
                "Timeline of each rank",
                "Bytes by rank and target",
                "Requests by size",
                "Alternatives by predicted seconds",
            },
            set(titles),
        )
        for each in reports[0]["plans"][0]["predicted"]["alternatives"]:
            self.assertIn(each["strategy"] + ": storage ", words)
        self.assertIn("this machine was not measured", words)
        for rank in range(RANKS):
            self.assertIn(f"rank {rank}: exchange from", words)
        self.assertRegex(words, r"rank 0, (target|stripe) \d: ")

    def test_a_file_of_plain_bytes(self):
        done = run(TRACED_BYTES, self.path("bytes"), env={"WINDROW_TRACE": self.trace})
        self.assertEqual(done.returncode, 0, done.stderr)
        reports = [json.loads(line) for line in done.stdout.splitlines()]
        table = self.report()
        self.assertEqual(table.returncode, 0, table.stderr)
        self.assertEqual(table.stdout.count("plain bytes"), 3)
        text = "".join(self.page()[0].itertext())
        self.assertIn("Flush 3: plain bytes", text)
        self.assertIn("plain byteswrite", text)
        self.assertIn("Alternatives", text)
        kinds = json.loads(run(COMMAND, "advise", self.trace, "--json").stdout)["kinds"]
        self.assertEqual(
            [(kind["direction"], kind["bytes"], kind["flushes"]) for kind in kinds],
            [("write", reports[0]["bytes"], [1, 2]), ("read", reports[2]["bytes"], [3])],
        )

    def test_many_flushes(self):
        self.make(steps=100, width=1)
        root, text = self.page()
        self.assertIn("Drawn below: 12 of 100 flushes", text)
        bars = next(root.iter(SVG[:-3] + "section"))
        self.assertGreaterEqual(len(list(bars.iter(SVG[:-3] + "details"))), 12)

    def test_details_that_are_there_once_are_those_of_each_flush(self):
        """With details of its own for each flush all commands say the same."""
        self.make(steps=30)
        lines = [json.loads(line) for line in self.lines()]

        def told():
            root, _ = self.page()
            advice = run(COMMAND, "advise", self.trace, "--json").stdout
            simulated = [
                run(COMMAND, "simulate", self.trace, "--machine", "mercury", "--json", "--flush", flush).stdout
                for flush in (1, 30, 31)
            ]
            return (
                self.report().stdout,
                ["".join(table.itertext()) for table in root.iter(SVG[:-3] + "table")],
                advice,
                simulated,
            )

        once = told()
        self.assertEqual(json.loads(once[2])["kinds"][0]["flushes"], list(range(1, 31)))
        self.assertEqual(once[3][1], once[3][0])
        self.assertEqual(sum("report" in line for line in lines), 2)
        with open(self.trace, "w", encoding="utf-8") as f:
            for line in lines:
                if "report" in line:
                    details = line
                elif "flush" in line:
                    for each in ({**details, "details": line["flush"]}, {**line, "details": line["flush"]}):
                        f.write(json.dumps(each) + "\n")
                else:
                    f.write(json.dumps(line) + "\n")
        self.assertEqual(len(self.lines()), 2 + 2 * 31)
        self.assertEqual(told(), once)

    def test_flushes_without_details(self):
        self.make()
        lines = self.lines()
        with open(self.trace, "w", encoding="utf-8") as f:
            f.writelines([*lines[:4], lines[4].replace('"details":1', '"details":null'), *lines[5:]])
        rows = [re.split(r"  +", row.strip()) for row in self.report().stdout.splitlines() if re.match(r" +\d+  ", row)]
        self.assertEqual([row[1] == "-" for row in rows], [False, False, True, False])
        self.assertEqual(rows[2][-1], rows[1][-1], "the strategy is there")
        self.assertIn("The trace has no details of it.", self.page()[1])
        self.assertIn("without details in the trace: 1 flush", run(COMMAND, "advise", self.trace).stdout)
        self.assert_mistake(
            run(COMMAND, "simulate", self.trace, "--machine", "mercury", "--flush", 3), "has no details of flush 3"
        )

    def test_a_killed_program_leaves_a_trace(self):
        program = subprocess.Popen(
            [TRACED, self.path("file.raw"), "1000000000", "1"],
            stdout=subprocess.DEVNULL,
            env={**os.environ, "WINDROW_TRACE": self.trace},
        )
        end = time.monotonic() + LIMIT_S
        while time.monotonic() < end and (not os.path.exists(self.trace) or os.path.getsize(self.trace) < 200_000):
            time.sleep(0.01)
        program.kill()
        program.wait()
        done = (
            self.report()
        )  # all that was appended; of what was being appended when it was killed a line may be truncated
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertTrue(all("truncated" in line for line in our_lines(done)), done.stderr)
        rows = [int(row.split()[0]) for row in done.stdout.splitlines() if re.match(r" *\d+  ", row)]
        self.assertEqual(
            rows, list(range(1, 1 + sum('"plans_left_out"' in line and line.endswith("\n") for line in self.lines())))
        )
        self.assertGreater(len(rows), 150)

    def test_the_sample_of_the_documentation(self):
        self.trace = os.path.join(
            os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "samples", "trace.jsonl"
        )
        done = self.report()
        self.assertEqual((done.returncode, our_lines(done)), (0, []), done.stderr)
        self.assertEqual(len([line for line in done.stdout.splitlines() if re.match(r" +1  ", line)]), 2)

    def test_a_name_that_is_no_utf8(self):
        self.make(steps=1)
        named = os.path.join(os.fsencode(self.folder), b"\xff\xfe<")
        shutil.copy(self.trace, named)
        done = subprocess.run(
            [COMMAND, "report", named, "--quiet", "--html", self.path("page.html")],
            capture_output=True,
            timeout=LIMIT_S,
        )
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        ElementTree.parse(self.path("page.html"))

    def test_no_flush(self):
        self.make(steps=0)
        self.assertEqual(len(self.lines()), 2)
        self.assertIn("no flush moved data", self.report().stdout)
        self.assertIn("No flush moved data", self.page()[1])

    def test_many_ranks_that_a_line_stands_for(self):
        """64 lanes, and a hundred writers of a hundred targets, without as many ranks."""
        self.make(steps=1)
        opening, details, flush, *_ = (json.loads(line) for line in self.lines())
        opening["ranks"] = 6000
        lane = details["timeline"][0]
        details["timeline"] = [{**lane, "rank": rank} for rank in range(64)]
        details["targets"] = [
            [rank, target, rank * 1000 + target] for rank in range(100) for target in (*range(64), -1)
        ]
        with open(self.trace, "w", encoding="utf-8") as f:
            for line in (opening, details, flush):
                f.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
        root, text = self.page()
        self.assertIn("64 of 6000 ranks.", text)
        for row in range(50):
            self.assertIn(f"{2 * row}–{2 * row + 1}, ", text)  # two writers a row
        self.assertIn("others", text)


class Damaged(ReportTest):
    def test_cut_short(self):
        self.make()
        lines = self.lines()
        for cut in (3, len(lines[3]) // 2, len(lines[3]) - 2):
            with open(self.trace, "w", encoding="utf-8") as f:
                f.writelines([*lines[:3], lines[3][:cut]])
            done = self.report("--html", self.path("page.html"))
            self.assert_mistake(done, self.trace, "line 4", "truncated", code=1)
            self.assertRegex(done.stdout, r"\n +1  ")  # what came before
            with open(self.path("page.html"), encoding="utf-8") as f:
                self.assertIn("line 4: the line is truncated", f.read())

    def test_a_line_in_the_middle(self):
        self.make()
        lines = self.lines()
        more = json.loads(lines[1])
        for wrong in (
            "{}\n",
            "\n",
            "null\n",
            "[1]\n",
            '{"opening":7}\n',
            lines[1],
            lines[1].replace('"details":1', '"details":2').replace('"timeline":[', '"timeline":[7,'),
            lines[2].replace('"opening":"', '"opening":"x'),
            lines[2],
            lines[3].replace('"details":1', '"details":2'),
            "\udcff\x00\n",
            json.dumps(
                {**more, "details": 2, "timeline": [{**more["timeline"][0], "intervals": [["nothing", 0, 1, 1, 0]]}]}
            )
            + "\n",
        ):
            with open(self.trace, "w", encoding="utf-8", errors="surrogateescape") as f:
                f.writelines([*lines[:3], wrong, *lines[3:]])
            self.assert_mistake(
                self.report("--html", self.path("page.html")), self.trace, "line 4", "not a line of a trace", code=1
            )
            ElementTree.parse(self.path("page.html"))
        self.assert_mistake(self.report(ranks=RANKS), self.trace, "line 4", code=1)

    def test_hostile_numbers(self):
        self.make()
        lines = self.lines()
        numbers = json.loads(lines[3])
        for wrong in (
            {"bytes": -1},
            {"bytes": None},
            {"bytes": 1.5},
            {"bytes": [1]},
            {"bytes": 1e308},
            {"total_ns": "1"},
            {"storage_ns": -1},
            {"describe_sum_ns": None},
            {"write_requests": 2**63 - 1},
            {"read_requests": 2**64 - 1},
            {"flush": 1},
            {"flush": [2]},
            {"details": 3},
            {"details": -1},
            {"details": "1"},
            {"opening": "other"},
        ):
            with open(self.trace, "w", encoding="utf-8") as f:
                f.writelines([*lines[:3], json.dumps({**numbers, **wrong}) + "\n", *lines[4:]])
            self.assert_mistake(self.report(), self.trace, "line 4", "not a line of a trace", code=1)
        self.assertIn("line 4: not a line of a trace", run(COMMAND, "advise", self.trace).stderr)

    def test_a_last_line_without_its_end(self):
        """Whole but for the end of the line: not truncated if it says what cannot be."""
        self.make()
        lines = self.lines()
        for last, words in (
            (lines[3].rstrip("\n").replace('"flush":', '"flush":-', 1), "not a line of a trace"),
            (lines[3].rstrip("\n")[:-1], "truncated"),
        ):
            with open(self.trace, "w", encoding="utf-8") as f:
                f.writelines([*lines[:3], last])
            self.assert_mistake(self.report(), self.trace, "line 4", words, code=1)

    def test_lists_within_lists(self):
        """Many levels deep: what walks them calls itself for each."""
        self.make()
        deep = "[" * 200_000 + "]" * 200_000
        opening, *others = self.lines()
        for name, text, line in (
            ("version", '{"windrow trace":' + deep + "}\n", 1),
            ("flush", opening + '{"opening":' + deep + "}\n", 2),
        ):
            with self.subTest(name):
                with open(self.trace, "w", encoding="utf-8") as f:
                    f.write(text)
                for done in (
                    self.report(),
                    run(COMMAND, "advise", self.trace),
                    run(COMMAND, "simulate", self.trace, "--machine", "jaguar"),
                ):
                    self.assertIn(f"line {line}: not a line of a trace: lists are nested", done.stdout + done.stderr)

    def test_another_version(self):
        self.make()
        lines = self.lines()
        for version in (1, 2, 4):
            with open(self.trace, "w", encoding="utf-8") as f:
                f.writelines([lines[0].replace('{"windrow trace":3', f'{{"windrow trace":{version}'), *lines[1:]])
            for words in (["report"], ["advise"], ["simulate", "--machine", "jaguar"]):
                self.assert_mistake(
                    run(COMMAND, words[0], self.trace, *words[1:]),
                    self.trace,
                    "line 1",
                    f"version {version}",
                    "reads version 3",
                )

    def test_no_trace(self):
        for content, words in (
            (b"", ["is empty", "not a trace"]),
            (b"\x89HDF\r\n\x1a\n" + bytes(2000), ["line 1", "not a trace"]),
            (b'{"flush":1}\n', ["line 1", "not a trace"]),
        ):
            with open(self.trace, "wb") as f:
                f.write(content)
            self.assert_mistake(self.report(ranks=RANKS), self.trace, *words)
        os.remove(self.trace)
        self.assert_mistake(self.report(), self.trace, "o such file")
        os.mkdir(self.trace)
        self.assert_mistake(self.report(), self.trace, "folder")

    def test_every_byte_that_is_cut_off_is_an_error_and_no_crash(self):
        self.make(steps=1, ranks=1)
        with open(self.trace, "rb") as f:
            whole = f.read()
        for cut in range(1, len(whole) - 1, len(whole) // 12):
            with open(self.trace, "wb") as f:
                f.write(whole[:cut])
            done = self.report()
            if whole[:cut].endswith(b"\n"):
                continue
            self.assertIn(done.returncode, (1, 2), done.stderr)
            self.assertEqual(len(our_lines(done)), 1, done.stderr)

    def test_a_page_that_cannot_be_written(self):
        self.make(steps=1)
        self.assert_mistake(self.report("--html", self.path("none/page.html")), "none/page.html")
        self.assert_mistake(self.report("--html", self.trace), "would replace its trace")
        self.assertEqual(self.report().returncode, 0)


if __name__ == "__main__":
    unittest.main()
