"""How long the gate takes over large results, measured in normalising passes over the same text (G7).

    python benchmarks/gate_scan.py [--megabytes 100] [--bindings 1000]

Two shapes of evidence: many calls with many short items, and one text of the full size, which every binding cites.
Each with true excerpts, and with excerpts that are all made up and so are looked for in the whole of the result, and in
its JSON, before they are turned down.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable

from diag_graph.contracts import GatekeeperAudit, Invocation, InvocationStatus, JsonObject
from diag_graph.gate.check import audit_document
from diag_graph.gate.normalise import normalise

CALLS = 20


def main() -> None:
    """Measure, and print a line a shape."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=100, help="size of all recorded results")
    parser.add_argument("--bindings", type=int, default=1000)
    options = parser.parse_args()
    chance = random.Random(1)  # noqa: S311 - sample data
    lines = log_lines(options.megabytes * 1_000_000, chance)
    whole = "\n".join(lines)
    scan = seconds(lambda: normalise(whole))
    print(f"{len(whole):,} characters in {len(lines):,} lines; {options.bindings:,} bindings")
    print(f"one normalising pass: {scan:.2f} s")
    items, text = short_items(lines, options.bindings, chance), one_text(lines, whole, options.bindings, chance)
    report("short items, true excerpts", *items, scan)
    report("one text, true excerpts", *text, scan)
    report("short items, forged excerpts", *forged(*items), scan)
    report("one text, forged excerpts", *forged(*text), scan)


def log_lines(characters: int, chance: random.Random) -> list[str]:
    """Lines as a log search returns them, about so many characters together; one in fifty is not ASCII."""
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 9))) for _ in range(5000)]
    lines: list[str] = []
    while characters > 0:
        clock = f"2026-07-16T06:{chance.randint(0, 59):02}:{chance.randint(0, 59):02}Z"
        line = f"{clock}  took {chance.randint(1, 99999)} ms {' '.join(chance.choices(words, k=10))}"
        if chance.random() < 1 / 50:
            line += " — cafe\u0301 “超时”"
        lines.append(line)
        characters -= len(line) + 1
    return lines


def short_items(lines: list[str], bindings: int, chance: random.Random) -> tuple[JsonObject, list[Invocation]]:
    """Lines as items of some calls' results; each binding quotes one."""
    share = -(-len(lines) // CALLS)
    run = [call(n, {"items": [{"text": text} for text in lines[n * share : (n + 1) * share]]}) for n in range(CALLS)]
    cited = [divmod(chance.randrange(len(lines)), share) for _ in range(bindings)]
    return document([(f"inv-{n}", f"/items/{item}/text", lines[n * share + item]) for n, item in cited]), run


def one_text(lines: list[str], whole: str, bindings: int, chance: random.Random) -> tuple[JsonObject, list[Invocation]]:
    """All lines in one document, from which each binding quotes one."""
    return document([("inv-0", "/text", chance.choice(lines)) for _ in range(bindings)]), [call(0, {"text": whole})]


def forged(evidence: JsonObject, run: list[Invocation]) -> tuple[JsonObject, list[Invocation]]:
    """The same, with a word in the middle of each excerpt that nobody wrote."""
    for claim in evidence["claims"]:
        binding = claim["evidence_bindings"][0]
        binding["evidence_excerpt"] = binding["evidence_excerpt"].replace(" ms ", " ns ")
    return evidence, run


def document(citations: list[tuple[str, str, str]]) -> JsonObject:
    """A document with a claim a citation."""
    keys = ("source_invocation_id", "raw_path", "evidence_excerpt")
    return {
        "claims": [
            {"claim_id": f"claim-{n}", "claim": "text", "evidence_bindings": [dict(zip(keys, citation, strict=True))]}
            for n, citation in enumerate(citations)
        ]
    }


def call(number: int, result: JsonObject) -> Invocation:
    """A recorded call."""
    return Invocation(id=f"inv-{number}", tool="search_logs", status=InvocationStatus.OK, result=result)


def report(shape: str, evidence: JsonObject, run: list[Invocation], scan: float) -> None:
    """Check, and print how long that took."""
    audits: list[GatekeeperAudit] = []
    took = seconds(lambda: audits.append(audit_document(evidence, run)))
    passed = sum(checked.status == "pass" for checked in audits[0].checked_bindings)
    print(
        f"{shape}: {took:.2f} s, {took / scan:.2f} passes ({passed:,} of {len(evidence['claims']):,} bindings passed)"
    )


def seconds(work: Callable[[], object]) -> float:
    """How much processor time it takes; the gate waits for nothing, and other processes must not count."""
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    main()
