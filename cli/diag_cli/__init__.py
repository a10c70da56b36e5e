"""The command line of diag: parse, call the engine, render; nothing else."""
