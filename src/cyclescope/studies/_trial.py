"""One run of a study: self-contained, so that it can run in any process on any machine."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cyclescope._files import read_bytes, scratch, spread
from cyclescope.errors import InputError
from cyclescope.sim import Policy, current_trust, finish

if TYPE_CHECKING:
    from cyclescope.sim import Process
    from cyclescope.studies._study import Study

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
        trust: options that say what the program may do; a run that succeeds is the same for all.
    """

    point: dict[str, Any]
    arguments: tuple[str, ...]
    files: dict[str, bytes]
    time_limit: float
    trust: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """The same for the same run, whatever the files are called on this machine."""
        from cyclescope import __version__

        content = {name: hashlib.sha256(data).hexdigest() for name, data in self.files.items()}
        whole = json.dumps([__version__, self.arguments, sorted(content.items())])
        return hashlib.sha256(whole.encode()).hexdigest()[:20]


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run: its profile, or one line that says why there is none."""

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
    return Trial(point, tuple(arguments), files, study.time_limit, _trust())


def _trust() -> tuple[str, ...]:
    trust = current_trust()
    return (f"--confine={trust.confine}", *([] if trust.refuse else ["--trust"]))


def _read(study: Study, name: str) -> bytes:
    path = study.path.parent / name
    if not path.resolve().is_relative_to(study.path.parent.resolve()):
        raise InputError(
            f"{study.path}: {name}: leads to {path.resolve()}, which leaves the study's folder"
        )
    try:
        return read_bytes(path)
    except OSError as error:
        raise InputError(f"{study.path}: {path} cannot be read: {error.strerror}") from None


def run_trial(trial: Trial, watch: set[Process] | None = None) -> Outcome:
    """Run it in a process and a folder of its own.

    Args:
        trial: what to run.
        watch: gets the process while it runs, to be able to end it.
    """
    started = time.monotonic()
    with scratch("trial") as folder:
        spread(folder, trial.files)
        command = [sys.executable, "-m", "cyclescope", *trial.arguments, *trial.trust]
        # Our own program: it confines what it starts, and all of them end with us.
        policy = Policy(confined=False, seconds=trial.time_limit)
        done = finish([*command, "-o", _PROFILE], policy, cwd=folder, started=watch)
        spent = time.monotonic() - started
        said = done.stderr.decode("utf-8", "backslashreplace")
        if done.end.exceeded:
            said = f"took more than {trial.time_limit:g} s (time_limit)"
        lines = [line for line in said.splitlines() if line.strip()]
        if done.end.status or done.end.exceeded or not (folder / _PROFILE).is_file():
            last = lines[-1].removeprefix("cyclescope: ") if lines else "it ended without a word"
            return Outcome(b"", last or "it ended without a word", spent)
        return Outcome((folder / _PROFILE).read_bytes(), "", spent)
