"""`current_time`: now, in UTC and in the user's zone."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from diag_graph.tools.definition import Tool, ToolArguments, ToolContext, ToolError, ToolOutput


class CurrentTimeArguments(ToolArguments):
    """No arguments."""


def _run(_arguments: CurrentTimeArguments, context: ToolContext) -> ToolOutput:
    now = datetime.fromisoformat(context.now)
    try:
        local = now.astimezone(ZoneInfo(context.zone))
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise ToolError(
            f"{context.zone!r} is no time zone of this machine's database; set one like Europe/Berlin"
        ) from error
    text = f"It is {context.now} (UTC)."
    if context.zone != "UTC":
        text = f"It is {context.now} (UTC), {local.isoformat(timespec='seconds')} in {context.zone}."
    item = {"text": text, "entity": "", "signal": "document", "onset": None, "score": 0.0, "zone": context.zone}
    return ToolOutput([item], text)


def _offered(_context: ToolContext) -> bool:
    return True


CURRENT_TIME = Tool(
    name="current_time",
    summary="The run's clock, in UTC and in the user's zone.",
    arguments=CurrentTimeArguments,
    run=_run,
    offered=_offered,
)
