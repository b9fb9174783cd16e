"""A Calyx compiler of which one pass is wrong: the stand-in, its text changed after that pass.

python tests/calyx/wrong_compiler.py MUTATION FILE -l LIBRARY -p PASS… -b BACKEND

What is wrong is one of `MUTATIONS`; without its pass the compiler is right.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from cyclescope import _native

PROGRAM = """\
import "primitives/core.futil";
import "primitives/memories/comb.futil";
component add_seven(x: 8) -> (y: 8) {
  cells { sum = std_add(8); kept = std_reg(8); }
  wires {
    group keep {
      sum.left = x; sum.right = 8'd7; kept.in = sum.out;
      kept.write_en = 1'd1; keep[done] = kept.done;
    }
    y = kept.out;
  }
  control { keep; }
}
component main() -> () {
  cells {
    @external m = comb_mem_d1(8, 4, 3);
    a = std_reg(8); b = std_reg(8); i = std_reg(3);
    far = add_seven();
    add = std_add(8); twice = std_add(8); next = std_add(3);
    less = std_lt(3); odd = std_slice(3, 1);
  }
  wires {
    group start_a { a.in = 8'd3; a.write_en = 1'd1; start_a[done] = a.done; }
    group start_b { b.in = 8'd5; b.write_en = 1'd1; start_b[done] = b.done; }
    group grow_a {
      add.left = a.out; add.right = b.out; a.in = add.out;
      a.write_en = 1'd1; grow_a[done] = a.done;
    }
    group grow_b {
      twice.left = b.out; twice.right = b.out; b.in = twice.out;
      b.write_en = 1'd1; grow_b[done] = b.done;
    }
    group take { b.in = far.y; b.write_en = 1'd1; take[done] = b.done; }
    group store {
      m.addr0 = i.out; m.write_data = a.out; m.write_en = 1'd1;
      store[done] = m.done;
    }
    group step {
      next.left = i.out; next.right = 3'd1; i.in = next.out;
      i.write_en = 1'd1; step[done] = i.done;
    }
    comb group more { less.left = i.out; less.right = 3'd4; }
    comb group is_odd { odd.in = i.out; }
  }
  control {
    seq {
      par { start_a; start_b; }
      while less.out with more {
        seq {
          if odd.out with is_odd { grow_a; } else { grow_b; }
          invoke far(x = b.out)();
          take;
          store;
          step;
        }
      }
    }
  }
}
"""


Change = Callable[[str], str]


def every(pattern: str, instead: str) -> Change:
    """Change all places that match; a program without one stays right."""
    return lambda text: re.sub(pattern, instead, text, flags=re.DOTALL)


def merged(text: str) -> str:
    """Two registers that live at the same time become one."""
    return re.sub(r"\bb\.(in|write_en|out|done)\b", r"a.\1", text).replace("invoke b(", "invoke a(")


# The pass that is wrong, and what it does to the program.
MUTATIONS: dict[str, tuple[str, Change]] = {
    "registers merged": ("cell-share", merged),
    "write lost": ("dead-assign-removal", every(r"add\.left = a\.out;", "")),
    "branches swapped": (
        "simplify-with-control",
        every(r"(if comb_reg0\.out \{)(.*?)(\} else \{)(.*?)(\n\s*\}\n)", r"\1\4\3\2\5"),
    ),
    "constant changed": ("comb-prop", every(r"8'd5\b", "8'd4")),
    "step lost": ("collapse-control", every(r"(take;\s*)store;", r"\1")),
    "argument changed": ("compile-invoke", every(r"far\.x = b\.out", "far.x = a.out")),
    "order changed": ("group2seq", every(r"store;(\s*)step;", r"step;\1store;")),
    "loop cut short": ("static-promotion", every(r"less\.right = 3'd4", "less.right = 3'd3")),
    "guard dropped": (
        "compile-static",
        every(r"i\.write_en = fsm\.out == 2'd1 \? 1'd1;", "i.write_en = 1'd1;"),
    ),
    "state skipped": (
        "tdcc",
        every(r"(fsm0\.in = fsm0\.out == 3'd2 & [^;?]*)\? 3'd3;", r"\1? 3'd4;"),
    ),
}


def main() -> int:
    from stand_in import main as right  # beside this file, whence it is run

    pass_name, change = MUTATIONS[sys.argv.pop(1)]
    words = sys.argv[1:]
    places = [i for i, word in enumerate(words) if word == pass_name and words[i - 1] == "-p"]
    if not places:
        return right()
    cut = places[0] + 1
    first = [words[i + 1] for i in range(1, cut) if words[i] == "-p"]
    with tempfile.TemporaryDirectory() as folder:
        library = words[words.index("-l") + 1]
        try:
            text = _native.print_program(words[0], library, first, [], [])
        except _native.CompileError as error:
            print(f"Error: {error.args[0]}")
            return 1
        changed = Path(folder) / "changed.futil"
        # Marks of single passes, which the parser refuses.
        text = re.sub(r"@NODE_ID(\(\d+\))? *", "", text)
        changed.write_text(change(text))
        # What comes before the first pass stays: the library may be named there or behind.
        kept = [w for i, w in enumerate(words[1:cut], 1) if w != "-p" and words[i - 1] != "-p"]
        sys.argv[1:] = [str(changed), *kept, *words[cut:]]
        return right()


if __name__ == "__main__":
    sys.exit(main())
