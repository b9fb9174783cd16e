"""One run of a study: self-contained, so that it can run in any process on any machine."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclescope.errors import InputError

if TYPE_CHECKING:
    from cyclescope.sweep._study import Study

__all__ = ["Outcome", "Trial", "make_trial", "run_trial"]

_PROFILE = "trial.cyc"


@dataclass(frozen=True)
class Trial:
    """A command, and all files that it reads.

    Attributes:
        point: what varies → its value here.
        arguments: of `cyclescope`, without the output.
        files: name below the run's folder → content.
        time_limit: seconds.
    """

    point: dict[str, Any]
    arguments: tuple[str, ...]
    files: dict[str, bytes]
    time_limit: float

    @property
    def digest(self) -> str:
        """The same for the same run, whatever the files are called on this machine."""
        from cyclescope import __version__

        content = {name: hashlib.sha256(data).hexdigest() for name, data in self.files.items()}
        whole = json.dumps([__version__, self.arguments, sorted(content.items())])
        return hashlib.sha256(whole.encode()).hexdigest()[:20]


@dataclass(frozen=True)
class Outcome:
    """What came of a run: its profile, or one line that says why there is none."""

    profile: bytes
    failure: str
    seconds: float


def make_trial(study: Study, point: dict[str, Any]) -> Trial:
    """The run at a point of a study's space.

    Raises:
        InputError: a file that it needs cannot be read.
    """
    settings = {**study.fixed, **point}
    source = str(settings.pop("input", study.input))
    names = [source, *study.files]
    arguments = [study.command, source]
    for name, value in settings.items():
        key, _, inner = name.partition(".")
        option = study.options[key]
        if option.switch:
            arguments += [option.flag] if value else [option.off] if option.off else []
            continue
        for item in value if isinstance(value, list) else [value]:
            arguments += [option.flag, f"{inner}={item}" if inner else str(item)]
            if option.path:
                names.append(str(item))
    files = {name: _read(study, name) for name in dict.fromkeys(names)}
    return Trial(point, tuple(arguments), files, study.time_limit)


def _read(study: Study, name: str) -> bytes:
    path = study.path.parent / name
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{study.path}: {path} cannot be read: {error.strerror}") from None


def run_trial(trial: Trial, watch: Any = None) -> Outcome:
    """Run it in a process and a folder of its own.

    Args:
        trial: what to run.
        watch: told of the process (`add`) and of its end (`discard`), to be able to end it.
    """
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="cyclescope-trial-") as name:
        folder = Path(name)
        for file, data in trial.files.items():
            target = folder / file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        command = [sys.executable, "-m", "cyclescope", *trial.arguments, "-o", _PROFILE]
        with subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, errors="backslashreplace",
        ) as process:  # fmt: skip
            if watch is not None:
                watch.add(process)
            try:
                _, said = process.communicate(timeout=trial.time_limit)
            except subprocess.TimeoutExpired:
                process.terminate()
                process.communicate()
                said = f"cyclescope: took more than {trial.time_limit:g} s (time_limit)"
            finally:
                if watch is not None:
                    watch.discard(process)
        spent = time.monotonic() - started
        lines = [line for line in said.splitlines() if line.strip()]
        if process.returncode or not (folder / _PROFILE).is_file():
            last = lines[-1].removeprefix("cyclescope: ") if lines else "it ended without a word"
            return Outcome(b"", last or "it ended without a word", spent)
        return Outcome((folder / _PROFILE).read_bytes(), "", spent)
