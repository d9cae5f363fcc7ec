"""How many clips get the classes that a person gives them: `dev.py bench clip_classes [--wrong]`.

The samples' clips are taken as they are, mirrored, and as other files have them: other axes, units, rest poses, names
and hierarchies, by seeds. Then come those of the shared data, where these lie beside the checkout. Each label of each
clip counts by itself; labels on which people differ do not. --wrong lists what is wrong.
"""

import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import checkout  # noqa: F401

from takt.core.classes.find import classes_of
from takt.core.clips.clip import Clip
from takt.core.clips.excerpt import mirrored
from takt.core.library.clip_files import read_clip_file
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.mirror import Mirror
from takt.samples.clips import MODULES, build_clips
from takt.tests.core.clip_labels import OWN, Label, files
from takt.tests.core.rewriting import random_rewriting, rewritten

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
KINDS = ("place", "start", "end", "gait", "turn")
SEEDS = 3


def own() -> Iterator[tuple[str, Clip, Label]]:
    """Yield the samples' clips: as they are, mirrored, and as other files have them."""
    for number, clip in enumerate(clip for module in MODULES for clip in build_clips(module)):
        label = OWN[clip.name]
        yield "as they are", clip, label
        turn = {"turning left": "turning right", "turning right": "turning left"}.get(label[4], label[4])
        yield "mirrored", mirrored(clip, Mirror.of(find_map(clip.skeleton))), (*label[:4], turn)
        for seed in range(SEEDS):
            how = replace(random_rewriting(1_000 * number + seed), starts_in_t=False)
            yield "as other files have them", replace(rewritten(clip, how).clip, name=clip.name), label


def others() -> Iterator[tuple[str, Clip, Label]]:
    """Yield the clips of the shared data."""
    for path, labels in files(DATA):
        for clip in read_clip_file(path).played:
            label = labels.get(clip.name, next(iter(labels.values())) if len(labels) == 1 else None)
            if label is not None:
                yield f"of {path.name}", clip, label


def score(clip: Clip, label: Label, *, with_name: bool = True) -> list[tuple[str, str, str]]:
    """Return (kind, wanted, found) of each label of a clip on which people agree."""
    found = classes_of(replace(clip, name=clip.name if with_name else ""), find_map(clip.skeleton))
    held = ("",) * 5 if found is None else (found.place, found.start, found.end, found.gait, found.turn)
    return [(kind, wanted, got) for kind, wanted, got in zip(KINDS, label, held, strict=True) if wanted != "?"]


def main() -> int:
    """Print the shares."""
    clips = [*own(), *others()]
    for with_name in (True, False):
        right, every, wrong, whole = Counter[str](), Counter[str](), list[str](), Counter[str]()
        started = time.perf_counter()
        for where, clip, label in clips:
            scored = score(clip, label, with_name=with_name)
            for kind, wanted, got in scored:
                for key in (kind, "all labels", where):
                    every[key] += 1
                    right[key] += wanted == got
                if wanted != got:
                    wrong.append(f"  {where}, {clip.name}: {kind} is {got!r}, wanted {wanted!r}")
            whole["all"] += 1
            whole["right"] += all(wanted == got for _, wanted, got in scored)
        seconds = time.perf_counter() - started
        print(f"\n{len(clips)} clips, {'with' if with_name else 'without'} their names as hints, "
              f"{1e3 * seconds / len(clips):.1f} ms each")
        for key in ("all labels", *KINDS, *sorted(set(every) - {"all labels", *KINDS})):
            print(f"{key:>40} {right[key]:5} of {every[key]:5}  {100 * right[key] / every[key]:6.2f} %")
        print(f"{'clips with all labels right':>40} {whole['right']:5} of {whole['all']:5}  "
              f"{100 * whole['right'] / whole['all']:6.2f} %")
        if "--wrong" in sys.argv:
            print("\n".join(wrong))
    return 0


if __name__ == "__main__":
    sys.exit(main())
