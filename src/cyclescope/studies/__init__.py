"""Studies: one program at many points of a space of options, and the best of them.

    study = read_study(Path("study.toml"), commands)
    results = run_study(study, Store(Path("study.sweep")))
    front(results, study.objectives)

A run is a command of this tool in a process of its own, with all that it reads, so it can be made
here or on any worker of a Dask cluster. What has been run is not run again.
"""

from cyclescope.studies._climb import climb, climb_calyx
from cyclescope.studies._drive import run_study
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
    "climb",
    "climb_calyx",
    "figures_of",
    "front",
    "make_trial",
    "read_study",
    "results_parquet",
    "run_study",
    "run_trial",
    "search_of",
]
