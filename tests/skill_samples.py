"""Skills for tests: written into a folder, and the five that ship."""

from __future__ import annotations

from pathlib import Path

from diag_graph.sources.ports import Guidance
from diag_graph.sources.skills import open_skills

SHIPPED = Path(__file__).parents[1] / "fixtures" / "skills"
STEPS = """# Slow

1. `list_changes`: what was touched.
2. `search_logs {"level": "ERROR", "limit": 5}`: what was said.
"""


def skill_text(name: str, description: str = "When things are slow.", body: str = STEPS, more: str = "") -> str:
    """A `SKILL.md`."""
    return f"---\nname: {name}\ndescription: {description}\n{more}---\n\n{body}"


def write_skill(root: Path, name: str, text: str | None = None) -> Path:
    """Write a skill's folder; the default is a good one. Gives the folder of skills."""
    (root / name).mkdir(parents=True)
    (root / name / "SKILL.md").write_text(skill_text(name) if text is None else text, encoding="utf-8")
    return root


def guided_by(folder: Path) -> Guidance:
    """Guidance by the skills of a folder."""
    return Guidance(skills=open_skills(folder))
