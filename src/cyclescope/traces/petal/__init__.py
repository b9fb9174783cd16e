"""The files of the original Petal: the waveform of an instrumented design, and JSON files."""

from cyclescope.traces.petal._import import import_petal

__all__ = ["import_petal"]
