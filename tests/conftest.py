"""Settings shared by all tests."""

import signal
import threading

from hypothesis import settings

# Machines of CI are slow and shared: time is measured in benches/, not here.
settings.register_profile("cyclescope", deadline=None, print_blob=True)
# Before a release: pytest --hypothesis-profile=thorough tests/...
settings.register_profile("thorough", settings.get_profile("cyclescope"), max_examples=3000)
settings.load_profile("cyclescope")

# Whoever starts a test run in the background may have told it to ignore Ctrl-C or, by nohup, a
# terminal that closes, and what it starts would inherit that. Tests of both need the signals as a
# terminal's user has them.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
