# SPDX-License-Identifier: BSD-3-Clause
"""Links and paths lead somewhere, and architecture and glossary agree with the source."""

import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(([^)\s]+)\)")
NAMED = re.compile(r"(?<![\w/.-])docs/[\w./-]+\.(?:md|svg|jsonl)\b")
PAGE = "docs/internals/architecture.md"
GLOSSARY = "docs/internals/glossary.md"
ELSEWHERE = {"docs/map_file.md"}  # of another repository
SUFFIXES = {".md", ".py", ".c", ".h", ".cpp", ".hpp", ".f90", ".txt", ".cmake", ".toml", ".ipynb", ""}
MODULE = re.compile(r"^\| (?:\[(\w+)\]\(modules/\w+\.md\)|(\w+))(, pure)? \| .* \| ([\w, .;]*) ?\|$", re.MULTILINE)


def sources() -> list[Path]:
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if not name.startswith((".", "build", "__"))]
        found += [Path(folder, name) for name in names if Path(name).suffix in SUFFIXES]
    return sorted(found)


def anchors(page: Path) -> set[str]:
    """As GitHub makes them of headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading.lower())) for heading in headings}


def bad_links(page: Path, text: str) -> list[str]:
    bad = []
    for link in LINK.findall(text):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            bad.append(f"{page.relative_to(ROOT)}: nothing is at {link}")
    return bad


def bad_paths(source: Path, text: str) -> list[str]:
    missing = {path for path in NAMED.findall(text) if not (ROOT / path).exists()} - ELSEWHERE
    return [f"{source.relative_to(ROOT)}: there is no {path}" for path in sorted(missing)]


def bad_names(page: str, glossary: str) -> list[str]:
    """Names in the pictures of a write and a read, and in the glossary, that the source does not have."""
    paths = list((ROOT / "src").rglob("*.[ch]pp"))
    source = "\n".join([path.stem for path in paths] + [path.read_text() for path in paths])
    pictures = "\n".join(re.findall(r"^```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    names = set(re.findall(r"\b[A-Z][a-z]+\w*::\w+|\b[a-z]+(?:_[a-z]+)+\b", pictures))
    for cell in re.findall(r"^\| (`[^|]*)\|", glossary, re.MULTILINE):
        names.update(re.findall(r"`(\w+)`", cell))
    words = set(re.findall(r"\w+", source))
    missing = [name for name in sorted(names) if not words.issuperset(name.split("::"))]
    return [f"{PAGE} or {GLOSSARY}: src/ has no {name}" for name in missing]


def bad_modules(page: str) -> list[str]:
    """Lines of the table of modules that differ from tools/layers.txt."""
    layers = dict(re.findall(r"^(\w+):(.*)$", (ROOT / "tools" / "layers.txt").read_text(), re.MULTILINE))
    pure = set(layers.pop("pure").split())
    written = {}
    for linked, plain, is_pure, below in MODULE.findall(page):
        if (ROOT / "src" / (linked or plain)).is_dir():
            written[linked or plain] = (bool(is_pure), set(re.findall(r"\w+", below.split(";")[0])))
    modules = [name for name in layers if (ROOT / "src" / name).is_dir()]
    allowed = {name: (name in pure, set(layers[name].split())) for name in modules}
    differ = [name for name in sorted(written.keys() | allowed.keys()) if written.get(name) != allowed.get(name)]
    return [f"{PAGE} and tools/layers.txt differ: {name}" for name in differ]


def main() -> None:
    page = (ROOT / PAGE).read_text()
    bad = bad_names(page, (ROOT / GLOSSARY).read_text()) + bad_modules(page)
    for source in sources():
        text = source.read_text(errors="replace")
        bad += bad_paths(source, text)
        if source.suffix == ".md":
            bad += bad_links(source, text)
    if bad:
        sys.exit("\n".join(bad))


if __name__ == "__main__":
    main()
