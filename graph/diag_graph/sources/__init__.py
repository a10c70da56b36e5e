"""Where evidence lives: the incident folder now, live systems behind the same protocols later."""
