"""What a checkpoint keeps of the facts a session holds: commits, files changed, the last failing command, asks, rules.

python -m tests.benchmarks.checkpoint_quality DIRECTORY [--verbose] [--read FILE]

DIRECTORY holds transcripts (`*.jsonl`). FILE holds what a reader found to be rules of the user, before any checkpoint
was made: {"name of a transcript": ["the user's words", ...]}. The other facts are counted by plain expressions over the
raw records, written apart from the rules that make checkpoints; each is looked for in the checkpoint and in the summary
made of it. A statement of the checkpoint that the facts contradict (a command told to fail that passed later, a file
told uncommitted that was committed) is listed and counted.
"""

from __future__ import annotations

import argparse
import json
import ntpath
import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsonlstore.context import distilled, summary_text
from jsonlstore.redact import sanitised
from jsonlstore.transcripts import parse_entry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jsonlstore.context import Checkpoint

WRITERS = {"write", "edit", "multiedit", "str_replace", "create", "apply_patch", "notebookedit"}
SHELLS = {"exec", "bash", "shell", "run", "execute"}
COMMITTED = re.compile(r"^\[[^\]\n]{1,80} ([0-9a-f]{7,40})\] ", re.MULTILINE)
PATCHED = re.compile(r"^\*\*\* (?:Add|Update) File: (.+)$", re.MULTILINE)
EXIT = re.compile(r"(?:exited with code|exit code:?|Exit code) (\d+)|Process exited with code (\d+)")
TROUBLE = re.compile(r"\b[1-9]\d* failed\b|^error: ", re.MULTILINE | re.IGNORECASE)  # a pipe hides the exit code
RULE = re.compile(
    r"\b(?:never|always|don't|do not|must not|only use|make sure|from now on"
    r"|nie|niemals|immer|nicht mehr|auf keinen fall|in zukunft|ab sofort|ab jetzt"
    r"|nunca|siempre|a partir de ahora|jamais|toujours|désormais)\b|不要|必须|禁止|以后|一定要|才可以|(?:^|[，。])别",
    re.IGNORECASE,
)
MOST_RULES = 20
PRINTED = re.compile(
    r"^\W*$|^\s*[(#]|\bpid=|  #|^.{0,11}$|^.{201,}$|[?？]$"
)  # by a program, a comment in code, too short or long, a question
NUDGE = re.compile(r"^\W*(?:go on|continue|ok(?:ay)?|yes|weiter|ja|si|sí|继续|好的?)\W*$", re.IGNORECASE)


class Facts:
    """What the raw records say."""

    def __init__(self, path: Path, read: list[str]) -> None:
        self.read = read
        self.commits: list[str] = []
        self.files: dict[str, int] = {}
        self.runs: dict[str, tuple[int, bool]] = {}
        self.asks: list[str] = []
        self.rules: list[str] = []
        calls: dict[str, tuple[str, dict[str, Any]]] = {}
        for number, line in enumerate(path.read_bytes().splitlines()):
            record = json.loads(line)
            message = record.get("message") or {}
            content = message.get("content")
            blocks = content if isinstance(content, list) else [{"type": "text", "text": str(content or "")}]
            text = "\n".join(str(one.get("text") or "") for one in blocks if one.get("type") == "text")
            if message.get("role") == "user":
                self._heard(line, number, text)
            elif message.get("role") == "assistant":
                for one in blocks:
                    if one.get("type") == "toolCall":
                        calls[str(one.get("id"))] = (str(one.get("name")).lower(), dict(one.get("arguments") or {}))
            elif message.get("role") == "toolResult":
                name, arguments = calls.get(str(message.get("toolCallId")), ("", {}))
                self._ran(number, name, arguments, text, message)

    def _heard(self, line: bytes, number: int, text: str) -> None:
        entry = parse_entry(line, number)
        # what a runtime says in the user's name is nobody's ask
        words = entry.text.strip() if entry is not None and entry.speaker.name == "USER" else ""
        if words and not NUDGE.match(words):
            self.asks.append(words)
            prose = re.sub(r"```.*?```", "", words, flags=re.DOTALL)
            sentences = re.split(r"(?<=[.!?])\s+|\n", prose)
            self.rules += [one.strip() for one in sentences if RULE.search(one) and not PRINTED.search(one)]

    def _ran(self, number: int, name: str, arguments: dict[str, Any], text: str, message: dict[str, Any]) -> None:
        failed = bool(message.get("isError"))
        if name in WRITERS and not failed:
            path = next(
                (arguments[key] for key in ("path", "file_path", "filePath", "file") if arguments.get(key)), None
            )
            patch = str(arguments.get("patch") or arguments.get("input") or "")
            for one in [str(path)] if path else PATCHED.findall(patch):
                self.files[ntpath.basename(one)] = number
        if name in SHELLS:
            command = arguments.get("command") or arguments.get("cmd") or ""
            command = " ".join(map(str, command)) if isinstance(command, list) else str(command)
            self.commits += COMMITTED.findall(text)
            for one in PATCHED.findall(command):
                self.files[ntpath.basename(one)] = number
            code = (message.get("details") or {}).get("exitCode")
            told = EXIT.search(text)
            if code is None and told:
                code = int(told[1] or told[2])
            if command.strip():
                self.runs[command.strip()] = (number, failed or bool(code) or bool(TROUBLE.search(text[-2_000:])))


def parts(facts: Facts) -> Iterator[tuple[str, list[str]]]:
    """The facts that matter at the end, by kind: the newest of each, as many as a person would want."""
    yield "commits", list(dict.fromkeys(facts.commits))[-10:]
    yield "files changed", sorted(facts.files, key=lambda one: -facts.files[one])[:12]
    failing = [one for one in sorted(facts.runs, key=lambda one: facts.runs[one][0]) if facts.runs[one][1]]
    yield "last failing command", failing[-1:]
    yield "asks", [*facts.asks[:1], *facts.asks[1:][-5:]]
    yield "rules", list(dict.fromkeys(facts.rules))[-MOST_RULES:]
    yield "rules a reader found", facts.read


def holds(made: str, fact: str, kind: str) -> bool:
    """Whether a text has a fact: an id by its beginning, words by most of them."""
    if kind in ("commits", "files changed"):
        return fact[:7] in made if kind == "commits" else fact in made
    if kind == "last failing command":
        return sanitised(" ".join(fact.split()))[:40] in " ".join(made.split())
    words = re.findall(r"\w{3,}", fact[:200].casefold()) or [fact[:20].casefold()]
    return sum(one in made.casefold() for one in words) >= 0.7 * len(words)


def texts(value: Any) -> Iterator[str]:
    """Every text in a document."""
    if isinstance(value, str):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts(one)


def contradictions(made: Checkpoint, facts: Facts) -> list[str]:
    """What a checkpoint says that the records deny."""
    found = []
    for name in ("failing", "lastFailed"):
        told = made.evidence.get(name)
        if isinstance(told, dict):
            same = [one for one in facts.runs if told["command"][:40] and told["command"][:40] in " ".join(one.split())]
            if same and not any(facts.runs[one][1] for one in same):
                found.append(f"told to fail, and passed: {told['command'][:80]}")
    found += [
        f"no such commit: {one}" for one in made.texts("done") if facts.commits and not _known(one, facts.commits)
    ]
    return found


def _known(told: str, commits: list[str]) -> bool:
    sha = told.split(" ", maxsplit=1)[0]
    return not re.fullmatch(r"[0-9a-f]{7,40}", sha) or any(one.startswith(sha[:7]) for one in commits)


def main(folder: Path, read: dict[str, list[str]], *, verbose: bool) -> None:
    kept: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    wrong: list[str] = []
    for path in sorted(folder.glob("*.jsonl")):
        lines = path.read_bytes().splitlines()
        made = distilled(entry for at, line in enumerate(lines) if (entry := parse_entry(line, at)) is not None)
        whole, text = "\n".join(texts(made.to_dict())), summary_text(made)
        facts = Facts(path, read.get(path.stem, []))
        for kind, found in parts(facts):
            for fact in found:
                there = holds(whole, fact, kind), holds(text, fact, kind)
                kept[kind][0] += there[0]
                kept[kind][1] += there[1]
                kept[kind][2] += 1
                if verbose and not all(there):
                    print(f"{path.name}: {kind} missing {there}: {fact[:150]!r}")
        wrong += [f"{path.name}: {one}" for one in contradictions(made, facts)]
    for kind, (in_checkpoint, in_summary, of) in kept.items():
        print(f"| {kind} | {in_checkpoint}/{of} = {in_checkpoint / max(1, of):.2f} | {in_summary / max(1, of):.2f} |")
    total = [sum(one[at] for one in kept.values()) for at in range(3)]
    print(f"| all | {total[0]}/{total[2]} = {total[0] / total[2]:.2f} | {total[1] / total[2]:.2f} |")
    print(f"contradicted: {len(wrong)}", *wrong, sep="\n")


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("--verbose", action="store_true")
    options.add_argument("--read", type=Path)
    chosen = options.parse_args()
    main(chosen.folder, json.loads(chosen.read.read_text()) if chosen.read else {}, verbose=chosen.verbose)
