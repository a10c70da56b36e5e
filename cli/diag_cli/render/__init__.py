"""How things look: on a terminal, in a pipe, as an answer, as a trace. Nothing here decides anything."""
