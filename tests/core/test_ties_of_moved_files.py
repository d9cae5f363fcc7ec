"""Keys stay in the blocks of included files that lie elsewhere now, or have other names."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from takt.core.playing import ties as ties_
from takt.core.playing.block_names import Block, Over, Step
from takt.core.playing.ties import Call, Texts, Ties, Waiting

SEEDS = 100
TEXTS = "first", "second", "third", "fourth"


def block(rng: Random, names: list[str]) -> Block:
    return tuple(Step(rng.choice(names), rng.randrange(9), rng.randrange(9)) for _ in range(rng.randrange(1, 4)))


def moved(rng: Random, names: list[str], texts: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return new names of files, and the new texts: those of files that keep the end of their path may change."""
    now = {"": ""}
    new = {"": rng.choice((texts[""], "edited"))}
    for number, name in enumerate(names[1:]):
        kind = rng.choice(("same", "other folder", "other folder and text", "other name"))
        now[name] = {"same": name, "other name": f"{rng.choice('xyz')}/new{number}.pha"}.get(kind, f"../../else/{name}")
        new[now[name]] = f"{texts[name]} edited" if "text" in kind else texts[name]
    return now, new


@pytest.mark.parametrize("seed", range(SEEDS))
def test_names_follow_files(seed: int) -> None:
    rng = Random(seed)
    names = ["", *rng.sample(["a/turns.pha", "b/turns.pha", "steps.pha", "../verse.pha"], rng.randrange(1, 5))]
    texts: dict[str, str] = dict(zip(names, ("main", *TEXTS), strict=False))
    now, new = moved(rng, names, texts)

    def there(chain: Block) -> Block:
        return tuple(step._replace(document=now[step.document]) for step in chain)

    def named(own: Texts) -> Texts:
        return {now[name]: text for name, text in own.items()}

    blocks, waits, chain = (block(rng, names) for _ in range(3))
    ties = Ties(texts, (blocks,), np.zeros(1), np.zeros(1, np.int64), np.zeros(1), np.ones(1),
                (Waiting(texts, waits, 0.5, 1.0, []),), ("pair", Over(rng.choice(names), 2)), (Call(texts, chain),))
    assert ties.over is not None
    expected = replace(ties, texts=named(texts), blocks=(there(blocks),),
                       waiting=(replace(ties.waiting[0], texts=named(texts), block=there(waits)),),
                       over=("pair", Over(now[ties.over[1].document], 2)),
                       alone=(Call(named(texts), there(chain)),))
    assert ties_.to_json(ties_.renamed(ties, new)) == ties_.to_json(expected)


def test_a_file_of_another_name_and_text_is_another_one() -> None:
    ties = replace(Ties.none(), texts={"": "main", "verse.pha": "before"}, blocks=((Step("verse.pha", 2, 1),),))
    assert ties_.renamed(ties, {"": "main", "chorus.pha": "after"}).blocks == ties.blocks


def test_the_file_nearest_by_its_path_is_taken_if_texts_are_equal() -> None:
    old = "../lib/turns/a.pha"
    ties = replace(Ties.none(), texts={"": "", old: "same"}, blocks=((Step(old, 2, 1),),))
    found = ties_.renamed(ties, {"": "", "../new/steps/a.pha": "same", "../new/turns/a.pha": "same"})
    assert found.blocks == ((Step("../new/turns/a.pha", 2, 1),),)
