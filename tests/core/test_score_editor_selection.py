"""What is selected stays selected while its text is typed: the same blocks again, whatever their numbers are."""

import random
import re

import numpy as np
import pytest

from takt.core.pha.document import read
from takt.core.pha.expansion import expand
from takt.core.pha.programme import resolve
from takt.core.pha.text import Text
from takt.core.score_editor.layout import BoxId, Layout, lay_out
from takt.core.score_editor.selection import followed, numbers_after
from takt.tests.core.scores import STEPS, procedure, score

Lines = list[tuple[int, str]]
"""A score line by line: which element each line is, −1 where it is none or ends one, and what stands there."""


def written(rng: random.Random, unlike: bool = True) -> Lines:
    """Write procedures with calls that all say something else, or all the same."""
    lines, number = [(0, '<pha tickLength="1">')], 0
    for _ in range(rng.randint(1, 5)):
        number += 1
        lines.append((number, f'<procedure name="p{number}">'))
        for _ in range(rng.randint(0, 6)):
            number += 1
            name = f"c{number}" if unlike else "same"
            lines.append((number, f'<call name="{name}" duration="{rng.randint(1, 3) if unlike else 1}"/>'))
        lines.append((-1, "</procedure>"))
    return [*lines, (-1, "</pha>")]


def text_of(lines: Lines) -> Text:
    return Text.of("\n".join(line for _, line in lines))


def expected(before: Lines, after: Lines) -> list[int]:
    numbers = {element: number for number, (element, _) in enumerate(
        (element, line) for element, line in after if re.match("<[a-z]", line))}
    return [numbers.get(element, -1) for element, _ in before if element >= 0]


def edited(rng: random.Random, lines: Lines) -> Lines:
    """Type something somewhere: a line more, one less, another value, another name, remarks and white space."""
    lines = list(lines)
    calls = [at for at, (element, line) in enumerate(lines) if line.startswith("<call")]
    where = rng.randrange(2, len(lines) - 1)
    which = rng.choice(("more", "less", "value", "name", "remark", "around", "procedure"))
    if which == "more" and where in calls:
        lines.insert(where, (-1, f'<call name="new{rng.random()}" duration="2"/>'))
    elif which == "procedure":
        lines[1:1] = [(-1, f'<procedure name="new{rng.random()}">'), (-1, "</procedure>")]
    elif which == "remark":
        lines.insert(where, (-1, "<!-- left and right -->\n\n"))
    elif calls:
        at = rng.choice(calls)
        element, line = lines[at]
        if which == "less":
            del lines[at]
        elif which == "around":
            lines[at:at + 1] = [(-1, '<loop times="2">'), (element, line), (-1, "</loop>")]
        elif which == "value":
            lines[at] = element, re.sub('duration="[^"]*"', f'duration="{rng.random()}"', line)
        elif which == "name":
            lines[at] = element, line.replace('name="', 'name="other_')
    return lines


@pytest.mark.parametrize("seed", range(80))
def test_each_element_is_found_again_after_an_edit_and_what_is_gone_is_not(seed: int) -> None:
    rng = random.Random(seed)
    before = written(rng)
    after = edited(rng, before)
    assert numbers_after(text_of(before), text_of(after)).tolist() == expected(before, after)


@pytest.mark.parametrize("seed", range(40))
def test_each_element_is_found_again_after_several_edits_at_once(seed: int) -> None:
    rng = random.Random(seed)
    before = after = written(rng)
    for _ in range(5):
        after = edited(rng, after)
    found, wanted = numbers_after(text_of(before), text_of(after)), np.array(expected(before, after))
    says = [line for _, line in after if re.match("<[a-z]", line)]
    for number, (element, line) in enumerate((e, line) for e, line in before if e >= 0):
        if line in says:  # what still says the same; of the others, a new one may be taken for one that is gone
            assert found[number] == wanted[number], (element, line)


@pytest.mark.parametrize("seed", range(60))
def test_of_lines_that_say_the_same_the_cursor_tells_which_is_new(seed: int) -> None:
    rng = random.Random(seed)
    before = written(rng, unlike=False)
    after, at = list(before), rng.randrange(1, len(before) - 1)
    if rng.random() < 0.5:
        same = [at for at, (_, line) in enumerate(before) if line.startswith("<call")]
        if not same:
            return
        at = rng.choice(same)
        after.insert(at, (-1, before[at][1]))
        cursor = len("\n".join(line for _, line in after[:at + 1]).encode())
    elif before[at][1].startswith("<call"):
        del after[at]
        cursor = len("\n".join(line for _, line in after[:at]).encode())
    else:
        return
    assert numbers_after(text_of(before), text_of(after), cursor).tolist() == expected(before, after)


def laid_out(*procedures: str) -> Layout:
    return lay_out(expand(resolve(read(Text.of(score(*procedures))), STEPS)))


def at(layout: Layout, title: str, place: int) -> BoxId:
    return layout.id_of([i for i, name in enumerate(layout.boxes.titles) if name == title][place])


WALK = procedure("walk", 'left duration="1"', 'right duration="1"')


def test_the_same_place_is_followed_where_a_procedure_plays_more_often() -> None:
    before = laid_out(WALK, procedure("main", 'walk duration="2" repeat="2"', 'nod duration="1"'))
    after = laid_out(procedure("new", 'nod duration="1"'), WALK,
                     procedure("main", 'new duration="1"', 'walk duration="2"', 'walk duration="2" repeat="2"'))
    for place in range(2):
        (found,) = followed([at(before, "right", place)], before, after)
        assert found == at(after, "right", place + 1)
        assert after.boxes.begin[after.find(found)] == before.boxes.begin[before.find(at(before, "right", place))] + 3.0
    assert followed([at(before, "nod", 0), at(before, "walk", 0)], before, after) == {at(after, "walk", 1)}


def test_nothing_is_followed_into_a_score_that_has_none_of_it() -> None:
    before = laid_out(WALK, procedure("main", 'walk duration="2"'))
    after = laid_out(procedure("main", 'nod duration="2"', 'nod duration="1"', 'nod duration="3"'))
    assert followed([at(before, "left", 0), BoxId(0, 99), BoxId(7, 1)], before, after) == frozenset()
    assert followed([at(before, "left", 0)], before, before) == {at(before, "left", 0)}


def test_what_a_large_text_became_is_known_at_once() -> None:
    calls = [f'<call name="{"left" if at % 2 else "right"}" duration="1"/>' for at in range(3000)]
    before = Text.of(f'<pha><procedure name="main">{"".join(calls)}</procedure></pha>')
    after = Text.of(str(before).replace('duration="1"', 'duration="2"'))
    numbers = numbers_after(before, after)
    assert numbers[0] == 0 and len(numbers) == 3002
    assert (numbers == np.arange(3002)).all()
