"""Importing LiteLLM, which takes seconds: on a thread of its own, while something else is done.

Before it is imported, it is told to read its own price list and no other (X6) and no `.env` file; after, to be quiet.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import logging
import os
import threading
from functools import cache
from typing import Any

from diag_graph.errors import ConfigError

_SETTINGS = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # else it downloads its price list at import
    "LITELLM_MODE": "PRODUCTION",  # else it loads a `.env` file that lies in a folder above its own
}
_LOGS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")


def begin_import() -> None:
    """Begin to import LiteLLM, and return at once."""
    threading.Thread(target=_import_quietly, name="import-litellm", daemon=True).start()


def _import_quietly() -> None:
    with contextlib.suppress(ConfigError):  # whoever needs it will see the error
        load_litellm()


@cache
def load_litellm() -> Any:  # noqa: ANN401 - the module; its types would slow every type check
    """The LiteLLM module, imported and set up.

    Raises:
        ConfigError: it cannot be imported.
    """
    os.environ.update(_SETTINGS)
    try:
        litellm: Any = importlib.import_module("litellm")
    except ImportError as error:
        raise ConfigError(
            f"LiteLLM cannot be imported: {error}", "Install diag again, with its dependencies."
        ) from None
    gc.freeze()  # its objects live as long as the process; collecting them at exit would take another second
    litellm.suppress_debug_info = True
    for name in _LOGS:  # its logs hold requests, and so prompts and keys
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return litellm
