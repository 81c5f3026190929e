"""English word lists that instruction types refer to. Facts, each with where it comes from."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

CONJUNCTIONS: Final = frozenset("and but for nor or so yet".split())
"""The seven coordinating conjunctions."""

PRONOUNS: Final = frozenset(
    "i me we us you he him she her it they them my mine our ours your yours his hers its their theirs"
    " myself ourselves yourself yourselves himself herself itself themselves this that these those"
    " who whom whose which what whoever whomever whatever whichever"
    " anybody anyone anything everybody everyone everything nobody nothing somebody someone something"
    " each either neither both all some any none".split()
)
"""The pronouns that `count:pronouns` of IFBench counts."""

STOP_WORDS: Final = frozenset(
    "a about above after again against ain all am an and any are aren as at be because been before being below between"
    " both but by can couldn d did didn do does doesn doing don down during each few for from further had hadn has hasn"
    " have haven having he her here hers herself him himself his how i if in into is isn it its itself just ll m ma me"
    " mightn more most mustn my myself needn no nor not now o of off on once only or other our ours ourselves out over"
    " own re s same shan she should shouldn so some such t than that the their theirs them themselves then there these"
    " they this those through to too under until up ve very was wasn we were weren what when where which while who"
    " whom why will with won wouldn y you your yours yourself yourselves".split()
)
"""NLTK's English stop words, without the contractions: `ratio:stop_words` cuts words at apostrophes first."""

PERSON_NAMES: Final = frozenset(
    "Emma Liam Sophia Jackson Olivia Noah Ava Lucas Isabella Mason Mia Ethan Charlotte Alexander Amelia Benjamin Harper"
    " Leo Zoe Daniel Chloe Samuel Lily Matthew Grace Owen Abigail Gabriel Ella Jacob Scarlett Nathan Victoria Elijah"
    " Layla Nicholas Audrey David Hannah Christopher Penelope Thomas Nora Andrew Aria Joseph Claire Ryan Stella"
    " Jonathan".split()
)
"""The fifty names that the instruction `count:person_names` lists."""

NORTHERN_CAPITALS: Final = (
    "Reykjavik", "Helsinki", "Oslo", "Tallinn", "Stockholm", "Riga", "Moscow", "Copenhagen", "Vilnius", "Minsk",
    "Dublin", "Berlin", "Amsterdam", "Warsaw", "London", "Brussels", "Prague", "Luxembourg", "Paris", "Vienna",
    "Bratislava", "Budapest", "Vaduz", "Chisinau", "Bern", "Ljubljana", "Zagreb",
)  # fmt: skip
"""Capitals north of 45 degrees, by latitude, as `custom:european_capitals_sort` expects them."""

AFRICAN_COUNTRIES: Final = (
    "algeria", "angola", "benin", "botswana", "burkina faso", "burundi", "cabo verde", "cameroon",
    "central african republic", "chad", "comoros", "democratic republic of the congo", "djibouti", "egypt",
    "equatorial guinea", "eritrea", "eswatini", "ethiopia", "gabon", "gambia", "ghana", "guinea", "guinea-bissau",
    "kenya", "lesotho", "liberia", "libya", "madagascar", "malawi", "mali", "mauritania", "mauritius", "morocco",
    "mozambique", "namibia", "niger", "nigeria", "rwanda", "sao tome and principe", "senegal", "seychelles",
    "sierra leone", "somalia", "south africa", "south sudan", "sudan", "tanzania", "togo", "tunisia", "uganda",
    "zambia", "zimbabwe", "republic of the congo", "congo", "ivory coast", "cote d'ivoire", "cape verde", "swaziland",
    "the gambia",
)  # fmt: skip
"""The 54 countries, and other names of some of them; lower case, without accents."""

_VERBS: Final = frozenset(
    "abandon accelerate accept access accommodate accompany accomplish account accumulate accuse achieve acknowledge"
    " acquire act activate adapt add address adhere adjust administer admire admit adopt advance advertise advise"
    " advocate affect afford agree aid aim align allocate allow alter amend amplify analyse analyze anchor announce"
    " answer anticipate apologise apologize appear apply appoint appreciate approach approve argue arise arm arrange"
    " arrest arrive articulate ask aspire assemble assert assess assign assist associate assume assure attach attack"
    " attempt attend attract audit automate avoid awaken bake balance ban bask bathe battle be beam bear beat become"
    " beg begin behave behold believe belong bend benefit bet bid bind bite blame blend bless block bloom blow boil"
    " book boost borrow bother bounce bow breathe breed bridge brighten bring broaden browse brush budget build burn"
    " burst bury buy calculate call calm can cancel capture care carry carve cast catch categorise categorize cause"
    " celebrate challenge change charge chart chase chat check cheer cherish choose chop circle cite claim clarify"
    " classify clean clear click climb cling close coach code collaborate collect color combine come comfort command"
    " comment commit communicate compare compete compile complain complete complicate comply compose compute conceal"
    " conceive concentrate conclude conduct configure confirm confront confuse connect conquer consider consist"
    " construct consult consume contact contain contemplate continue contract contrast contribute control convert"
    " convey convince cook cool cooperate coordinate cope copy correct cost could counsel count cover craft crash"
    " crawl create credit criticise criticize cross crush cry cultivate cure curl cut cycle dance dare deal debate"
    " debug decide declare decline decorate decrease dedicate deepen defeat defend define delay delegate delete"
    " deliver delve demand demonstrate deny depart depend depict deploy derive describe deserve design desire destroy"
    " detail detect determine develop devise devote die differ dig digest dim dine direct disagree disappear disclose"
    " discover discuss dismiss display dissolve distinguish distribute dive divide do document dominate donate double"
    " doubt download draft drag draw dream dress drift drill drink drive drop dry earn ease eat echo edit educate"
    " elaborate eliminate embark embed embody embrace emerge emphasise emphasize employ empower enable encounter"
    " encourage end endorse endure enforce engage enhance enjoy enlarge enlighten enrich ensure enter entertain"
    " envision equip erase escape establish estimate evaluate evolve examine exceed exchange excite exclude execute"
    " exercise exhibit exist expand expect experience experiment explain explode exploit explore export expose express"
    " extend extract face facilitate fade fail fall familiarise familiarize fasten favor fear feed feel fetch fight"
    " figure file fill filter finalize finance find finish fit fix flip float flow fly focus fold follow forbid force"
    " forecast forget forgive form format formulate foster frame free freeze fry fuel fulfil fulfill function fuse"
    " gain gather gaze generate get give glance glide glow go govern grab grasp greet grip grow guarantee guard guess"
    " guide hand handle hang happen harness harvest hate have heal hear heat help hesitate hide highlight hike hint"
    " hire hit hold honor hop hope host hover hug hunt hurry hurt identify ignite ignore illuminate illustrate imagine"
    " imitate immerse implement imply import impose impress improve include incorporate increase indicate indulge"
    " influence inform inherit initiate inject innovate inquire insert insist inspect inspire install integrate intend"
    " interact interpret introduce invent invest investigate invite involve isolate iterate jog join joke journey"
    " judge juggle jump justify keep kick kill kneel knit knock know label lack land last laugh launch lay lead leap"
    " learn leave lend let leverage liberate lie lift light like limit linger link list listen live load locate lock"
    " log look lose love lower maintain make manage manufacture map march mark marry marvel master match matter"
    " maximize may mean measure meditate meet melt mention merge might mind minimize mix modify monitor motivate mount"
    " move multiply must name narrate navigate need negotiate nod note notice nourish nurture obey observe obtain"
    " occur offer open operate opt optimise optimize order organise organize originate outline overcome oversee own"
    " pack paint park participate pass paste pause pay perceive perform permit persist persuade phone pick picture"
    " pinpoint place plan plant play plead please plot plug point polish ponder pop portray pose possess post pour"
    " practice practise praise pray predict prefer prepare present preserve press presume pretend prevent print"
    " prioritise prioritize proceed process proclaim produce program progress project promise promote prompt pronounce"
    " propose protect protest prove provide publish pull pump punish purchase pursue push put qualify question quit"
    " quote race raise rank rate reach react read realise realize reap rearrange reason recall receive recognise"
    " recognize recommend reconsider record recover recruit recycle reduce refer refine reflect refresh refuse regard"
    " register regret regulate reinforce reject rejoice relate relax release rely remain remember remind remove render"
    " renew rent repair repeat replace reply report represent request require rescue research resemble reserve reside"
    " resist resolve respect respond rest restore restrict result resume retain retire retreat retrieve return reveal"
    " reverse review revise revisit revive reward rewrite rid ride ring rise risk roam roll rotate rub ruin rule run"
    " rush sail satisfy save savor say scan scatter schedule scream screen search secure see seek seem select sell"
    " send sense separate serve set settle sew shake shall shape share sharpen shed shift shine shoot shop should"
    " shout show shrink shut sign signal simplify simulate sing sink sip sit sketch skip sleep slice slide slow smell"
    " smile smoke snap soar solve sort sound spark speak specialise specialize specify spell spend spin split spot"
    " spray spread spring sprinkle squeeze stack stand stare start state stay steal steer step stick stimulate stir"
    " stitch stop store strengthen stress stretch strike strip strive stroll structure struggle study submit"
    " substitute subtract succeed suffer suggest suit sum summarise summarize supply support suppose surf surprise"
    " surround survey survive suspect sustain swallow swap swear sweep swim swing switch sympathize tackle take talk"
    " tame tap taste teach tear tell tend test thank think thrive throw tie tolerate toss touch tour trace track trade"
    " train transcend transfer transform translate transmit transport travel treat tremble trigger trim trust try turn"
    " twist type uncover underline understand undertake unfold unite unleash unlock unpack unravel unveil unwind"
    " update upgrade uphold upload urge use utilise utilize validate value vanish vary venture verify view visit"
    " visualise visualize vote wait wake walk wander want warm warn wash waste watch water wave wear weave weigh"
    " welcome whisper widen will win wipe wish withdraw witness wonder work worry would wrap wrestle write yell yield"
    " zoom".split()
)
_IRREGULAR: Final = frozenset(
    "am is are was were been being has had having does did done doing went gone goes came became began begun broke"
    " broken brought built bought caught chose chosen drew drawn drank drunk drove driven ate eaten fell fallen felt"
    " found flew flown forgot forgotten gave given got gotten grew grown heard held kept knew known laid led left lent"
    " lost made meant met paid ran rang rung read rode ridden rose risen said sat saw seen sent set shook shaken shone"
    " shot showed shown sang sung sank slept sold spent spoke spoken spun stood stole stolen struck stuck swam swum"
    " swore sworn taken took taught tore torn told thought threw thrown understood won wore worn woke woken wrote"
    " written felt lit slid sought fought fed bled bred bound blew blown hid hidden hung".split()
)
_NO_VERBS_IN_ING: Final = frozenset(
    "during morning evening nothing something anything everything ceiling sibling darling duckling earring offspring"
    " viking sterling shilling dumpling cunning".split()
)


@lru_cache(maxsize=4096)
def is_verb(word: str) -> bool:
    """Whether the word can be a verb form: one of some 900 common English verbs, an inflected form of one, or a word
    that its ending makes one (`-ize`, `-ify`, and `-ing` but for the nouns and prepositions in it).

    `Don't`, `Let's` and `I'm` are judged by what stands before the apostrophe (`do`, `let`, `i`).
    """
    lowered = word.lower().replace("\u2019", "'")
    stem = lowered.split("'", 1)[0]
    if lowered.endswith("n't"):
        stem = {"ca": "can", "wo": "will", "sha": "shall"}.get(lowered[:-3], lowered[:-3])
    if stem in _VERBS or stem in _IRREGULAR:
        return True
    if len(stem) > 5 and (stem.endswith(("ize", "ify")) or (stem.endswith("ing") and stem not in _NO_VERBS_IN_ING)):
        return True
    for ending, endings in (("ing", ("", "e")), ("ed", ("", "e")), ("es", ("", "e")), ("s", ("",))):
        if stem.endswith(ending):
            root = stem[: -len(ending)]
            if any(root + tail in _VERBS for tail in endings):
                return True
            if len(root) > 2 and root[-1] == root[-2] and root[:-1] in _VERBS and ending in ("ing", "ed"):
                return True  # run -> running
            if root.endswith("i") and root[:-1] + "y" in _VERBS and ending in ("ed", "es"):
                return True  # carry -> carried
            if ending == "ing" and root.endswith("y") and root[:-1] + "ie" in _VERBS:
                return True  # lie -> lying
    return False
