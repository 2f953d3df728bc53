r"""The secrets that are known by their shape: one table, one line each.

A line says: the kind that a finding names, a trigger (a cheap expression that must occur for the shape to be looked
for at all), the shape, an example and a counter-example. A test runs every line's examples, so a line without them, or
with wrong ones, fails.

- The shape is RE2 syntax over bytes. Its first group, or all of it where there is none, is what gets hidden.
- Keep shapes bounded: the end of a match must be near its beginning. Anything of the form "x, whatever, then y" with an
  unbounded middle belongs into code (see the blocks in `secret_blocks`), or repeated searches are no longer linear.
- Keep triggers dumb: a literal, or runs of one class. A class that begins with a letter of its own kind and is counted
  (`M[A-Z]{20}`) makes the set's automaton explode.
- A leading `\b` is wrong here. Transcripts hold JSON in JSON, where a token follows an escaped newline (`\nghp_...`) and
  has a letter before it. Use no boundary for unmistakable prefixes, and `{lead}` for the others.
- Examples are templates (`<36>` is 36 letters and digits, `<hex:32>`, `<upper:16>`, `<digits:10>`, `<b64:40>`,
  `<url:43>`), so nothing in here is, or looks like, a live key.
- `near` names bytes one of which must stand in the 2,000 before the match: `-p` is a password only after `sshpass`.
- `unlike` keeps away from a value: "plain" needs it to look random, "chosen" to look like a password, "placeholder" lets `$VAR` and
  `<pass>` through.
"""

# An expression is easier to read whole than in pieces.
# ruff: noqa: E501

from __future__ import annotations

from dataclasses import dataclass

# What may stand right before a token whose prefix could also be the end of a word.
LEAD = r"(?:^|[^A-Za-z0-9]|\\[nrtbf]|%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2})"
# Blanks inside a command line: also a backslash and a line break, plain or JSON-escaped.
BLANK = r"(?:[ \t]|\\+(?:\r?\n|r?\\*n))"
# An opening quote at any depth of JSON escaping, a value in it or bare.
QUOTE = r"(?:\\*[\"'])?"
# Codes that let somebody in; error, zip and status codes do not.
CODES = r"(?:[Uu]nlock|[Aa]larm|[Dd]oor|[Gg]ate|[Gg]arage|[Ss]afe|[Vv]erification|[Ss]ecurity|[Aa]ccess|[Ee]ntry|[Ll]ogin|2FA|2fa|MFA|SMS|sms|[Oo]ne-time|[Ii]nvite)[ -][Cc]ode"
WORD = r"([^\s\"'\\;|&<>]+)"


@dataclass(frozen=True, slots=True)
class Shape:
    """One kind of secret that its own form gives away."""

    kind: str
    trigger: str
    shape: str
    example: str
    counter: str
    near: tuple[bytes, ...] = ()
    unlike: str = ""


def _s(kind: str, trigger: str, shape: str, example: str, counter: str, **more: tuple[bytes, ...] | str) -> Shape:
    shape = shape.replace("{lead}", LEAD).replace("{b}", BLANK).replace("{q}", QUOTE).replace("{word}", WORD)
    shape = shape.replace("{codes}", CODES)
    return Shape(kind, trigger, shape, example, counter, **more)  # type: ignore[arg-type]


# fmt: off
SHAPES: tuple[Shape, ...] = (
    # -- model providers
    _s("anthropic", r"sk-ant-", r"sk-ant-[A-Za-z0-9_-]{16,}", "sk-ant-api03-<url:95>", "the sk-ant- prefix"),
    _s("openrouter", r"sk-or-", r"sk-or-[A-Za-z0-9_-]{16,}", "sk-or-v1-<hex:64>", "sk-or-v1 keys"),
    _s("openai", r"sk-[A-Za-z0-9]", r"{lead}(sk-(?:proj|svcacct|admin|None|live|test)-[A-Za-z0-9_-]{16,}|sk-[A-Za-z0-9]{20,}|sk-[A-Za-z0-9_-]{40,})", "sk-proj-<url:80>", "task-force-alpha-bravo-charlie-delta-echo-foxtrot"),
    _s("openai-session", r"sess-", r"{lead}(sess-[A-Za-z0-9]{32,})", "sess-<40>", "sess-2026-11-16"),
    _s("google", r"AIza", r"AIza[A-Za-z0-9_-]{35}", "AIza<url:35>", "AIzawa is a river"),
    _s("google-oauth", r"GOCSPX-|ya29\.|1//0[A-Za-z0-9_-]", r"GOCSPX-[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_-]{20,}|{lead}(1//0[A-Za-z0-9_-]{30,})", "GOCSPX-<url:28>", "ya29.md"),
    _s("google-fcm", r":APA91b", r"[A-Za-z0-9_-]{8,24}:APA91b[A-Za-z0-9_-]{80,}", "AAAA<url:7>:APA91b<url:134>", "the :APA91b part"),
    _s("brave", r"BSA[A-Za-z0-9_-]{16}", r"{lead}(BSA[A-Za-z0-9_-]{27,28})(?:[^A-Za-z0-9_-]|$)", "BSA<28>", "BSA-Motorcycles-of-Birmingham-x", unlike="plain"),
    _s("groq", r"gsk_", r"gsk_[A-Za-z0-9]{20,}", "gsk_<52>", "gsk_version"),
    _s("xai", r"xai-", r"{lead}(xai-[A-Za-z0-9]{20,})", "xai-<80>", "xai-sdk-python"),
    _s("huggingface", r"hf_|api_org_", r"{lead}(hf_[A-Za-z0-9]{24,}|api_org_[A-Za-z0-9]{24,})", "hf_<34>", "hf_hub_download"),
    _s("replicate", r"r8_", r"{lead}(r8_[A-Za-z0-9]{30,})", "r8_<37>", "r8_unorm"),
    _s("perplexity", r"pplx-", r"pplx-[A-Za-z0-9]{32,}", "pplx-<48>", "pplx-7b-online"),
    _s("nvidia", r"nvapi-", r"nvapi-[A-Za-z0-9_-]{40,}", "nvapi-<url:64>", "nvapi-version"),
    _s("fireworks", r"fw_", r"{lead}(fw_[A-Za-z0-9]{22,})", "fw_<24>", "fw_update_firmware"),
    _s("tavily", r"tvly-", r"tvly-[A-Za-z0-9-]{24,}", "tvly-<32>", "tvly-python"),
    _s("elevenlabs", r"sk_[0-9a-f]{8}", r"{lead}(sk_[0-9a-f]{40,})", "sk_<hex:48>", "sk_buff"),
    _s("langsmith", r"lsv2_|ls__[a-f0-9]{8}", r"(?:lsv2_(?:pt|sk)_|ls__)[A-Za-z0-9_]{30,}", "lsv2_pt_<hex:32>_<hex:10>", "ls__init__"),
    _s("pinecone", r"pcsk_", r"pcsk_[A-Za-z0-9]{4,8}_[A-Za-z0-9]{40,}", "pcsk_<6>_<60>", "pcsk_x"),
    _s("firecrawl", r"fc-[0-9a-f]{8}", r"{lead}(fc-[0-9a-f]{32})(?:[^A-Za-z0-9]|$)", "fc-<hex:32>", "fc-cache"),
    _s("e2b", r"e2b_", r"{lead}(e2b_[0-9a-f]{40})", "e2b_<hex:40>", "e2b_sandbox"),
    _s("jina", r"jina_", r"{lead}(jina_[A-Za-z0-9_-]{40,})", "jina_<60>", "jina_embeddings"),
    # -- clouds
    _s("aws-key-id", r"A(?:KIA|SIA|BIA|CCA|ROA|IDA|GPA|IPA|NPA|NVA)", r"{lead}(A(?:KIA|SIA|BIA|CCA|ROA|IDA|GPA|IPA|NPA|NVA)[A-Z0-9]{16})(?:[^A-Za-z0-9]|$)", "AKIA<upper:16>", "SLAKIAMORE"),
    _s("aws-secret", r"A[KS]IA", r"A[KS]IA[A-Z0-9]{16}[\s,;:|\"'/\\]{1,8}(?:[A-Za-z_ ]{0,40}[\s=:\"'\\]{1,6})?([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)", "AKIA<upper:16>,<b64:40>", "AKIA and nothing else"),
    _s("aws-secret", r"(?i)secret_?access_?key", r"(?i)secret_?access_?key[\s=:\"'\\]{1,8}([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)", "aws configure set aws_secret_access_key <b64:40>", "secret_access_key is set"),
    _s("aws-bedrock", r"ABSK|bedrock-api-key-", r"ABSK[A-Za-z0-9+/]{40,}={0,2}|bedrock-api-key-[A-Za-z0-9+/=_-]{20,}", "ABSK<b64:120>", "ABSKY"),
    _s("aws-session-token", r"IQoJb3JpZ2lu|FwoGZXIvYXdz|FQoGZXIvYXdz", r"(?:IQoJb3JpZ2lu|F[wQ]oGZXIvYXdz)[A-Za-z0-9+/=%]{40,}", "IQoJb3JpZ2lu<b64:120>", "IQoJb3JpZ2lu"),
    _s("aws-signature", r"(?i)x-amz-|x-goog-", r"(?i)x-(?:amz|goog)-(?:signature|credential|security-token)(?:=|%3D)([^&\s\"'\\<>]{8,})", "?X-Amz-Signature=<hex:64>", "x-amz-signature: see the docs"),
    _s("azure-storage", r"(?i)AccountKey|SharedAccessKey", r"(?i)(?:AccountKey|SharedAccessKey)[ \t]*=[ \t]*([A-Za-z0-9+/]{20,}={0,2})", "AccountKey=<b64:86>==", "AccountKey=$KEY"),
    _s("azure-sas", r"(?i)sig(?:=|%3D)", r"(?i)(?:[?&;]|%26|%3F|SharedAccessSignature )(?:[^\s\"'<>]{0,600}&)?sig(?:=|%3D)([A-Za-z0-9%+/_-]{20,}=*)", "https://a.blob.core.windows.net/c?sv=2024&sig=<43>%3D", "sig=none"),
    _s("azure-secret", r"[0-9]Q~", r"{lead}([A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34})", "<3>8Q~<34>", "8Q~1"),
    _s("azure-cosmos", r"ACDb|AzCa|AzSe|AzFu|\+ASt|\+ABa", r"{lead}([A-Za-z0-9+/]{33,76}(?:ACDb|AzCa|AzSe[AD]|AzFu|\+ASt|\+ABa)[A-Za-z0-9+/]{5,10}={0,2})", "<76>ACDb<6>==", "AzSea"),
    _s("digitalocean", r"do[opr]_v1_", r"do[opr]_v1_[a-f0-9]{40,}", "dop_v1_<hex:64>", "dop_v1_token"),
    _s("cloudflare", r"v1\.0-", r"{lead}(v1\.0-[a-f0-9]{24}-[a-f0-9]{100,})", "v1.0-<hex:24>-<hex:146>", "v1.0-beta"),
    _s("heroku", r"HRKU-", r"HRKU-[A-Za-z0-9_-]{30,}", "HRKU-AA<58>", "HRKU-docs"),
    _s("fly", r"fm[12][a-z]?_|FlyV1|fo1_", r"fm[12][a-z]?_[A-Za-z0-9+/=_-]{40,}|fo1_[A-Za-z0-9_-]{40,}", "fm2_<b64:120>", "fm1_radio"),
    _s("vercel", r"vc[pkira]_|vercel_", r"{lead}(vc[pkira]_[A-Za-z0-9]{24,}|vercel_[a-z]*_?[A-Za-z0-9]{24,})", "vcp_<56>", "vercel_project_id"),
    _s("netlify", r"nf[pcuo]_[A-Za-z0-9]{16}", r"{lead}(nf[pcuo]_[A-Za-z0-9]{36,})", "nfp_<40>", "nfc_reader"),
    _s("supabase", r"sb[pr]_|sb_secret_", r"{lead}(sbp_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{20,})", "sbp_<hex:40>", "sb_secret_name"),
    _s("planetscale", r"pscale_", r"pscale_(?:tkn|pw|oauth|api)_[A-Za-z0-9_.=-]{20,}", "pscale_tkn_<43>", "pscale_branch"),
    _s("terraform", r"atlasv1", r"[A-Za-z0-9]{10,20}\.atlasv1\.[A-Za-z0-9_=-]{40,}", "<14>.atlasv1.<67>", "atlasv1 format"),
    _s("vault", r"hv[sbr]\.", r"hv[sbr]\.[A-Za-z0-9_-]{24,}", "hvs.<url:90>", "hvs.example"),
    _s("vault", r"s\.[A-Za-z0-9]{20}", r"{lead}(s\.[A-Za-z0-9]{24})(?:[^A-Za-z0-9]|$)", "X-Vault-Token: s.<24>", "s.toLowerCase", unlike="chosen"),
    _s("doppler", r"dp\.", r"{lead}(dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{36,})", "dp.pt.<43>", "dp.pt.example"),
    _s("pulumi", r"pul-", r"{lead}(pul-[a-f0-9]{40})", "pul-<hex:40>", "pul-request"),
    _s("alibaba", r"LTAI", r"{lead}(LTAI[A-Za-z0-9]{12,24})", "LTAI<20>", "LTAI 5"),
    _s("tencent", r"AKID", r"{lead}(AKID[A-Za-z0-9]{28,36})", "AKID<32>", "AKIDO"),
    _s("yandex", r"AQVN|t1\.|y0_", r"AQVN[A-Za-z0-9_-]{35,38}|{lead}(t1\.[A-Za-z0-9_-]+={0,2}\.[A-Za-z0-9_-]{60,}={0,2}|y[0-3]_[A-Za-z0-9_-]{50,})", "AQVN<url:36>", "t1.micro"),
    # -- code hosting and packages
    _s("github", r"gh[pousr]_|github_pat_", r"gh[pousr]_[A-Za-z0-9_]{16,}|github_pat_[A-Za-z0-9_]{16,}", "ghp_<36>", "ghp_token"),
    _s("gitlab", r"gl(?:pat|oas|dt|rt|rtr|cbt|ptt|ft|imt|agent|soat|ffct|wt)-|GR1348941", r"{lead}(gl(?:pat|oas|dt|rt|rtr|cbt|ptt|ft|imt|agent|soat|ffct|wt)-[A-Za-z0-9_.-]{16,})|GR1348941[A-Za-z0-9_-]{20,}", "glpat-<url:20>", "glpat-token"),
    _s("bitbucket", r"ATBB|ATCTT|ATATT", r"{lead}(ATBB[A-Za-z0-9_=.-]{24,}|AT(?:CTT|ATT)3[A-Za-z0-9_=.-]{40,})", "ATATT3<url:180>", "ATATTACK"),
    _s("npm", r"npm_", r"{lead}(npm_[A-Za-z0-9]{30,})", "npm_<36>", "npm_config_registry"),
    _s("npm-auth", r"_auth(?:Token)?[ \t]*=", r"_auth(?:Token)?[ \t]*=[ \t]*{q}([^\s\"'\\]{8,})", "//registry.example.org/:_authToken=<hex:36>", "//registry.example.org/:_authToken=${NPM_TOKEN}", unlike="placeholder"),
    _s("pypi", r"pypi-", r"pypi-A[A-Za-z0-9_-]{50,}", "pypi-AgEIcHlwaS5vcmc<url:150>", "pypi-API"),
    _s("rubygems", r"rubygems_", r"rubygems_[a-f0-9]{40,}", "rubygems_<hex:48>", "rubygems_version"),
    _s("crates-io", r"cio[A-Za-z0-9]{16}", r"{lead}(cio[A-Za-z0-9]{32})(?:[^A-Za-z0-9]|$)", "cio<32>", "ciopfs"),
    _s("docker-hub", r"dckr_", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}", "dckr_pat_<url:27>", "dckr_pat_name"),
    _s("docker-auth", r"auth\\*\"\s*:\s*\\*\"[A-Za-z0-9+/]{20}", r"auth\\*\"\s*:\s*\\*\"([A-Za-z0-9+/]{20,}={0,2})\\*\"", '{"auths": {"r.example.org": {"auth": "<b64:40>"}}}', '"auth": "none"'),
    _s("nuget", r"oy2", r"{lead}(oy2[a-z0-9]{43})(?:[^A-Za-z0-9]|$)", "oy2<lower:43>", "oy2"),
    _s("sourcegraph", r"sgp_", r"sgp_(?:[a-f0-9]{16}_|local_)?[a-f0-9]{40}", "sgp_<hex:16>_<hex:40>", "sgp_local"),
    _s("buildkite", r"bk[a-z]{2}_", r"{lead}(bk(?:ua|at|ct|pt)_[a-f0-9]{30,})", "bkua_<hex:40>", "bkua_x"),
    _s("circleci", r"CCI[A-Z]{3}_", r"CCI(?:PAT|PRJ)_[A-Za-z0-9]{16,}_[a-f0-9]{40}", "CCIPAT_<22>_<hex:40>", "CCIPAT_x"),
    # -- talk and mail
    _s("slack", r"xox[a-z]|xapp-", r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9_-]{10,}|xapp-[0-9]-[A-Za-z0-9_-]{10,}", "xoxb-<digits:12>-<digits:12>-<24>", "xoxb- prefix"),
    _s("slack-webhook", r"hooks\.slack", r"hooks\.slack(?:-gov)?\.com(?:\\*/|%2F)(?:services|workflows|triggers)(?:\\*/|%2F)([A-Za-z0-9_/\\%-]{8,})", "https://hooks.slack.com/services/T<upper:9>/B<upper:9>/<24>", "https://hooks.slack.com/services/"),
    _s("discord-webhook", r"api(?:\\*/|%2F)(?:v[0-9]+(?:\\*/|%2F))?webhooks", r"api(?:\\*/|%2F)(?:v[0-9]+(?:\\*/|%2F))?webhooks(?:\\*/|%2F)[0-9]{15,}(?:\\*/|%2F)([A-Za-z0-9_-]{30,})", "https://discord.com/api/webhooks/<digits:18>/<url:68>", "https://discord.com/api/webhooks/123"),
    _s("discord", r"\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27}", r"{lead}([MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27,})", "M<25>.<6>.<url:38>", "Management.of.change"),
    _s("discord-mfa", r"mfa\.", r"{lead}(mfa\.[A-Za-z0-9_-]{60,})", "mfa.<url:84>", "mfa.enabled"),
    _s("telegram", r":AA", r"[0-9]{6,12}(?::|%3A)AA[A-Za-z0-9_-]{30,}", "<digits:10>:AA<url:33>", "12:AAPL rose"),
    _s("teams-webhook", r"webhook\.office|office\.com/webhook", r"office(?:365)?\.com/webhook(?:b2)?/([A-Za-z0-9@/-]{40,})", "https://x.webhook.office.com/webhookb2/<hex:36>@<hex:36>/IncomingWebhook/<hex:32>", "office.com/webhook docs"),
    _s("sendgrid", r"SG\.", r"{lead}(SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,})", "SG.<url:22>.<url:43>", "SG.html"),
    _s("mailgun", r"key-[a-f0-9]{8}|-[a-f0-9]{8}-[a-f0-9]{8}", r"{lead}(key-[a-f0-9]{32}|[a-f0-9]{32}-[a-f0-9]{8}-[a-f0-9]{8})", "key-<hex:32>", "key-value"),
    _s("mailchimp", r"-us[0-9]", r"[a-f0-9]{32}-us[0-9]{1,2}", "<hex:32>-us12", "contact-us1"),
    _s("brevo", r"xkeysib-|xsmtpsib-", r"x(?:keysib|smtpsib)-[a-f0-9]{64}-[A-Za-z0-9]{16}", "xkeysib-<hex:64>-<16>", "xkeysib-docs"),
    _s("resend", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{8}", r"{lead}(re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,})", "re_<8>_<24>", "re_compile_pattern"),
    _s("twilio", r"(?:AC|SK)[a-f0-9]{8}", r"{lead}((?:AC|SK)[a-f0-9]{32})(?:[^A-Za-z0-9]|$)", "SK<hex:32>", "ACe of spades"),
    _s("line-notify", r"EAA", r"{lead}(EAA[A-Za-z0-9]{60,})", "EAA<160>", "EAAS"),
    # -- money, shops, work
    _s("stripe", r"[sr]k_(?:live|test|prod)|whsec_", r"[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{16,}", "sk_live_<24>", "pk_live_public"),
    _s("square", r"sq0|EAAA", r"sq0[a-z]{3}-[A-Za-z0-9_-]{22,}", "sq0csp-<url:43>", "sq0"),
    _s("shopify", r"shp[a-z]{2}_|shpss_", r"shp(?:at|ca|pa|ss|ua|tka)_[a-fA-F0-9]{24,}", "shpat_<hex:32>", "shpat_docs"),
    _s("paypal", r"access_token\$", r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}", "access_token$production$<lower:16>$<hex:32>", "access_token$"),
    _s("databricks", r"dapi", r"{lead}(dapi[a-f0-9]{32}(?:-[0-9])?)", "dapi<hex:32>", "dapi.example"),
    _s("linear", r"lin_", r"lin_(?:api|oauth|wh)_[A-Za-z0-9]{20,}", "lin_api_<40>", "lin_api_key"),
    _s("notion", r"ntn_|secret_", r"{lead}(ntn_[A-Za-z0-9]{36,}|secret_[A-Za-z0-9]{43})(?:[^A-Za-z0-9]|$)", "ntn_<46>", "secret_manager_client"),
    _s("asana", r"[0-9]:[a-f0-9]{16}", r"[0-9]/[0-9]{16}(?:/[0-9]{16})?:[a-f0-9]{32}", "1/<digits:16>:<hex:32>", "1/2:3"),
    _s("airtable", r"pat[A-Za-z0-9]{14}\.", r"{lead}(pat[A-Za-z0-9]{14}\.[a-f0-9]{64})", "pat<14>.<hex:64>", "path.txt"),
    _s("figma", r"fig[dour]{1,2}_", r"{lead}(fig(?:d|o|ur|or|ou)_[A-Za-z0-9_-]{36,})", "figd_<url:40>", "figd_x"),
    _s("postman", r"PMAK-", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}", "PMAK-<hex:24>-<hex:34>", "PMAK-x"),
    _s("contentful", r"CFPAT-", r"CFPAT-[A-Za-z0-9_-]{40,}", "CFPAT-<url:43>", "CFPAT-x"),
    _s("grafana", r"gl(?:c|sa)_|eyJrIjoi", r"{lead}(gl(?:c|sa)_[A-Za-z0-9+/=_]{30,})|eyJrIjoi[A-Za-z0-9+/=]{40,}", "glsa_<32>_<hex:8>", "glsa_x"),
    _s("new-relic", r"NR(?:AK|JS|RA|II|IQ|SP)-|NRAL", r"{lead}(NR(?:AK|JS|RA|II|IQ|SP)-[A-Za-z0-9_-]{19,}|[a-f0-9]{36}NRAL)", "NRAK-<upper:27>", "NRAK-x"),
    _s("sentry", r"sntry[su]_", r"sntry[su]_[A-Za-z0-9+/=_-]{40,}", "sntryu_<hex:64>", "sntrys_x"),
    _s("dynatrace", r"dt0[a-z]", r"dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}", "dt0c01.<upper:24>.<upper:64>", "dt0c01.x"),
    _s("okta", r"(?i)SSWS", r"(?i)SSWS[ \t]+([A-Za-z0-9_-]{30,})", "SSWS 00<url:40>", "SSWS scheme"),
    _s("tailscale", r"tskey-", r"tskey-[a-z]+-[A-Za-z0-9_-]{16,}", "tskey-auth-<16>-<32>", "tskey-x"),
    _s("onepassword", r"ops_eyJ|A3-", r"ops_eyJ[A-Za-z0-9+/=_-]{40,}|{lead}(A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5})", "ops_eyJ<url:200>", "A3-size"),
    _s("clickup", r"pk_[0-9]", r"{lead}(pk_[0-9]{6,}_[A-Z0-9]{32})", "pk_<digits:8>_<upper:32>", "pk_1"),
    _s("facebook", r"[0-9]\|[A-Za-z0-9_-]{20}", r"{lead}([0-9]{13,16}\|[A-Za-z0-9_-]{27})(?:[^A-Za-z0-9_-]|$)", "<digits:15>|<url:27>", "1 | 2"),
    _s("prefect", r"pn[ub]_", r"{lead}(pn[ub]_[A-Za-z0-9]{36})", "pnu_<36>", "pnu_x"),
    _s("typeform", r"tfp_", r"tfp_[A-Za-z0-9_.=-]{40,}", "tfp_<url:59>", "tfp_x"),
    _s("posthog", r"ph[xs]_", r"{lead}(ph[xs]_[A-Za-z0-9]{36,})", "phx_<43>", "phx_router"),
    _s("mapbox", r"[st]k\.eyJ", r"{lead}([st]k\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,})", "sk.eyJ1Ijoi<40>.<22>", "sk.eyJ"),
    _s("shippo", r"shippo_", r"shippo_(?:live|test)_[0-9a-f]{40}", "shippo_live_<hex:40>", "shippo_live_mode"),
    _s("easypost", r"EZ[AT]K", r"{lead}(EZ[AT]K[A-Za-z0-9]{54})", "EZAK<54>", "EZAKI"),
    _s("vk", r"vk1\.a\.", r"vk1\.a\.[A-Za-z0-9_-]{60,}", "vk1.a.<url:198>", "vk1.a.b"),
    _s("zapier-webhook", r"hooks\.zapier", r"hooks\.zapier\.com(?:\\*/)hooks(?:\\*/)(?:catch|standard)(?:\\*/)([A-Za-z0-9_/\\-]{8,})", "https://hooks.zapier.com/hooks/catch/<digits:7>/<lower:9>/", "https://hooks.zapier.com/hooks/"),
    _s("ifttt", r"with/key/", r"with/key/([A-Za-z0-9_-]{16,})", "https://maker.ifttt.com/trigger/x/with/key/<url:22>", "with/key/here"),
    _s("openweather", r"[?&]appid=", r"[?&]appid=([0-9a-f]{32})", "https://api.example.org/w?q=x&appid=<hex:32>", "?appid=42"),
    _s("algolia", r"algoliasearch\(", r"algoliasearch\([^()\n]{0,40}[\"']([0-9a-f]{32})", "algoliasearch('APPID', '<hex:32>')", "algoliasearch(id, key)"),
    # -- forms that no one provider owns
    _s("url-signature", r"(?i)[?&;](?:x-[a-z]+-)?signature=", r"(?i)[?&;](?:x-[a-z]+-)?signature=([A-Za-z0-9%+/_~-]{16,}=*)", "https://cdn.example.org/f?Expires=1&Signature=<b64:60>", "?signature=required"),
    _s("pin", r"(?:PIN|Pin|pin|[Pp]asscode|CV[VC]|OTP|[a-z2][ -][Cc]ode)(?:[ -]?(?:[Cc]ode|[Nn]umber|[0-9]))?(?:[ \t]+(?:for|of|on)[^\n:=]{0,30})?[ \t*]*(?:[:=]|is|ist|lautet)?[ \t*]*[0-9]{3}", r"{lead}(?:(?:PIN|Pin|pin|CV[VC]|OTP|{codes})(?:[ -]?(?:[Cc]ode|[Nn]umber|[0-9]))?(?:[ \t]+(?:for|of|on)[^\n:=]{0,30}?)?(?:[ \t*]*[:=]|[ \t]+(?:is|ist|lautet):?)[ \t*]*([0-9]{4,12})|(?:[Pp]asscode|{codes})[ \t]+([0-9]{4,12}))(?:[^0-9A-Za-z]|$)", "the PIN for the card is <digits:6>", "pin 4821 of the connector"),
    _s("login-pair", r"(?i)(?:login|logon|credentials?|creds|zugangsdaten|anmeldedaten|identifiants?|user(?:name)?[ ]?/[ ]?pass(?:word)?)(?:[ \t]+(?:for|für|pour)(?:[ \t]+[A-Za-z0-9_.-]{1,30}){1,3})?[ \t*]*(?:[:=]|is|are|sind|sont)[ \t*]*[A-Za-z0-9_.@+-]{1,64}[ \t]*/", r"(?i)(?:login|logon|credentials?|creds|zugangsdaten|anmeldedaten|identifiants?|user(?:name)?[ ]?/[ ]?pass(?:word)?)(?:[ \t]+(?:for|für|pour)(?:[ \t]+[A-Za-z0-9_.-]{1,30}){1,3})?[ \t*]*(?:[:=]|is|are|sind|sont)[ \t*]*[A-Za-z0-9_.@+-]{1,64}[ \t]*/[ \t]*{q}([^\s\"'\\/,;]{4,80})", "login: bob / x<8>", "login: yes / no", unlike="chosen"),
    _s("login-call", r"(?i)(?:log_?in|sign_?in|authenticate|credentials?)\([ \t]*(?:[a-z_]+[ \t]*=[ \t]*)?\\*[\"']", r"(?i)(?:log_?in|sign_?in|authenticate|credentials?)\([ \t]*(?:[a-z_]+[ \t]*=[ \t]*)?\\*[\"'][^\"'\\\n]{1,64}\\*[\"'][ \t]*,[ \t]*(?:[a-z_]+[ \t]*=[ \t]*)?\\*[\"']([^\"'\\\s]{3,})\\*[\"']", "smtp.login('bob', '<12>')", "login('bob')", unlike="placeholder"),
    _s("connect-call", r"(?i)(?:connect|connection|mysqli|pdo)\([^()\n]{0,160}(?:[\"'](?:root|sa|postgres|guest|[a-z]*admin|[a-z]*user)|user(?:name)?[ \t]*=[ \t]*\\*[\"'][^\"'\\\n]{1,64})\\*[\"'][ \t]*,[ \t]*\\*[\"']", r"(?i)(?:connect|connection|mysqli|pdo)\([^()\n]{0,160}(?:[\"'](?:root|sa|postgres|guest|[a-z]*admin|[a-z]*user)|user(?:name)?[ \t]*=[ \t]*\\*[\"'][^\"'\\\n]{1,64})\\*[\"'][ \t]*,[ \t]*\\*[\"']([^\"'\\\n]{3,})", "mysqli_connect('localhost', 'root', '<12>', 'app')", "connect('localhost', 'root')", unlike="placeholder"),
    _s("form-fill", r"(?:send_?[kK]eys|fill|type|[sS]et_?[vV]alue)\(\\*[\"']", r"(?i)pass(?:word|wd|code)?[\])]*\\*[\"'][\])]*\.(?:send_?keys|fill|type|set_?value)\(\\*[\"']([^\"'\\\n]{3,})", "find(By.ID, 'password').send_keys('<12>')", "find('password').type('text')", unlike="placeholder"),
    _s("net-use", r"(?i)net use[ \t]", r"(?i)net use[ \t][^\n]{0,200}/user:\S+[ \t]+{word}", "net use Z: /user:bob <12>", "net use Z: /user:bob *", unlike="option"),
    _s("key-said", r"(?i)(?:my|our|your|the|this|here's)[ \t]+(?:[a-z]+[ \t]+)?key[ \t]+(?:is[ \t]+)?[A-Za-z0-9_-]{20}", r"(?i)(?:my|our|your|the|this|here's)[ \t]+(?:[a-z]+[ \t]+)?key[ \t]+(?:is[ \t]+)?([A-Za-z0-9_-]{20,})", "here is my key <32>", "the key aaaaaaaaaaaaaaaaaaaaaaaa", unlike="random"),
    _s("ldap-hash", r"\{S?SHA", r"\{S?SHA(?:256|384|512)?\}[A-Za-z0-9+/]{27,}={0,2}", "bob:{SSHA}<b64:38>", "{SHA}"),
    _s("gh-secret", r"secret set[ \t]", r"secret set{b}[^\n]{0,80}(?:--body|-b)(?:=|{b})+{q}([^\s\"'\\]{6,})", "gh secret set DEPLOY --body '<32>'", "gh secret set DEPLOY --body $X", unlike="placeholder"),
    _s("jwt", r"eyJ", r"{lead}(eyJ[A-Za-z0-9_-]{8,}(?:\.|%2E)[A-Za-z0-9_-]{4,}(?:(?:\.|%2E)[A-Za-z0-9_-]*){1,3})", "eyJ<url:33>.eyJ<url:60>.<url:43>", "eyJust.kidding"),
    _s("bearer", r"(?i)bearer(?:[ \t]|%20|\+)", r"(?i)bearer(?:[ \t]|%20|\+){1,3}{q}([A-Za-z0-9_.~+/=:%-]{6,})", "curl -H 'X-Auth: Bearer <24>'", "the bearer of bad news came Wednesday", unlike="plain"),
    _s("basic-auth", r"(?i)basic(?:[ \t]|%20){1,3}[A-Za-z0-9+/_-]{8}", r"(?i)basic(?:[ \t]|%20){1,3}([A-Za-z0-9+/_-]{8,}={1,2}|[A-Za-z0-9+/]*[A-Z0-9][A-Za-z0-9+/]{11,})", "Proxy-Authorization: Basic <b64:30>==", "Basic understanding of internationalization", unlike="plain"),
    _s("password-said-first", r"(?i)(?:is|was|that's)[ \t]+(?:the|my|our|your|his|her|their)[ \t]+(?:[a-z]+[ \t]+){0,2}(?:pass(?:word|phrase|code|wd)|api[ -]?key|token|secret)", r"(?i)([^\s\"'`\\<>,]{6,80})(?:[\"'`]?[ \t]+(?:is|was)|[\"'`]?,?[ \t]+that(?:'s|[ \t]+is))[ \t]+(?:the|my|our|your|his|her|their)[ \t]+(?:[a-z]+[ \t]+){0,2}(?:pass(?:word|phrase|code|wd)|api[ -]?key|token|secret)", "x7<10> is the password for the router", "what was the password again", unlike="chosen"),
    _s("crypt-hash", r"\$(?:2[abxy]|[156y]|7|apr1|argon2)", r"\$(?:2[abxy]\$[0-9]{2}\$[./A-Za-z0-9]{53}|(?:1|5|6|y|7|apr1)\$[./A-Za-z0-9=,$]{20,}|argon2(?:id|i|d)\$[A-Za-z0-9+/=,$]{30,})", "root:$6$<8>$<86>:19000", "costs $1 or $5"),
    _s("age-key", r"AGE-SECRET-KEY", r"AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{50,}", "AGE-SECRET-KEY-1<upper:58>", "AGE-SECRET-KEY format"),
    _s("wallet", r"[xyzt]prv|nsec1", r"{lead}([xyzt]prv[1-9A-HJ-NP-Za-km-z]{100,}|nsec1[a-z0-9]{58})", "xprv<base58:107>", "xprv format"),
    _s("base64-pem", r"LS0tLS1CRUdJTi", r"LS0tLS1CRUdJTi(?:BQUk|BSU0|BFQy|BPUE|BFTk|BEU0|BTU0)[A-Za-z0-9+/=_-]{40,}", "LS0tLS1CRUdJTiBSU0Eg<b64:200>", "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t"),
    # -- logins inside addresses
    _s("url-login", r"(?::|%3A)(?:\\*/|%2F){2}[^\s/\"'<>]*@", r"(?i)[a-z][a-z0-9+.-]{1,20}:(?:\\*/){2}[^\s/@:\"'<>\\]*:([^\s\"'<>]*[^\s\"'<>/\\:])@[A-Za-z0-9\[$%{*_-]", "postgres://app:<16>@db.internal:5432/app", "http://localhost:8080/@scope/pkg", unlike="url"),
    _s("url-login", r"(?i)%3A%2F%2F", r"(?i)[a-z][a-z0-9.-]{1,20}%3A%2F%2F[A-Za-z0-9._~-]*%3A([^\s\"'<>&@]*?)%40[A-Za-z0-9%]", "next=postgres%3A%2F%2Fapp%3A<16>%40db", "https%3A%2F%2Fexample.org%2Fa", unlike="url"),
    _s("url-token", r"(?::|%3A)(?:\\*/|%2F){2}[^\s/?#\"'<>]*@", r"(?i)(?:https?|git|ssh|wss?|ftp|rediss?):(?:\\*/){2}(?:([^\s/@:\"'<>\\]{8,}):?|([0-9a-f]{32}):[^\s/@\"'<>]*)@[A-Za-z0-9\[-]", "https://<hex:32>@o1.ingest.example.io/1", "ssh://developer@host/path", unlike="plain"),
    _s("oracle-login", r"(?i)jdbc:oracle|sqlplus", r"(?i)(?:jdbc:oracle:[a-z]+:|sqlplus(?:[ \t]+-[A-Za-z]+)*[ \t]+{q})[A-Za-z0-9_$#.-]+/([^\s@\"'\\]+)@", "jdbc:oracle:thin:scott/<10>@//db:1521/x", "jdbc:oracle:thin:@//db:1521/x", unlike="placeholder"),
    _s("bot-url", r"/bot[0-9]", r"/bot[0-9]+:([A-Za-z0-9_-]{20,})", "https://api.telegram.org/bot<digits:9>:<url:35>/getMe", "/bot7/"),
    # -- logins on command lines, where the flag alone says nothing
    _s("user-login", r"-(?:[A-Za-z]?u|U|-user|-proxy-user)(?:[ =]|\\*[\"'])", r"(?:[\s\"'\[,]|\\n)(?:-[A-Za-z]*u|--user|--proxy-user|-U)(?:=|{b}|\\*[\"'],{b}*)*(?:\\*[\"'][^\s:\"'\\/;|]*:([^\"'\\\n]+)|[^\s:\"'\\/;|]*:([^\s\"'\\;|]+))", "curl -u admin:<12> https://h/", "curl -u $USER:$PASS https://h/", near=(b"curl", b"wget", b"http", b"xh ", b"svn"), unlike="ids"),
    _s("mysql-login", r"mysql|mariadb|7z ", r"(?:\s|\\n|[\"'])-p{q}([^\s\"'\\;|&]{3,})", "mysqldump -uroot -p<12> app", "mysql -uroot -p app", near=(b"mysql", b"mariadb", b"7z "), unlike="placeholder"),
    _s("p-login", r"(?:-[pawP](?:[ =]|\\*[\"'])|/p:)", r"(?:\s|\\n|[\"'])(?:-[pawP]|/p:)(?:=|{b}|\\*[\"'],{b}*)*{q}{word}", "sshpass -p <10> ssh h", "sshpass -p $PW ssh h", near=(b"sshpass", b"docker login", b"podman login", b"redis-cli", b"ldapsearch", b"ldapmodify", b"mongo", b"az login", b"helm registry login", b"unzip", b"zip ", b"oc login", b"xfreerdp", b"skopeo login", b"sqlcmd"), unlike="option"),
    _s("http-login", r"-a[ =]", r"\s-a(?:=|{b})+{q}[A-Za-z0-9_.@-]+:{word}", "http -a bob:<12> GET u", "http -a $LOGIN GET u", near=(b"http ", b"https ", b"xh "), unlike="ids"),
    _s("keygen-pass", r"-N[ \"']", r"\s-N{b}*{q}{word}", "ssh-keygen -N '<12>' -f k", "ssh-keygen -N '' -f k", near=(b"ssh-keygen",), unlike="option"),
    _s("openssl-key", r"-k[ \"']", r"\s-k{b}+{q}{word}", "openssl enc -aes-256-cbc -k <12> -in x", "openssl enc -k $K", near=(b"openssl enc",), unlike="option"),
    _s("vault-login", r"vault login", r"vault login{b}+{q}([A-Za-z0-9_.-]{20,})", "vault login <26>", "vault login -method=userpass"),
    _s("code-login", r"(?i)auth[ \t]*[=(]", r"(?i)auth[ \t]*[=(][ \t(\[]*\\*[\"'][^\"'\\\n]{1,64}\\*[\"'][ \t]*,[ \t]*\\*[\"']([^\"'\\\n]+)", "requests.get(u, auth=('bob', '<12>'))", "auth=(user, password)", unlike="placeholder"),
    _s("piped-login", r"--password-stdin|--with-token", r"(?:echo|printf)(?:{b}+-[a-z]+)*{b}+{q}([^\s\"'\\|:]+)(?:\\+n)?(?:\\*[\"'])?{b}*\|[^|\n]{0,120}--(?:password-stdin|with-token)|--(?:password-stdin|with-token){b}*<<<{b}*{q}{word}", "echo <12> | docker login -u bob --password-stdin", "echo $PW | docker login --password-stdin", unlike="placeholder"),
    _s("openssl-pass", r"pass:", r"-?pass(?:in|out|word)?(?:=|{b})*{q}pass:([^\s\"'\\;|]+)", "openssl rsa -passin pass:<12> -in k", "bypass:everything", unlike="placeholder"),
    _s("smb-login", r"(?:-U|--user)[ =]", r"(?:-U|--user)(?:=|{b})*{q}[A-Za-z0-9_.\\@-]+%{word}", "smbclient //h/s -U bob%<10>", "-U 50%", unlike="placeholder"),
    _s("piped-login", r"chpasswd|cryptsetup|sudo[ \t]+-", r"sudo(?:{b}+-[A-Za-z]+)*{b}+-[A-Za-z]*S{b}[^\n]{0,80}<<<{b}*{q}{word}|(?:echo|printf)(?:{b}+-[a-z]+)*{b}+(?:\\*[\"'])?(?:[A-Za-z0-9_.-]+:)?([^\s\"'\\|:]+)(?:\\+n)?(?:\\*[\"'])?{b}*\|{b}*(?:sudo{b}+)?(?:chpasswd|cryptsetup|sudo{b}+(?:-[A-Za-z]+{b}+)*-[A-Za-z]*S)", "echo 'root:<12>' | chpasswd", "echo $PW | sudo -S ls", unlike="placeholder"),
    _s("htpasswd", r"htpasswd", r"htpasswd{b}+-[A-Za-z]*b[A-Za-z]*{b}+(?:[^\s-]\S*{b}+){1,2}{q}{word}", "htpasswd -cb .htpasswd bob <12>", "htpasswd -c .htpasswd bob", unlike="placeholder"),
    _s("netrc", r"machine[ \t]+[^\s]+\s+login", r"(?i)(?:login|machine)[ \t\r\n]+\S+(?:[ \t\r\n]+account[ \t]+\S+)?[ \t\r\n]+(?:login[ \t]+\S+[ \t\r\n]+)?password[ \t]+{q}([^\s\"'\\]+)", "machine h login bob password <10>", "login page or password reset", unlike="placeholder"),
    _s("pgpass", r":(?:54[0-9]{2}|\*):", r"(?m)(?:^|[\s\"'`(]|\\n)[A-Za-z0-9_.*-]+:(?:54[0-9]{2}|\*):[A-Za-z0-9_.*-]+:[A-Za-z0-9_.-]+:([^\s\"'`\\]+)", "db.internal:5432:app:bob:<14>", "tcp localhost:5432:app", unlike="placeholder"),
    _s("sql-login", r"(?i)identified", r"(?i)identified(?:[ \t]+with[ \t]+\S+)?[ \t]+(?:by|as)[ \t]+(?:password[ \t]+)?\\*[\"']([^\"'\\]+)", "CREATE USER b IDENTIFIED BY '<12>'", "identified by name", unlike="placeholder"),
    _s("redis-auth", r"(?i)requirepass|masterauth", r"(?i)(?:requirepass|masterauth)[ \t]+{q}([^\s\"'\\]+)", "requirepass <16>", "requirepass $PW", unlike="placeholder"),
)
# fmt: on
