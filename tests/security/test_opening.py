"""Opening a profile, a waveform or a trace, and what is drawn of them, executes nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from cyclescope.model import Profile, save

from ..views.browser import CHROMIUM, chromium
from ..views.switch import switch_profile
from .formats import FORMATS, MARK, WAVE

if TYPE_CHECKING:
    from pathlib import Path

MARKER = "PWNED"
# Each, if anything took it for a program, would leave its mark.
NAMES = (
    f"</script><script>{MARKER}=1</script>",
    f'"><img src=x onerror="{MARKER}=1">',
    f"<svg onload={MARKER}=1>",
    f"javascript:{MARKER}=1",
    f"__import__('os').system('touch {MARKER}')",
    f"$(touch {MARKER})`touch {MARKER}`",
    f"${{{MARKER}}}{{{{{MARKER}}}}}%s%n{{0.__class__}}",
    f"=cmd|' /c {MARKER}'!A1",
    f"'); COPY (SELECT 1) TO '{MARKER}'; --",
    f"../../{MARKER}",
    f"\x1b]0;{MARKER}\x07",
)

# Everything that the interpreter is told to do is written down, but for the loading of modules that
# are installed.
WATCHED = """
import json, os, sys
allowed = tuple(os.path.realpath(p) + os.sep for p in (sys.prefix, sys.base_prefix))
seen = []
FORBIDDEN = {"os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn",
    "subprocess.Popen", "pty.spawn", "socket.connect", "socket.bind", "socket.getaddrinfo",
    "pickle.find_class", "marshal.loads", "webbrowser.open", "urllib.Request", "code.__new__",
    "os.startfile", "os.kill", "ftplib.connect", "smtplib.connect"}
def known(name):
    return isinstance(name, str) and (name.startswith("<frozen ") or
        os.path.realpath(name).startswith(allowed))
def hook(event, arguments):
    if event == "exec":
        code = arguments[0]
        if not known(code.co_filename) and MARKER in repr((code.co_names, code.co_consts)):
            seen.append(["exec", repr(code)])
        elif not known(code.co_filename) and not code.co_filename.startswith("<"):
            seen.append(["exec", code.co_filename])
    elif event == "compile":
        source, name = arguments
        if MARKER in repr(source) or not (known(name) or str(name).startswith("<")):
            seen.append(["compile", repr(source)[:200], str(name)])
    elif event == "import":
        name, file = arguments[0], arguments[1]
        if file and not known(file):
            seen.append(["import", name, file])
    elif event in FORBIDDEN and not (event == "marshal.loads" and loading()):
        seen.append([event, repr(arguments)[:200]])
def loading():
    frame = sys._getframe(2)
    return "importlib" in frame.f_code.co_filename or known(frame.f_code.co_filename)
from cyclescope.cli import main
sys.addaudithook(hook)
status = main(sys.argv[1:])
with open(os.environ["SEEN"], "w") as stream:
    json.dump([status, seen], stream)
"""


def hostile() -> Profile:
    """A profile in which every text is hostile."""
    profile = switch_profile()
    size = len(NAMES)
    frames = tuple(
        replace(
            frame,
            name=f"{NAMES[n % size]}{n}",
            component=NAMES[(n + 1) % size],
            detail=NAMES[(n + 2) % size],
            positions=tuple(
                replace(p, file=f"{NAMES[(n + 3) % size]}.py") for p in frame.positions
            ),
        )
        for n, frame in enumerate(profile.catalog)
    )
    for series in profile.series:
        series.name, series.track = NAMES[0], NAMES[1]
    meta = replace(
        profile.meta,
        title=NAMES[1],
        tools={NAMES[2]: NAMES[3]},
        inputs={NAMES[4]: NAMES[0]},
        options={NAMES[5]: NAMES[6]},
        anomalies=tuple(replace(a, name=NAMES[0], detail=NAMES[1]) for a in profile.meta.anomalies),
    )
    sources = {f"{name}.py": f"{name}\n" * 50 for name in NAMES}
    return replace(profile, catalog=frames, meta=meta, sources=sources)


VERBS = {
    "summary": "summary p.cyc",
    "report": "report p.cyc -o o.html",
    "table": "table p.cyc groups -o o.csv",
    "source": "source p.cyc",
    "flamegraph": "flamegraph p.cyc -o o.svg",
    "timeline": "timeline p.cyc -o o.pftrace",
    "folded": "export p.cyc --format folded -o o.folded",
    "speedscope": "export p.cyc --format speedscope -o o.json",
    "paraver": "export p.cyc --format paraver -o o.prv",
    "diff": "diff p.cyc q.cyc --format html -o o.html",
    "check": "check p.cyc --against q.cyc --junit o.xml --markdown o.md",
    "advise": "advise p.cyc",
    "query": "query p.cyc SELECT -o o.csv",
    "import paraver": "import paraver input.prv -o o.cyc",
    "import vcd": "import vcd w.vcd --signals m.b -o o.cyc",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files from a stranger: profiles, a trace, a waveform, modules that like to be imported."""
    folder = tmp_path_factory.mktemp("sent")
    save(hostile(), folder / "p.cyc")
    save(switch_profile(), folder / "q.cyc")
    trace, names, rows = FORMATS["paraver"].invented[0].split(MARK)
    names = names.replace(b"Running", NAMES[0].encode()).replace(b"three", NAMES[4].encode())
    FORMATS["paraver"].lay(MARK.join([trace, names, rows]), folder)
    (folder / "w.vcd").write_bytes(WAVE)
    for module in ("json", "numpy", "polars", "sitecustomize", "conftest", "cyclescope", "click"):
        (folder / f"{module}.py").write_text(f"open({str(folder / MARKER)!r}, 'w')\n")
    return folder


@pytest.mark.parametrize("verb", VERBS)
def test_nothing_of_a_file_is_executed(verb: str, folder: Path, tmp_path: Path) -> None:
    words = [
        "SELECT name FROM frames" if word == "SELECT" else word for word in VERBS[verb].split()
    ]
    words = [str(tmp_path / word) if word.startswith("o.") else word for word in words]
    seen = tmp_path / "seen.json"
    done = subprocess.run(
        [sys.executable, "-I", "-c", WATCHED.replace("MARKER", repr(MARKER)), *words],
        cwd=folder, env={**os.environ, "SEEN": str(seen)}, capture_output=True, check=False,
    )  # fmt: skip
    status, found = json.loads(seen.read_text())
    assert status in (0, 1), done.stderr
    assert found == []
    assert not list(folder.rglob(MARKER))
    assert not list(tmp_path.rglob(MARKER))
    assert b"\x1b]0;" not in done.stdout + done.stderr


def test_the_watch_sees_what_it_should(folder: Path, tmp_path: Path) -> None:
    probe = (
        "exec(compile('PWNED = 1', 'sent.py', 'exec')); eval('\\'PWNED\\''); import subprocess;"
        "subprocess.run(['true'])\nsys.exit = None\nmain = lambda _: 0\n"
    )
    text = WATCHED.replace("MARKER", repr(MARKER))
    text = text.replace("status = main(sys.argv[1:])", probe + "status = 0")
    seen = tmp_path / "seen.json"
    subprocess.run(
        [sys.executable, "-I", "-c", text], env={**os.environ, "SEEN": str(seen)}, check=True
    )
    events = {event[0] for event in json.loads(seen.read_text())[1]}
    assert events >= {"exec", "compile", "subprocess.Popen"}


@pytest.mark.skipif(
    CHROMIUM is None, reason="needs a Chromium (Debian: apt install chromium); see above"
)
def test_nothing_is_executed_in_a_browser(folder: Path, tmp_path: Path) -> None:
    from cyclescope.cli import main

    pages = {"report": "r.html", "diff": "d.html", "flamegraph": "f.svg"}
    given = [str(folder / "p.cyc")]
    assert main(["report", *given, "-o", str(tmp_path / "r.html")]) == 0
    more = ["--format", "html"]
    assert main(["diff", *given, str(folder / "q.cyc"), *more, "-o", str(tmp_path / "d.html")]) == 0
    assert main(["flamegraph", *given, "-o", str(tmp_path / "f.svg")]) == 0
    with chromium() as browser:
        for name in pages.values():
            page = browser.new_page()
            dialogs: list[str] = []
            requests: list[str] = []
            page.on("dialog", lambda dialog, to=dialogs: to.append(dialog.message))
            page.on("request", lambda request, to=requests: to.append(request.url))
            page.goto((tmp_path / name).as_uri())
            page.wait_for_timeout(500)
            assert page.evaluate(f"typeof {MARKER}") == "undefined", name
            assert page.locator("[onerror], [onload]:not(svg), iframe, object").count() == 0, name
            links = page.locator("a").evaluate_all("all => all.map(a => a.protocol)")
            assert "javascript:" not in links, name
            assert not dialogs, name
            assert [url for url in requests if not url.startswith(("file:", "data:"))] == [], name
            page.close()
