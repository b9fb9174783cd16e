"""Source: what other tools recorded, as the same profile. See `docs/importing.md`.

- `import_petal`: the waveform and JSON files that the original Petal's flow leaves.
- `import_signals`: any VCD or FST, its signals read as states.
"""

from cyclescope.traces._petal import import_petal
from cyclescope.traces._signals import import_signals
from cyclescope.traces._wave import LIMITS, Limits

__all__ = ["LIMITS", "Limits", "import_petal", "import_signals"]
