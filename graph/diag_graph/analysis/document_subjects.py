"""What the lines of a command's output are about, and in what state that is now.

Reads what kubectl prints (describe, get as table, JSON or YAML, events, logs), what its relatives print (kube-lineage,
Argo CD), and JSON of cloud tools: whatever names an object and then speaks of it, deeper indented.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from diag_graph.analysis.failure_signatures import TextKind

_HEAD = 400
"""Lines that are looked at to say what kind of text it is."""
_GUIDE_HEADINGS = frozenset(
    {
        "meaning",
        "impact",
        "diagnosis",
        "mitigation",
        "remediation",
        "symptoms",
        "troubleshooting",
        "resolution",
        "runbook",
    }
)
_GUIDE = re.compile(r"(?<![a-z])(?:runbook|playbook)s?(?![a-z])", re.IGNORECASE)
"""What the name or the first heading of a text says that is advice."""
_DEFINES = re.compile(r"\"(?:overall_state|monitor_thresholds)\":|^\s*(?:- )?\"?(?:expr|alert)\"?: ", re.MULTILINE)
"""What alert rules and monitors hold: they say what would be alerted on."""
_TREE = re.compile(r"^\s*[\u2502\u251c\u2514]")
"""A branch of a tree, as kube-lineage draws it."""
_COMMAND = re.compile(r"^\$ (?:sudo )?(?P<program>[\w./-]+)")
_LOGS_OF = re.compile(r"\bkubectl logs (?:-\S+ )*(?:pod/|deploy(?:ment)?/)?(?P<name>[a-z0-9][\w.-]*)")
_FILE_OF = re.compile(
    r"kubectl_(?:logs|describe|events|get)_(?:(?:pod|deployment|job|node|service|statefulset)s?_)?(?P<name>[a-z0-9][a-z0-9.-]+)"
)
_KUBERNETES = re.compile(
    r"kubectl|kube-|eks_|^\s*\"?(?:apiVersion|kind|involved_?object|namespace|node_name|restart_?count)\"?:"
    r"|^(?:NAME|NAMESPACE|LAST SEEN)\s|^Namespace:|\bargocd\b",
    re.IGNORECASE | re.MULTILINE,
)
_CLOUD = re.compile(
    r"^\$ (?:aws|gcloud|az) |\bAWS/|arn:aws"
    r"|\"(?:source_identifier|SourceIdentifier|DBInstanceIdentifier|db_instance_identifier)\"",
    re.MULTILINE,
)
_NAME_KEY = re.compile(
    r"^(?P<indent>[\s-]*)\"?(?P<key>name|subject_name|pod_name|db_instance_identifier|DBInstanceIdentifier"
    r"|source_identifier|SourceIdentifier|involved_?object)\"?:\s+\"?(?P<name>[\w./:-]+)\"?,?$"
)
_DESCRIBED = re.compile(r"^Name:\s+(?P<name>\S+)")
_SECTION = re.compile(r"^(?P<section>[A-Z][\w ]*):")
_CONTAINER = re.compile(r"^ {2,3}(?P<name>[a-z0-9][a-z0-9.-]*):$")
_POD_ROW = re.compile(
    r"^(?:\S+\s+)?(?P<name>[a-z0-9][\w.-]*)\s+(?P<ready>\d+)/(?P<total>\d+)\s+(?P<status>[A-Z][\w:]*)\s+\d+(?:\s|$)"
)
_NODE_ROW = re.compile(r"^(?P<name>[a-z0-9][\w.-]*)\s+(?P<status>(?:Not)?Ready)(?:,\S+)?\s+\S+\s+\S+\s+v\d")
_OBJECT = re.compile(
    r"\b(?P<kind>pod|node|deployment|replicaset|statefulset|daemonset|job|cronjob|service|endpoints|ingress"
    r"|persistentvolumeclaim|horizontalpodautoscaler|resourcequota)/(?P<name>[a-z0-9][a-z0-9.-]*)",
    re.IGNORECASE,
)
_SPOKEN = re.compile(
    r"\b(?P<kind>pod|deployment|node|job|statefulset|daemonset|replicaset|instance)s? (?:for )?(?:[a-z0-9-]+/)?"
    r"(?P<name>[a-z0-9][a-z0-9.]*-[a-z0-9.-]*[a-z0-9])",
    re.IGNORECASE,
)
"""How prose names an object, as the summary of an alert does."""
_DESCRIBE_KIND = re.compile(r"(?:kubectl|oc)[ _]describe[ _](?P<kind>[a-z]+?)s?[ _]")
_READY = re.compile(
    r"^\s*-?\s*\"?(?:Ready|ready|running_and_ready)\"?:\s+\"?(?P<ready>True|False|Unknown)\b", re.IGNORECASE
)
_DELETED = re.compile(r"deletion_?timestamp\"?:\s+\"?\d{4}-|^Status:\s+Terminating", re.IGNORECASE)


class State(StrEnum):
    """How an object is now, as far as a text says."""

    READY = "running and ready"
    NOT_READY = "not ready"
    DELETED = "being deleted"


@dataclass(frozen=True, slots=True)
class Subject:
    """What a line is about."""

    name: str = ""
    kind: str = ""
    container: str = ""


@dataclass(slots=True)
class DocumentReading:
    """A document, read once.

    Attributes:
        kind: What kind of text it is.
        guidance: It is a runbook or a set of alert rules: it says what may happen, not what did.
        subjects: What each line is about.
        states: How the objects are that it names.
    """

    kind: TextKind
    guidance: bool
    subjects: Sequence[Subject] = ()
    states: dict[str, State] = field(default_factory=dict)


def read_subjects(name: str, lines: Sequence[str]) -> DocumentReading:
    """Say what each line of a document is about.

    Args:
        name: The document's name, which often says what command printed it.
        lines: Its lines.
    """
    head = "\n".join((name, *lines[:_HEAD]))
    headings = {line.strip(" #*:").lower() for line in lines[:_HEAD]}
    begins = next((line for line in lines[:_HEAD] if line.strip()), "")
    titled = _GUIDE.search(name) is not None or (begins.startswith("#") and _GUIDE.search(begins) is not None)
    guidance = titled or len(headings & _GUIDE_HEADINGS) > 1 or _DEFINES.search(head) is not None
    reading = DocumentReading(_kind(head), guidance)
    whole = Subject(_whole(name, lines), "pod" if _LOGS_OF.search(head) or "kubectl_logs" in name else "")
    if not whole.name and (spoken := _SPOKEN.search(head)):
        whole = Subject(spoken["name"], spoken["kind"].lower())
    if head[len(name) :].lstrip().startswith(("{", "[", "apiVersion", "- ")) or "-o yaml" in head:
        reading.subjects = _nested(lines, whole, reading.states)
        if reading.kind is TextKind.CLOUD:
            reading.subjects = [Subject(one.name, one.kind) for one in reading.subjects]
    if not reading.subjects or not any(subject.name for subject in reading.subjects):
        reading.subjects = _printed(lines, whole, _described_kind(head), reading.states)
    return reading


def _kind(head: str) -> TextKind:
    if _CLOUD.search(head):
        return TextKind.CLOUD
    logs = _LOGS_OF.search(head) or "kubectl_logs" in head
    return TextKind.LOG if logs else TextKind.KUBERNETES if _KUBERNETES.search(head) else TextKind.TEXT


def _whole(name: str, lines: Sequence[str]) -> str:
    """What the whole document is about, by the command that printed it or by its name."""
    command = next((line for line in lines[:3] if _COMMAND.match(line)), "")
    found = _LOGS_OF.search(command) or _FILE_OF.search(name.rpartition("/")[2].rpartition(".")[0])
    return found["name"].strip(".-") if found else ""


def _described_kind(head: str) -> str:
    found = _DESCRIBE_KIND.search(head)
    return found["kind"] if found else "object"


def _printed(lines: Sequence[str], whole: Subject, kind: str, states: dict[str, State]) -> list[Subject]:
    """Tables and `describe`: what a line names itself, else what was last described."""
    subjects: list[Subject] = []
    current, section, container = whole, "", ""
    ready: dict[str, list[bool]] = defaultdict(list)
    for number, line in enumerate(lines, start=1):
        if described := _DESCRIBED.match(line):
            current, container = Subject(described["name"].rpartition("/")[2], kind), ""
        elif top := _SECTION.match(line):
            section, container = top["section"], ""
        elif section.endswith("Containers") and (begins := _CONTAINER.match(line)):
            container = begins["name"]
        if container and (says := _READY.match(line)):
            ready[current.name].append(says["ready"].lower() == "true")
        if _DELETED.search(line):
            states[current.name] = State.DELETED
        row = _row(line, states)
        if row is not None and not current.name and not _TREE.match(line):
            current = row if _TREE.match(next(iter(lines[number:]), "")) else current
        subjects.append(row or Subject(current.name, current.kind, container))
    for name, containers in ready.items():
        states.setdefault(name, State.READY if all(containers) else State.NOT_READY)
    return subjects


def _row(line: str, states: dict[str, State]) -> Subject | None:
    """What a row of a table is about, noting the state that it shows."""
    if pod := _POD_ROW.match(line):
        if pod["status"] == "Terminating":
            states[pod["name"]] = State.DELETED
        elif pod["status"] == "Running" and pod["ready"] == pod["total"]:
            states.setdefault(pod["name"], State.READY)
        return Subject(pod["name"], "pod")
    if node := _NODE_ROW.match(line):
        states.setdefault(node["name"], State.READY if node["status"] == "Ready" else State.NOT_READY)
        return Subject(node["name"], "node")
    found = _OBJECT.search(line)
    return Subject(found["name"], found["kind"].lower()) if found else None


@dataclass(slots=True)
class _Block:
    """An object of a JSON or YAML text: where it begins and ends, how deep it is, and what it says of itself."""

    indent: int
    first: int
    last: int = 0
    name: str = ""
    ready: list[bool] = field(default_factory=list)
    deleted: bool = False
    parent: _Block | None = None


_METADATA = re.compile(r"^\s*\"?(?:metadata|involvedObject|regarding)\"?:\s*\{?$")
_LIST_ITEM = re.compile(r"^\s*- ")


def _nested(lines: Sequence[str], whole: Subject, states: dict[str, State]) -> list[Subject]:
    """JSON and YAML by indentation: a line is about the outermost named object around it, and a container within."""
    blocks: list[_Block] = []
    holders: list[_Block] = []
    stack: list[_Block] = []
    for number, line in enumerate(lines):
        text = line.strip()
        indent = len(line) - len(line.lstrip()) + (2 if _LIST_ITEM.match(line) else 0)
        fresh = _LIST_ITEM.match(line) is not None or text in {"{", "},{"}
        while stack and (stack[-1].indent > indent or (fresh and stack[-1].indent >= indent)):
            stack.pop().last = number
        if text and (not stack or stack[-1].indent < indent):
            stack.append(_Block(indent, number, parent=stack[-1] if stack else None))
            blocks.append(stack[-1])
        holders.append(stack[-1] if stack else _Block(0, number))
        _note(line, lines, stack)
    return [_about(block, whole, states) for block in holders]


def _note(line: str, lines: Sequence[str], stack: list[_Block]) -> None:
    """Note what a line says of the object that it stands in: its name, whether it is ready, or deleted."""
    if not stack:
        return
    block = stack[-1]
    if (named := _NAME_KEY.match(line)) and not block.name:
        owner = block
        opener = lines[block.first - 1] if block.first else ""
        if _METADATA.match(opener) and block.parent is not None:
            owner = block.parent
        owner.name = owner.name or named["name"].rpartition("/")[2]
    if says := _READY.match(line):
        block.ready.append(says["ready"].lower() == "true")
    if _DELETED.search(line):
        block.deleted = True


def _lineage(block: _Block) -> Iterable[_Block]:
    while True:
        yield block
        if block.parent is None:
            return
        block = block.parent


def _about(block: _Block, whole: Subject, states: dict[str, State]) -> Subject:
    chain = [one for one in _lineage(block) if one.name]
    if not chain:
        return whole
    outer, inner = chain[-1], chain[0]
    line = list(_lineage(block))
    if any(one.deleted for one in line):
        states[outer.name] = State.DELETED
    said = [ready for one in line for ready in one.ready]
    if said and states.get(outer.name) is not State.DELETED:
        known = states.get(outer.name)
        good = all(said) and known is not State.NOT_READY
        states[outer.name] = State.READY if good else State.NOT_READY
    return Subject(outer.name, "", "" if inner is outer else inner.name)
