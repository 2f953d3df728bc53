"""Values beside their name with brackets, arrows, a verb or a call between: typed ones are hidden, words stay."""

from __future__ import annotations

import pytest

from jsonlstore.redact import MARK, may_hold_secret, redact_text

_TYPED = ("q7Wm4xTz", "0a6Vr2Yp9Lk4", "nB83kdLw2")
_TOLD = (
    "access token (main){}",
    "Key(anybody):{}",
    "my Secret ({}) works",
    "ID-bob/PASS-{}",
    "user:bob/pw:{}",
    "id/pw/port:bob/{}/22",
    "use password-{}, please",
    "PIN:{}",
    "ssh bob@host7 bob/{}",
    "das Passwort auf {} geändert",
    "Ich habe das Kennwort zu `{}` abgeändert",
    "das Passwort wurde auf {} gesetzt",
    "cambié la contraseña a {}",
    "la clave por {} cambiada",
    "mot de passe changé en {}",
    "le mot de passe a été remplacé par {}.",
    "senha alterada para {}",
    "{} <- root password",
    "{} ← the token",
    "New API key created\n\n{}\n",
    "Access token was generated.\nName: prod\n> `{}`\nKeep it.",
)
_GIVEN = (
    'user.check_password("{}")',
    "verifyPassword('{}', hashed)",
    "setPassphrase( '{}' )",
    'authenticate(user, "{}")',
    "client.login(name, '{}', 5)",
    'env::var("API_TOKEN").unwrap_or("{}".to_string())',
    'env::var("DB_PASSWORD").unwrap_or_else(|_| "{}".into())',
    "{{{{ '{}' | password_hash('sha512') }}}}",
    "<Password><Value>{}</Value><PlainText>true</PlainText></Password>",
    "<AdministratorPassword>\n  <Value>{}</Value>\n",
    "rocommunity {} 10.0.0.0/8",
    "rwcommunity {}",
)
_STAYING = (
    'check_password("password")',
    "check_password('password123')",
    'authenticate(user, "backend2")',
    "login(name, 'oauth2')",
    'env::var("API_TOKEN").unwrap_or("none")',
    'env::var("MODE").unwrap_or("utf8")',
    "{{ 'secret' | password_hash }}",
    "<Password><Value>$PASSWORD</Value>",
    "<Name><Value>q7Wm4xTz</Value>",
    "rocommunity public",
    "rocommunity6 default -V all",
    "token(sha256sum) and key(utf8)",
    "getKey(arg1): OAuth2Client",
    "key(s)2nd",
    "ID-5/pass-through2",
    "password-protected2",
    "PIN: GPIO12",
    "ssh bob@host7 bin/run2",
    "das Passwort auf Server2 geändert",
    "cambié la contraseña a las 10:30",
    "mot de passe changé en 2024",
    "senha alterada para usuario2",
    "result2 <- token",
    "x <- read_token(path)",
    "API key created\n\nRestart2\n",
    "Token issued.\n\nversion-2\n",
)


@pytest.mark.parametrize("form", _TOLD + _GIVEN)
def test_a_typed_value_is_hidden(form: str) -> None:
    for value in _TYPED:
        text = form.format(value)
        assert redact_text(text) == form.format(MARK)
        assert may_hold_secret(text)


@pytest.mark.parametrize("text", _STAYING)
def test_words_names_and_versions_stay(text: str) -> None:
    assert redact_text(text) == text
