"""Studies: what compiles and runs a program many times.

The best of many points of a space of options (`cyclescope sweep`):

    study = read_study(Path("study.toml"), commands)
    results = run_study(study, Store(Path("study.sweep")))
    front(results, study.objectives)

A run is a command of this tool in a process of its own, with all that it reads, so it can be made
here or on any worker of a Dask cluster. What has been run is not run again.

The rewrites of a program that save cycles and change no result (`cyclescope improve`):

    subject = subject_of(Path("program.futil"), [Path("program.json")], {})
    found = improve(subject, text, Measurements(None, ""))
    found.text, found.after

What lies between a program's bounds and its hardware (`cyclescope ladder`):

    profile = measure_ladder(Path("program.c"))
    profile.meta.ladder
"""

from cyclescope.studies._drive import run_study
from cyclescope.studies._improve import Improvement, Step, Tried, improve
from cyclescope.studies._improve_report import (
    cost_table,
    improvement_diff,
    kept_table,
    tried_table,
)
from cyclescope.studies._improve_subjects import REWRITES_OF_RULES, fuzzed, subject_of
from cyclescope.studies._ladder import (
    measure_calyx_ladder,
    measure_ladder,
    measure_network_ladder,
)
from cyclescope.studies._lengths import compiled_anew, simulated_lengths
from cyclescope.studies._measurements import Measurements
from cyclescope.studies._other_hardware import simulated_hardware
from cyclescope.studies._other_network import simulated_network
from cyclescope.studies._results import Result, Store, figures_of, front, results_parquet
from cyclescope.studies._search import Search, search_of
from cyclescope.studies._study import Objective, Option, Study, read_study
from cyclescope.studies._trial import Outcome, Trial, make_trial, run_trial

__all__ = [
    "REWRITES_OF_RULES",
    "Improvement",
    "Measurements",
    "Objective",
    "Option",
    "Outcome",
    "Result",
    "Search",
    "Step",
    "Store",
    "Study",
    "Trial",
    "Tried",
    "compiled_anew",
    "cost_table",
    "figures_of",
    "front",
    "fuzzed",
    "improve",
    "improvement_diff",
    "kept_table",
    "make_trial",
    "measure_calyx_ladder",
    "measure_ladder",
    "measure_network_ladder",
    "read_study",
    "results_parquet",
    "run_study",
    "run_trial",
    "search_of",
    "simulated_hardware",
    "simulated_lengths",
    "simulated_network",
    "subject_of",
    "tried_table",
]
