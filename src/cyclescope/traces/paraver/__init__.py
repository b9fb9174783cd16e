"""Paraver traces: the records of a .prv, and the names beside it."""

from cyclescope.traces.paraver._import import import_paraver

__all__ = ["import_paraver"]
