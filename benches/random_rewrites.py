"""Rewrites of random kernels: what is equal by construction must print the same, natively.

`python benches/random_rewrites.py [FIRST LAST]` makes the kernels of these seeds (0 to 100). Each
is rewritten step by step, by candidates that chance picks; after each step it is compiled by gcc
without optimisation and run. The table says how often each rewrite was applied. It fails if a
result differs.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from hls.rewritten import rewritten  # noqa: E402


def main() -> None:
    first, last = (int(word) for word in sys.argv[1:3]) if len(sys.argv) > 2 else (0, 100)
    applied: Counter[str] = Counter()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, last):
            steps, fault = rewritten(seed, random.Random(seed), Path(folder))
            applied.update(steps)
            if fault:
                wrong += 1
                print(f"seed {seed}: {fault}", flush=True)
    print("| rewrite | applied |\n|---|---:|")
    for name, count in applied.most_common():
        print(f"| {name} | {count} |")
    print(f"{last - first} kernels, {wrong} with another result")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
