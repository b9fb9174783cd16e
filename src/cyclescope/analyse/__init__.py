"""The meaning of a profile: overheads, tables of activations, the summary. One place for each."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
