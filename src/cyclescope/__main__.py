"""`cyclescope` and `python -m cyclescope`."""

import sys

__all__ = ["main"]


def main() -> int:
    """Run the command line; gives the exit status."""
    try:
        from cyclescope.cli import main as program

        return program()
    except KeyboardInterrupt:  # while modules were still being loaded
        print("cyclescope: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
