"""The promoted block that a state of a compiler-made group runs, where no probe tells it.

A block that the compiler promoted to a fixed length has no probe in Petal's waveforms, and the
files do not say which block it is. The name of what the state starts says that it is one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cyclescope.calltree import Compiled, Nesting, Seen
    from cyclescope.traces.petal._side import Component

__all__ = ["Steps"]

# What the compiler calls the group of a promoted block, and a `while` that repeats one.
_PROMOTED = re.compile(
    r"(?:(?:while_)?wrapper_early_reset_)?static_(seq|par|if|repeat)(?:_thread)?\d*"
)


class Steps:
    """Tells the promoted blocks of one component.

    Args:
        component: whose states are named.
        nesting: of its statements.
        blocks: descriptor of a control statement → its number there.
        enables: group → the number of the statement that enables it.
    """

    def __init__(
        self,
        component: Component,
        nesting: Nesting,
        blocks: Mapping[str, int],
        enables: Mapping[str, int],
    ) -> None:
        self._nesting, self._enables = nesting, enables
        self._groups = {group.name: group for group in component.groups}
        self._operator = {
            number: component.nodes[descriptor].operator.removeprefix("static ")
            for descriptor, number in blocks.items()
        }
        self._started = {_enabled(name) for g in component.groups for name in g.states.values()}
        self._known = {_enabled(name) for name in (*enables, *self._groups)}

    def __call__(self, seen: Seen, compiled: Compiled, state: int) -> int | None:
        """The block that a state runs, None if it runs another thing, or part of a block.

        It is the one around all that was seen in this state that contains nothing of another
        state.
        """
        named = _PROMOTED.fullmatch(self._groups[compiled.name].states.get(state, ""))
        if named is None:
            return None
        own = seen[compiled.name, state]
        chains = [self._nesting.chain(place) for place in sorted(own)]
        others = {a for place in self._elsewhere(seen, own) for a in self._nesting.chain(place)}
        free = [
            block
            for block in reversed(chains[0])
            if block in self._nesting.blocks
            and block not in others
            and all(block in chain for chain in chains)
        ]
        same = [block for block in free if self._operator[block] == named[1]]
        return next(iter(same or free), None)

    def _elsewhere(self, seen: Seen, own: set[int]) -> set[int]:
        """The statements that a state does not run, which was seen to run `own`.

        An enable that was never seen is in an arm not taken of some block that was, unless the
        files name the state that starts it, or a state was never seen of which they do not say
        what it runs.
        """
        every = set().union(*seen.values())
        unknown = any(
            not seen.get((group.name, state)) and _enabled(name) not in self._known
            for group in self._groups.values()
            for state, name in group.states.items()
            if name != f"{group.fsm}_END"
        )
        unseen = {
            place
            for name, place in self._enables.items()
            if place not in every and (unknown or _enabled(name) in self._started)
        }
        return (every - own) | unseen


def _enabled(name: str) -> str:
    """The common part of the names of a group and of what the compiler wraps around it."""
    return name.removeprefix("wrapper_early_reset_").rstrip("0123456789")
