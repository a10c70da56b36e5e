"""Pure functions over series, log lines and spans: no I/O, no framework, no clock."""
