"""The call tree of each cycle of a Calyx design, whoever recorded its probes (Petal, section 5).

A source says what a design consists of (`Component`) and what its probes showed (`Recording`);
`CallTrees` makes a tree of each state, by one rule.
"""

from cyclescope.calltree._activity import Seen
from cyclescope.calltree._component import (
    Call,
    Compiled,
    Component,
    Group,
    Promoted,
    Register,
    Repeat,
)
from cyclescope.calltree._nesting import Nesting
from cyclescope.calltree._recording import Recording
from cyclescope.calltree._trees import CallTrees, continuous_frame

__all__ = [
    "Call",
    "CallTrees",
    "Compiled",
    "Component",
    "Group",
    "Nesting",
    "Promoted",
    "Recording",
    "Register",
    "Repeat",
    "Seen",
    "continuous_frame",
]
