"""The exit status of each error."""

from __future__ import annotations

import re

from cyclescope import errors


def test_exit_codes_are_those_of_the_table() -> None:
    assert errors.__doc__ is not None
    rows = re.findall(r"(\w+Error) .*", errors.__doc__)
    codes = dict(re.findall(r"(\w+Error) .*\(exit (\d+)\)", errors.__doc__))
    assert set(rows) == set(errors.__all__)
    assert {"InputError": "2", "LawError": "70"}.items() <= codes.items()
    for name in errors.__all__:
        kind = getattr(errors, name)
        # A kind without a code of its own has that of the one above it.
        told = next((codes[k.__name__] for k in kind.__mro__ if k.__name__ in codes), "1")
        assert kind.exit_code == int(told)
