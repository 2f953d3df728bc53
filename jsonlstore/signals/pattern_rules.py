"""The phrases patterns are told by, as data: one rule a line, all matched together in linear time.

`NEUTRAL` phrases are taken out first: they hold a telling word but do not mean it ("no errors", "error handling",
"needs to be fixed"). What is left of a clause is matched against all rules at once.
"""

# ruff: noqa: E501 - a rule is one line of data

from __future__ import annotations

from typing import NamedTuple


class Rule(NamedTuple):
    """A telling phrase: what it tells, and how surely."""

    kind: str
    confidence: float
    pattern: str


_DONE = (
    r"(?:fixed|built|created|implemented|completed|finished|done|solved|resolved|deployed|merged|shipped|released|"
    r"migrated|landed|refactored|rewrote|rewritten|installed|configured|wired up|set up|added|removed|published|"
    r"submitted|delivered|uploaded|recovered|restored|calibrated|launched|automated|converted|documented|replaced|rebuilt|"
    r"patched|repaired|ported|upgraded|tested|verified|confirmed|working|written|closed|updated|cleaned up|wrapped up)"
)
_TROUBLE = r"(?:errors?|fail(?:s|ed|ing|ures?)?|bugs?|crash(?:es|ed|ing)?|issues?|problems?|broken|broke|blockers?|exceptions?|regressions?)"
_NOT = r"(?:not|n't|never|no longer|nor|hardly|nicht|nie|nichts|kein|keine|keinen|don't|doesn't|didn't|isn't|aren't|wasn't|haven't|hasn't|hadn't|won't|can't|cannot|couldn't|wouldn't|shouldn't)"
_SUBJECT = r"(?:i|we|you|they|he|she|it|i've|we've|they've|it's|that's|this|that|everything|all|which)"

NEUTRAL: tuple[str, ...] = (
    # nothing is wrong
    rf"\b(?:no|zero|0|without|any|free of|not (?:a|an|any)|isn't (?:a|an)|never (?:a|an)|ohne|keine?n?)\s+(?:\w+\s+){{0,2}}{_TROUBLE}\b(?:\s+(?:so far|anymore|left|at all|whatsoever|found|any more))?",
    rf"\b{_NOT}\s+(?:\w+\s+){{0,2}}{_TROUBLE}\b",
    r"\b(?:errors?|bugs?)[- ]free\b|\bnot stuck\b|\bunstuck\b|\bnot blocked\b|\bunblocked\b|\bunblocks?\b",
    r"\bno longer (?:fails?|crash(?:es)?|breaks?|stuck|blocked|an? (?:issue|problem))\b|\bno problem(?:o|s)?\b|\bkein problem\b",
    rf"\b(?:stopped|stops|quit) (?:failing|crashing|breaking)\b|\bhandles? {_TROUBLE}\b",
    # trouble as a subject of work, not a state
    r"\b(?:errors?|exceptions?|failures?|crash|bugs?|issues?|problems?)[- ](?:handling|handlers?|messages?|codes?|reports?|reporting|trackers?|tracking|class(?:es)?|types?|rates?|sets?|logs?|pages?|bounty|templates?|statement|bound(?:ary|aries)|budgets?|correction|cases?|paths?|modes?|recovery|numbers?|titles?|lists?|labels?|domain|space|solving)\b",
    r"\b(?:github|gitlab|jira|open|good first|new|this|that|an|the|your|my|our|linear|see|related|tracking) issues?(?: #?\d+)?(?: (?:tracker|template|list|title|number|about|for|on github))\b|\bissues? #?\d+\b",
    r"\bfail[- ](?:fast|open|safe|over|closed|loud|soft)\b|\bfailover\b|\bfailsafe\b|\bcrash[- ](?:safe|course|recovery|test|tests|only)\b|\bcrash consistency\b",
    r"\b(?:debug|bug) (?:mode|build|symbols?|hunt|bash|fixes|fix)\b|\bbroken down\b|\bbreak(?:s|ing)? down\b|\bbreaking (?:news|change[s]?)\b",
    r"\bstuck (?:with|to) (?:the plan|it|this)\b|\bissue (?:a|an|the|commands?|warnings?|refunds?|certificates?|tokens?)\b|\bissued?\s+(?:by|to)\b",
    r"\b(?:blocking|non-blocking|blocked) (?:io|i/o|calls?|queue|reads?|writes?|sockets?|mode|operations?|lists?|api|functions?)\b|\bnon-blocking\b",
    r"\b(?:a|an|any|every|each|some|one|no) (?:failed|broken|corrupt|corrupted|wrong|lost|flaky|rejected|denied) \w+\b",
    # only if it happens
    rf"\b(?:if|in case|unless|should|whenever|wenn|falls|until|before) (?:[\w'’-]+\s+){{0,6}}(?:{_TROUBLE}|stuck|blocked|unable|{_DONE}|can't|cannot|doesn't work|not working)\b",
    rf"\b(?:might have|may have|could have|would have|should have|might|may|could|would|can|will|'ll|should|to|won't|wouldn't|going to|gonna) (?:still |also |then |just |probably |easily |well |always )?(?:{_TROUBLE}|break|crash|be broken|be blocked|be stuck|get stuck|be a problem|be an issue)\b",
    r"\bon (?:error|failure)s?\b|\bin case of (?:an? )?(?:error|failure)s?\b|\b(?:expected|intentional|deliberate) (?:failure|error)s?\b|\bexpected to fail\b|\bxfail\b",
    # can't, as a figure of speech
    r"\bcan(?:'t|not) (?:wait|complain|believe|thank|stress|recommend|hurt|agree more|argue|beat|go wrong|remember|say|tell|help but|be serious|imagine|you|we|i|blame)\b",
    r"\bcannot (?:be )?(?:overstate|understate|stress)d?\b|\bwhy (?:can't|don't) (?:we|you|i)\b",
    # not done, or not yet
    rf"\b{_NOT}\s+(?:\w+\s+){{0,3}}{_DONE}\b(?:\s+yet)?|\b(?:un|half-|half )(?:fixed|done|finished|resolved|solved|tested|implemented|built)\b",
    rf"\b(?:be|being|get|gets|getting|have it|want it|want this|need it|needs it|gets? it|to have|to be) (?:[\w-]+ly |[a-z]+ )?{_DONE}\b",
    rf"\b(?:once|when|after|until|till|as soon as|if|unless|before|assuming|supposedly|almost|nearly|partially|partly|hopefully|barely|sobald|wenn|fast|halb) (?:[\w'’]+ ){{0,4}}{_DONE}\b",
    rf"\b(?:nobody|no one|none of (?:us|them)|niemand|few|neither) (?:[\w'’]+ ){{0,3}}{_DONE}\b",
    rf"\b(?:who|what|how|where|why|which) (?:[\w'’]+ ){{0,3}}{_DONE}\b",
    rf"\b(?:left|remaining|remains|still|yet|more|stuff|work|things|lot|nothing|something|anything) to (?:be )?{_DONE}\b|\b(?:far from|nowhere near|not even close to) {_DONE}\b",
    # done words as descriptions
    r"\bfixed[- ](?:width|size|sized|point|price|prices|cost|costs|length|position|positions|set|number|amount|rate|rates|seed|header|income|term|list|string|order|wing|schedule|interval|ip|address|format)\b",
    r"\bbuilt[- ]?in(?:s)?\b|\b(?:is|are|was|were|it's|being) (?:built|written|implemented|created|tested|configured) (?:with|on|in|from|by|around|using|as|for|against|to|at)\b|\bwell done\b|\bdone deal\b|\bnicely done\b|\bdone with (?:you|this nonsense|it all)\b",
    r"\b(?:created|updated|added|closed|merged|resolved|completed|finished|released|removed)[-_ ](?:at|by|on|date|time|from|before|after|tasks|items|lists?|section|column|files?|directories|folder|status|state|flag|field|record|events?)\b",
    r"\b(?:the|a|an|any|every|each|recently|newly|previously|all|those|these|pre|already) (?:fixed|built|created|implemented|completed|finished|solved|resolved|deployed|merged|released|added|removed|installed|configured|tested|confirmed|verified|closed|updated|written) (?:\w+)\b",
    r"\b(?:is|are|'m|'re|am|was|were|been|be|now|all|just|i|we|it's|i'm|we're|and|also|already|currently|still) working (?:on|with)\b|\bworking (?:directory|dir|memory|tree|copy|set|day|days|hours|group|from home|title|theory|hypothesis|remotely|late|together|as intended\?)\b|\b(?:confirmed|verified) (?:user|users|email|account|accounts|bookings?|cases)\b",
    r"\badded (?:value|bonus|benefit|sugar)\b|\b(?:set up|setup) (?:guide|script|wizard|instructions|docs|page)\b|\brelease notes?\b",
    # undecided
    r"\b(?:not|n't|haven't|hasn't|yet to|can't|cannot|never) (?:yet |really |actually |been )?(?:decided?|chosen|choose|selected|settled|agreed)\b|\bundecided\b|\bwe'll (?:decide|see)\b|\bstill deciding\b|\bbefore (?:we|i) decide\b",
    r"\blet's (?:see|say|hope|talk|chat|eat|celebrate|be|face|look|check|wait|find|think|discuss|not get|pretend|assume|imagine|move on|continue|try again|go!|goo+|get (?:some|lunch|coffee|a|started)|have (?:lunch|a|dinner|coffee)|grab|meet|call it a day|take a (?:look|break)|do this[!.]*$|do it[!.]*$|go[!.]*$|start[!.]*$|dive|recap|review|walk)\b",
    r"\bwe should (?:be (?:fine|good|able|ok|okay|there|done|safe|careful|ready|seeing)|see|have (?:a|some|been|known|done)|know|hear|meet|talk|catch up|get (?:lunch|coffee|together|a reply)|all|grab|hang)\b",
    r"\b(?:going to|gonna) (?:bed|sleep|lunch|dinner|work|school|the|be|need|take a|grab|miss|have (?:lunch|dinner|a))\b",
    r"\bselected (?:text|items?|rows?|files?|options?|elements?|lines?|by default|cells?|tab)\b|\bthe chosen (?:one|few)\b",
    # understanding, as a figure of speech
    r"\b(?:doesn't|does not|don't|didn't|not|hardly|does this|does that|if that|if it|hope that|hope this|does it) (?:really |even )?makes? sense\b|\bmake sense of\b|\bmakes sense\?",
    r"\bfor (?:some|whatever|this|that|no) reason\b|\bno reason\b|\bthe reason i(?:'m| am) (?:asking|writing|here)\b|\bsee you\b|\byou see\b",
)  # fmt: skip

SCOPE, DONE, DECISION, INSIGHT, BLOCKER, TASK = (
    "scope_creep", "accomplishment", "decision", "insight", "blocker", "task_created",
)  # fmt: skip

RULES: tuple[Rule, ...] = (
    # --- a task is opened
    Rule(TASK, 0.9, r"(?:^|[\s(*])(?:todo|to-do|fixme)\b\s*[:\-–(]|^(?:todo|to-do)$"),
    Rule(TASK, 0.9, r"(?:^|\s)\[(?:task|todo)\]"),
    Rule(TASK, 0.85, r"\b(?:open(?:ed|ing)?|fil(?:e|ed|ing)|creat(?:e|ed|ing)|add(?:ed|ing)?|rais(?:e|ed)|log(?:ged)?|mak(?:e|ing)|made|wrote|write) (?:me )?(?:a|an|another|new|the|one|two|three|up a)? ?(?:new |follow-up |followup |separate |github |jira |linear )*(?:tasks?|todos?|to-dos?|tickets?|issues?|jira|reminders?|cards?|follow-ups?|bug reports?)(?: (?:for|to|about|on|in|that|so|called|titled|named|:)|[:,.]| #|$)"),
    Rule(TASK, 0.85, r"\badd(?:ed|ing)? (?:it|this|that|them|those|\w+ \w+|\w+) (?:to|onto) (?:the|my|our|your) (?:todo|to-do|backlog|task|tasks|board|sprint|(?:[\w-]+ )?list(?:[.,!;]|$))"),
    Rule(TASK, 0.8, r"\b(?:put|throw|stick|park|parked|track|tracked|tracking) (?:it|this|that|them) (?:on|in|as|under) (?:the |a |an |our |my )?(?:todo|to-do|backlog|task|ticket|board|list|issue)"),
    Rule(TASK, 0.8, r"\bremind me to\b|\bnote to self\b|\b(?:file|open|raise|log)(?:d|ed|s|ing)? (?:a|an|another|one) (?:\w+ )?(?:bug|issue|ticket|task)\b|\bdon't forget to\b|\bwe (?:still )?need a (?:task|ticket) (?:for|to)\b|\b(?:erinner(?:e)? mich|aufgabe (?:angelegt|erstellt)|ticket (?:angelegt|erstellt|aufgemacht)|leg (?:bitte )?(?:eine? )?(?:aufgabe|ticket))\b"),
    # --- beyond what was asked
    Rule(SCOPE, 0.65, r"\bwhile (?:we're|we are|you're|you are|i'm|i am) (?:at it|here|there|in there|in that file|touching|already)\b"),
    Rule(SCOPE, 0.65, r"\b(?:should|could|can|shouldn't|couldn't|can't|would|wouldn't|may) (?:we|you|i|it) (?:maybe |perhaps |please |not )?(?:also|throw in|sneak in|squeeze in)\b"),
    Rule(SCOPE, 0.65, r"^(?:oh,? )?(?:and )?(?:another|one (?:more|other|last)) thing\b|\b(?:that|which) reminds me\b|\bmight as well\b|\bas long as we(?:'re| are)\b"),
    Rule(SCOPE, 0.65, r"\b(?:it|that) (?:would|'d|might|could) (?:also )?be (?:nice|cool|great|neat|sweet|handy) (?:if|to)\b.*\b(?:also|too|as well|as a bonus)\b|\bas a bonus\b|\bbonus points\b"),
    Rule(SCOPE, 0.65, r"\bwhat if (?:we|it|you) (?:also|additionally)\b|\b(?:we|you|it) (?:could|should|can) also [a-z]+\b|\bon top of that,? (?:could|can|should|we)\b|\boh,? and (?:also )?(?:can|could|please|let's|maybe|add|make)\b|^(?:and )?maybe (?:also |we could |you could )?(?:add|throw in|include|support)\b|\balso,? (?:can|could|would|while|maybe|how about) (?:you|we|it)\b"),
    Rule(SCOPE, 0.65, r"\bwenn wir schon (?:dabei|da)\b|\bwo wir (?:schon|gerade) (?:dabei|da)\b|\b(?:sollten|könnten|können|wollen) wir (?:nicht )?(?:auch|gleich|noch)\b|\bdabei fällt mir ein\b|\bach ja,? (?:und|noch)\b|\bnoch (?:eine|was|etwas) (?:sache|anderes)\b"),
    # --- something got done
    Rule(DONE, 0.9, r"^(?:✅|✔️?|☑️?|🎉|done[:.!,]|done$|fixed[:.!,]|finished[:.!,])"),
    Rule(DONE, 0.85, rf"(?:^|\b(?:{_SUBJECT}|i have|we have|has|have|has been|have been|is|are|was|were|got|just|now|finally|already|and|all|successfully|fully|been|'ve|'s|then|also|both|it all))\s+(?:now |finally |already |just |all |been |also |successfully |fully |it |them |that |this |the |both )*{_DONE}\b"),
    Rule(DONE, 0.8, r"\b(?:fixed|solved|resolved|implemented|completed|finished|deployed|merged|shipped|released|migrated|refactored|patched|repaired|rewrote|published) (?:the|a|an|it|that|this|all|both|everything|our|my|your|and|in|to|with|by|up|[a-z0-9_.-]+)\b"),
    Rule(DONE, 0.8, r"\bgot (?:[\w'’.-]+ ){1,6}(?:working|running|to work|to build|to pass|to compile|green|sorted|going)\b|\bgot (?:it|that|this) (?:done|fixed|working)\b"),
    Rule(DONE, 0.8, r"\b(?:works?|working|passes|passing|builds|compiles|boots|green|running|runs|passed) (?:now|again|fine now|correctly now|perfectly|like a charm|flawlessly|end to end|as expected|cleanly|great)\b|\bnow (?:works|passes|builds|compiles|boots|runs|green|returns|correctly|connects|starts)\b"),
    Rule(DONE, 0.8, r"\b(?:all|the|every|\d+)(?: of)?(?: the| our| my| \d+)?(?: [\w-]+)? (?:tests?|checks|specs|suite|ci|build|pipeline|migration|deploy|deployment|release|upload|backup|import) (?:is|are|now|all|has|have|went|just|finally)? ?(?:pass(?:ed|es|ing)?|green|succeed(?:ed|s)?|through|done|complete|live|successful|finished)\b"),
    Rule(DONE, 0.75, r"\b(?:up and running|is live|are live|went live|is in production|good to go|all green|all set|it works|that works|works great|that did it|that did the trick|did the trick|that worked|it worked|that fixed it|problem solved|mission accomplished|nailed it|sorted now|is sorted|we're done|i'm done|job done|all done)\b"),
    Rule(DONE, 0.7, r"\bsuccessfully\b|\b(?:verified|confirmed) (?:that|the|it|on|with|by|working|in)\b|\bmanaged to\b|\bi've (?:added|updated|written|removed|set up|pushed|wired|put|replaced|moved|switched|renamed|tested|made|extracted|split)\b|\bi (?:added|updated|wrote|removed|pushed|replaced|moved|switched|renamed|extracted|split|wired|built|created)\b|\bwe (?:added|updated|wrote|removed|pushed|replaced|moved|switched|renamed|built|created|launched)\b"),
    Rule(DONE, 0.7, r"^(?:added|removed|built|created|updated|pushed|wrote|replaced|renamed|moved|installed|configured|published|launched|upgraded|extracted|wired|converted|restored|recovered|cleaned|switched|closed|tested|verified|confirmed|set up|finally)\b [\w`*\"'’./-]+ ?"),
    Rule(DONE, 0.85, r"\b(?:behoben|gelöst|erledigt|geschafft|repariert|fertiggestellt|umgesetzt|implementiert|abgeschlossen|eingebaut|gefixt|ausgerollt)\b|\b(?:läuft|funktioniert|klappt|geht) (?:jetzt|nun|wieder|endlich)\b|\b(?:jetzt|nun|endlich) (?:läuft|funktioniert|klappt|geht)\b|\b(?:ist|bin|sind|war|alles) (?:jetzt |nun |endlich |schon )?fertig\b"),
    Rule(DONE, 0.8, r"(?:исправил|починил|готово|сделал[аи]?|заработал|реализовал|завершен)|(?:已修复|已完成|完成了|解决了|修好了|搞定|修正しました|完了しました|直りました|解決しました|できました)|\b(?:corrigé|résolu|terminé|ça marche|arreglado|resuelto|solucionado|terminado|ya funciona|risolto|corretto)\b"),
    Rule(DONE, 0.75, r"\b(?:is|are|was|were|looks?|'s|'re|all) (?:\w+ ){0,2}(?:correct|fine|normal|healthy|usable|stable|clean|back|good|ok|okay|quiet|responsive|solid|happy|reachable|online|smooth) (?:now|again)\b|\b(?:everything|it all|all) (?:passes|works|builds|checks out|went through|is in place)\b|\bwent through\b|\b(?:tests?|checks|ci|build|builds|pipeline|suite|everything|board) (?:is|are|all) (?:all )?(?:green|passing)\b|\b(?:is|are|'s) (?:now |finally |all |fully )?(?:complete|in place|live|merged in)\b|^(?:[\w'.-]+ ){1,4}(?:is |are )?done(?:[,.!:]|$)|\b(?:was|were|am|are) (?:finally )?able to\b|\bnormal again\b|\b(?:we|i) (?:finally )?got (?:the|our|my) (?:permit|approval|certificate|grant|access|green light|go-ahead|contract)\b|\b(?:is|are) (?:finally )?out[.!]|^(?:shipped|released|launched|merged|solved|nailed|completed|resolved|deployed)\b|\bwieder da\b|\b(?:wieder|jetzt) (?:in ordnung|sauber|grün)\b|\bno longer (?:fails|crashes|hangs|leaks|happens|breaks)\b"),
    # --- something was decided
    Rule(DECISION, 0.85, r"\b(?:let's|let us|lets) (?:just |also |rather |then |actually |simply |please |definitely |not )*(?:use|go|do|stick|switch|keep|make|pick|choose|adopt|drop|move|build|put|ship|target|store|write|replace|skip|avoid|start with|leave|run|split|rename|implement|add|remove|call|treat|default|try|standardi[sz]e|stay|postpone|revert|deploy|merge|migrate|hold off|defer|cap|set|require|support|limit|pin|cut|not)\b"),
    Rule(DECISION, 0.85, r"(?:^|\b(?:we|i|we've|i've|they|have|has|had|been|was|team|group|finally|just|then|and|all|board|committee has|boss|client|customer) )(?:decided|chosen|elected|opted|agreed) (?:to|on|for|against|that|not|upon|we)\b|\b(?:we've|i've|we|i|they|have|team) (?:\w+ )?(?:decided|chose|chosen|picked|opted|settled|agreed)\b|\bsettled on\b|\b(?:final|the|my|our) decision(?: is| was|:)|\bdecision:"),
    Rule(DECISION, 0.8, r"^(?:going|sticking|we go) with\b|^(?:switching|moving|migrating) to\b"),
    Rule(DECISION, 0.8, r"\b(?:we|i|we'll|i'll|we're|i'm|we will|i will|we are|i am|so we|they're) (?:just |probably |definitely |now |all )?(?:going with|going to (?:use|implement|go|switch|keep|stick|adopt|drop|store|write|move|build|replace|ship|rewrite|migrate|split|skip)|go with|stick(?:ing)? (?:with|to)|switch(?:ing)? to|mov(?:e|ing) to|keep(?:ing)? the|us(?:e|ing) [\w`.+-]+ (?:for|instead|as|over|rather)|drop(?:ping)?|adopt(?:ing)?)\b"),
    Rule(DECISION, 0.75, r"\b(?:we|i think we|i'd say we|so we|then we|that we|you) should (?:probably |definitely |just |really |not |never |always |only |rather |instead )*(?:use|go|do|stick|switch|keep|make|pick|choose|adopt|drop|move|build|put|ship|store|write|replace|skip|avoid|leave|split|rename|implement|remove|treat|default|standardi[sz]e|stay|postpone|revert|deploy|merge|migrate|defer|cap|set|require|support|limit|pin|cut|run|rely|cache|log|test)\b"),
    Rule(DECISION, 0.65, r"\bhow about we\b|\bi think we should\b|\bi(?:'d| would) (?:rather|prefer|go with|vote for|suggest we)\b|\b(?:was|were|been|is|are|i|we) (?:selected|chosen|picked) (?:as|for|over|because|the)\b|\b(?:the )?plan is to\b|\bgoing forward,? (?:we|all|use)\b|\bfrom now on\b|\b(?:we|i)(?:'ll| will) (?:use|do|keep|make|store|skip|leave|support|ship|drop|standardi[sz]e|adopt|write|build|run|split|merge|postpone|defer|migrate|limit|require)\b|\bfor now,? (?:we|i|let's|just) (?:use|keep|do|stick|store|go|skip|\w+)\b"),
    Rule(DECISION, 0.8, r"\b(?:lass(?:t)? uns|wir nehmen|wir bleiben bei|wir verwenden|wir benutzen|wir setzen auf|wir machen das mit|entschieden|beschlossen|geeinigt|wir einigen uns|wir steigen (?:auf|um)|ich nehme|dann nehmen wir)\b|(?:решили|давайте используем|будем использовать)|(?:决定|我们用|就用|にしましょう|に決めました|を使いましょう)|\b(?:on va utiliser|décidé|vamos a usar|decidimos|hemos decidido)\b"),
    Rule(DECISION, 0.7, r"\blet's [a-z]+ (?:\w+|`)|^[\w+#.-]+(?: [\w+#.-]+){0,2} it is[.!]?$|\b(?:i|we) went (?:with|for)\b|\b(?:i|we) want (?:the|it|this|that|all|our|to use) [^.]{0,60}(?:, not |instead of|rather than)|\b(?:we|i)(?:'re| are|'m| am) (?:keeping|going|sticking|dropping|staying|standardi[sz]ing|skipping|postponing|moving|switching|replacing|retiring) (?:with|on|to|the|our|all|it|[\w-]+)\b|\bit was (?:agreed|decided)\b|\bagreed[.!]$|\bno more \w+(?: \w+)?, "),
    # --- something was understood
    Rule(INSIGHT, 0.85, r"\b(?:i|we|i've|we've|just|finally|and|then|have) (?:just |finally |also |only |now |only just )*(?:learned|learnt|realized|realised|discovered|figured out|found out|noticed that|worked out|understood)\b"),
    Rule(INSIGHT, 0.8, r"^(?:just |finally )?(?:learned|learnt|realized|realised|discovered|figured out|found out)\b"),
    Rule(INSIGHT, 0.85, r"\b(?:turns|turned) out\b|\b(?:it|that) turns out\b|\bthe (?:root cause|real (?:cause|reason|problem|issue)|actual (?:cause|reason|problem|issue)|culprit|trick|key|underlying (?:cause|problem|issue)) (?:is|was|turned|here|seems|turns|being)\b|\broot cause\b[:]?"),
    Rule(INSIGHT, 0.8, r"\b(?:the|main|only|that's the|that's|another) reason (?:is|was|it|why|for|the|this|that|behind|they|we|being|we're|our|my)\b|\b(?:(?:explains|explained) (?:why|the|a lot|how|it|everything)|(?:would|might|could) explain (?:why|the|it))\b|\bthat's (?:why|because)\b|\bwhich is why\b"),
    Rule(INSIGHT, 0.75, r"\bnow (?:i|we) (?:understand|see|get|know)\b|\bi (?:see|get it|understand|get) now\b|\b(?:that|it|this|which|now it) (?:all |actually |finally |totally )?makes (?:a lot (?:more )?of |total |perfect |so much more |more |much more )?sense(?: now)?\b|\bmakes sense (?:now|because|since|given)\b|\baha\b|\bah,? (?:so|i see|of course|that's)\b|\bgotcha[,:]|\bTIL\b|\btil:?\b|\blesson learned\b|\b(?:key|important|big) (?:insight|takeaway|lesson|finding)\b|\btakeaway:|\binsight:|\bfinding:"),
    Rule(INSIGHT, 0.65, r"\bbecause of (?:the|a|an|how|our|its|that|[\w-]+)\b|\b(?:was|were|is|are|been) caused by\b|\bapparently\b|\bthe (?:problem|issue|bug|trouble|mistake|catch|gotcha) (?:was|is) (?:that|caused|due|in|the|a|an|actually|with how|how)\b|\bit was (?:just |only |actually |simply )?(?:the|a|an|because|due) (?:\w+ ){1,5}(?:all along|that was|causing)|\ball along\b|\bdue to (?:the|a|an|how)\b|\b(?:boils|comes) down to\b|\b(?:comes|came|stems|stemmed) from (?:the|a|an|how)\b|\bunder the hood\b"),
    Rule(INSIGHT, 0.8, r"\b(?:stellt(?:e)? sich heraus|herausgestellt|hab(?:e)? (?:gelernt|gemerkt|verstanden|herausgefunden|begriffen)|(?:liegt|lag) (?:also |wohl |nur )?daran|der grund (?:ist|war|dafür)|die ursache|das erklärt|jetzt verstehe ich|gelernt)\b|(?:оказалось|оказывается|выяснилось|я понял|причина в)|(?:原来|原因是|发现了?|わかりました|原因は|判明)|\b(?:il s'avère|en fait,? c'est|resulta que|me di cuenta|la causa)\b"),
    Rule(INSIGHT, 0.75, r"\bdawned on\b|\b(?:i|we) now (?:understand|see|know|get)\b|^interesting(?:ly)?[:,]|\bso that's (?:why|how|what)\b|\bit(?:'s| is| was) (?:actually|really) (?:the|a|an|that|because|due)\b|\bno wonder\b|\bmystery solved\b|\bit clicked\b|\b(?:we|i) noticed (?:that|how|the)\b"),
    # --- something is in the way
    Rule(BLOCKER, 0.9, r"\b(?:blocked|stuck) (?:on|by|at|waiting|here|with|until|because|in|for)\b|\b(?:i'm|we're|i am|we are|still|completely|totally|now|got|am|is|are|it's|hopelessly) (?:\w+ )?(?:stuck|blocked)\b|\bblocker\b|\bshow[- ]?stopper\b|\b(?:blocks|blocking|prevents|preventing|keeps|keeping) (?:us|me|the|our|any|further|all|everything|it|this|them|progress|[\w-]+ from)\b|\bcan(?:'t|not) (?:proceed|continue|move forward|go on|get past|make progress|get any further)\b|\bdead end\b"),
    Rule(BLOCKER, 0.75, r"\b(?:can't|cannot|can not|unable to|couldn't|could not|not able to|won't let (?:me|us)|impossible to|struggling to|no way to|am not allowed to) (?:\w+ )?(?:[a-z]+)\b"),
    Rule(BLOCKER, 0.75, r"\b(?:doesn't|does not|don't|do not|isn't|is not|aren't|didn't|did not|won't|will not|wouldn't|stopped|not|never|refuses to|keeps? refusing to|quit|ain't|hasn't|wasn't|no longer) (?:\w+ ){0,2}(?:work|works|working|worked|respond|responding|respond(?:s)?|start|starts|starting|boot|booting|compile|compiling|load|loading|connect|connecting|build|building|responding|show up|showing up|run|running|finish|pass|resolve|come up|return anything|recognized|recognised|detected|reachable|available|sync|syncing|fire|firing|trigger|install|decode|render|open|answer|answering|picked up|saved|sent|delivered|applied|rendered|printed|shown|mount|persist|terminate)\b"),
    Rule(BLOCKER, 0.75, r"\b(?:keeps?|kept|still|again|always|constantly|randomly|now|just|it|build|tests?|server|ci|pipeline|deploy|deployment|app|service|job|run|import|script|connection|upload|sync|\w+) (?:is |are |was |were |has |have |been |just |now |also |still |all |only |always |randomly |sometimes |silently |completely |immediately |suddenly |then )*(?:failing|fails|failed|crashing|crashes|crashed|broken|breaks|broke|breaking|hangs|hanging|hung|freezes|freezing|froze|timing out|times out|timed out|segfaults?|segfaulting|panics|panicked|leaks|leaking|deadlocks?|deadlocked|blew up|blows up|erroring|errors out|errored|throws|throwing|dies|died|down|corrupted|corrupt|flaky|wrong|rejected|denied|refused|unreachable|lost)\b"),
    Rule(BLOCKER, 0.75, r"\b(?:getting|get|got|gets|seeing|see|hit|hits|hitting|ran into|running into|run into|run up against|there's|there is|there are|have|has|having|throws?|throwing|raises|raised|returns|returned|returning|shows|reports|with|by|another|weird|strange|nasty|same|critical|serious|major|found|an|this|that|big|annoying|the|some|more|new) (?:\w+ ){0,3}(?:errors?|exceptions?|bugs?|failures?|crash(?:es)?|segfaults?|problems?|issues?|regressions?|traceback|stack trace|timeouts?|deadlock|memory leak|race condition|conflicts?|roadblock|obstacle)\b"),
    Rule(BLOCKER, 0.7, r"^(?:errors?|bug|blocker|problem|issue|failure|crash|fail)s?\b(?:: | (?:in|with|on|when|while|after|during) )|\b(?:permission denied|access denied|connection refused|out of memory|out of disk|no space left|rate[- ]limited|timed? ?out|merge conflicts?|missing (?:dependency|permissions?|credentials|the)|404|500|502|503|segmentation fault|not found|no idea why|gives up|keeps? (?:failing|crashing|timing|hanging|dying|disconnecting|dropping|getting))\b|\bwaiting (?:on|for) (?:\w+ ){0,5}(?:to (?:approve|review|reply|respond|grant|fix|unblock|get back|merge)|approval|access|credentials|permission|review)\b|\bthis is a (?:huge |big |real |serious )?(?:problem|blocker|mess|nightmare)\b|\ba mess\b|\bwhy (?:is|does|do|are|did|would) .*(?:fail|crash|break|broken|hang|not work|error|time out|timing out)"),
    Rule(BLOCKER, 0.7, r"\bnever (?:fires|starts|finishes|arrives|returns|responds|completes|connects|loads|runs|triggers|ends|comes back|shows up|works)\b|\b(?:goes|went|turns|turned) (?:black|dark|silent|blank|dead|down|unresponsive|haywire)\b|\b(?:drops|loses|skips|swallows|corrupts|mangles|truncates|duplicates|ignores) (?:about|every|all|some|the|packets|events|connections|messages|rows|data|half|most|its|our|my|\d)\b|\b(?:jams|collapses|rejects|disappears?|disappeared|vanish(?:es|ed)|(?:is|are) gone|on hold|(?:is|are|went|goes) red|nobody knows why|comes? out (?:blank|empty|wrong|garbled)|distorted|garbled|unusable|unresponsive|unreadable|overheats|overheating|misbehaves|misbehaving|out of sync|dead in the water|is dead|won't (?:resolve|start|boot|load|build|compile|connect|open|install|run|work|go away|budge)|a regression|fighting (?:with|against)|no luck|to no avail|nothing works|nothing happens|refuses)\b|\b(?:wird|werden|wurde|ist|sind) (?:\w+ ){0,4}(?:nicht|nicht mehr) (?:erkannt|gefunden|geladen|gestartet|erreichbar|verfügbar|angezeigt)\b"),
    Rule(BLOCKER, 0.75, r"\b(?:fehlgeschlagen|fehlschlägt|schlägt (?:\w+ )*fehl|schlagen (?:\w+ )*fehl|kaputt|abgestürzt|stürzt (?:\w+ )*ab|hängt fest|komme nicht weiter|komm nicht weiter|geht (?:\w+ )?nicht|läuft (?:\w+ )?nicht|funktioniert (?:\w+ )*nicht|klappt (?:\w+ )?nicht|kann (?:\w+ )*nicht|blockiert|bricht (?:\w+ )*ab|(?:antwortet|reagiert|startet|lädt|verbindet) (?:[\wäöüß]+ ){0,5}nicht|nicht mehr (?:möglich|erreichbar)|fehlermeldung|fehler|problem mit)\b|(?:не работает|не могу|ошибка|падает|сломал|не запускается|застрял)|(?:坏了|报错|失败|无法|卡住|崩溃|不工作|出错|動きません|動かない|エラー|失敗|できません|壊れ)|\b(?:ne (?:marche|fonctionne) pas|erreur|bloqué|no funciona|no puedo|falla|atascado|non funziona|errore)\b"),
)  # fmt: skip
