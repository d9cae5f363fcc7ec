"""Version 2 of the score language, sentence by sentence: where expressions stand, chance, what is inherited, lists."""

import json
from pathlib import Path

import pytest

from takt.cli import main as command
from takt.core.errors import FileError, ScoreError
from takt.core.pha.definitions import Definitions
from takt.core.pha.document import parse
from takt.core.pha.expansion import expand
from takt.core.pha.grammar import GRAMMAR
from takt.core.pha.programme import resolve

from .test_pha_evaluation import HEAD, clips, main, played
from .test_pha_random_programmes import Texts, unfolded
from .test_sentences_version_2 import BOW, KICK, WALK, call, lengths, refused

EXPRESSIONS = {"duration", "transition", "repeat", "times", "test", "weight", "weightEnd", "ease", "easeIn", "easeOut",
               "from", "to", "mirror", "reverse", "value", "default",
               "at", "along", "facing", "for", "hold", "prop", "person"}
"""Where the page lets expressions stand, besides in <with>."""


def test_expressions_stand_where_the_page_says_and_nowhere_else() -> None:
    found = {name for rule in GRAMMAR.values() for name, attribute in rule.attributes.items()
             if attribute.kind.is_expression}
    others = {name for rule in GRAMMAR.values() for name, attribute in rule.attributes.items()
              if not attribute.kind.is_expression}
    assert found == EXPRESSIONS and not found & others
    open_kind = GRAMMAR["with"].open_kind
    assert open_kind is not None and open_kind.is_expression


def test_less_than_is_written_as_in_any_xml() -> None:
    assert clips(played(main(f'<if test="1 &lt; 2 and 2 &gt;= 2">{WALK}</if>'))) == ["walk"]
    with pytest.raises(FileError, match="a < is written &lt; in the value of test"):
        played(main(f'<if test="1 < 2">{WALK}</if>'))


def test_errors_of_expressions_name_file_line_column_the_expression_and_the_values_of_its_names() -> None:
    text = main('\n  <let name="n" value="2"/>\n  <call name="walk" duration="4 / (n - 2)"/>')
    assert refused(text) == "score:3:3: <call> duration: found '4 / (n - 2)' with n = 2: division by zero (in main)"


def test_a_default_is_required_and_an_unknown_parameter_is_told_with_a_suggestion() -> None:
    assert "<param> default: found none, expected a number, or yes or no" in refused(
        f'<procedure name="main"><param name="n"/>{WALK}</procedure>')
    text = (f'<procedure name="a"><param name="times" default="1"/>{WALK}</procedure>'
            + main('<call name="a" duration="1"><with tims="1"/></call>'))
    assert "did you mean times?" in refused(text)


def test_a_name_that_has_a_value_is_never_given_another() -> None:
    for inside in ('<let name="n" value="2"/><let name="n" value="3"/>',
                   '<let name="n" value="2"/><loop times="1"><let name="n" value="3"/>' + WALK + "</loop>"):
        assert "found the name 'n', which already has a value here" in refused(main(inside + WALK))


def test_the_seed_alone_decides_the_same_on_every_machine_and_python() -> None:
    """The choices of three seeds, written down once."""
    pick = f"<pick>{WALK}{KICK}{BOW}</pick>"
    text = {"": f'{HEAD}{main(f"""<loop times="12">{pick}</loop>""")}</pha>'}
    assert ["".join(name[0] for name in clips(unfolded(text, seed))) for seed in (0, 1, 2**31)] == GOLDEN
    assert clips(unfolded(text, 1)) == clips(unfolded(text, 1))


GOLDEN = ["kbbkbbwkkbkw", "bkkbwkbwwkkk", "wkbwwwkkbwwb"]
"""Whatever changes these changes the dances of all who have chosen a seed."""


def test_lengths_are_shares_of_what_is_really_played_this_time() -> None:
    figure = (f'<procedure name="a"><param name="big" default="no"/>{WALK}<if test="big">{KICK * 2}</if>'
              f'<loop times="0">{BOW}</loop></procedure>')
    text = figure + main('<call name="a" duration="6"/><call name="a" duration="6"><with big="yes"/></call>')
    assert lengths(played(text)) == pytest.approx([3.0, 1.0, 1.0, 1.0])


def test_a_file_has_what_it_extends_main_loads_and_includes_too() -> None:
    base = f'{HEAD}<include src="c.D"/>{main(WALK + call("figure"))}</pha>'
    other = f'{HEAD}<procedure name="figure">{BOW}</procedure></pha>'
    own = ('<pha version="2" tickLength="1" extends="a.B"><procedure name="more">' + KICK + call("figure")
           + "</procedure></pha>")
    files = {"": own, "a.B": base, "c.D": other}
    assert clips(unfolded(files, 0)) == ["walk", "bow"]
    assert clips(unfolded({**files, "": own.replace('"more"', '"main"')}, 0)) == ["kick", "bow"]


def test_a_file_that_extends_another_has_its_own_tick_length() -> None:
    base = f'{HEAD}<procedure name="main">{WALK}</procedure></pha>'
    own = '<pha version="2" tickLength="0.25" extends="a.B"><procedure name="more">' + WALK + "</procedure></pha>"
    lengths_s = [float(unfolded({"": text, "a.B": base}, 0).length_s.sum()) for text in (base, own)]
    assert lengths_s[0] > 0.0 and lengths_s[1] == pytest.approx(0.5 * lengths_s[0])


def test_only_the_started_files_tempo_and_music_count() -> None:
    base = f'{HEAD}<music src="songs.x"/><tempo tick="1" tickLength="9"/><procedure name="a">{WALK}</procedure></pha>'
    found = unfolded({"": f'{HEAD}<include src="a.B"/>{main(call("a", 2))}</pha>', "a.B": base}, 0)
    assert lengths(found) == [1.0]
    files = {"": f'{HEAD}<include src="a.B"/>{main(call("a", 2))}</pha>', "a.B": base}
    calls = resolve(parse(files[""]), Texts(files)).calls
    assert isinstance(calls, Definitions) and calls.views[0].tempo == () and calls.views[0].music is None


def test_tempos_stand_in_the_order_of_their_ticks_and_there_is_one_music() -> None:
    tempos = '<tempo tick="4" tickLength="1"/><tempo tick="2" tickLength="1"/>'
    assert "<tempo> tick: found 2 after 4, expected tempos in the order" in refused(tempos + main(WALK))
    assert "found a second <music>" in refused('<music src="a.b"/><music src="c.d"/>' + main(WALK))


def test_show_tells_lanes_parts_and_directions_as_the_page_says(tmp_path: Path,
                                                                capsys: pytest.CaptureFixture[str]) -> None:
    figure = '<procedure name="f"><call name="left_step" duration="1" from="0.25" transition="0.1"/></procedure>'
    lanes = ('<lane body="lower" weight="0.5" weightEnd="1" mode="mix" easeIn="0"><call name="f" duration="2" '
             'reverse="yes"/></lane>'
             '<lane body="arms"><wait duration="1"/><call name="right_step" duration="1"/></lane>')
    (tmp_path / "a.pha").write_text(
        '<pha version="2" tickLength="0.5"><load src="feet.Steps"/><tempo tick="1" tickLength="1"/>\n' + figure
        + main(f'<wait duration="1"/>\n<call name="f" duration="1" mirror="yes"/><together duration="2">{lanes}'
               "</together>") + "</pha>")
    library = Path(__file__).resolve().parents[2] / "samples" / "library"
    assert command(["show", "--json", "--library", str(library), str(tmp_path / "a.pha")]) == 0
    wait, mirrored, block = json.loads(capsys.readouterr().out)
    assert wait["clip"] is None and "lanes" not in wait and (wait["start_s"], wait["length_s"]) == (0.0, 0.5)
    assert mirrored["mirrored"] is True and "reversed" not in mirrored
    assert (mirrored["from"], mirrored["to"], mirrored["start_s"], mirrored["length_s"]) == (0.25, 1.0, 0.5, 1.0)
    path = str(tmp_path / "a.pha")
    assert mirrored["calls"] == [[path, 3, 1, 0], [path, 2, 21, 0]]
    assert block["clip"] is None and (block["start_s"], block["length_s"]) == (1.5, 2.0)
    first, second = block["lanes"]
    assert {key: first[key] for key in ("body", "mode", "weight", "weight_end", "ease_in_s", "ease_out_s")} == {
        "body": "lower", "mode": "mix", "weight": 0.5, "weight_end": 1.0, "ease_in_s": 0.0, "ease_out_s": None}
    assert first["segments"][0]["reversed"] is True and first["segments"][0]["start_s"] == 1.5
    assert [(each["clip"], each["start_s"], each["length_s"]) for each in second["segments"]] == [
        (None, 1.5, 1.0), ("feet.Steps.right_step", 2.5, 1.0)]


def test_show_tells_the_values_the_rounds_and_the_branches_taken(tmp_path: Path,
                                                                  capsys: pytest.CaptureFixture[str]) -> None:
    calls = [f'<call name="{name}" duration="1"/>' for name in ("left_step", "right_step", "quarter_left")]
    (tmp_path / "a.pha").write_text(
        '<pha version="2" tickLength="0.5"><load src="feet.Steps"/><procedure name="main"><call name="f" duration="3">'
        '<with big="yes"/></call></procedure><procedure name="f"><param name="big" default="no"/><loop times="3" '
        f'index="i"><if test="big and i == 1">{calls[0]}</if><elif test="i == 2"><pick>{calls[1]}</pick></elif>'
        f"<else>{calls[2]}</else></loop></procedure></pha>")
    library = Path(__file__).resolve().parents[2] / "samples" / "library"
    assert command(["show", "--library", str(library), str(tmp_path / "a.pha")]) == 0
    assert capsys.readouterr().out.splitlines()[2:7] == [
        "main  3 ticks",
        "  f (big = yes)  3 ticks",
        "    feet.Steps.quarter_left  1 tick  [round 1, else]",
        "    feet.Steps.left_step  1 tick  [round 2, if big and i == 1]",
        "    feet.Steps.right_step  1 tick  [round 3, elif i == 2, pick]"]


@pytest.mark.parametrize("arguments", [["--set", "times=4", "--set", "big=yes", "--seed", "7"], []])
def test_values_and_the_seed_are_set_from_outside(tmp_path: Path, capsys: pytest.CaptureFixture[str],
                                                  arguments: list[str]) -> None:
    (tmp_path / "a.pha").write_text(
        '<pha version="2" tickLength="0.5"><load src="feet.Steps"/><procedure name="main">'
        '<param name="times" default="2"/><param name="big" default="no"/><loop times="times"><call name="left_step" '
        'duration="1"/></loop><if test="big"><call name="right_step" duration="1"/></if></procedure></pha>')
    library = Path(__file__).resolve().parents[2] / "samples" / "library"
    assert command(["show", "--json", "--library", str(library), *arguments, str(tmp_path / "a.pha")]) == 0
    assert len(json.loads(capsys.readouterr().out)) == (5 if arguments else 2)


def test_a_value_for_no_parameter_is_an_error_that_suggests_one() -> None:
    text = {"": HEAD + f'<procedure name="main"><param name="times" default="1"/>{WALK}</procedure></pha>'}
    with pytest.raises(ScoreError, match=r"found a value for 'tmes'.*did you mean times"):
        expand(resolve(parse(text[""]), Texts(text)), values={"tmes": 2.0})
