"""Skills: folders with a `SKILL.md`, after the Agent Skills convention (https://agentskills.io/specification).

A skill guides whoever gathers evidence, and is no evidence itself (contract section 13, G6). Of its folder nothing but
`SKILL.md` is read, and nothing is run.
"""

from __future__ import annotations

from diag_graph.sources.skills.document import Skill, SkillError, read_skill_document
from diag_graph.sources.skills.folder import SKILL_FILE, FolderSkills, RefusedSkill, open_skills
from diag_graph.sources.skills.steps import Call, Piece, pieces

__all__ = [
    "SKILL_FILE",
    "Call",
    "FolderSkills",
    "Piece",
    "RefusedSkill",
    "Skill",
    "SkillError",
    "open_skills",
    "pieces",
    "read_skill_document",
]
