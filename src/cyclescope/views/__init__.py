"""Views: one format or picture, one module. They read a Profile and know nothing of its source.

Each function takes a profile and returns text or bytes, or writes to a stream. Nothing here
opens a file, and nothing varies between two calls.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
