"""A file of a library and the src that leads to it answer each other."""

from pathlib import Path

import pytest

from takt.core.formats import FORMATS, endings
from takt.core.library.contents import contents, without_src
from takt.core.library.library import SCORE_SUFFIX, Library
from takt.core.pha.document import parse

FILES = ("walk.bvh", "walk.pha", "feet/Steps.skeleton.xml", "feet/run.fbx", "with.dots/x.bvh",
         "dotted.name.bvh", "notes.txt", "feet/deep/er/Jump.skeleton", "sound.wav", "Café.glb")


def test_each_file_that_is_listed_has_its_src_and_no_other_file_has_one(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for root, names in ((first, FILES), (second, (*FILES[:3], "only here.bvh"))):
        for name in names:
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"")
    library = Library([first, second])
    clips, scores = (dict(contents([first, second], among)) for among in (endings(FORMATS), (SCORE_SUFFIX,)))
    listed = {path: src for found in (clips, scores) for src, path in found.items()}
    assert set(listed.values()) >= {"walk", "feet.run", "feet.deep.er.Jump", "Café", "only here"}
    unnamed = without_src([first, second], (*endings(FORMATS), SCORE_SUFFIX))
    assert set(unnamed) == {"with.dots/x.bvh", "dotted.name.bvh"}
    for path in (path for path in tmp_path.rglob("*") if path.is_file()):
        assert library.src_of_playable(path) == listed.get(path), path
    assert library.src_of_playable(tmp_path / "walk.bvh") is None
    assert Library().src_of_playable(first / "walk.bvh") is None
    (first / "out.bvh").symlink_to(second / "walk.bvh")
    assert Library([first]).src_of_playable(first / "out.bvh") is None


def test_a_library_that_is_a_file_holds_no_score_below_it(tmp_path: Path) -> None:
    """As where somebody chooses the score itself for its library."""
    path = tmp_path / "dance.pha"
    path.write_text('<pha tickLength="1"/>', encoding="utf-8")
    library = Library([path])
    assert library.src_of(path) is None and library.src_of_playable(path) is None
    assert Library([tmp_path]).src_of(path) == Library([tmp_path]).src_of_playable(path) == "dance"


@pytest.mark.parametrize("says", ('extends="sub.Base"', '><include src="sub.Base"/'))
def test_a_score_that_only_extends_another_has_the_root_from_which_that_is_found(tmp_path: Path, says: str) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "Base.pha").write_text('<pha version="2" tickLength="1"/>', encoding="utf-8")
    own = tmp_path / "sub" / "Mine.pha"
    document = parse(f'<pha version="2" tickLength="1" {says}><procedure name="main"/></pha>', own)
    assert Library().beside(document).roots == (tmp_path,)
