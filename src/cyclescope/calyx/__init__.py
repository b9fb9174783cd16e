"""Source: Calyx programs, profiled cycle by cycle (Petal).

    run = profile_program(Path("program.futil"), Path("data.json"))
    run.profile, run.memories

The real Calyx compiler runs in process with two passes of ours (`encode-control`, `instrument`;
see `rust/`), the design runs in Verilator (`cyclescope.sim`), and what was captured becomes one
call tree for each distinct state.
"""

from cyclescope.calyx._compile import Program, compile_program, list_passes
from cyclescope.calyx._expect import Expected, read_expected
from cyclescope.calyx._judge import Judgement, Outcome, Suspect, judge_program, run_unoptimised
from cyclescope.calyx._lengthen import lengthened
from cyclescope.calyx._longer import LongerRun, run_longer
from cyclescope.calyx._own import OwnCompiler, find_own_compiler
from cyclescope.calyx._source import (
    CalyxOptions,
    CalyxRun,
    Verdict,
    profile_program,
    recorded_options,
    synthesised,
    variants,
    verify_program,
)
from cyclescope.calyx._texts import copied_with, run_program
from cyclescope.calyx._trees import build_profile

__all__ = [
    "CalyxOptions",
    "CalyxRun",
    "Expected",
    "Judgement",
    "LongerRun",
    "Outcome",
    "OwnCompiler",
    "Program",
    "Suspect",
    "Verdict",
    "build_profile",
    "compile_program",
    "copied_with",
    "find_own_compiler",
    "judge_program",
    "lengthened",
    "list_passes",
    "profile_program",
    "read_expected",
    "recorded_options",
    "run_longer",
    "run_program",
    "run_unoptimised",
    "synthesised",
    "variants",
    "verify_program",
]
