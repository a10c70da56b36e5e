"""LiteLLM takes seconds to import: only who calls a model pays, and pays while the evidence is opened."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys, threading
from diag_graph.agents.models import ModelSettings, model_agents
names = lambda: {thread.name for thread in threading.enumerate()}
assert "litellm" not in sys.modules
agents = model_agents(ModelSettings("openai/x"), lambda role, usage: None)
print(agents.label, "import-litellm" in names(), hasattr(sys.modules.get("litellm"), "completion"))
"""


def test_building_the_agents_begins_the_import_and_does_not_wait_for_it() -> None:
    """The import runs on a thread of its own while the caller goes on."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout == "openai/x True False\n"


def test_the_settings_of_models_are_light() -> None:
    """The command line reads them at every start."""
    program = (
        "import sys, diag_cli.settings; print(sorted({'litellm', 'openai', 'httpx', 'pydantic'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
