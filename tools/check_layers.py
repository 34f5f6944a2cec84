#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the dependencies between modules: tools/check_layers.py [ROOT].

tools/layers.txt names the dependencies of each module. Errors are: an #include of another module, MPI, clocks, files
and mutable globals in pure modules, and two types with one name in one namespace, because the linker uses the
destructor of one for both. A file of C++ that is too long is an error too. Exit code 1: errors.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

SOURCES = {".h", ".hpp", ".c", ".cpp", ".cc", ".inc", ".ipp"}
MAX_LINES = 600  # of a file of C++ in src/, cli/ and include/
OUTSIDE = "include"  # the pseudo-module of include/windrow/, which every module may use

# What a pure module must not use: ranks, time, files, threads of control, randomness that differs from run to run.
IMPURE_HEADERS = {
    "mpi.h", "chrono", "ctime", "time.h", "sys/time.h", "fstream", "iostream", "filesystem", "cstdio", "stdio.h",
    "fcntl.h", "unistd.h", "sys/stat.h", "sys/mman.h", "sys/types.h", "thread", "pthread.h", "mutex", "future",
    "hdf5.h",
}  # fmt: skip
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)
# A variable at the left margin or after static/thread_local, not const, not constexpr, no function: `int counter = 0;`.
MUTABLE_GLOBAL = re.compile(
    r"^(?!\s*(?:using|typedef|return|friend|extern|namespace|template|case|goto|delete|throw|else|public|private)\b)"
    r"(?:(?:static|inline|thread_local)\s+)*(?![^=;({]*\b(?:const|constexpr|class|struct|enum|union|operator)\b)"
    r"[A-Za-z_][\w:]*(?:<[^;={}]*>)?[\s&*]+([A-Za-z_]\w*)(?:\[\w*\])?\s*(?:=[^;=]*|\{[^;]*\})?;",
    re.MULTILINE,
)
STATIC_LOCAL = re.compile(
    r"^[ \t]+(?:static|thread_local)\s+(?!.*\b(?:const|constexpr)\b)[\w:<>,\s&*]+?\s(\w+)\s*(?:=|\{|;)", re.MULTILINE
)

NAMESPACE_OR_TYPE = re.compile(
    r"^(?:namespace (?P<namespace>[\w:]*) ?\{|\}  // namespace|(?:struct|class) (?P<type>\w+)(?: final)?"
    r"(?: :[^{;]*)?\s*\{)",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Rules:
    depends_on: dict[str, list[str]]
    pure: set[str]


@dataclass(frozen=True)
class Finding:
    path: Path
    line: int
    text: str

    def show(self, root: Path) -> str:
        return f"{self.path.relative_to(root)}:{self.line}: error: {self.text}"


def read_rules(path: Path) -> Rules:
    depends_on: dict[str, list[str]] = {}
    pure: set[str] = set()
    for number, raw in enumerate(path.read_text().splitlines(), 1):
        line = raw.split("#")[0].strip()
        if not line:
            continue
        name, colon, rest = line.partition(":")
        if not colon:
            raise SystemExit(f"{path}:{number}: expected `module: modules it depends on`")
        if name.strip() == "pure":
            pure |= set(rest.split())
        else:
            depends_on[name.strip()] = rest.split()
    unknown = {below for modules in depends_on.values() for below in modules} | pure
    unknown -= set(depends_on) | {OUTSIDE}
    if unknown:
        raise SystemExit(f"{path}: these modules are named but have no line: {' '.join(sorted(unknown))}")
    return Rules(depends_on, pure)


def below(module: str, rules: Rules, path_above: tuple[str, ...] = ()) -> set[str]:
    """The modules that a module may include: itself, its dependencies, and theirs."""
    if module in path_above:
        raise SystemExit(f"tools/layers.txt: the dependencies have a cycle: {' -> '.join((*path_above, module))}")
    allowed = {module, OUTSIDE}
    for other in rules.depends_on.get(module, []):
        if other != OUTSIDE:
            allowed |= below(other, rules, (*path_above, module))
    return allowed


def without_comments(text: str) -> str:
    """The same text with comments blanked, so that line numbers stay and commented includes do not count."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)

    def blank(match: re.Match[str]) -> str:
        found = match.group(0)
        return found if found.startswith('"') else re.sub(r"[^\n]", " ", found)

    return pattern.sub(blank, text)


def module_of_include(target: str, including: Path, root: Path, own: str) -> str | None:
    """The module of an included header; None: not a header of the project."""
    resolved = (including.parent / target).resolve()
    if resolved.is_file():
        if (root / "src") in resolved.parents:
            return resolved.relative_to(root / "src").parts[0]
        if (root / "include") in resolved.parents:
            return OUTSIDE
        return resolved.relative_to(root).parts[0] if root in resolved.parents else None
    first = target.split("/")[0]
    if target.startswith("windrow/"):
        return OUTSIDE
    if "/" in target and (root / "src" / first).is_dir():
        return first
    return own if (root / own / target).is_file() else None


def check_file(path: Path, module: str, root: Path, rules: Rules) -> list[Finding]:
    text = without_comments(path.read_text(errors="replace"))
    allowed = below(module, rules)
    findings = []

    def found(position: int, message: str) -> None:
        findings.append(Finding(path, text.count("\n", 0, position) + 1, message))

    for match in INCLUDE.finditer(text):
        target = match.group(1) or match.group(2)
        reached = module_of_include(target, path, root, module)
        if reached is not None and reached not in allowed:
            found(
                match.start(),
                f"{module} includes {target}: {module} depends on {' '.join(sorted(allowed - {module}))} only",
            )
        if module in rules.pure and target in IMPURE_HEADERS:
            found(match.start(), f"{module} is pure and includes <{target}>")
    if module in rules.pure:
        for pattern in (MUTABLE_GLOBAL, STATIC_LOCAL):
            for match in pattern.finditer(text):
                if pattern is MUTABLE_GLOBAL and text[match.start()].isspace():
                    continue  # inside a function or a class
                found(match.start(), f"{module} is pure and has the mutable global `{match.group(1)}`")
    return findings


def types_of(text: str) -> list[tuple[str, int]]:
    """The types at the left margin with their namespaces and lines, without unnamed namespaces and templates."""
    found = []
    namespaces: list[str] = []
    for match in NAMESPACE_OR_TYPE.finditer(text):
        if match["type"]:
            is_template = text[: match.start()].rstrip().endswith(">")
            if "" not in namespaces and not is_template:
                found.append(("::".join([*namespaces, match["type"]]), text.count("\n", 0, match.start()) + 1))
        elif match["namespace"] is not None:
            namespaces.append(match["namespace"])
        elif namespaces:
            namespaces.pop()
    return found


def check_types(files: list[Path], root: Path) -> list[Finding]:
    """One program may contain all of src/ and cli/, so a type must not be defined twice."""
    first: dict[str, Path] = {}
    findings = []
    for path in files:
        for name, line in types_of(path.read_text(errors="replace")):
            other = first.setdefault(name, path)
            if other != path:
                findings.append(Finding(path, line, f"{name} is another type in {other.relative_to(root)}"))
    return findings


def check_lengths(root: Path) -> list[Finding]:
    findings = []
    files = [path for name in ("src", "cli", "include") for path in sorted((root / name).rglob("*.[ch]pp"))]
    for path in files:
        lines = path.read_text(errors="replace").count("\n")
        if lines > MAX_LINES:
            findings.append(Finding(path, lines, f"{lines} lines; the maximum is {MAX_LINES}"))
    return findings


def check(root: Path) -> list[Finding]:
    rules = read_rules(root / "tools" / "layers.txt")
    findings: list[Finding] = []
    folders = [folder for folder in sorted((root / "src").iterdir()) if folder.is_dir()]
    folders += [root / name for name in rules.depends_on if (root / name).is_dir() and name != OUTSIDE]
    for folder in folders:
        files = [path for path in sorted(folder.rglob("*")) if path.suffix in SOURCES]
        if files and folder.name not in rules.depends_on:
            findings.append(Finding(files[0], 1, f"the module {folder.name} has no line in tools/layers.txt"))
        for path in files:
            findings += check_file(path, folder.name, root, rules)
    library = [path for name in ("src", "cli") for path in sorted((root / name).rglob("*")) if path.suffix in SOURCES]
    return findings + check_types(library, root) + check_lengths(root)


def main(arguments: list[str]) -> int:
    root = Path(arguments[0] if arguments else Path(__file__).parent.parent).resolve()
    findings = check(root)
    for finding in findings:
        print(finding.show(root))
    print(f"check_layers: {len(findings)} errors")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
