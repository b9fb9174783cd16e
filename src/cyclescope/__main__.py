"""`cyclescope` and `python -m cyclescope`."""

import sys

from cyclescope.cli import main

if __name__ == "__main__":
    sys.exit(main())

__all__ = ["main"]
