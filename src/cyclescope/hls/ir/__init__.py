"""The data-flow form of a region: made, simplified, executed."""
