"""Settings shared by all tests."""

from hypothesis import settings

# Machines of CI are slow and shared: time is measured in benches/, not here.
settings.register_profile("cyclescope", deadline=None, print_blob=True)
settings.load_profile("cyclescope")
