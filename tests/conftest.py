"""Settings shared by all tests."""

import secrets
import signal
import threading
from collections import Counter

import pytest
from hypothesis import settings

# Machines of CI are slow and shared: time is measured in benches/, not here. The same commit is
# tested with the same examples each time: who breaks a test has broken it.
SEED = 20_260
settings.register_profile("cyclescope", deadline=None, print_blob=True, database=None)
# Before a release, with examples that were not tried yet: pytest --hypothesis-profile=thorough
# tests/... A seed of one's own, in either: --hypothesis-seed=N.
settings.register_profile("thorough", deadline=None, print_blob=True, max_examples=3000)
settings.load_profile("cyclescope")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Choose the seed of all examples, before Hypothesis asks for it."""
    if config.getoption("hypothesis_seed", None) is None:
        fresh = config.getoption("hypothesis_profile", None) == "thorough"
        # Workers of a parallel run get that of the run that starts them.
        config.option.hypothesis_seed = str(secrets.randbelow(10**9) if fresh else SEED)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--quick`."""
    parser.addoption("--quick", action="store_true", help="leave out what is marked `long`")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without the long tests, if so asked; of those marked `keep_one_in` some cases are left."""
    if not config.getoption("quick"):
        return
    cases: Counter[str] = Counter()
    left, out = [], []
    for item in items:
        mark = item.get_closest_marker("long")
        function = item.nodeid.partition("[")[0]
        every = mark.kwargs.get("keep_one_in") if mark else 1
        kept = every is not None and cases[function] % every == 0
        cases[function] += 1
        (left if kept else out).append(item)
    config.hook.pytest_deselected(items=out)
    items[:] = left


def pytest_report_header(config: pytest.Config) -> str:
    """The seed that the examples of property tests come from."""
    return f"examples: --hypothesis-seed={config.getoption('hypothesis_seed')}"


# Whoever starts a test run in the background may have told it to ignore Ctrl-C or, by nohup, a
# terminal that closes, and what it starts would inherit that. Tests of both need the signals as a
# terminal's user has them.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
