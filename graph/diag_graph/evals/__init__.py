"""Evaluation: cases with known answers, run side by side and scored (SPEC section 15)."""
