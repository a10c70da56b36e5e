"""`diag replay` of any file at all."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

from cli_samples import Command
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from diag_cli.exits import Exit
from hostile import examples, run_files

DOCUMENTED = {Exit.OK, Exit.RUN_FAILED, Exit.USAGE, Exit.REPLAY_DIFFERS, Exit.NOT_PASSED}


@given(run_files(), st.booleans())
@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_any_file_is_replayed_or_refused_without_a_traceback(
    command: Command, home: Path, data: bytes, as_json: bool
) -> None:
    """Section 10: a documented exit status, clear lines; P3; J1: never without a trace; X1: nothing for a terminal."""
    path = home / "run.json"
    path.write_bytes(data)
    outcome = command("replay", path, *(["--json"] if as_json else []))
    assert outcome.status in DOCUMENTED
    assert "Traceback" not in outcome.err
    assert {char for char in outcome.out + outcome.err if unicodedata.category(char) in ("Cc", "Cs")} <= {"\n"}
    if outcome.status == Exit.USAGE:
        assert outcome.out == ""
        assert len(outcome.err.splitlines()) == 2
    elif as_json:
        assert json.loads(outcome.out)["run"]["orchestrationTrace"]["version"] == "stategraph-v1"
    if outcome.status != Exit.USAGE:
        looked_at = command("trace", "last")
        assert (looked_at.status, "Traceback" in looked_at.err) == (Exit.OK, False)
