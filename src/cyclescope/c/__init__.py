"""Read C: libclang's tree reduced to small typed nodes with source ranges and pragmas.

>>> from cyclescope.c import read_c
>>> unit = read_c("k.c", text="void k(int a[4]) { a[0] = 1; }")
>>> unit.functions["k"].params[0].type.extent
4

Nothing is refused here but what isn't C: constructs outside the tree are `Opaque` and
`OpaqueStmt` nodes that name themselves, and each source decides what it can use. What any of them
refuses is in one list (`Construct`), and said from there (`refusal`). No system
headers are needed; `stdio.h`, `stdlib.h`, `math.h`, `omp.h` and their kin come with the package.
"""

from cyclescope.c._fold import combined, fold
from cyclescope.c._link import body_start, link
from cyclescope.c._print import show
from cyclescope.c._read import read_c
from cyclescope.c._refused import Construct, Tool, refusal, refused_table
from cyclescope.c._tree import (
    STEPS,
    Assign,
    Binary,
    Block,
    Break,
    Call,
    Cast,
    Conditional,
    Continue,
    Declare,
    DoWhile,
    Empty,
    Evaluate,
    Expr,
    For,
    Function,
    Goto,
    If,
    Index,
    InitList,
    Literal,
    Member,
    Name,
    Opaque,
    OpaqueStmt,
    Pragma,
    Range,
    Return,
    Section,
    Stmt,
    Switch,
    Unary,
    Unit,
    Variable,
    While,
    children,
    walk,
)
from cyclescope.c._types import (
    Array,
    CType,
    Pointer,
    Scalar,
    Struct,
    Unknown,
    Vector,
    Void,
)
from cyclescope.c._walk import (
    inner_statements,
    outermost,
    own_expressions,
    statements,
    without_casts,
)

__all__ = [
    "STEPS",
    "Array",
    "Assign",
    "Binary",
    "Block",
    "Break",
    "CType",
    "Call",
    "Cast",
    "Conditional",
    "Construct",
    "Continue",
    "Declare",
    "DoWhile",
    "Empty",
    "Evaluate",
    "Expr",
    "For",
    "Function",
    "Goto",
    "If",
    "Index",
    "InitList",
    "Literal",
    "Member",
    "Name",
    "Opaque",
    "OpaqueStmt",
    "Pointer",
    "Pragma",
    "Range",
    "Return",
    "Scalar",
    "Section",
    "Stmt",
    "Struct",
    "Switch",
    "Tool",
    "Unary",
    "Unit",
    "Unknown",
    "Variable",
    "Vector",
    "Void",
    "While",
    "body_start",
    "children",
    "combined",
    "fold",
    "inner_statements",
    "link",
    "outermost",
    "own_expressions",
    "read_c",
    "refusal",
    "refused_table",
    "show",
    "statements",
    "walk",
    "without_casts",
]
