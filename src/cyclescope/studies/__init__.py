"""Studies: what compiles and runs a program many times.

The best of many points of a space of options (`cyclescope sweep`):

    study = read_study(Path("study.toml"), commands)
    results = run_study(study, Store(Path("study.sweep")))
    front(results, study.objectives)

A run is a command of this tool in a process of its own, with all that it reads, so it can be made
here or on any worker of a Dask cluster. What has been run is not run again.

What lies between a program's bounds and its hardware (`cyclescope ladder`):

    profile = measure_ladder(Path("program.c"))
    profile.meta.ladder
"""

from cyclescope.studies._drive import run_study
from cyclescope.studies._ladder import (
    measure_calyx_ladder,
    measure_ladder,
    measure_network_ladder,
)
from cyclescope.studies._results import Result, Store, figures_of, front, results_parquet
from cyclescope.studies._search import Search, search_of
from cyclescope.studies._study import Objective, Option, Study, read_study
from cyclescope.studies._trial import Outcome, Trial, make_trial, run_trial

__all__ = [
    "Objective",
    "Option",
    "Outcome",
    "Result",
    "Search",
    "Store",
    "Study",
    "Trial",
    "figures_of",
    "front",
    "make_trial",
    "measure_calyx_ladder",
    "measure_ladder",
    "measure_network_ladder",
    "read_study",
    "results_parquet",
    "run_study",
    "run_trial",
    "search_of",
]
