"""For the whole suite: nothing leaves the machine, and no key, proxy or model of whoever runs it is seen."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

_LOOPBACK = Path(__file__).parent / "loopback"
_FOREIGN = re.compile(
    r"(?:_API_KEY|_API_BASE|_BASE_URL|_TOKEN|_PROXY)\Z|\A(?:DIAG|LITELLM|AZURE|AWS|OPENAI)_", re.IGNORECASE
)


def pytest_configure() -> None:
    """Close the way out before anything is collected, here and for every Python program that a test starts."""
    for name in [name for name in os.environ if _FOREIGN.search(name)]:
        del os.environ[name]
    sys.path.insert(0, str(_LOOPBACK))
    import loopback_only

    loopback_only.install()
    paths = [str(_LOOPBACK), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
