"""Measuring on another machine: the files that a measurement needs are all that it gets."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cyclescope.sim import current_trust
from cyclescope.studies import Measurements, improve, subject_of
from cyclescope.studies._improve_workers import measure_there

CALYX = Path(__file__).parents[2] / "examples" / "calyx"
KERNEL = """\
#include "sub/size.h"
int a[N], s;
int main(void) {
  for (int i = 0; i < N; i++) a[i] = i;
  #pragma omp target map(to: a) map(tofrom: s)
  for (int i = 0; i < N; i++) s += a[i];
  return s != N * (N - 1) / 2;
}
"""


@pytest.mark.long
def test_a_calyx_program_is_measured_without_its_folder(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "parts").mkdir(parents=True)
    program, data = home / "while.futil", tmp_path / "while.json"
    text = (CALYX / "while_with.futil").read_text()
    (home / "parts" / "core.futil").write_text('import "primitives/core.futil";\n')
    program.write_text(text.replace("primitives/core", "parts/core", 1))
    shutil.copy(CALYX / "while_with.json", data)
    subject = subject_of(program, [data], {})
    here, files = subject.measure(program.read_bytes()), subject.files()
    text_there = program.read_bytes()
    shutil.rmtree(home)
    data.unlink()
    assert measure_there(subject, files, current_trust(), text_there) == here
    assert not here.failure
    broken = measure_there(subject, files, current_trust(), b"component main() -> () {")
    assert broken.failure.startswith("does not compile")


@pytest.mark.long
def test_a_kernel_is_measured_without_its_folder(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "sub").mkdir(parents=True)
    kernel = home / "sum.c"
    (home / "sub" / "size.h").write_text("#define N 8\n")
    kernel.write_text(KERNEL)
    subject = subject_of(kernel, [], {})
    here, files = subject.measure(kernel.read_bytes()), subject.files()
    shutil.rmtree(home)
    assert measure_there(subject, files, current_trust(), KERNEL.encode()) == here
    assert here.cycles > 0
    assert not here.failure


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_a_cluster_finds_what_is_found_here(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="the extra `dask` is not installed")
    program, data = CALYX / "while_with.futil", CALYX / "while_with.json"
    subject, text = subject_of(program, [data], {}), program.read_bytes()
    only = ["continuous-condition"]
    here = improve(subject, text, Measurements(None, ""), only=only)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        far = improve(
            subject, text, Measurements(None, ""), only=only, dask=cluster.scheduler_address
        )
    assert (far.text, far.after) == (here.text, here.after)
    assert far.after < far.before
