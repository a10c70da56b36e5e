"""Agents: those who think. Each turns one narrow input into one text; none of them decides where the run goes."""
