"""The public interface: exported names, the exception tree, the installed package's contents."""

from __future__ import annotations

import importlib
import inspect
import re
from importlib import metadata, resources

import pytest

import cyclescope
from cyclescope import errors

PACKAGES = [
    "model",
    "sim",
    "c",
    "calltree",
    "calyx",
    "bounds",
    "network",
    "hls",
    "hls.front",
    "hls.ir",
    "hls.passes",
    "hls.schedule",
    "hls.microarch",
    "hls.trace",
    "hls.run",
    "traces",
    "analyse",
    "views",
    "studies",
]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_exports_what_it_says(package: str) -> None:
    module = importlib.import_module(f"cyclescope.{package}")
    names = module.__all__
    assert len(set(names)) == len(names)
    assert all(hasattr(module, name) for name in names)
    public = {
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and not inspect.ismodule(value) and name != "annotations"
    }
    assert public - {"TYPE_CHECKING"} == set(names)


@pytest.mark.parametrize("package", PACKAGES)
def test_everything_exported_is_documented(package: str) -> None:
    module = importlib.import_module(f"cyclescope.{package}")
    assert module.__doc__
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert value.__doc__, f"{package}.{name}"


def test_the_top_exports_little_and_all_of_it_works() -> None:
    assert cyclescope.__all__ == ["CyclescopeError", "Profile", "__version__", "load", "save"]
    assert all(getattr(cyclescope, name) for name in cyclescope.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = cyclescope.nothing


def test_the_version_is_that_of_the_package() -> None:
    try:
        installed = metadata.version("cyclescope")
    except metadata.PackageNotFoundError:
        pytest.skip("not installed, run from the source folder; CI runs from the wheel")
    assert cyclescope.__version__ == installed


def test_the_exception_tree_is_drawn_as_it_is() -> None:
    drawn = re.findall(r"([A-Z]\w+Error)\s{2,}", errors.__doc__ or "")
    assert sorted(drawn) == sorted(errors.__all__)
    for name in errors.__all__:
        error = getattr(errors, name)
        assert issubclass(error, errors.CyclescopeError)
        assert error.exit_code != 0


def test_the_package_is_typed() -> None:
    assert (resources.files("cyclescope") / "py.typed").is_file()
    assert (resources.files("cyclescope") / "_native.pyi").is_file()
