"""The gate: what an agent says is bound to text that a tool really returned, or it is not said. Pure functions."""
