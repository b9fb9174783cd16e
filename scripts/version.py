"""Print the version that the tags say: of a commit with the tag v1.2.3 it is 1.2.3.

Commits behind a tag are development versions of the next one (1.2.4.dev5+gabc1234). Without a tag
it is the version that pyproject.toml states, as a development version. With --write FOLDER it is
written into the copy of the sources there.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Where the version is stated.
_PLACES = {
    "pyproject.toml": re.compile(r'^version = "([^"]+)"$', re.MULTILINE),
    "src/cyclescope/__init__.py": re.compile(r'^__version__ = "([^"]+)"$', re.MULTILINE),
}


def version(described: str, stated: str) -> str:
    """The version of a commit.

    Args:
        described: what `git describe --tags --long --match 'v*'` says of it; empty: no tag.
        stated: the version in pyproject.toml.

    Raises:
        ValueError: the tag is no version.
    """
    if not described:
        return f"{stated}.dev0"
    found = re.fullmatch(r"v(\d+)\.(\d+)\.(\d+)-(\d+)-(g[0-9a-f]+)", described)
    if found is None:
        raise ValueError(f"{described}: a tag of a version is v1.2.3")
    major, minor, patch, behind = map(int, found.groups()[:4])
    if behind == 0:
        return f"{major}.{minor}.{patch}"
    return f"{major}.{minor}.{patch + 1}.dev{behind}+{found[5]}"


def _described() -> str:
    command = ["git", "describe", "--tags", "--long", "--match", "v*"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def stated(root: Path) -> str:
    """The version that the sources in a folder state, in all places alike.

    Raises:
        ValueError: a place has none, or they differ.
    """
    found = {
        name: place.findall((root / name).read_text("utf-8")) for name, place in _PLACES.items()
    }
    versions = {tuple(each) for each in found.values()}
    if len(versions) != 1 or len(next(iter(versions))) != 1:
        raise ValueError(f"the places of the version differ: {found}")
    return found["pyproject.toml"][0]


def write(root: Path, new: str) -> None:
    """State a version in the sources in a folder."""
    for name, place in _PLACES.items():
        file = root / name
        text = file.read_text("utf-8")
        match = place.search(text)
        assert match is not None
        file.write_text(text[: match.start(1)] + new + text[match.end(1) :], "utf-8")


def main() -> None:
    """Print the version, or write it into a copy of the sources."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, metavar="FOLDER")
    folder = parser.parse_args().write
    try:
        found = version(_described(), stated(ROOT))
    except ValueError as error:
        sys.exit(f"version: {error}")
    if folder is not None:
        write(folder, found)
    print(found)


if __name__ == "__main__":
    main()
