"""What a session was about: the words, word pairs, labels and projects that stand out in it.

Weights are those of the session itself against the background table, so that the same entries always give the same
topics. How common a topic is in *other* sessions matters when topics are used, not when they are stored: see
`rarity.py`.
"""

from __future__ import annotations

import math
from collections import Counter
from functools import cache, lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from jsonlstore.core import expressions as re
from jsonlstore.signals.background import RARE, STOP, VERBS, word_rarity
from jsonlstore.signals.nouns import is_small_german, names_nothing
from jsonlstore.signals.options import COMMON_TOOL_NAMES, ToolNames
from jsonlstore.signals.projects import ProjectTally, directories_in_command
from jsonlstore.signals.tallies import Tally, cut_back
from jsonlstore.signals.words import fold, read_piece

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MOST_NAMED = 2_048
LONGEST_LABEL = 80
_SHARED, _ALONE = 1.5, 0.75  # worked on by a tool; said by the agent alone
_NAME = 1.3  # in Latin letters among words of another script
_STEM_LETTERS = 7
_MOST_OF_A_STEM = 2
_UNLIKELY = 0.6
_FEW = 4
_STEM = re.compile(r"[\W_]+")
_FILE = re.compile(
    r"\.(?:py|js|ts|tsx|jsx|md|json|ya?ml|toml|txt|html|css|sh|ps1|rs|go|java|kt|rb|php|c|h|cpp|sql|lock|env|cfg|ini|log|pdf|png|jpg|csv|jsonl|psm1|mdc)$"
)
_PAIR_BONUS = 1.15
_NAMED_RARITY = RARE * 1.25
_GENERIC_FILES = frozenset(
    {
        "readme.md", "index.ts", "index.js", "index.html", "package.json", "__init__.py", "main.py", "main.ts",
        "main.rs", "skill.md", "memory.md", "agents.md", "soul.md", "tools.md", "identity.md", "user.md",
        "heartbeat.md", "bootstrap.md", "makefile", "dockerfile", "pyproject.toml", "cargo.toml", "package-lock.json",
        ".gitignore", "state.json", "config.json", "notes.txt", "changelog.md", "license", "setup.py", "conftest.py",
        "todo.md",
    }
)  # fmt: skip


class HotTopicExtractor:
    """Collects the signals of a session and ranks its topics.

    A new kind of signal is one method that calls `record_text` or `record_name`.
    """

    def __init__(self, stopwords: Iterable[str] = (), project_roots: Iterable[str] = ()) -> None:
        self._stop = {word.lower() for word in stopwords} | COMMON_TOOL_NAMES | _GENERIC_FILES
        self._tools: set[str] = set()
        self._tallies: dict[float, Tally] = {}
        self._named: dict[str, float] = {}
        self._learnings: dict[str, None] = {}
        self._files: Counter[str] = Counter()
        self._tails: dict[str, None] = {}
        self.nouns_have_capitals = False  # the language of the session is German
        self.projects = ProjectTally(project_roots)

    # what may be recorded

    def record_text(self, text: str, weight: float = 1.0) -> None:
        """Prose: every word counts `weight`."""
        if not text:
            return
        tally = self._tallies.get(weight)
        if tally is None:
            step = round(min(max(weight, 0.0), 10.0), 1)
            if not step:
                return
            tally = self._tallies.setdefault(step, Tally())
        tally.add(text)

    def record_name(self, name: str, weight: float = 1.0) -> None:
        """Something that is a topic as a whole: a label, a category, a project, a file name."""
        key = _label(name)
        if key and (key in self._named or len(self._named) < MOST_NAMED):
            self._named[key] = self._named.get(key, 0.0) + weight

    def record_tool_call(self, tool_name: str, params: Mapping[str, Any] | None = None) -> None:
        """A tool was called: its name is never a topic, but where it worked and what it looked for may be."""
        if tool_name not in self._tools and len(self._tools) < MOST_NAMED:
            self._tools.add(tool_name)
            self._stop |= {tool_name.lower(), ToolNames.plain(tool_name)}
        if not params:
            return
        arguments = params
        for workdir in _texts(arguments, "workdir", "cwd", "working_directory", "workingDirectory"):
            self.record_exec_workdir(workdir)
        for command in _texts(arguments, "command", "cmd", "script"):
            for place in directories_in_command(command[:4000]):
                self.record_exec_workdir(place)
        for path in _texts(arguments, "path", "file_path", "filePath", "file", "notebook_path"):
            self.record_file(path)
        for query in _texts(arguments, "query", "q", "question"):
            self.record_text(query[:500], 0.5)

    def record_memory_access(self, categories: Iterable[str]) -> None:
        """Memory categories that were read or written."""
        for category in categories:
            self.record_name(category, 2.0)

    def record_working_memory_label(self, label: str) -> None:
        """The label of a pin, as a whole and word by word."""
        self.record_name(label, 3.0)
        self.record_text(label, 1.5)

    def record_start(self, directory: str) -> str | None:
        """The directory the session was started in: its project, if it is one, is a topic, and returned."""
        name = self.projects.start_in(directory)
        if name:
            self._record_project(name)
        return name

    def record_exec_workdir(self, workdir: str, base: str | None = None) -> str | None:
        """A directory a command ran in: its project is a topic, and returned. A relative one starts from `base`."""
        name = self.projects.visit(workdir, base=base)
        if name:
            self._record_project(name)
        return name

    def record_file(self, path: str, base: str | None = None) -> str | None:
        """A file that was read or changed: its project, which is returned, and its own name."""
        name = self.projects.visit(path, base=base, is_file=True)
        if name:
            self._record_project(name)
        own = path.replace("\\", "/").rpartition("/")[2]
        if own.lower() not in _GENERIC_FILES and len(own) <= 48:
            self._files[own.lower()] = self._files.get(own.lower(), 0) + 1
            if len(self._files) > MOST_NAMED:
                cut_back(self._files)
        return name

    def record_synapse_signal(self, subject: str, recipient: str = "") -> None:
        """A message to another agent: what it was about, and to whom."""
        self.record_synapse_subject(subject)
        if recipient.lower() not in {"", "all", "*", "everyone"}:
            self.record_text(recipient, 1.5)

    def record_synapse_subject(self, subject: str) -> None:
        """The subject of a message to another agent."""
        if len(subject.split()) <= 5:
            self.record_name(subject, 1.5)
        self.record_text(subject, 1.5)

    def record_learning_id(self, memory_id: str) -> None:
        """A memory that was created."""
        self._learnings[memory_id] = None

    def _record_project(self, name: str) -> None:
        self.record_name(name, 2.0)
        tail = _tail(name)
        if tail and len(self._tails) < MOST_NAMED:
            self._tails[tail] = None

    # what comes out

    def current_topics(self, n: int = 20, least: float = 0.0) -> list[str]:
        """The `n` topics that stand out most, lower-cased, each once; words said less than `least` times are none."""
        found = self.ranked(n, least)
        if len(found) < _FEW and least > 1:
            found = self.ranked(n, 1.0)  # little was said: a word said once is better than none
        return [topic for topic, _ in found]

    def active_projects(self, most: int = 20) -> list[str]:
        """Projects seen in working directories, commands, file paths and messages, most worked on first."""
        return self.projects.names(most)

    def recent_learning_ids(self) -> list[str]:
        """The memories created, oldest first."""
        return list(self._learnings)

    def frequency_map(self) -> dict[str, float]:
        """Keyword -> how often it was seen, by weight."""
        counts = dict(self._words())
        for name, weight in self._named.items():
            counts[name] = counts.get(name, 0.0) + weight
        return counts

    def ranked(self, n: int, least: float = 0.0) -> list[tuple[str, float]]:
        """The best topics with their weights."""
        scores: dict[str, float] = {}
        worked_on = self._worked_on()
        counts = self._words()
        small = self._small_words(counts, least) if least and self.nouns_have_capitals else frozenset()
        users, agents = self._by_one_side() if least > 1 else (frozenset[str](), frozenset[str]())
        among_others = sum(map(str.isascii, counts)) * 2 < len(counts)
        for word, count in counts.items():
            if count < least or (
                least and (names_nothing(word) or word in small or ("." in word and _is_file(word)) or _is_elided(word))
            ):
                continue
            if word in users and word.isalpha():
                continue
            borne_out = _SHARED if word in worked_on else _ALONE if word in agents and word.isalpha() else 1.0
            foreign = _NAME if among_others and word.isascii() else 1.0
            scores[word] = math.sqrt(count) * word_rarity(word) * _form(word) * borne_out * foreign
        for one, two, often in self._pairs(least):
            if not (least and (_is_loose(one, two, small) or (one in users and two in users))):
                pair, weight = f"{one} {two}", (word_rarity(one) + word_rarity(two)) / 2
                scores[pair] = max(scores.get(pair, 0.0), math.sqrt(often) * weight * _PAIR_BONUS)
        for tail in self._tails:
            if tail.rpartition(" ")[2] in counts:  # nobody speaks of the end of a name that is no name of its own
                scores[tail] = scores.get(tail, 0.0) + (1.0 + math.log1p(1.0)) * _NAMED_RARITY
        for name, weight in self._named.items():
            # repeating a label or working on in one directory adds little: the name is a topic or it is not
            scores[name] = scores.get(name, 0.0) + (1.0 + math.log1p(weight)) * _NAMED_RARITY
        for stop in self._stop:
            scores.pop(stop, None)
        ordered = sorted(scores.items(), key=itemgetter(1), reverse=True)
        return _without_variants(ordered, n)

    def _by_one_side(self) -> tuple[frozenset[str], frozenset[str]]:
        """The words that only the user said, and those that only the agent did; no tool worked on what they name.

        What one side alone says is a way of speaking, what it calls the other, or a paste; the agent's may be terms.
        """
        sides: dict[bool, set[str]] = {True: set(), False: set()}
        known = set(self._worked_on()) | {word for name in self._named for word in _STEM.split(name)}
        for weight, tally in self._tallies.items():
            side = sides[weight >= 1]
            side.update(tally.parts, *[read_piece(piece).words for piece in tally.pieces])
            if weight > 1:  # labels and subjects
                known.update(tally.parts, *[read_piece(piece).words for piece in tally.pieces])
        both = known.union(sides[True] & sides[False])
        return frozenset(sides[True] - both), frozenset(sides[False] - both)

    def _worked_on(self) -> frozenset[str]:
        """The words in the names of files that were opened: a topic is what people talk about and tools work on."""
        stems = (name.rpartition(".")[0] or name for name in self._files)
        return frozenset(word for stem in stems for word in _STEM.split(stem) if len(word) > 2)

    def _small_words(self, counts: Mapping[str, float], least: float) -> frozenset[str]:
        """German words that are mostly written small and look like no name: a sentence may begin with one."""
        likely = {word for word, count in counts.items() if count >= least and is_small_german(word)}
        capitals = Counter[str]()  # how much more often than small
        for tally in self._tallies.values():
            for piece, count in tally.pieces.items():
                for word in likely.intersection(read_piece(piece).words):
                    capitals[word] += -count if piece.islower() else count
        return frozenset(word for word in likely if capitals[word] < 0)

    def _words(self) -> dict[str, float]:
        counts: dict[str, float] = {}
        for weight, tally in self._tallies.items():
            for piece, count in tally.pieces.items():
                for word in read_piece(piece).words:
                    counts[word] = counts.get(word, 0.0) + weight * count
            for part, count in _recurring_parts(tally.parts):
                counts[part] = max(counts.get(part, 0.0), weight * count)
        return counts

    def _pairs(self, least: float) -> Iterable[tuple[str, str, float]]:
        """Word pairs said at least twice, or named, with how often: `least` times or more."""
        said = [(weight, tally.pairs) for weight, tally in self._tallies.items()]
        seen: set[tuple[str, str]] = set()
        again: set[tuple[str, str]] = set()
        for _, pairs in said:
            again |= seen & pairs.keys()
            again.update(pair for pair, count in pairs.items() if count >= 2)
            seen |= pairs.keys()
        again |= seen & {(one, two) for one, _, two in (name.partition(" ") for name in (*self._named, *self._tails))}
        often = dict.fromkeys((pair for _, pairs in said for pair in pairs if pair in again), 0.0)
        for weight, pairs in said:
            for pair in often.keys() & pairs.keys():
                often[pair] += weight * pairs[pair]
        for (one, two), count in often.items():
            if count >= least and one != two and one not in self._stop and two not in self._stop:
                yield one, two, count


@lru_cache(maxsize=1024)  # a session works on few things, many times
def _label(name: str) -> str:
    """The form in which a name is counted; empty if it says nothing."""
    key = " ".join(name.lower().split())
    if not 2 <= len(key) <= LONGEST_LABEL or key in STOP:
        return ""
    words = key.split()
    if not any(fold(word) or not word.isascii() for word in words):
        return ""
    return "" if len(words) == 1 and not read_piece(name.strip()).words and key.isascii() else key


@lru_cache(maxsize=1024)
def _tail(name: str) -> str:
    """The end of a compound names the thing ("lbf-ham-radio" is about ham radio), its front is often a prefix."""
    words = [word for word in name.lower().replace("_", "-").split("-") if word]
    return " ".join(words[-2:]) if len(words) >= 3 and all(fold(word) for word in words[-2:]) else ""


def _is_loose(first: str, last: str, small: frozenset[str]) -> bool:
    """Whether two words in a row are no name: the first is a verb ("integrate spdlog"), or neither says much."""
    if not (first.isascii() and last.isascii()) and (_inflected().search(first) or _inflected().search(last)):
        return True  # Korean words run on: two in a row that are inflected are a piece of a sentence
    return first in VERBS or first in small or last in small or (names_nothing(first) and names_nothing(last))


@cache  # a range this large takes a millisecond to compile
def _inflected() -> re.Pattern[str]:
    return re.kept("[가-힣](?:[은는을를고되면서한할며]|하여|에서|으로|에게)$")


def _is_elided(word: str) -> bool:
    """Whether a word is a small one run together with the one before it: "qu'on"."""
    last = word.rpartition("'")[2] if "'" in word else ""
    return bool(last) and (names_nothing(last) or not word_rarity(last))


def _is_file(word: str) -> bool:
    return _FILE.search(word) is not None


def _form(word: str) -> float:
    """How likely a word of this form names a thing: English adverbs and participles seldom do."""
    return _UNLIKELY if len(word) > 5 and word.isascii() and word.endswith(("ly", "ing", "ed", "able")) else 1.0


def _recurring_parts(parts: Counter[str]) -> Iterable[tuple[str, int]]:
    """Parts of unspaced script said at least twice and not just as a piece of a longer one."""
    often = {part: count for part, count in parts.items() if count >= 2}
    inside = {
        longer[start : start + size]: count
        for longer, count in often.items()
        for size in range(2, len(longer))
        for start in range(len(longer) - size + 1)
        if count * 10 >= often.get(longer[start : start + size], 0) * 7
    }
    return [(part, count) for part, count in often.items() if part not in inside]


def _without_variants(ordered: Sequence[tuple[str, float]], n: int) -> list[tuple[str, float]]:
    """The first `n`, leaving out other spellings (hyphens, plural) of one that is already in."""
    kept: list[tuple[str, float]] = []
    seen: set[str] = set()
    shared: Counter[str] = Counter()
    for topic, score in ordered:
        if len(kept) >= n:
            break
        plain = topic.replace("-", "").replace("_", "").replace(" ", "\0")
        plain = plain[:-3] + "y" if plain.endswith("ies") and len(plain) > 4 else plain
        forms = {plain, plain + "s", plain.removesuffix("s") if len(plain) > 4 else plain}
        stems = {word[:_STEM_LETTERS] for word in _STEM.split(topic) if len(word) > 2}
        if score > 0 and not forms & seen and all(shared[stem] < _MOST_OF_A_STEM for stem in stems):
            kept.append((topic, score))
            seen.add(plain)
            shared.update(stems)
    return kept


def _texts(arguments: Mapping[str, Any], *keys: str) -> list[str]:
    return [value for key in keys if isinstance(value := arguments.get(key), str) and value]
