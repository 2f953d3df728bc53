"""What a shell command is, arguments aside: its family (program and sub-command), its purpose, the files it writes."""

# ruff: noqa: E501 - expressions and tables are data, one a line

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from jsonlstore.core import expressions as re

LONGEST_COMMAND = 4_000


class Purpose(StrEnum):
    """What a command is run for; only failures of what checks, runs or ships something are in the way."""

    TEST = "test"
    BUILD = "build"
    RUN = "run"
    SHIP = "ship"
    INSTALL = "install"
    LOOK = "look"


@dataclass(frozen=True, slots=True)
class Step:
    """One simple command of a line."""

    family: str
    purpose: Purpose
    text: str


_PIECE = re.compile(
    r"""(?:[^"'\\;&|\n<]++|\\.|"(?:[^"\\]|\\.)*"|'[^']*'|<(?!<)|(?<=>)&|&(?=>))+|<<-?\s*["']?(\w+)["']?""", re.DOTALL
)
_WORD = re.compile(r"""(?:[^\s"']++|"[^"]*"|'[^']*')+""")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_VERSIONED = re.compile(r"^(python|pip|node)[\d.]+(?:\.exe)?$")
_FAMILY_WORD = re.compile(r"[A-Za-z][\w:.-]{0,40}")
_REDIRECT = re.compile(
    r"(?:^|\s)(?:cat|tee|echo|printf)\b[^\n|]*?>{1,2}\s*[\"']?([^\s\"'<>|&;]+)|\btee\s+(?:-a\s+)?[\"']?([^\s\"'<>|&;-][^\s\"'<>|&;]*)"
)
_REDIRECTED = ("cat", "tee", "echo", "printf")
_WRITTEN = re.compile(r"(?:cat|echo|printf)\b[^\n|]*?>{1,2}\s*[\"']?([^\s\"'<>|&;]+)")  # the same where no tee is
_SED_IN_PLACE = re.compile(r"\bsed\s++-i\S*+\s++.*?\s([^\s'\"|;&<>]+\.\w{1,8})\s*$", re.MULTILINE)
_PATCHED = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$|^\*\*\* Move to: (.+)$", re.MULTILINE)
_MESSAGE = re.compile(
    r"""\s-[a-z]*m\s*(?:"\$\(cat <<-?\s*["']?(?P<mark>\w+)["']?\n(?P<here>.{0,4000}?)\n[^\S\n]*+(?P=mark)|"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>[^']*)')"""
    r"""|\s--message[= ](?:"(?P<long>(?:[^"\\]|\\.)*)"|'(?P<longer>[^']*)')""",
    re.DOTALL,
)

# words that stand before the program they run
_PREFIXES = frozenset({"sudo", "time", "nohup", "env", "exec", "command", "npx", "bunx", "pnpx", "uvx", "xvfb-run", "timeout", "nice", "caffeinate"})  # fmt: skip
_RUNNERS = {("uv", "run"), ("poetry", "run"), ("pipenv", "run"), ("bundle", "exec"), ("pnpm", "exec"), ("pnpm", "dlx"), ("hatch", "run"), ("pdm", "run"), ("rye", "run"), ("npm", "exec"), ("yarn", "dlx")}  # fmt: skip
_WITH_SUBCOMMAND = frozenset(
    {
        "git", "npm", "pnpm", "yarn", "bun", "cargo", "go", "docker", "docker-compose", "podman", "kubectl", "helm", "uv",
        "pip", "pip3", "poetry", "make", "just", "gh", "glab", "deno", "dotnet", "mvn", "gradle", "gradlew", "terraform",
        "systemctl", "brew", "apt", "apt-get", "dnf", "conda", "flutter", "swift", "rustup", "supabase", "vercel", "fly",
        "wrangler", "firebase", "heroku", "gcloud", "aws", "az", "ansible-playbook", "openclaw", "claude", "codex", "nx",
        "turbo", "rake", "rails", "mix", "composer", "php", "ng", "expo", "eas", "pm2", "service", "alembic", "manage.py",
    }
)  # fmt: skip
_TESTS = frozenset(
    {
        "pytest", "unittest", "jest", "vitest", "mocha", "ava", "tap", "rspec", "phpunit", "tox", "nox", "ctest", "playwright",
        "cypress", "bats", "behave", "karma", "nosetests", "cargo test", "cargo nextest", "go test", "npm test", "npm t",
        "pnpm test", "yarn test", "bun test", "deno test", "dotnet test", "mvn test", "mvn verify", "gradle test",
        "gradlew test", "make test", "make check", "just test", "swift test", "flutter test", "mix test", "rake test",
        "rails test", "manage.py test",
    }
)  # fmt: skip
_BUILDS = frozenset(
    {
        "tsc", "webpack", "vite", "rollup", "esbuild", "next", "ruff", "mypy", "eslint", "flake8", "pyright", "pylint", "black",
        "prettier", "biome", "cmake", "ninja", "gcc", "g++", "clang", "rustc", "javac", "make", "cargo build", "cargo check",
        "cargo clippy", "cargo fmt", "go build", "go vet", "docker build", "docker compose", "docker-compose build",
        "dotnet build", "mvn package", "mvn compile", "mvn install", "gradle build", "gradlew build", "swift build",
        "flutter build", "mkdocs", "sphinx-build", "hugo", "py_compile", "compileall", "pre-commit", "golangci-lint",
        "shellcheck", "terraform plan", "terraform validate", "ng build", "turbo build", "nx build", "latexmk", "pdflatex",
    }
)  # fmt: skip
_SHIPS = frozenset(
    {
        "git push", "git pull", "git merge", "git rebase", "git cherry-pick", "git clone", "gh pr", "gh release", "gh repo", "gh workflow", "npm publish", "twine",
        "docker push", "terraform apply", "kubectl apply", "helm upgrade", "helm install", "rsync", "scp", "vercel",
        "fly deploy", "wrangler deploy", "firebase deploy", "ansible-playbook", "cargo publish", "poetry publish",
        "systemctl restart", "systemctl start", "alembic upgrade", "manage.py migrate",
    }
)  # fmt: skip
_INSTALLS = frozenset(
    {
        "pip install", "pip3 install", "npm install", "npm ci", "npm i", "pnpm install", "pnpm add", "yarn install", "yarn add",
        "bun install", "bun add", "cargo install", "apt install", "apt-get install", "brew install", "uv sync", "uv add",
        "uv pip", "poetry install", "poetry add", "conda install", "dnf install", "go get", "go mod", "composer install",
        "bundle install", "rustup update",
    }
)  # fmt: skip
_RUNS = frozenset({"python", "node", "deno", "bun", "ruby", "perl", "java", "uvicorn", "gunicorn", "flask", "streamlit", "php", "tsx", "ts-node", "bash", "sh", "zsh", "powershell", "pwsh"})  # fmt: skip
_RUN_COMMANDS = frozenset({"cargo run", "go run", "npm start", "npm run", "pnpm run", "pnpm dev", "yarn run", "yarn dev", "bun run", "deno run", "dotnet run", "docker run", "docker-compose up", "flutter run", "swift run", "mvn spring-boot:run", "php artisan", "rails server", "manage.py runserver", "just run", "expo start"})  # fmt: skip


_COMMITS = re.compile(  # a search runs ahead to the first letters of an expression, but not to an edge before them
    r"""git(?<=\bgit)(?:\s+(?:-[cC]\s?(?:"[^"\n]*"|'[^'\n]*'|[^\s"'])+|--no-pager)){0,4}\s+(?:commit|merge|cherry-pick|revert|am)\b"""
)


@lru_cache(maxsize=64)  # a command is asked before its output is read and again with it
def may_commit(command: str) -> bool:
    """Whether a command asks git for commits; options may stand between."""
    return "git" in command and _COMMITS.search(command[:LONGEST_COMMAND]) is not None


@lru_cache(maxsize=512)
def steps(command: str) -> tuple[Step, ...]:
    """The simple commands of a line in order; what stands in quotes and here-documents is nobody's command."""
    found: list[Step] = []
    text = command[:LONGEST_COMMAND]
    at = 0
    while match := _PIECE.search(text, at):
        at = match.end()
        if match[1]:  # a here-document: everything up to its mark is data
            end = re.compile(rf"^\s*{re.escape(match[1])}\s*$", re.MULTILINE).search(text, at)
            at = end.end() if end else len(text)
            continue
        step = _step(match[0])
        if step:
            found.append(step)
    return tuple(found)


def is_evidence(command: str) -> bool:
    """Whether what a command answers may matter: it checks, runs, ships or writes something, or asks git for a place."""
    if may_commit(command) or "show-toplevel" in command or "*** " in command:
        return True
    return bool(written_files(command)) or any(one.purpose is not Purpose.LOOK for one in steps(command))


def merely_looks(command: str) -> bool:
    """Whether a command is neither evidence nor says anything to git or an issue tracker, however it goes."""
    return not (is_evidence(command) or "git" in command or "gh " in command or "glab " in command)


def _step(piece: str) -> Step | None:
    words = [word.strip("\"'()") for word in _WORD.findall(piece)[:12]]
    words = [
        word for word in words if word not in {"", "{", "}", "!", "then", "do", "else", "if", "while", "done", "fi"}
    ]
    while words and (words[0] in _PREFIXES or _ASSIGNMENT.match(words[0]) or (words[0].isdigit())):
        words = words[1:]
    if len(words) >= 2 and (words[0], words[1]) in _RUNNERS:
        words = [word for word in words[2:] if not word.startswith("-") or word == "-m"]
    if not words:
        return None
    program = words[0].replace("\\", "/").rpartition("/")[2]
    program = program.removesuffix(".exe")
    if program.startswith(("python", "pip", "node")):
        program = _VERSIONED.sub(r"\1", program)
    if not _FAMILY_WORD.fullmatch(program):
        return None
    family = _family(program, words)
    return Step(family, purpose_of(family, words[0]), " ".join(piece.split())[:200])


def _family(program: str, words: list[str]) -> str:
    rest = words[1:]
    if program in {"git", "make"} and rest[:1] == ["-C"]:
        rest = rest[2:]
    if program == "python" and rest[:1] == ["-m"] and len(rest) > 1:
        return _family(rest[1], rest[1:])
    plain = [word for word in rest if not word.startswith("-")]
    if program in {"npm", "pnpm", "yarn", "bun"} and plain[:1] == ["run"]:
        return " ".join([program, *plain[:2]])
    if program in _WITH_SUBCOMMAND:
        return " ".join([program, *[word for word in plain[:1] if _FAMILY_WORD.fullmatch(word)]])
    if program in {"powershell", "pwsh"}:
        plain = [word for word in rest if word.lower().endswith(".ps1")]
    if program in _RUNS and plain:
        script = plain[0].replace("\\", "/").rpartition("/")[2]
        return f"{program} {script}" if "." in script and len(script) <= 60 and " " not in script else program
    return program


def purpose_of(family: str, program: str = "") -> Purpose:
    """What commands of a family are run for."""
    first, _, second = family.partition(" ")
    script = second.partition(" ")[2] if first in {"npm", "pnpm", "yarn", "bun"} and second.startswith("run ") else ""
    if family in _TESTS or first in _TESTS or script.startswith(("test", "e2e", "check")):
        return Purpose.TEST
    if family in _BUILDS or first in _BUILDS or script.startswith(("build", "lint", "typecheck", "type-check", "tsc")):
        return Purpose.BUILD
    if family in _SHIPS or first in _SHIPS or script.startswith("deploy"):
        return Purpose.SHIP
    if family in _INSTALLS:
        return Purpose.INSTALL
    if family in _RUN_COMMANDS or script or (first in _RUNS and second) or program.startswith(("./", ".\\")):
        return Purpose.RUN
    return Purpose.LOOK


def written_files(command: str) -> list[str]:
    """The files a command writes as far as its text says: patches, redirections, edits in place."""
    return list(_written_files(command))


@lru_cache(maxsize=64)  # a command is asked before its output is read and again with it
def _written_files(command: str) -> tuple[str, ...]:
    if "*** " in command:
        patched = [match[1] or match[2] for match in _PATCHED.finditer(command)]
        if patched:
            return tuple(path.strip() for path in patched)
    head = command[:LONGEST_COMMAND]
    if "tee " in head or (">" in head and "tee" in head):
        found = [match[1] or match[2] for match in _REDIRECT.finditer(head)]
    else:
        found = _redirected(head) if ">" in head else []
    if "sed -i" in head:
        found += _SED_IN_PLACE.findall(head)
    return tuple(path for path in found if not path.startswith(("/dev/", "&", "$")))


def _redirected(command: str) -> list[str]:
    """The files of redirections in a command without `tee`: only where a word that writes stands is it worth a look."""
    places: list[int] = []
    for word in _REDIRECTED:
        at = command.find(word)
        while at >= 0:
            if at == 0 or command[at - 1].isspace():
                places.append(at)
            at = command.find(word, at + 1)
    found: list[str] = []
    read = 0  # a redirection's own words are no beginning of the next
    for at in sorted(places):
        match = _WRITTEN.match(command, at) if at == 0 or at > read else None
        if match:
            found.append(match[1])
            read = match.end()
    return found


def commit_subject(command: str) -> str:
    """The first line of the message a `git commit` gives, empty if the command does not show it."""
    found = _COMMITS.search(command[:LONGEST_COMMAND])
    after = command[found.start() :] if found else command
    match = _MESSAGE.search(after[:LONGEST_COMMAND])
    if not match:
        return ""
    text = next((match[name] for name in ("here", "double", "single", "long", "longer") if match[name]), "")
    return text.strip().partition("\n")[0].strip()[:200]
