"""For the whole suite: nothing leaves the machine, and no key, proxy or model of whoever runs it is seen."""

from __future__ import annotations

import os
import re
import signal
import sys
from pathlib import Path

_LOOPBACK = Path(__file__).parent / "loopback"
_FOREIGN = re.compile(
    r"(?:_API_KEY|_API_BASE|_BASE_URL|_TOKEN|_PROXY)\Z|\A(?:DIAG|LITELLM|AZURE|AWS|OPENAI)_", re.IGNORECASE
)
_OURS = {"DIAG_UPDATE_DOCS", "DIAG_FUZZ_EXAMPLES"}
"""Settings of the suite itself."""


def pytest_configure() -> None:
    """Close the way out before anything is collected, here and for every Python program that a test starts."""
    for name in [name for name in os.environ if _FOREIGN.search(name) and name not in _OURS]:
        del os.environ[name]
    sys.path.insert(0, str(_LOOPBACK))
    import loopback_only

    loopback_only.install()
    _settle_hypothesis()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell starts what runs in its background
        signal.signal(signal.SIGINT, signal.default_int_handler)
    paths = [str(_LOOPBACK), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)


def _settle_hypothesis() -> None:
    """Properties say what must hold; how long an example takes on a busy machine fails no test.

    The suite tries the same examples each time, so that a change is not blamed for what it did not break. With
    DIAG_FUZZ_EXAMPLES=5000 all properties are tried with so many examples, and others each time.
    """
    from hypothesis import settings

    wanted = int(os.environ.get("DIAG_FUZZ_EXAMPLES", "0"))
    settings.register_profile("suite", deadline=None, derandomize=not wanted, max_examples=wanted or 100)
    settings.load_profile("suite")
