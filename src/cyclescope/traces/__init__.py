"""Source: what other tools recorded, as the same profile. See `docs/importing.md`.

- `import_petal`: the waveform and JSON files that the original Petal's flow leaves.
- `import_paraver`: a Paraver trace.
- `import_signals`: any VCD, FST or GHW, its signals read as states; `list_signals` names them.
"""

from cyclescope.traces._signals import import_signals, list_signals
from cyclescope.traces.paraver import import_paraver
from cyclescope.traces.petal import import_petal
from cyclescope.traces.wave import LIMITS, Limits

__all__ = ["LIMITS", "Limits", "import_paraver", "import_petal", "import_signals", "list_signals"]
