"""Settings shared by all tests."""

import signal
import threading

import pytest
from hypothesis import settings

# Machines of CI are slow and shared: time is measured in benches/, not here. The same commit is
# tested with the same examples each time: who breaks a test has broken it.
settings.register_profile(
    "cyclescope", deadline=None, print_blob=True, derandomize=True, database=None
)
# Before a release, with examples that were not tried yet: pytest --hypothesis-profile=thorough
# tests/... A seed of one's own: --hypothesis-seed=N.
settings.register_profile(
    "thorough", deadline=None, print_blob=True, derandomize=False, max_examples=3000
)
settings.load_profile("cyclescope")


def pytest_report_header(config: pytest.Config) -> str:
    """Where the examples of property tests come from."""
    chosen = config.getoption("hypothesis_profile", None) or "cyclescope"
    seed = config.getoption("hypothesis_seed", None)
    if seed is not None:
        return f"examples: seed {seed}"
    if settings.get_profile(chosen).derandomize:
        return "examples: seed fixed for each test (its name); fresh: --hypothesis-profile=thorough"
    return "examples: fresh; a failing one is printed with what reproduces it"


# Whoever starts a test run in the background may have told it to ignore Ctrl-C or, by nohup, a
# terminal that closes, and what it starts would inherit that. Tests of both need the signals as a
# terminal's user has them.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
