"""`diag chat`, and `diag` alone on a terminal: a prompt for a conversation."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from diag_cli import settings
from diag_cli.asking import chosen_folder, open_evidence, read_all, run_question, say_unread, shortest
from diag_cli.conclusion import conclude
from diag_cli.conversation import LATEST, NEW, Conversation, go_on_with, wanted
from diag_cli.exits import Exit
from diag_cli.model_settings import usable_model
from diag_cli.options import ApiBase, Continue, Db, Debug, Incident, Model, Session, Shown, Skills
from diag_cli.question import is_open
from diag_cli.render.safe import one_line
from diag_cli.render.streams import complain, is_terminal, say, tell
from diag_cli.skills import usable_skills
from diag_cli.watch import RunInterruptedError
from diag_graph.agents.models.loading import begin_import
from diag_graph.errors import DiagError, InputError

if TYPE_CHECKING:
    from diag_cli.prompt import Completions, Prompt
    from diag_cli.settings import Settings
    from diag_graph.agents.models import ModelSettings
    from diag_graph.outcome import RunDocument
    from diag_graph.sources.ports import Evidence, SkillSource

LABEL = "diag> "
ANALYST = "analyst"
"""What a person writes for the built-in analyst, where a model's name is asked for."""

COMMANDS: dict[str, str] = {
    "/help": "what can be typed here",
    "/incident": "DIR: look at this folder; without DIR: say which one is looked at",
    "/new": "begin a new conversation",
    "/sessions": "the conversations that there are",
    "/resume": "ID: go on with a conversation; without ID: with the last one",
    "/trace": "how the last run came to its answer",
    "/model": f'NAME: the model that thinks, or "{ANALYST}"; without NAME: say who does',
    "/quit": "leave; Ctrl-D does too, and Ctrl-C twice",
}

_SIGNS = {"metrics", "logs", "spans", "traces", "alert", "alerts", "changes", "deploys", "incident"}
_ENOUGH_SIGNS = 2


def chat(
    incident: Incident = None,
    go_on: Continue = False,
    session: Session = None,
    model: Model = None,
    api_base: ApiBase = None,
    skills: Skills = None,
    display: Shown = None,
    db: Db = None,
    debug: Debug = False,  # noqa: ARG001 - its callback has noted it
) -> int:
    """Open a prompt for a conversation: ask, ask on, look at another folder.

    `diag` alone does the same on a terminal. Each line is a question; what begins with a slash is a command, and /help
    lists them. Ctrl-C cancels a run and not the program; at an empty line, twice in a row, it
    leaves as Ctrl-D does.
    """
    if not all(map(is_terminal, (sys.stdin, sys.stdout, sys.stderr))):
        raise InputError("a conversation needs a terminal", 'In a script, ask: diag ask "why is checkout slow?"')
    flags = {"db": db, "model": model, "api_base": api_base, "display": display, "skills": skills}
    Chat(flags, go_on_with(settings.resolve(flags)["db"], wanted(session, go_on=go_on), quiet=False)).run(incident)
    return Exit.OK


class Chat:
    """A conversation at a prompt, until its user leaves."""

    def __init__(self, flags: dict[str, str | None], conversation: Conversation) -> None:
        """Go on with a conversation, by these settings."""
        from diag_cli.prompt import Completions, Prompt

        self._flags = flags
        self._given: Settings = settings.resolve(flags)
        self._thinks: ModelSettings | None = None
        self._skills: SkillSource | None = None
        self._conversation = conversation
        self._folder: Path | None = None
        self._evidence: Evidence | None = None
        self._last_run: str | None = None
        self._completions: Completions = Completions(COMMANDS, {"/resume": self._sessions, "/model": lambda: [ANALYST]})
        self._prompt: Prompt = Prompt(settings.data_folder(), self._completions)
        self._leaves = False

    def run(self, incident: Path | None) -> None:
        """Read lines and carry them out, until the user leaves."""
        self._use_model()
        self._look_at(chosen_folder(incident, self._conversation, quiet=False) or self._offered())
        tell(f"{self._who()} thinks; {self._where()}. /help lists the commands, Ctrl-D leaves.")
        while not self._leaves:
            try:
                line = self._read()
                if line.strip():
                    self._carry_out(line)
            except EOFError:
                break
            except KeyboardInterrupt:  # one that comes as a run ends is not meant for the conversation
                complain("cancelled")

    def _read(self) -> str:
        """A line; with what follows it, where it begins JSON; empty when its user gives that up."""
        text = self._prompt.read(LABEL)
        try:
            while is_open(text):
                more = self._prompt.read_on()
                if not more.strip():
                    complain("the JSON does not close, and is not asked", "Paste all of it, or ask in your own words.")
                    return ""
                text = f"{text}\n{more}"
        except (KeyboardInterrupt, EOFError):
            complain("given up")
            return ""
        return text

    def _carry_out(self, line: str) -> None:
        """Carry out a line. What goes wrong with it is said, and the prompt comes back."""
        try:
            if line.startswith("/"):
                self._command(line)
            else:
                self._ask(line)
        except DiagError as error:
            complain(error.message, error.advice)
        except RunInterruptedError as error:
            complain("the run was cancelled; the conversation goes on", error.advice)
        except KeyboardInterrupt:  # before the run began, or after it had ended
            complain("cancelled")

    # --- questions -------------------------------------------------------------------------------------------

    def _ask(self, question: str) -> None:
        knows = self._given["knowledge"].exists()
        if self._evidence is None and not knows:
            complain("there is nothing to look at", "Name a folder of metrics, logs and traces: /incident DIR")
        conversation = self._as_it_stands()
        answered = run_question(
            question,
            given=self._given,
            evidence=self._evidence,
            skills=self._skills,
            incident=self._folder,
            thinks=self._thinks,
            conversation=conversation,
            knows=knows,
        )
        run = answered.document.run
        self._last_run = run.run_id if answered.kept else None
        self._conversation = conversation.with_turn(run.session_id, run.question, run.answer)
        self._completions.names |= _names_in(answered.document)
        conclude(answered.document, kept=answered.kept, as_json=False, quiet=False, advise=False)
        say("")

    def _as_it_stands(self) -> Conversation:
        """The conversation, with what other processes may have asked in it."""
        if self._conversation.session_id is None or self._last_run is None:
            return self._conversation
        return go_on_with(self._given["db"], self._conversation.session_id, quiet=True)

    # --- commands --------------------------------------------------------------------------------------------

    def _command(self, line: str) -> None:
        name, _, argument = line.strip().partition(" ")
        carry_out = self._commands().get(name)
        if carry_out is None:
            raise InputError(f"there is no command {one_line(name)}", "/help lists them; a question begins without /.")
        carry_out(argument.strip())

    def _commands(self) -> dict[str, Callable[[str], None]]:
        return {
            "/help": lambda _: self._help(),
            "/incident": self._incident,
            "/new": lambda _: self._go_on(NEW),
            "/sessions": lambda _: self._list_sessions(),
            "/resume": self._resume,
            "/trace": self._trace,
            "/model": self._model,
            "/quit": lambda _: self._leave(),
            "/exit": lambda _: self._leave(),
        }

    def _help(self) -> None:
        say("\n".join(f"  {name:<10} {meaning}" for name, meaning in COMMANDS.items()))
        say(
            "Anything else is a question. Tab completes; the arrow keys bring back earlier lines; Ctrl-C cancels a run."
        )

    def _incident(self, named: str) -> None:
        if named:
            self._look_at(Path(_unquoted(named)).expanduser())
        say(f"{self._where()[0].upper()}{self._where()[1:]}.")

    def _go_on(self, conversation: Conversation) -> None:
        self._conversation, self._last_run = conversation, None
        if conversation.session_id is None:
            say("A new conversation begins.")
        elif conversation.incident is not None and conversation.incident != self._folder:
            self._look_at(chosen_folder(None, conversation, quiet=False))

    def _resume(self, named: str) -> None:
        self._go_on(go_on_with(self._given["db"], named or LATEST, quiet=False, may_begin=False))

    def _list_sessions(self) -> None:
        from diag_cli.sessions import sessions

        sessions(limit=20, as_json=False, db=self._flags["db"])

    def _trace(self, named: str) -> None:
        from diag_cli.trace import trace

        trace(run=named or self._last_run or "last", db=self._flags["db"])

    def _model(self, named: str) -> None:
        if named:
            before = dict(self._flags)
            self._flags["model"] = "" if named == ANALYST else named
            try:
                self._use_model()
            except DiagError:
                self._flags = before
                raise
        say(f"{self._who()} thinks.")

    def _leave(self) -> None:
        self._leaves = True

    # --- what is looked at, and who thinks -------------------------------------------------------------------

    def _use_model(self) -> None:
        given = settings.resolve(self._flags)
        self._thinks = usable_model(given)
        self._given = given
        self._skills = usable_skills(self._given, quiet=False)
        if self._thinks is not None:
            begin_import()  # it takes seconds, in which the first question is typed

    def _look_at(self, folder: Path | None) -> None:
        if folder is None:
            return
        self._evidence = open_evidence(folder, self._given["zone"], quiet=False)
        self._folder = folder
        if self._evidence is not None:
            read_all(self._evidence, self._given["display"])
            say_unread(self._evidence, folder)
            edges = self._evidence.topology.edges() if self._evidence.topology else ()
            self._completions.names |= {name for edge in edges for name in (edge.caller, edge.callee)}

    def _offered(self) -> Path | None:
        """The working directory, when it looks like an incident and the user wants it."""
        try:
            here = Path.cwd()
        except OSError:  # the working directory is gone
            return None
        if not looks_like_incident(here):
            return None
        try:
            said = self._prompt.read(f"{here.name} looks like a recorded incident. Look at it? [Y/n] ")
        except EOFError:
            return None
        return here if said.strip().lower() in {"", "y", "yes"} else None

    def _who(self) -> str:
        return one_line(self._thinks.label()) if self._thinks is not None else "the built-in analyst"

    def _where(self) -> str:
        if self._folder is None:
            return "no folder is looked at yet: /incident DIR"
        return f"it looks at {one_line(shortest(self._folder.absolute()))}"

    def _sessions(self) -> list[str]:
        from diag_graph.store import Store, StoreError

        try:
            with Store.open(self._given["db"], create=False) as store:
                return [one.session_id for one in store.sessions(20)]
        except StoreError:
            return []


def looks_like_incident(folder: Path) -> bool:
    """Whether a folder's files are named as evidence is: by a manifest, or by two kinds of it."""
    try:
        names = [entry.name.lower() for entry in folder.iterdir() if entry.is_file()]
    except OSError:
        return False
    return "incident.toml" in names or len({name.split(".")[0] for name in names} & _SIGNS) >= _ENOUGH_SIGNS


def _names_in(document: RunDocument) -> set[str]:
    """The services that the inventory of a run names."""
    items = [
        item
        for call in document.invocations
        if call.tool == "list_evidence" and isinstance(call.result, dict)
        for item in call.result.get("items", ())
    ]
    return {item["entity"] for item in items if item.get("section") == "services" and item.get("entity")}


def _unquoted(text: str) -> str:
    """A path as a shell would read it; as it stands, where its quotes do not match."""
    try:
        return " ".join(shlex.split(text)) or text
    except ValueError:
        return text
