"""Which projects a session worked on, told from where its commands ran and which files they touched."""

# ruff: noqa: E501 - expressions and tables are data, one a line

from __future__ import annotations

import posixpath
from collections import Counter
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.signals.words import looks_encoded

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# directories whose children are projects, wherever they lie
_ROOTS = frozenset(
    {"projects", "repos", "repositories", "workspaces", "worktrees", "ideaprojects", "pycharmprojects",
     "webstormprojects", "projekte", "proyectos", "projets", "projetos", "progetti", "projecten", "projekty", "proyek",
     "проекты", "проекти", "项目", "專案", "プロジェクト", "프로젝트"}
)  # fmt: skip
# the same, but only directly below a home directory (or its Documents): elsewhere these names mean other things
_HOME_ROOTS = frozenset(
    {"www", "code", "src", "dev", "work", "git", "github", "gitlab", "source", "development", "developer"}
)
# what systems put into everybody's home directory, as each language calls it
_FOLDERS_OF_ALL = frozenset(
    {
        "desktop", "documents", "downloads", "onedrive", "dropbox", "icloud", "my documents", "schreibtisch", "dokumente",
        "eigene dateien", "bureau", "mes documents", "téléchargements", "escritorio", "documentos", "mis documentos",
        "descargas", "scrivania", "documenti", "scaricati", "área de trabalho", "ambiente de trabalho", "transferências",
        "рабочий стол", "документы", "загрузки", "робочий стіл", "стільниця", "документи", "завантаження", "桌面", "文档",
        "文檔", "文件", "我的文档", "下载", "下載", "デスクトップ", "ドキュメント", "書類", "ダウンロード", "바탕 화면", "바탕화면",
        "문서", "다운로드", "bureaublad", "documenten", "pulpit", "dokumenty", "pobrane", "masaüstü", "belgeler", "skrivbord",
    }
)  # fmt: skip
_OWN = frozenset({"my", "meine", "mis", "mes", "meus", "miei", "all", "coding", "codes", "мои"})
_LETTERS = re.compile(r"[^\W\d_]+")
_DATED = re.compile(r"\d{5,}|\d{4}-\d\d")
_NOT_PROJECTS = _FOLDERS_OF_ALL | frozenset(
    {
        "music", "pictures", "videos", "public", "templates", "library", "movies",
        "applications", "snap", "bin", "tmp", "temp", "go", "node_modules", "workspace", "memory", "archive", "backup",
        "backups", "old", "misc", "scratch", "test", "tests", "venv", "dotfiles", "~",
    }
)  # fmt: skip
# parts of a project, not projects: whoever starts in one of them works on what lies above
_PARTS = frozenset(
    {
        "src", "app", "apps", "lib", "libs", "packages", "package", "server", "client", "frontend", "backend", "web", "api",
        "docs", "doc", "tests", "test", "scripts", "cmd", "internal", "core", "ui", "www", "public", "build", "dist", "main",
        "master", "trunk", "examples", "example", "config", "data", "output", "outputs", "input", "home", "root", "users", "html", "public_html", "httpdocs",
    }
)  # fmt: skip
# parts that hold parts of their own: whoever starts below them works on what lies above
_HOLD_PARTS = _PARTS | frozenset(
    {"tools", "services", "service", "modules", "plugins", "crates", "functions", "infra", "deploy", "ci", "assets",
     "notebooks", "components", "pages", "features", "libraries", "extensions", "addons", "workers", "jobs", "migrations"}
)  # fmt: skip
# what a local web server puts above the sites it serves
_SERVERS = frozenset({"xampp", "laragon", "wamp", "wamp64", "mamp", "htdocs", "inetpub", "wwwroot"})
_DEEPEST = 4  # folders below the first that names a project: people sort theirs by client, course and year
# where agents keep the worktrees they make: below the repository, or below home with the repository's name last
_WORKTREE = re.compile(r"^(?P<above>.{0,400}?)/\.[a-z]{2,20}/worktrees/[^/]{1,200}(?:/(?P<name>[^/]{1,200}))?")
_COPIES = frozenset({"workspaces", "worktrees"})  # below a repository's name they hold its copies
# directories of a runtime's workspace whose children are projects, and those that are its own
_IN_WORKSPACE = frozenset({"projects", "repos", "skills", "apps", "code", "work", "github", "sites", "tools"})
_RUNTIMES_OWN = frozenset(
    {"memory", "canvas", "media", "logs", "tmp", "temp", "downloads", "output", "sessions", "registry"}
)
_SYSTEM = frozenset(
    {
        "windows", "program files", "program files (x86)", "programdata", "users", "appdata", "temp", "tmp", "usr", "etc", "var",
        "opt", "bin", "sbin", "proc", "sys", "dev", "system", "system32", "perflogs", "recovery", "$recycle.bin", "library",
    }
)  # fmt: skip
_WORKSPACE = re.compile(
    r"(?:/\.openclaw[^/]*/workspace[^/]*|/\.clawdbot/workspace[^/]*|^/workspaces?)(?=/|$)", re.IGNORECASE
)
_DRIVE = re.compile(r"(?:[A-Za-z]:|/mnt/[a-z](?=/)|/cygdrive/[a-z]|/[a-z](?=/[A-Z]))")
_NEVER = re.compile(
    r"/(?:AppData|node_modules|site-packages|\.venv|venv|\.cache|\.claude|\.codex|\.cursor|Cellar|\.npm|\.cargo|\.git)(?:/|$)",
    re.IGNORECASE,
)
_HOME = re.compile(r"(?:/home/[^/]+|/Users/[^/]+|/root|~[^/]*|/var/home/[^/]+|/mnt/[a-z]/Users/[^/]+)(?=/|$)")
_NAME = re.compile(r"[^\W_][\w.+ -]{0,63}")
_HOST = re.compile(r"[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|de|sh|in|me|uk|eu)")
_SHELL_PATH = r"""(?:"(?P<dq>[^"\n]{1,500})"|'(?P<sq>[^'\n]{1,500})'|(?P<bare>[^\s;&|"'<>()]{1,500}))"""
_CD = re.compile(rf"(?:^|[;&|(\n]|\bthen|\bdo)\s*(?:cd|pushd)\s+(?:--\s+)?{_SHELL_PATH}")
_GIT_C = re.compile(rf"\b(?:git|make)\s+-C\s+{_SHELL_PATH}")
_GIT_DIR = re.compile(r"(?:^|[\s'\"=:(])((?:/|~/)[^\s'\"<>|:]{1,400}?)/\.git(?:/|\b)", re.MULTILINE)
_TOP_LEVEL = re.compile(r"rev-parse\s+--show-toplevel")

MOST_NAMES = 500
_GLANCE = 10


def project_of(path: str, roots: Iterable[str] = (), *, is_file: bool = False) -> str | None:
    """The project a path lies in: the directory just below a root of projects, else just below the home directory.

    `roots` adds absolute or `~` directories, or names, whose children are projects. The runtime's own workspace is
    not a project, but a `projects/x` inside it is.
    """
    clean = _normalise(path)
    if not clean.startswith(("/", "~")) and "/" not in clean:
        return None
    for root in roots:
        name = _below(clean, root, is_file=is_file)
        if name:
            return name
    parts = [part for part in clean.split("/") if part]
    if is_file and parts:
        parts = parts[:-1]
    if _NEVER.search(clean):
        return None
    if parts and parts[0].lower() in {"tmp", "temp", "proc", "dev"}:
        return _by_root_name(parts)
    inside = _WORKSPACE.search(clean)
    if inside:
        return _in_workspace(clean[inside.end() :].split("/")[1:], is_file=is_file)
    home = _HOME.match(clean)
    below_home = [part for part in clean[home.end() :].split("/") if part] if home else []
    if is_file:
        below_home = below_home[:-1]
    return _by_root_name(parts) or (_by_home(below_home) if home else _by_drive(path, is_file=is_file))


_ON_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


def _in_workspace(parts: list[str], *, is_file: bool) -> str | None:
    """The project a runtime's workspace holds; its own folders and the workspace itself are none."""
    parts = [part for part in (parts[:-1] if is_file else parts) if part]
    while parts and parts[0].lower() in _IN_WORKSPACE | _ROOTS:
        parts = parts[1:]
    if not parts or parts[0].startswith(".") or parts[0].lower() in _RUNTIMES_OWN:
        return None
    return _as_name(parts[0])


def _by_drive(path: str, *, is_file: bool) -> str | None:
    """The directory at the top of a drive, or below a root of projects there."""
    text = path.strip().replace("\\", "/")
    drive = _DRIVE.match(text)
    if not drive:
        return None
    parts = [part for part in text[drive.end() :].split("/") if part]
    if is_file:
        parts = parts[:-1]
    if not parts or parts[0].lower() in _SYSTEM or parts[0].startswith((".", "$")):
        return None
    return _first_name(_below_folders(parts))


def _below_folders(parts: list[str]) -> list[str]:
    """A path without the folders at its beginning that merely hold projects: Desktop, Documents, "4 Code"."""
    at = 0
    while at < len(parts) and (parts[at].lower() in _FOLDERS_OF_ALL or _holds_projects(parts[at])):
        at += 1
    return parts[at:]


def _holds_projects(part: str) -> bool:
    """Whether a folder's name says that projects lie in it, numbers and "my" aside; "OneDrive - Firm" is one, too."""
    lowered = part.lower()
    if lowered.startswith("onedrive - ") or lowered in _SERVERS:
        return True
    if _DATED.search(lowered):
        return False  # "work20260103" is one piece of work
    words = _LETTERS.findall(lowered)
    roots = _ROOTS | _HOME_ROOTS
    return any(word in roots for word in words) and all(word in roots or word in _OWN for word in words)


@lru_cache(maxsize=1024)
def _project_of(path: str, roots: tuple[str, ...], is_file: bool) -> str | None:
    """A session works in few places, many times."""
    return project_of(path, roots, is_file=is_file)


@lru_cache(maxsize=1024)
def _normalise(path: str) -> str:
    """One spelling for one place: forward slashes, `~` for `$HOME`, no dots in it."""
    text = path.strip().replace("\\", "/")
    text = re.sub(r"^(?:\$HOME|\$\{HOME\})(?=/|$)", "~", text)
    text = re.sub(r"^[A-Za-z]:(?=/)", "", text)
    text = text.removeprefix("file://")
    return posixpath.normpath(text) if text else ""


def _below(path: str, root: str, *, is_file: bool) -> str | None:
    base = _normalise(root)
    if not base or base == ".":
        return None
    if "/" not in base:
        marker = f"/{base}/"
        start = f"/{path}".find(marker)
        rest = f"/{path}"[start + len(marker) :] if start >= 0 else ""
    else:
        absolute = path
        if base.startswith("~") != path.startswith("~"):
            base, absolute = _HOME.sub("~", base), _HOME.sub("~", path)
        rest = absolute[len(base) + 1 :] if absolute.startswith(base + "/") else ""
    parts = [part for part in rest.split("/") if part]
    if is_file:
        parts = parts[:-1]
    return _as_name(parts[0]) if parts else None


def _by_root_name(parts: list[str]) -> str | None:
    for at, part in enumerate(parts[:-1]):
        if part.lower() in _ROOTS:
            return _first_name(parts[at + 1 :])
    return None


def _by_home(parts: list[str]) -> str | None:
    below = _below_folders(parts)
    if len(below) > 1 and len(below[0]) == 1:
        below = below[1:]  # a folder of one letter sorts what lies in it
    if not below or below[0].startswith("."):
        return None
    return _first_name(below) if len(below) < len(parts) else _as_name(below[0])


def _first_name(parts: list[str]) -> str | None:
    """The first part that names a project: a root inside a root, or a host with its owner, is stepped over."""
    skip = 0
    for part in parts:
        if skip:
            skip -= 1
        elif _HOST.fullmatch(part.lower()):
            skip = 1
        elif part.lower() not in _ROOTS | _HOME_ROOTS:
            return _as_name(part)
    return None


def _as_name(part: str) -> str | None:
    part = part.strip()
    lowered = part.lower()
    if not _NAME.fullmatch(part) or lowered in _NOT_PROJECTS | _ROOTS | _HOME_ROOTS or _holds_projects(part):
        return None
    if re.fullmatch(r"[\d.\- ]+|[0-9a-f-]{12,}", lowered) or (len(part) >= 20 and looks_encoded(part)):
        return None
    return part


def _is_home(path: str) -> bool:
    home = _HOME.match(path)
    return home is not None and home.end() == len(path)


def _lies_in_part(parts: Sequence[str], name: str) -> bool:
    """Whether the last of `parts` is a part or a copy of the project `name`, and not a project of its own below it."""
    at = len(parts) - 2 - parts[-2::-1].index(name)
    copied = at > 0 and parts[at - 1].lower() in _COPIES
    return copied or any(part.lower() in _HOLD_PARTS or part.startswith(".") for part in parts[at + 1 : -1])


def directories_in_command(command: str) -> list[str]:
    """The directories a shell command goes to: `cd X`, `pushd X`, `git -C X`."""
    found = []
    # each expression tries every line of a script; most scripts do not even have its letters
    for shape, there in ((_CD, "cd" in command or "pushd" in command), (_GIT_C, "-C" in command)):
        for match in shape.finditer(command) if there else ():
            path = match["dq"] or match["sq"] or match["bare"]
            if path and path not in {"-", ".", ".."}:
                found.append(path)
    return found


def git_roots_in_output(output: str, command: str = "") -> list[str]:
    """Git roots a tool named: a path ending in `/.git`, or the answer to `git rev-parse --show-toplevel`."""
    found = [match[1] for match in _GIT_DIR.finditer(output)]
    if _TOP_LEVEL.search(command):
        found += [line.strip() for line in output.splitlines()[:20] if line.startswith("/") and " " not in line]
    return found


class ProjectTally:
    """Counts the evidence for each project; at most `MOST_NAMES` are remembered."""

    def __init__(self, roots: Iterable[str] = ()) -> None:
        self._roots = tuple(roots)
        self._home: tuple[str, str] | None = None  # where the session was started, and the project that is
        self._evidence: Counter[str] = Counter()
        self._spelling: dict[str, str] = {}

    def start_in(self, directory: str) -> str | None:
        """The directory a session was started in: people start where their project is, a workspace aside."""
        clean = _normalise(directory)
        worktree = _WORKTREE.match(clean)
        if worktree:
            above_it, named = worktree["above"], worktree["name"]
            clean = directory = f"{above_it}/{named}" if _is_home(above_it) and named else above_it
        above = posixpath.dirname(clean)
        if posixpath.basename(clean).lower() in _PARTS and above.count("/") > 2 and _as_name(posixpath.basename(above)):
            clean = directory = above  # in a part of a project: what lies above is it
        name = project_of(directory, self._roots)
        last = posixpath.basename(clean)
        parts = [part for part in clean.split("/") if part]
        plain = last.lower() not in _PARTS | _SYSTEM and not any(part.startswith(".") for part in parts)
        if plain and not _WORKSPACE.search(clean) and not _NEVER.search(clean) and parts[:1] != ["tmp"]:
            loose = any(one.lower() in _FOLDERS_OF_ALL and not _holds_projects(two) for one, two in pairwise(parts))
            if (name is None or loose) and len(parts) >= 2 and not _is_home(clean):
                name = _as_name(last) or name  # what lies between Desktop and a project, everybody orders as they like
            elif name is not None and name in parts[-1 - _DEEPEST : -1] and not _lies_in_part(parts, name):
                name = _as_name(last) or name  # a folder of projects by kind: projects/python/x
        if name:
            self._home = (clean, name)
            self.mention(name)
        return name

    def visit(self, path: str, *, base: str | None = None, is_file: bool = False, weight: int = 1) -> str | None:
        """Count a place the session worked at; relative paths start from `base`. Returns the project it lies in."""
        if base and not path.startswith(("/", "~", "$")) and not _ON_DRIVE.match(path):
            path = posixpath.join(base, path)
        if self._home and f"{_normalise(path)}/".startswith(self._home[0] + "/"):
            name: str | None = self._home[1]
        else:
            name = _project_of(path, self._roots, is_file)
            name = self._beside_home(_normalise(path), name, is_file=is_file) if name and self._home else name
        if name:
            self.mention(name, weight)
        return name

    def _beside_home(self, path: str, name: str, *, is_file: bool) -> str:
        """A place in the folder that the session's start lies in, too: that one merely holds projects."""
        assert self._home is not None
        start, own = self._home
        above = posixpath.dirname(start)
        if posixpath.basename(start) != own or posixpath.basename(above).lower() != name.lower():
            return name
        rest = [part for part in path.removeprefix(above + "/").split("/") if part]
        beside = rest[:-1] if is_file else rest
        return _as_name(beside[0]) or name if path.startswith(above + "/") and beside else name

    def visit_git_root(self, path: str) -> str | None:
        """Count a git root: its own name is the project, wherever it lies, unless the place says otherwise."""
        clean = _normalise(path)
        hidden = any(part.startswith(".") for part in clean.split("/") if part)
        name = project_of(clean, self._roots) or (None if hidden else _as_name(posixpath.basename(clean)))
        if name:
            self.mention(name)
        return name

    def mention(self, name: str, weight: int = 1) -> None:
        """Count a project known by name."""
        key = name.lower()
        if key not in self._spelling and len(self._spelling) >= MOST_NAMES:
            return
        self._spelling.setdefault(key, name)
        self._evidence[key] += weight

    def names(self, most: int = 20) -> list[str]:
        """The projects, those with most evidence first, in order of appearance where equal."""
        ranked = sorted(self._evidence.items(), key=lambda item: -item[1])
        # where a session merely looked in while it worked elsewhere is not what it worked on
        enough = ranked[0][1] / _GLANCE if ranked else 0
        return [self._spelling[key] for key, evidence in ranked[:most] if evidence >= enough]

    def evidence(self) -> Mapping[str, int]:
        """Lower-cased project name -> how often it was visited."""
        return self._evidence
