"""XML: values of many megabytes, which older versions of expat are slow with."""

import contextlib
import gc
import re
import time
from pathlib import Path

import numpy as np
import pytest

from takt.core.errors import FileError
from takt.core.formats import x3d
from takt.core.formats.format import Source
from takt.core.formats.xml import MAX_KEPT_BYTES, MAX_TAG_BYTES, parse
from takt.core.formats.xml_long_values import shortened

LIMIT_S = 1.0
HEAD = '<X3D><Scene><HAnimHumanoid DEF="h"><HAnimJoint containerField="skeleton" name="humanoid_root"/>'
TAIL = "</HAnimHumanoid></Scene></X3D>"


def test_a_file_that_is_one_value_is_read_soon() -> None:
    data = (HEAD + f'<Shape a="{"1 " * (MAX_KEPT_BYTES // 2 - 200)}"/>' + TAIL).encode()
    begin = time.process_time()
    x3d.read(data)
    assert time.process_time() - begin < LIMIT_S


def test_long_values_come_back_whole() -> None:
    points = np.random.default_rng(0).normal(size=(60_000, 3)).round(3)
    rows = "\n".join(" ".join(map(str, row)) for row in points.tolist())
    assert len(rows) > 2**20 and len(shortened(rows.encode()).cut) == 0  # between no quotes
    image = "A" * 2**21
    text = (f"{HEAD}<Coordinate DEF='p' containerField='skinCoord' point='{rows}'/>"
            "<Shape containerField='skin'><Appearance>"
            f"<ImageTexture url='\"data:image/png;base64,{image}\" \"a.png\"'/></Appearance>"
            "<IndexedTriangleSet index='0 1 2'><Coordinate USE='p'/></IndexedTriangleSet></Shape>" + TAIL)
    assert len(shortened(text.encode()).cut) == 2
    read = x3d.FORMAT.read_characters
    assert read is not None
    (character,) = read(Source(text.encode(), Path("a.x3d"))).characters
    (mesh,) = character.meshes
    np.testing.assert_allclose(mesh.positions[:3], points[:3])
    assert len(mesh.looks[0].image) == len(image) * 3 // 4


def test_lines_are_counted_over_long_values() -> None:
    rows = "1 1 1\n" * 200_000
    text = f'{HEAD}\n<Coordinate containerField="skinCoord" point="{rows}0 0 x"/>{TAIL}'
    read = x3d.FORMAT.read_characters
    assert read is not None
    with pytest.raises(FileError, match="'x', which is no finite number") as error:
        read(Source(text.replace("<HAnimJoint", "<HAnimJoint skinCoordIndex='0'").encode(), Path("a.x3d")))
    assert error.value.problems[0].place.line == 200_002
    with pytest.raises(FileError, match="in line 200002"):
        x3d.read(text.replace("</Scene>", "").encode())


@pytest.mark.parametrize("value", ["ä", "&lt;", "\n"])
def test_values_that_need_a_parser_are_left_to_it(value: str) -> None:
    data = f'<a b="{value * 2**20}1"/>'.encode()
    assert shortened(data) == (data, {})


def test_other_encodings_are_left_to_the_parser() -> None:
    text = HEAD + f"<Shape a='{'1 ' * 2**20}'/>" + TAIL
    data = text.encode("utf-16")
    assert shortened(data) == (data, {})
    assert x3d.read(data).skeleton.names == ("humanoid_root",)


@pytest.mark.parametrize(("begin", "end"), [("<!--", "-->"), ("<b c='&amp;", "'/>"), ("<?b ", "?>"), ("<b ", "/>")])
def test_endless_tags_are_refused_with_their_line(begin: str, end: str) -> None:
    with pytest.raises(FileError, match=re.escape(f"a tag or comment of more than {MAX_TAG_BYTES} bytes")) as error:
        parse(f"<a>\n\n{begin}{'a' * (MAX_TAG_BYTES + 2**22)}{end}</a>".encode())
    assert (error.value.problems[0].place.line, error.value.problems[0].place.column) == (3, 1)


def test_endless_text_is_read() -> None:
    assert len(parse(f"<a>{'1 ' * MAX_TAG_BYTES}</a>").text) == 2 * MAX_TAG_BYTES - 1


@pytest.mark.parametrize("text", ["<a><b/></a>", "<a><b>"])
def test_a_parser_goes_as_soon_as_it_is_done(text: str) -> None:
    """Each may have as much in memory as its file, and the collection of garbage may come a hundred files later."""
    def read() -> None:
        with contextlib.suppress(FileError):
            parse(text)

    gc.collect()
    gc.disable()
    try:
        read()
        assert gc.collect() == 0
    finally:
        gc.enable()
