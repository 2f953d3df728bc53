"""Secrets as people write them: a name, an operator, a value, what holds them and what decorates them, drawn at random.

    python -m tests.redact.matrix --seed 1 --draws 20000         what leaks, and how much of it
    python -m tests.redact.matrix --formats --seed 1             the same for file and chat formats

Nothing here is one of the redactor's own examples: names are put together from their parts, values are drawn from
random alphabets, and every seed draws others.
"""

# ruff: noqa: E501

from __future__ import annotations

import argparse
import base64
import collections
import json
import random
import string
import sys
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jsonlstore.redact import redact_text

if TYPE_CHECKING:
    from collections.abc import Callable

Value = str

# -- values: random alphabets and lengths


def _from(alphabet: str, low: int, high: int) -> Callable[[random.Random], str]:
    def draw(rng: random.Random) -> str:
        return "".join(rng.choices(alphabet, k=rng.randint(low, high)))

    return draw


def _punctuated(rng: random.Random) -> str:
    """What people choose: a word, a number and a sign."""
    word = "".join(rng.choices(string.ascii_lowercase, k=rng.randint(4, 8))).capitalize()
    return f"{word}{rng.randint(1, 9999)}{rng.choice('!@%^*+~')}"


def _dotted(rng: random.Random) -> str:
    """`LRN0pP.zNjv4A`: letters and digits with a dot inside."""
    half = _from(string.ascii_letters + string.digits, 4, 10)
    return f"{half(rng)}{rng.randint(0, 9)}.{rng.randint(0, 9)}{half(rng)}"


def _some_alphabet(rng: random.Random) -> str:
    """Letters and digits of a random alphabet of its own, at least one of each."""
    letters = rng.sample(string.ascii_letters, rng.randint(6, 40))
    digits = rng.sample(string.digits, rng.randint(2, 10))
    text = [*rng.choices([*letters, *digits], k=rng.randint(6, 48)), rng.choice(letters), rng.choice(digits)]
    rng.shuffle(text)
    return "".join(text)


VALUES: dict[str, Callable[[random.Random], str]] = {
    "alphabet": _some_alphabet,
    "alnum": lambda rng: _from(string.ascii_letters + string.digits, 8, 40)(rng) + str(rng.randint(10, 99)),
    "hex": lambda rng: f"{rng.getrandbits(4 * 32):032x}"[: rng.choice((16, 20, 24, 32))],
    "sha": lambda rng: f"{rng.getrandbits(256):064x}"[: rng.choice((40, 64))],
    "digits": lambda rng: str(rng.randint(100_000, 10**12)),
    "uuid": lambda rng: str(uuid.UUID(int=rng.getrandbits(128))),
    "dotted": _dotted,
    "chosen": _punctuated,
    "base64": lambda rng: base64.b64encode(rng.randbytes(rng.randint(12, 48))).decode(),
    "url": lambda rng: "x" + _from(string.ascii_letters + string.digits + "-_", 20, 60)(rng) + "7",
    "upper": lambda rng: "Q" + _from(string.ascii_uppercase + string.digits, 10, 24)(rng) + "4",
    "short": lambda rng: _from(string.ascii_letters, 3, 4)(rng) + str(rng.randint(10, 99)) + _from(string.ascii_letters, 1, 2)(rng),
}  # fmt: skip

# -- names: prefixes, a telling word, suffixes, joined in every way

_BEFORE = ("", "", "", "db", "mysql", "prod", "smtp", "aws", "app", "root", "stripe", "my", "service", "redis", "acme")
_PASSWORDS = ("password", "passwd", "pwd", "passphrase", "pass word", "pass")
_SECRETS = (
    "secret", "token", "api key", "apikey", "secret key", "access key", "client secret", "auth token", "access token",
    "private key", "signing key", "bearer token", "refresh token", "credential",
)  # fmt: skip
_FOREIGN = (
    "Passwort",
    "Kennwort",
    "mot_de_passe",
    "contraseña",
    "senha",
    "wachtwoord",
    "пароль",
    "密码",
    "パスワード",
    "비밀번호",
    "hasło",
    "lösenord",
)
_MISSPELT = ("pasword", "passwrod", "passowrd", "paswd", "passwrd", "secert", "tokne", "api_kye", "pasowrd")
_AFTER = ("", "", "", "", "1", "2", "prod", "old", "value", "dev")


@dataclass(frozen=True, slots=True)
class Name:
    """A secret's name and what kind of name it is."""

    text: str
    kind: str


def _joined(parts: list[str], style: str) -> str:
    if style == "camel":
        return parts[0].lower() + "".join(part.capitalize() for part in parts[1:])
    if style == "pascal":
        return "".join(part.capitalize() for part in parts)
    if style == "const":
        return "_".join(parts).upper()
    if style == "joined":
        return "".join(parts)
    if style == "JOINED":
        return "".join(parts).upper()
    return {"snake": "_", "kebab": "-", "dotted": ".", "spaced": " "}[style].join(parts)


_STYLES = ("snake", "camel", "pascal", "const", "kebab", "dotted", "joined", "JOINED")


def draw_name(rng: random.Random) -> Name:
    """A name as people write it."""
    luck = rng.random()
    if luck < 0.08:
        return Name(rng.choice(_FOREIGN), "foreign")
    if luck < 0.12:
        return Name(rng.choice(_MISSPELT), "misspelt")
    word = rng.choice(_PASSWORDS if luck < 0.5 else _SECRETS).split()
    before, after, style = rng.choice(_BEFORE), rng.choice(_AFTER), rng.choice(_STYLES)
    if style in ("joined", "JOINED"):
        after = after if after.isdigit() else ""
    if word == ["pass"]:
        before, after = before or "db", ""
    return Name(_joined([*([before] if before else []), *word, *([after] if after else [])], style), style)


# -- decorations of a name


def _ansi(name: str, rng: random.Random) -> str:
    at = rng.randrange(len(name) + 1)
    return f"{name[:at]}\x1b[{rng.choice(('1', '31', '0', '1;32'))}m{name[at:]}"


def _zero_width(name: str, rng: random.Random) -> str:
    at = rng.randrange(1, len(name))
    return name[:at] + rng.choice("\u200b\u200c\u200d\u2060\ufeff\u00ad") + name[at:]


def _full_width(name: str, rng: random.Random) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in name)


def _escaped(name: str, rng: random.Random) -> str:
    at = rng.randrange(len(name))
    return f"{name[:at]}\\u{ord(name[at]):04x}{name[at + 1 :]}" if name[at].isascii() else name


DECORATIONS: dict[str, Callable[[str, random.Random], str]] = {
    "plain": lambda name, rng: name,
    "ansi": _ansi,
    "zero-width": _zero_width,
    "full-width": _full_width,
    "escaped": _escaped,
    "bold": lambda name, rng: f"**{name}**",
    "code": lambda name, rng: f"`{name}`",
}
_ODDS = (60, 6, 6, 4, 4, 5, 5)

# -- operators, and what holds name, operator and value

OPERATORS = (
    "=",
    " = ",
    ":",
    ": ",
    ":=",
    " := ",
    ".=",
    "::=",
    "??=",
    "=>",
    " => ",
    "==",
    " is ",
    " ist ",
    " → ",
    "->",
    "||=",
    "+=",
)
_QUOTES = ("", "", '"', "'", "`")


@dataclass(frozen=True, slots=True)
class Draw:
    """One text with a secret in it."""

    text: str
    secret: str
    parts: tuple[str, ...]  # name kind, operator, value kind, container, decoration


def _json(depth: int) -> Callable[[str], str]:
    def held(line: str) -> str:
        for _ in range(depth):
            line = json.dumps({"output": f"ok\n{line}\ndone"})
        return line

    return held


CONTAINERS: dict[str, Callable[[str], str]] = {
    "line": lambda line: line,
    "text": lambda line: f"Here is what I have:\n\n{line}\n\nThanks!",
    "reply": lambda line: f"> hello\n> {line}\n",
    "comment": lambda line: f"# {line}\nx = 1\n",
    "slashes": lambda line: f"int a; // {line}\n",
    "indented": lambda line: f"service:\n    {line}\n    port: 80\n",
    "list": lambda line: f"- host: a\n- {line}\n- b\n",
    "export": lambda line: f"export {line}\n",
    "log": lambda line: f"2026-11-16T00:12:01Z INFO worker[12]: {line}\n",
    "diff": lambda line: f"@@ -1 +1 @@\n-a\n+{line}\n",
    "json": _json(1),
    "json in json": _json(2),
    "fence": lambda line: f"```sh\n{line}\n```",
    "html": lambda line: f"<p>{line}</p>",
    "semicolon": lambda line: f"{line}; next = 1",
    "brackets": lambda line: f"({line})",
}


def draw(rng: random.Random) -> Draw:
    """A secret behind its name."""
    name, kind = draw_name(rng), rng.choice(list(VALUES))
    value = VALUES[kind](rng)
    decoration = rng.choices(list(DECORATIONS), weights=_ODDS)[0]
    container, operator, quote = rng.choice(list(CONTAINERS)), rng.choice(OPERATORS), rng.choice(_QUOTES)
    if decoration == "escaped" and "json" in container:
        decoration = "plain"
    shown = DECORATIONS[decoration](name.text, rng)
    text = CONTAINERS[container](f"{shown}{operator}{quote}{value}{quote}")
    return Draw(text, value, (name.kind, operator, kind, container, decoration))


# -- file and chat formats: `{n}` a name, `{v}` a value, `{b}` the value in base64

FORMATS: dict[str, str] = {
    ".env": "HOST=a\n{N}={v}\nPORT=80\n",
    ".env quoted": 'HOST=a\n{N}="{v}"\n',
    "shell export": "export {N}='{v}' && make\n",
    "shell inline": "{N}={v} ./run.sh --now\n",
    "shell local": 'local {n}="{v}"\n',
    "shell default": 'X="${{{N}:-{v}}}"\n',
    "shell array": "declare -A c=([{n}]={v} [b]=c)\n",
    "fish": "set -gx {N} {v}\n",
    "csh": "setenv {N} {v}\n",
    "batch": "@echo off\r\nset {N}={v}\r\n",
    "setx": 'setx {N} "{v}"\r\n',
    "powershell": '$env:{N} = "{v}"\n',
    "powershell secure": "$s = ConvertTo-SecureString '{v}' -AsPlainText -Force\n",
    "powershell hash": "@{{ {n} = '{v}'; b = 1 }}\n",
    "systemd": "[Service]\nEnvironment={N}={v}\n",
    "systemd quoted": '[Service]\nEnvironment="{N}={v}"\n',
    "dockerfile": "FROM x\nENV {N} {v}\nRUN y\n",
    "dockerfile arg": "ARG {N}={v}\n",
    "docker run": "docker run -e {N}={v} -p 80:80 app\n",
    "docker build": "docker build --build-arg {N}={v} .\n",
    "compose map": "services:\n  a:\n    environment:\n      {N}: {v}\n",
    "compose list": "services:\n  a:\n    environment:\n      - {N}={v}\n",
    "docker config": '{{"auths": {{"r.example.org": {{"auth": "{b}"}}}}}}\n',
    "k8s env": "env:\n  - name: {N}\n    value: {v}\n",
    "k8s env quoted": 'env:\n  - name: {N}\n    value: "{v}"\n',
    "k8s secret data": "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\ndata:\n  conf: {b}\n",
    "k8s secret string": "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\nstringData:\n  conf: {v}\n",
    "k8s secret json": '{{"kind": "Secret", "apiVersion": "v1", "data": {{"conf": "{b}"}}}}\n',
    "k8s literal": "kubectl create secret generic a --from-literal={n}={v}\n",
    "helm set": "helm install a ./a --set auth.{n}={v}\n",
    "helm values": "auth:\n  {n}: {v}\n",
    "ansible": "- hosts: all\n  vars:\n    {n}: '{v}'\n",
    "ansible inventory": "web1 ansible_user=bob ansible_password={v}\n",
    "terraform variable": 'variable "{n}" {{\n  type = string\n  default = "{v}"\n}}\n',
    "tfvars": '{n} = "{v}"\n',
    "cloudformation": "Parameters:\n  {n}:\n    Type: String\n    Default: {v}\n",
    "github actions": "env:\n  {N}: {v}\nsteps: []\n",
    "secrets map": "secrets:\n  alpha: {v}\n  beta: ${{B}}\n",
    "json": '{{"host": "a", "{n}": "{v}", "port": 80}}\n',
    "json pretty": '{{\n  "host": "a",\n  "{n}": "{v}"\n}}\n',
    "json nested": '{{"auth": {{"{n}": {{"value": "{v}"}}}}}}\n',
    "json name value": '[{{"name": "{N}", "value": "{v}"}}]\n',
    "json key value": '[{{"Key": "{N}", "Value": "{v}"}}]\n',
    "json escaped": '{{"body": "{{\\"{n}\\": \\"{v}\\"}}"}}\n',
    "json5": "{{ {n}: '{v}', b: 1 }}\n",
    "yaml": "host: a\n{n}: {v}\n",
    "yaml quoted": "{n}: '{v}'\n",
    "yaml block": "{n}: |\n  {v}\nnext: 1\n",
    "yaml folded": "{n}: >-\n  {v}\n",
    "yaml anchor": "{n}: &x {v}\n",
    "yaml flow": "a: {{{n}: {v}, b: 1}}\n",
    "toml": '[a]\n{n} = "{v}"\n',
    "toml literal": "{n} = '{v}'\n",
    "ini": "[db]\nhost=a\n{n}={v}\n",
    "ini spaced": "[db]\n{n} = {v}\n",
    "properties": "a.b=c\nspring.datasource.{n}={v}\n",
    "my.cnf": "[client]\nuser=root\npassword={v}\n",
    "pgpass": "db.example.org:6543:app:bob:{v}\n",
    "netrc": "machine h.example.org\n  login bob\n  password {v}\n",
    "npmrc": "//registry.example.org/:_authToken={v}\n",
    "pypirc": "[pypi]\nusername = __token__\npassword = {v}\n",
    "pip conf": "[global]\nindex-url = https://bob:{v}@pypi.example.org/simple\n",
    "git credentials": "https://bob:{v}@git.example.org\n",
    "git remote": "origin\thttps://oauth2:{v}@git.example.org/a/b.git (fetch)\n",
    "git config": '[http]\n\textraheader = Authorization: Bearer {v}\n',
    "aws credentials": "[default]\naws_access_key_id = AKIAIOSFODNN7EXAMPLE\naws_secret_access_key = {v}\n",
    "aws configure": "AWS Access Key ID [None]: x\nAWS Secret Access Key [None]: {v}\nDefault region name [None]: eu\n",
    "prompt": "Enter your {s}: {v}\nok\n",
    "prompt question": "What is the {s}? {v}\n",
    "maven settings": "<server>\n  <id>a</id>\n  <password>{v}</password>\n</server>\n",
    "xml attribute": '<db user="a" {n}="{v}"/>\n',
    "xml name value": '<property name="{n}" value="{v}"/>\n',
    "xml entry": '<entry key="{n}">{v}</entry>\n',
    "app.config": '<add key="{n}" value="{v}" />\n',
    "connection string": 'Server=db;Database=a;User Id=sa;Password={v};Encrypt=true\n',
    "connection string xml": '<add name="x" connectionString="Server=db;User Id=sa;Password={v};" />\n',
    "jdbc": "jdbc:mysql://db:3306/a?user=bob&password={v}&ssl=true\n",
    "url login": "postgres://bob:{v}@db:5432/a\n",
    "url login redis": "redis://:{v}@cache:6379/0\n",
    "url query": "GET https://api.example.org/v1?q=a&{n}={v}&page=2\n",
    "url fragment": "https://app.example.org/cb#access_token={v}&expires_in=3600\n",
    "form body": "user=bob&{n}={v}&remember=1\n",
    "multipart": 'Content-Disposition: form-data; name="{n}"\r\n\r\n{v}\r\n--x--\r\n',
    "header bearer": "Authorization: Bearer {v}\n",
    "header basic": "Authorization: Basic {b}\n",
    "header key": "X-Api-Key: {v}\nAccept: */*\n",
    "header token": "X-Auth-Token: {v}\n",
    "cookie": "Cookie: sid={v}; theme=dark\n",
    "set-cookie": "Set-Cookie: session={v}; Path=/; HttpOnly\n",
    "curl header": "curl -H 'Authorization: Bearer {v}' https://h/\n",
    "curl key": 'curl -H "X-API-Key: {v}" https://h/\n',
    "curl user": "curl -u bob:{v} https://h/\n",
    "curl data": "curl -d '{{\"{n}\": \"{v}\"}}' https://h/\n",
    "flag": "tool --{k} {v} --yes\n",
    "flag equals": "tool --{k}={v}\n",
    "flag quoted": 'tool --{k} "{v}"\n',
    "argv": '["tool", "--{k}", "{v}"]\n',
    "mysql": "mysql -u root -p{v} app\n",
    "psql": "PGPASSWORD={v} psql -h db app\n",
    "sshpass": "sshpass -p {v} ssh bob@h\n",
    "docker login": "docker login -u bob -p {v} r.example.org\n",
    "stdin echo": "echo {v} | docker login -u bob --password-stdin\n",
    "stdin heredoc": "docker login -u bob --password-stdin <<EOF\n{v}\nEOF\n",
    "stdin herestring": "gh auth login --with-token <<< {v}\n",
    "sudo": "echo {v} | sudo -S apt update\n",
    "chpasswd": "echo 'bob:{v}' | chpasswd\n",
    "htpasswd": "htpasswd -bc .htpasswd bob {v}\n",
    "sql user": "CREATE USER bob WITH PASSWORD '{v}';\n",
    "sql identified": "ALTER USER bob IDENTIFIED BY '{v}';\n",
    "sql insert": "INSERT INTO users (name, password) VALUES ('bob', '{v}');\n",
    "sql update": "UPDATE users SET password = '{v}' WHERE id = 1;\n",
    "psql table": " id | {n} \n----+------\n  1 | {v}\n(1 row)\n",
    "mysql table": "+----+------+\n| id | {n} |\n+----+------+\n|  1 | {v} |\n+----+------+\n",
    "box table": "┌────┬──────┐\n│ id │ {n} │\n├────┼──────┤\n│ 1  │ {v} │\n└────┴──────┘\n",
    "markdown table": "| user | {n} |\n|---|---|\n| bob | {v} |\n",
    "markdown row": "| {n} | {v} |\n",
    "csv": "user,{n}\nbob,{v}\n",
    "csv quoted": '"user","{n}"\n"bob","{v}"\n',
    "tsv": "user\t{n}\nbob\t{v}\n",
    "python": '{p} = "{v}"\n',
    "python dict": "d = {{'{n}': '{v}'}}\n",
    "python kwarg": "connect(host='a', {p}='{v}')\n",
    "python environ": "os.environ['{N}'] = '{v}'\n",
    "python getenv": "x = os.getenv('{N}', '{v}')\n",
    "python f": '{p}: str = "{v}"\n',
    "python bytes": "{p} = b'{v}'\n",
    "javascript": "const {c} = '{v}';\n",
    "javascript env": "process.env.{N} = '{v}'\n",
    "javascript or": "const {c} = process.env.{N} || '{v}';\n",
    "template literal": "const {c} = `{v}`;\n",
    "typescript": "private readonly {c}: string = '{v}';\n",
    "java": 'private static final String {N} = "{v}";\n',
    "java setter": 'ds.setPassword("{v}");\n',
    "java property": 'System.setProperty("{n}", "{v}");\n',
    "kotlin": 'val {c} = "{v}"\n',
    "c#": 'var {c} = @"{v}";\n',
    "go": '{c} := "{v}"\n',
    "go const": 'const {c} string = "{v}"\n',
    "go struct": 'Config{{User: "a", Password: "{v}"}}\n',
    "rust": 'let {p}: &str = "{v}";\n',
    "rust const": 'const {N}: &str = "{v}";\n',
    "ruby": "{p} = '{v}'\n",
    "ruby hash": ":{p} => '{v}',\n",
    "ruby symbol": "{p}: '{v}',\n",
    "ruby env": "ENV['{N}'] ||= '{v}'\n",
    "php": "${p} = '{v}';\n",
    "php define": "define('{N}', '{v}');\n",
    "php array": "'{n}' => '{v}',\n",
    "perl": "my ${p} = '{v}';\n",
    "lua": '{p} = "{v}"\n',
    "swift": 'let {c} = "{v}"\n',
    "objective-c": 'NSString *{c} = @"{v}";\n',
    "c": 'char *{p} = "{v}";\n',
    "c define": '#define {N} "{v}"\n',
    "c++": 'std::string {p}("{v}");\n',
    "elixir": 'config :app, {p}: "{v}"\n',
    "clojure": '{{:{k} "{v}"}}\n',
    "r": '{p} <- "{v}"\n',
    "dart": "final {c} = '{v}';\n",
    "groovy": "{c} = '{v}'\n",
    "gradle": 'storePassword "{v}"\n',
    "makefile": "{N} := {v}\n",
    "cmake": 'set({N} "{v}")\n',
    "nginx": 'proxy_set_header Authorization "Bearer {v}";\n',
    "redis conf": "requirepass {v}\n",
    "wpa": 'network={{\n  ssid="a"\n  psk="{v}"\n}}\n',
    "openvpn auth": "auth-user-pass\nbob\n# password\n{v}\n",
    "chat colon": "bob: the {s} is {v}\n",
    "chat sentence": "Hey, use {v} as the {s} please\n",
    "chat my": "my {s} is {v}, don't share it\n",
    "chat for": "the {s} for the staging box is {v}\n",
    "chat to test": "the {s} to test the import: {v}\n",
    "chat set to": "I set the {s} to {v} yesterday\n",
    "chat changed": "please change the {s} to {v}\n",
    "chat label above": "{S}:\n{v}\n",
    "chat heading": "## {S}\n\n{v}\n",
    "chat bullet": "- **{S}**: {v}\n",
    "chat code": "{S}: `{v}`\n",
    "chat arrow": "{s} → {v}\n",
    "chat pair": "login: bob / {v}\n",
    "chat german": "das Passwort lautet {v}\n",
    "chat french": "le mot de passe est {v}\n",
    "chat spanish": "la contraseña es {v}\n",
    "chat quoted": "> my {s} is {v}\n",
    "mail": "Username: bob\nPassword: {v}\nRegards\n",
    "log kv": "level=info msg=login user=bob {n}={v}\n",
    "log json": '{{"level":"info","msg":"x","{n}":"{v}"}}\n',
    "traceback": "ValueError: bad value for {n}={v}\n",
    "repr": "Config(user='a', {p}='{v}')\n",
    "base64 env": "echo {env64} | base64 -d > .env\n",
    "postman": '{{"key": "{n}", "value": "{v}", "enabled": true}}\n',
    "graphql": 'mutation {{ login(user: "a", password: "{v}") {{ id }} }}\n',
    "vault kv": "vault kv put secret/app {n}={v}\n",
    "gcloud": "gcloud secrets create x --data-file=- <<< {v}  # the {s}: {v}\n",
    "gh secret": "gh secret set {N} --body '{v}'\n",
    "wrapped": "{n}: {v1}\\\n{v2}\n",
    "hcl": 'provider "x" {{ {n} = "{v}" }}\n',
    "vim modeline list": '("{n}", "{v}")\n',
    "argv dict": "{{'argv': ['--{k}', '{v}']}}\n",
}  # fmt: skip
_SAID = ("password", "API key", "token", "secret", "passphrase", "access token", "client secret")


def draw_format(form: str, rng: random.Random) -> Draw:
    """One file or message of a format, with names and a value drawn for it."""
    kind = rng.choice(list(VALUES))
    value = VALUES[kind](rng)
    word = rng.choice((*_PASSWORDS[:4], *_SECRETS)).split()
    before = rng.choice(_BEFORE)
    parts = [*([before] if before else []), *word]
    said = rng.choice(_SAID)
    cut = len(value) // 2
    env = base64.b64encode(f"HOST=a\nDB_PASSWORD={value}\nPORT=80\n".encode()).decode()
    encoded = base64.b64encode(f"bob:{value}".encode()).decode()
    names = {
        "n": _joined(parts, rng.choice(("snake", "camel", "kebab", "dotted"))),
        "N": _joined(parts, "const"),
        "p": _joined(parts, "snake"),
        "c": _joined(parts, "camel"),
        "k": _joined(parts, "kebab"),
        "s": said,
        "S": said[:1].upper() + said[1:],
    }
    text = FORMATS[form].format(**names, v=value, b=encoded, v1=value[:cut], v2=value[cut:], env64=env)
    secret = value
    for slot, shown in (("{env64}", env), ("{b}", encoded)):
        if slot in FORMATS[form]:
            secret = shown
    return Draw(text, secret, (kind, form))


def leaks(drawn: Draw) -> bool:
    """Whether half of the secret, or eight characters of it in a row, can still be read."""
    shown = redact_text(drawn.text)
    size = min(8, max(4, len(drawn.secret) // 2))
    return any(drawn.secret[at : at + size] in shown for at in range(len(drawn.secret) - size + 1))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--draws", type=int, default=20_000)
    parser.add_argument("--formats", action="store_true")
    parser.add_argument("--show", type=int, default=20)
    given = parser.parse_args()
    rng = random.Random(given.seed)
    forms = list(FORMATS)
    drawn = [draw_format(forms[n % len(forms)], rng) if given.formats else draw(rng) for n in range(given.draws)]
    leaked = [one for one in drawn if leaks(one)]
    print(f"seed {given.seed}: {len(leaked)} of {len(drawn)} leaked, {100 * len(leaked) / len(drawn):.2f} %")
    for index in range(len(drawn[0].parts)):
        every = collections.Counter(one.parts[index] for one in drawn)
        counts = collections.Counter(one.parts[index] for one in leaked)
        print("  " + ", ".join(f"{part!r} {100 * n / every[part]:.1f} %" for part, n in counts.most_common(30)))
    for one in leaked[: given.show]:
        print(f"  {one.text!r} -> {redact_text(one.text)!r}")
    return 1 if leaked else 0


if __name__ == "__main__":
    sys.exit(main())
