"""Words that mean the same thing in a question and in talk: irregular forms, and a few near-synonyms.

Written for this package. A line is a group; a question that holds one word of it looks for all of them. What follows
a `|` is a neighbour in meaning and counts for less.
"""

from __future__ import annotations

_GROUPS = """
be am is are was were been being
go goes went gone going | visit visited travel trip
do does did done doing
have has had having
get gets got gotten getting | receive
buy buys bought buying | purchase purchased
make makes made making | create created
take takes took taken taking
give gives gave given giving | gift
come comes came coming
see sees saw seen seeing
say says said saying | mention mentioned
tell tells told telling
think thinks thought thinking
know knows knew known knowing
feel feels felt feeling feelings
find finds found finding | discover
leave leaves left leaving
lose loses lost losing
win wins won winning | prize award
meet meets met meeting
begin begins began begun beginning | start started
run runs ran running
write writes wrote written writing
read reads reading
speak speaks spoke spoken speaking | talk
teach teaches taught teaching | lesson
learn learns learned learnt learning | study
bring brings brought bringing
build builds built building
catch catches caught catching
choose chooses chose chosen choosing choice | decide decision pick
draw draws drew drawn drawing
drive drives drove driven driving
eat eats ate eaten eating | food meal
drink drinks drank drunk drinking
fall falls fell fallen falling
fight fights fought fighting
fly flies flew flown flying flight
forget forgets forgot forgotten
grow grows grew grown growing
hear hears heard hearing
hide hides hid hidden
hold holds held holding
keep keeps kept keeping
lead leads led leading leader
pay pays paid paying payment
ride rides rode ridden riding
ring rings rang rung
rise rises rose risen
sell sells sold selling sale
send sends sent sending
sing sings sang sung singing song
sit sits sat sitting
sleep sleeps slept sleeping
spend spends spent spending
stand stands stood standing
steal steals stole stolen
swim swims swam swum swimming
throw throws threw thrown
understand understands understood
wake wakes woke woken
wear wears wore worn wearing
break breaks broke broken breaking | bug failure
die dies died dying death dead
try tries tried trying attempt
lie lies lied lying
become becomes became becoming
bend bends bent bending
bite bites bit bitten biting
blow blows blew blown blowing
burn burns burnt burned burning
deal deals dealt dealing
dig digs dug digging
dream dreams dreamt dreamed dreaming
feed feeds fed feeding
flee flees fled fleeing
forgive forgives forgave forgiven
freeze freezes froze frozen freezing
hang hangs hung hanged hanging
lay lays laid laying
lend lends lent lending
light lights lit lighted
mean means meant meaning
seek seeks sought seeking
shake shakes shook shaken shaking
shine shines shone shining
shoot shoots shot shooting
shrink shrinks shrank shrunk
sink sinks sank sunk sinking
slide slides slid sliding
spin spins spun spinning
stick sticks stuck sticking
strike strikes struck striking
swear swears swore sworn
sweep sweeps swept sweeping
swing swings swung swinging
tear tears tore torn tearing
weep weeps wept weeping
marry marries married marriage | wedding
good better best
bad worse worst
child children kid kids | son daughter
person people
man men
woman women
wife wives | husband spouse partner married
mom mum mother mama | parents
dad father papa | parents
brother brothers | sibling
sister sisters | sibling
life lives
foot feet
tooth teeth
mouse mice
photo photos photograph photographs picture pictures pic | image
movie movies film films
job jobs | work career occupation profession
work works worked working | job
home house houses | apartment
car cars | vehicle
doctor doctors | physician
dog dogs puppy puppies | pet pets
cat cats kitten kittens | pet pets
holiday holidays vacation vacations | trip
begin start started starts starting
end ended finish finished finishes | complete completed
happy happiness glad | enjoy
enjoy enjoys enjoyed enjoying | like love fun
like likes liked | enjoy favourite favorite
love loves loved | favourite favorite
favourite favorite favourites favorites
colour color colours colors
big large huge
small little tiny
quick quickly fast
help helps helped helping | support
support supports supported supporting | help
talk talks talked talking | discuss discussed speak
fix fixes fixed fixing | repair repaired solve solved
error errors | failure failed exception bug
delete deletes deleted deleting remove removes removed removing
config configuration settings setting
database databases db
repo repository repositories
sick ill illness | unwell
show shows showed shown
birthday birthdays | born
paint paints painted painting paintings | art
exercise workout workouts gym | fitness
recently lately
"""

NEIGHBOUR = 0.25
# British and American ways to write the same word; a variant that is no word is found nowhere and does no harm
_SPELLINGS = (("isation", "ization"), ("ise", "ize"), ("ising", "izing"), ("ised", "ized"), ("yse", "yze"),
              ("our", "or"), ("ourite", "orite"), ("oured", "ored"), ("tre", "ter"), ("ogue", "og"), ("grey", "gray"),
              ("cheque", "check"), ("ence", "ense"))  # fmt: skip


def _table() -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    forms: dict[str, set[str]] = {}
    near: dict[str, set[str]] = {}
    for line in _GROUPS.strip().splitlines():
        same, _, others = line.partition("|")
        group = same.split()
        for word in group:
            forms.setdefault(word, set()).update(group)
            near.setdefault(word, set()).update(others.split())
    return {word: (frozenset(group), frozenset(near[word] - group)) for word, group in forms.items()}


_TABLE = _table()
_NONE: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())


def forms_of(word: str) -> tuple[frozenset[str], frozenset[str]]:
    """The other forms and spellings of a folded word, and its neighbours in meaning."""
    same, near = _TABLE.get(word, _NONE)
    spelt = spellings_of(word)
    return (same | spelt if spelt else same), near


def spellings_of(word: str) -> frozenset[str]:
    """How a word may be written elsewhere: organise and organize, neighbour and neighbor, theatre and theater."""
    plural = "s" if word.endswith("s") and not word.endswith("ss") else ""
    stem = word.removesuffix("s") if plural else word
    found = set()
    for pair in _SPELLINGS:
        for ending, other in (pair, pair[::-1]):
            if stem.endswith(ending) and (len(stem) > len(ending) + 2 or stem == ending):
                found.add(stem.removesuffix(ending) + other + plural)
    return frozenset(found)
