"""The prompt's line editing: history, completion, and what Ctrl-C and Ctrl-D mean.

The only module that knows prompt_toolkit.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import ColorDepth

from diag_cli.render.streams import is_styled, say
from diag_graph.tools.masking import mask_text

HISTORY_FILE = "prompt-history"
MAX_HISTORY_BYTES = 2_000_000
"""From which size on the file of earlier lines is begun anew."""
_SHOWN_QUESTIONS = 5
_GOES_ON = "  ... "


class MaskedHistory(FileHistory):
    """Earlier lines in a file that its owner alone can read, secrets masked: a pasted alert may hold some.

    A line that cannot be kept is forgotten: it costs no question.
    """

    def store_string(self, string: str) -> None:
        """Write a line down."""
        with suppress(OSError):
            super().store_string(mask_text(string).encode("utf-8", "replace").decode("utf-8"))

    def load_history_strings(self) -> Iterable[str]:
        """The lines that were written down, latest first."""
        with suppress(OSError):
            return list(super().load_history_strings())
        return []


def history_in(folder: Path) -> History:
    """The history kept in a folder; one for this prompt alone where no file can be made."""
    path = folder / HISTORY_FILE
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        large = path.exists() and path.stat().st_size > MAX_HISTORY_BYTES
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | (os.O_TRUNC if large else 0), 0o600))
    except OSError:
        return InMemoryHistory()
    return MaskedHistory(path)


class Completions(Completer):
    """Completes commands and their arguments, names of services, and earlier questions.

    Attributes:
        names: What the evidence has names for; grows as runs show more.
    """

    def __init__(self, commands: Mapping[str, str], arguments: Mapping[str, Callable[[], Iterable[str]]]) -> None:
        """Complete these commands (name to help), and these commands' arguments."""
        self.names: set[str] = set()
        self.earlier: list[str] = []
        self._commands = commands
        self._arguments = arguments
        self._taking = {*arguments, "/incident"}
        self._folders = PathCompleter(only_directories=True, expanduser=True)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        """What the text before the cursor can go on with."""
        text = document.text_before_cursor
        if not text.startswith("/"):
            yield from self._words(document, text)
            return
        command, space, rest = text.partition(" ")
        if not space:
            for name, meaning in self._commands.items():
                if name.startswith(command):
                    blank = " " if name in self._taking else ""  # so that Tab goes on with the argument
                    yield Completion(f"{name}{blank}", -len(command), display=name, display_meta=meaning)
        elif command == "/incident":
            yield from self._folders.get_completions(Document(rest.lstrip()), complete_event)
        else:
            for value in self._arguments.get(command, tuple)():
                if value.startswith(rest.lstrip()):
                    yield Completion(value, -len(rest.lstrip()))

    def _words(self, document: Document, text: str) -> Iterator[Completion]:
        word = document.get_word_before_cursor(WORD=True)
        for name in sorted(self.names) if word else ():
            if name.lower().startswith(word.lower()) and name != word:
                yield Completion(name, -len(word))
        begun = [line for line in self.earlier if text.strip() and line.startswith(text) and line != text]
        for line in begun[:_SHOWN_QUESTIONS]:
            yield Completion(line, -len(text), display_meta="asked before")


class Prompt:
    """Reads lines. A paste of several lines is one."""

    def __init__(self, folder: Path, completions: Completions) -> None:
        """Keep the history in this folder."""
        self._wants_out = False
        self._completions = completions
        self._session: PromptSession[str] = PromptSession(
            history=history_in(folder),
            auto_suggest=AutoSuggestFromHistory(),
            completer=completions,
            complete_while_typing=False,
            enable_history_search=True,
            key_bindings=self._keys(),
            color_depth=None if is_styled(sys.stdout) else ColorDepth.DEPTH_1_BIT,
        )

    def read(self, label: str) -> str:
        """The next line.

        Raises:
            EOFError: the user leaves, by Ctrl-D or by Ctrl-C at an empty line twice in a row.
        """
        self._wants_out = False
        while True:
            try:
                line = self._session.prompt(label)
                break
            except KeyboardInterrupt:
                if self._wants_out:
                    raise EOFError from None
                self._wants_out = True
                say("Ctrl-D leaves, and so does another Ctrl-C.")
        if line.strip() and not line.startswith("/"):
            self._completions.earlier = [line, *(one for one in self._completions.earlier if one != line)]
        return line

    def read_on(self) -> str:
        """A further line of what one line began.

        Raises:
            KeyboardInterrupt: the user gives it up, by Ctrl-C at an empty line.
            EOFError: the user does, by Ctrl-D.
        """
        return self._session.prompt(_GOES_ON)

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()

        @keys.add("c-c")
        def _(event: KeyPressEvent) -> None:
            """Take back what was typed; with nothing typed, begin to leave."""
            if event.current_buffer.text:
                event.current_buffer.reset()
                self._wants_out = False
            else:
                event.app.exit(exception=KeyboardInterrupt)

        return keys
