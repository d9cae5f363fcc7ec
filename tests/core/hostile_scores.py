"""Scores made to hurt: what refers to itself by name, what multiplies, what is very deep, very long or very many.

Each family yields cases; a case is called and either returns or raises TaktError, soon, in little memory.
"""

import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from takt.core.library.library import Library
from takt.core.pha.document import parse
from takt.core.pha.expansion import expand
from takt.core.pha.programme import resolve
from takt.core.playing.performer import Performer
from takt.core.playing.score import play as perform
from takt.tests.core.scores import FIGURE, STEPS, UP_Z, X, turning

Case = Callable[[], object]
CALL: Final = '<call name="nod" duration="1"/>'
CLIP: Final = {"feet.Steps": (turning("nod", X, (0.0, 1.0)),)}
_MOST_PLAYED: Final = 3_000
"""Segments, up to which a score is also played."""


def perform_score(text: str | bytes, library: Library = STEPS) -> object:
    """Read a score, unfold it, and where it is not too long also make a motion of it."""
    programme = resolve(parse(text), library)
    sequence = expand(programme)
    if len(sequence) > _MOST_PLAYED:
        return sequence
    return perform(programme, Performer(FIGURE, UP_Z))


def many(made: Callable[[int], str], count: int) -> str:
    """Join what is made for each number."""
    return "".join(map(made, range(count)))


def version_2(inside: str = CALL, head: str = "", more: str = "") -> str:
    """Write a score whose main holds what is inside; head: what stands before it, more: behind."""
    return (f'<pha version="2" tickLength="1"><load src="feet.Steps"/>{head}<procedure name="main">{inside}</procedure>'
            f"{more}</pha>")


def procedures(count: int, made: Callable[[int], str], last: str = CALL) -> str:
    """Write procedures p0, p1, … that hold what is made for each; the last one holds something else."""
    return many(lambda i: f'<procedure name="p{i}">{made(i)}</procedure>', count) + (
        f'<procedure name="p{count}">{last}</procedure>')


def _started(more: str, attributes: str = "") -> str:
    return version_2(f'<call name="p0" duration="1"{attributes}/>', more=more)


def _params(count: int) -> str:
    return many(lambda i: f'<param name="a{i}" default="{i}"/>', count)


def values() -> Mapping[str, str]:
    """Return scores with very many values, or values that grow."""
    nod = '<call name="nod" duration="{}"/>'
    with_value = '<call name="p" duration="1"><with a0="{}"/></call>'
    p = f'<procedure name="p">{_params(900)}{CALL}</procedure>'
    return {
        "lets, each made of the one before": version_2(nod.format("l99999"), '<let name="l0" value="1"/>' + many(
            lambda i: f'<let name="l{i + 1}" value="l{i} + 1"/>', 100_000)),
        "lets, each made of the next": version_2(head=many(lambda i: f'<let name="l{i}" value="l{i + 1}"/>', 100_000)),
        "lets, each the square of the one before": version_2(head='<let name="l0" value="2"/>' + many(
            lambda i: f'<let name="l{i + 1}" value="l{i} * l{i}"/>', 900)),
        "lets beside procedures": version_2('<call name="p0" duration="1"/>', many(
            lambda i: f'<let name="l{i}" value="1"/>', 990), procedures(20_000, lambda _: CALL)),
        "lets in blocks in blocks": version_2(many(lambda k: '<loop times="1">' + many(
            lambda i: f'<let name="b{k}_{i}" value="1"/>', 300), 90) + CALL + "</loop>" * 90),
        "parameters": version_2('<call name="p" duration="1"/>',
                                more=f'<procedure name="p">{_params(100_000)}{CALL}</procedure>'),
        "parameters, as often as called": version_2(many(with_value.format, 20_000), more=p),
        "parameters from call to call": _started(procedures(900, lambda i: _params(100) + (
            f'<call name="p{i + 1}" duration="1"><with {many(lambda k: f"""a{k}="a{k} + 1" """, 100)}/></call>'),
            _params(100) + CALL)),
        "values without end in one call": version_2(
            f'<call name="p" duration="1"><with {many(lambda i: f"""a{i}="1" """, 50_000)}/></call>', more=p),
        "values without end in many calls": version_2(
            f'<call name="p" duration="1"><with {many(lambda i: f"""a{i}="1" """, 500)}/></call>' * 5_000, more=p),
        "names that nothing has": version_2(many(lambda i: nod.format(f"zz{i}"), 50_000), many(
            lambda i: f'<let name="zzz{i}" value="1"/>', 990)),
        "long names that nothing has": version_2(many(lambda i: nod.format("z" * 800 + str(i)), 5_000), many(
            lambda i: f'<let name="{"z" * 5000}{i}" value="1"/>', 990)),
    }


def expressions() -> Mapping[str, str]:
    """Return scores whose expressions are deep, long, very many, or huge."""
    def calls(made: Callable[[int], str], count: int = 1) -> str:
        return version_2(many(lambda i: f'<call name="nod" duration="{made(i)}"/>', count))

    def in_rounds(text: str) -> str:
        return version_2(f'<loop times="60000" index="i"><call name="nod" duration="{text}"/></loop>')

    return {
        "parentheses": calls(lambda _: "(" * 499 + "1" + ")" * 499),
        "parentheses, as deep as allowed": calls(lambda i: "(" * 99 + str(i) + ")" * 99, 20_000),
        **{f"many of {sign}": calls(lambda _, sign=sign: sign * (990 // len(sign)) + "1")  # type: ignore[misc]
           for sign in ("(", "[", "{", "-", "not ", "lambda:", "1 if 1 else ", "await ", "9**", "1 + ", "1e300*")},
        "powers of powers": calls(lambda _: "9**9**9**9"),
        "many powers of powers": calls(lambda i: "9**" * 300 + str(i), 2_000),
        "digits that are none": calls(lambda i: "9" * 900 + f"{i} - 1", 10_000),
        "digits, and then a letter": version_2(f'<call name="nod" duration="1" from="{"9" * 1_000_000}xs"/>'),
        "sums": calls(lambda i: "1 + " * 90 + str(i), 20_000),
        "wrong sums": calls(lambda i: "1 + " * 90 + f"* {i}", 20_000),
        "a quotient without end": calls(lambda _: "1e308 // 1e-308"),
        "long expressions in each round": in_rounds("min(" + "i," * 480 + "1) + 1"),
        "long truths in each round": in_rounds("1 + min(" + ",".join(("i % 7",) * 120) + ")"),
    }


def masks_and_tempo() -> Mapping[str, str]:
    """Return scores with very many masks, made of each other, and changes of tempo."""
    def masks(body: Callable[[int], str], count: int) -> str:
        return many(lambda i: f'<mask name="m{i}" body="{body(i)}"/>', count)

    lanes = "<together>" + many(lambda i: f'<lane body="m{i}">{CALL}</lane>', 190) + "</together>"
    tempo = '<tempo tick="{}" tickLength="{}" over="{}"/>'
    return {
        "masks, each made of the next": version_2(head=masks(lambda i: f"m{i + 1}", 20_000)),
        "masks, each made twice of the one before": version_2(lanes, masks(
            lambda i: f"m{i - 1} + m{i - 1}" if i else "arms", 990)),
        "masks, each made of all before": version_2(lanes, masks(
            lambda i: "+".join(f"m{k}" for k in range(max(i - 150, 0), i)) or "arms", 990)),
        "masks in a circle": version_2(lanes, masks(lambda i: f"m{(i + 1) % 990}", 990)),
        "masks of nothing known": version_2(head=masks(lambda i: f"x{i}", 990)),
        "masks of bones that no character has": version_2(lanes, masks(
            lambda i: "+".join(f"bone:b{i}_{k}" for k in range(60)), 990)),
        "a mask of very many": version_2(head=f'<mask name="m" body="{"arms+" * 200_000}legs"/>'),
        "masks with long names": version_2(head=many(
            lambda i: f'<mask name="{"z" * 5000}{i}" body="zz{i}"/>', 990)),
        "changes of tempo": version_2(CALL * 3, many(lambda i: tempo.format(i, 1 + i % 2, 0), 100_000)),
        "changes of tempo over ticks": version_2(CALL * 3, many(lambda i: tempo.format(i, 1 + i % 2, 0.5), 9_000)),
        "changes of tempo at once": version_2(CALL * 3, many(lambda i: tempo.format(0, 1 + i % 2, 0.5), 9_000)),
        "tempo beyond all measure": version_2(CALL * 3, tempo.format(1, "1e308", "1e-308") +
                                              tempo.format(2, "1e-308", 1)),
        "music": version_2(head='<music src="a"/>' * 100_000),
        "loads": version_2(head=many(lambda i: f'<load src="x{i}"/>', 100_000)),
        "includes": version_2(head=many(lambda i: f'<include src="x{i}"/>', 100_000)),
    }


def calls() -> Mapping[str, str]:
    """Return scores whose calls, repeats, loops, picks and lanes multiply, are deep, or lead in circles."""
    twice = '<call name="p{0}" duration="1"/><call name="p{0}" duration="1"/>'
    lane = "<lane>{}</lane>"
    deep_indices = many(lambda k: f'<loop times="1" index="i{k}">', 90)
    return {
        "calls, each twice the next": _started(procedures(40, lambda i: twice.format(i + 1))),
        "calls, each twice the next, which picks": _started(procedures(40, lambda i: twice.format(i + 1),
                                                                       f"<pick>{CALL}</pick>")),
        "calls, each twice the next with other values": _started(procedures(40, lambda i: (
            f'<param name="a" default="0"/><call name="p{i + 1}" duration="1"><with a="a * 2"/></call>'
            f'<call name="p{i + 1}" duration="1"><with a="a * 2 + 1"/></call>'),
            f'<param name="a" default="0"/>{CALL}')),
        "a chain of calls": _started(procedures(20_000, lambda i: f'<call name="p{i + 1}" duration="1"/>')),
        "a circle of calls": _started(procedures(5_000, lambda i: f'<call name="p{(i + 1) % 5000}" duration="1"/>')),
        "circles of calls, all of all": _started(procedures(300, lambda _: many(
            lambda k: f'<call name="p{k}" duration="1"/>', 300))),
        "circles of calls, each back to many": _started(procedures(2_000, lambda i: (
            f'<call name="p{i + 1}" duration="1"/>' + many('<call name="p{}" duration="1"/>'.format, min(i, 40))))),
        "repeats of repeats": _started(procedures(300, lambda i: (
            f'<call name="p{i + 1}" duration="1" repeat="1000000"/>')), ' repeat="1000000"'),
        "reversed within reversed": _started(procedures(900, lambda i: (
            f'<call name="p{i + 1}" duration="1" reverse="yes"/>'),
            '<call name="nod" duration="1" repeat="1000000"/>')),
        "loops in loops": version_2('<loop times="2">' * 90 + CALL + "</loop>" * 90),
        "loops in loops that play nothing": version_2('<loop times="1000000">' * 90 + '<wait duration="0"/>' +
                                                      "</loop>" * 90 + CALL),
        "loops in loops with indices": version_2(deep_indices + '<call name="nod" duration="1 + i0 + i1"/>' * 20_000 +
                                                 "</loop>" * 90),
        "picks in loops": version_2(f'<loop times="1000000"><pick>{CALL}</pick></loop>'),
        "picks of very many in loops": version_2(f'<loop times="100000"><pick>{CALL * 5000}</pick></loop>'),
        "picks of loops that play nothing": version_2(
            f'<loop times="100000"><pick><loop times="0" index="j">{CALL * 20_000}</loop></pick></loop>{CALL}'),
        "conditions in conditions": version_2('<if test="yes">' * 90 + CALL * 20_000 + "</if>" * 90),
        "lanes": version_2(f"<together>{lane.format(CALL) * 20_000}</together>"),
        "lanes in lanes": version_2("<together><lane>" * 48 + CALL + "</lane></together>" * 48),
        "lanes, each twice the next": _started(procedures(12, lambda i: (
            "<together>" + 2 * lane.format(f'<call name="p{i + 1}" duration="1"/>') + "</together>"))),
        "blocks of many lengths": version_2(many(lambda i: (
            f'<together duration="{1 + i / 1000}">{lane.format(CALL)}</together>'), 5_000)),
        "unknown elements": version_2("<x/>" * 190_000),
        "unknown attributes": version_2(many(lambda i: f'<call name="nod" duration="1" x{i}="1"/>', 50_000)),
        "elements within elements": version_2('<loop times="1">' * 100_000),
        "characters": version_2(f'<call name="{"&#x41;" * 2_000_000}" duration="1"/>'),
    }


def folders() -> Mapping[str, tuple[int, Callable[[int], str]]]:
    """Return folders of scores d0, d1, … that extend and include each other: how many, and what makes each.

    The number −1 stands for the score that is played.
    """
    def one(number: int, head: str, inside: str, attributes: str = "") -> str:
        main = '<procedure name="main"><call name="q" duration="1"/></procedure>' if number < 0 else ""
        return f'<pha version="2" tickLength="1"{attributes}><load src="feet.Steps"/>{head}{inside}{main}</pha>'

    def rows(number: int, count: int) -> str:
        own = "q" if number == 0 else f"q{number}"
        names = [own, *(f"{own}_{k}" for k in range(1, count))]
        return "".join(f'<procedure name="{name}">{CALL}</procedure>' for name in names)

    def extending(after: Callable[[int], int], count: int,
                  head: Callable[[int], str] = lambda _: "") -> Callable[[int], str]:
        return lambda i: one(i, head(i), rows(i, count), f' extends="d{after(i)}"' if after(i) >= 0 else "")

    def including(others: Callable[[int], range], count: int) -> Callable[[int], str]:
        return lambda i: one(i, "".join(f'<include src="d{other}"/>' for other in others(i)), rows(i, count))

    return {
        "a chain of extends": (300, extending(lambda i: i + 1 if i < 299 else -1, 10)),
        "a circle of extends": (300, extending(lambda i: (i + 1) % 300, 3)),
        "extends with lets and masks": (100, extending(lambda i: i + 1 if i < 99 else -1, 1, lambda i: many(
            lambda k: f'<let name="l{i + 1}_{k}" value="1"/><mask name="m{i + 1}_{k}" body="arms"/>', 50))),
        "many that extend one": (300, lambda i: one(i, many(lambda k: f'<include src="d{k}"/>', 300) if i < 0 else "",
                                                    rows(i, 500 if i == 0 else 1), ' extends="d0"' if i > 0 else "")),
        "a chain of includes": (300, including(lambda i: range(i + 1, min(i + 2, 300)), 10)),
        "all include all": (200, including(lambda _: range(200), 5)),
        "more files than are read": (1_100, including(lambda i: range(i + 1, min(i + 2, 1_100)), 1)),
        "large files": (20, including(lambda i: range(i + 1, min(i + 2, 20)), 9_000)),
        "includes of what is not there": (100, including(lambda _: range(1_000, 1_300), 1)),
    }


def family(texts: Callable[[], Mapping[str, str]]) -> Iterator[Case]:
    """Yield a case for each of some scores."""
    made = dict(texts())
    while made:  # what was tried need not be kept
        yield partial(perform_score, made.pop(next(iter(made))))


def in_folders() -> Iterator[Case]:
    """Yield a case for each of folders(); to be called as they come: their files are there only until the next."""
    for count, made in folders().values():
        with tempfile.TemporaryDirectory() as folder:
            for number in range(count):
                (Path(folder) / f"d{number}.pha").write_text(made(number))
            yield partial(perform_score, made(-1), Library([Path(folder)], other_clips=CLIP.get))
