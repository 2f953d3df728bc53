"""The words times are said with."""

from __future__ import annotations

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
SHORT = {name[:3]: name for name in (*MONTHS, *WEEKDAYS)} | {
    "sept": "september", "tues": "tuesday", "thur": "thursday", "thurs": "thursday", "weds": "wednesday",
}  # fmt: skip
# words in their own right: a time only where nothing else can be meant ("in may", "march 2026", "sat" alone)
AMBIGUOUS = frozenset({"may", "march", *SHORT})
NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "couple": 2, "three": 3, "few": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip
UNITS = {
    unit: name
    for name, units in {
        "minute": "minute minutes min mins",
        "hour": "hour hours hr hrs h",
        "day": "day days d",
        "week": "week weeks w",
        "month": "month months",
        "year": "year years",
    }.items()
    for unit in units.split()
}
PARTS = {"morning": (5, 12), "afternoon": (12, 18), "evening": (18, 24), "night": (18, 30)}
ANCHORS = frozenset({"in", "on", "during", "from", "of", "at", "for", "around"})
TO = frozenset({"to", "until", "till", "through", "and", "-", "–", ".."})
