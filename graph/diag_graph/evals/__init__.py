"""Evaluation: cases with known answers, run side by side and scored (contract section 15)."""
