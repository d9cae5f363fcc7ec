"""Random gestures and commands on samples, random programmes and hostile texts: meaning, bytes and the way back."""

import random
from pathlib import Path

import numpy as np
import pytest

from takt.core.errors import EditError, FileError
from takt.core.library.library import Library
from takt.core.pha.document import Document, read
from takt.core.pha.edits import Edited, RemoveAttribute, SetAttribute, apply
from takt.core.pha.expansion import expand
from takt.core.pha.open_scores import Scores
from takt.core.pha.programme import Modules, resolve
from takt.core.pha.text import Text
from takt.core.playing.score import Settings
from takt.core.score_editor import arrange, commands
from takt.core.score_editor.change import Candidate, Edits, Proposal, attempt
from takt.core.score_editor.drag import automatic_again
from takt.core.score_editor.drawing import Marked, picture
from takt.core.score_editor.drop import drop_at
from takt.core.score_editor.gestures import begin, hit
from takt.core.score_editor.hit import Hit, Part
from takt.core.score_editor.layout import Layout, lay_out
from takt.core.score_editor.view import View
from takt.tests.core.score_programmes import programme
from takt.tests.core.test_pha_random_programmes import Texts

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "library"
GESTURES = 200
HOSTILE = {
    "crlf": b'<pha tickLength="1">\r\n<load src="moves.Steps"/>\r\n\t<procedure name="main"><!-- \xc3\xa9 -->\r\n\t\t'
            b'<call name="walk" duration="1"/> <!-- behind --> <call   duration = "2"\r\n name=\'kick\' />\r\n'
            b'</procedure></pha>\r\n',
    "bom": '\ufeff<pha tickLength="1"><load src="moves.Steps"/><procedure name="été 🕺 &quot;&lt;"><call name="walk" '
           'duration="1"/></procedure><procedure name="main"><call name="été 🕺 &quot;&lt;" duration="4" '
           'repeat="3"/><call name="bow" duration="0.000001"/><call name="bow" duration="1e6"/></procedure></pha>'
           .encode(),
    "utf16": '<?xml version="1.0" encoding="utf-16"?>\n<pha tickLength="0.5">\n <load src="moves.Steps"/>\n <procedure '
             'name="main">\n  <!-- прежде -->\n  <call name="walk" duration="1" transition="0.25"/>\n  <call '
             'name="jump" duration="3"/>\n </procedure>\n</pha>'.encode("utf-16"),
    "one line": b'<pha tickLength="1"><load src="moves.Steps"/><procedure name="a"><call name="walk" duration="1"/>'
                b'<call name="kick" duration="1"/></procedure><procedure name="main"><call name="a" duration="1"/>'
                b'<call name="a" duration="1"/></procedure></pha>',
}


class Session:
    """A score that is open, and gestures on it by chance."""

    def __init__(self, text: Text, library: Modules, seed: int) -> None:
        self.text, self.library, self.random = text, library, random.Random(seed)
        self.scores = Scores.of((text,), library)
        self.settings = Settings(seed=seed)
        self.layout = lay_out(expand(resolve(read(text), self.scores), seed=seed))
        wide = self.random.uniform(60.0, 2000.0)
        self.view = View(wide, self.random.uniform(20.0, 900.0)).framed(0.0, self.layout.ticks)

    def proposal(self) -> Proposal:
        """Press somewhere, pull somewhere, or choose a command."""
        rng, layout, view, scores = self.random, self.layout, self.view, self.scores
        box = rng.randrange(len(layout))
        selected = frozenset(layout.id_of(rng.randrange(len(layout))) for _ in range(rng.randint(1, 3)))
        x, y = rng.uniform(-20.0, view.width + 20.0), rng.uniform(-20.0, view.height + 20.0)
        kind = rng.randrange(13)
        if kind < 4:
            end = float(layout.boxes.end[box])
            pressed = (hit(layout, view, x, y), Hit(Part.RIGHT_EDGE, end, box), Hit(Part.REPEAT, end, box),
                       Hit(Part.BODY, end, box))[kind]
            drag = begin(layout, pressed, scores, selected=selected)
            to = rng.uniform(0.0, view.width), rng.uniform(0.0, view.height)
            return Proposal() if drag is None else drag.to(view, *to, is_free=rng.random() < 0.3)
        if kind == 4 and len(layout.seams.tick):
            seam = rng.randrange(len(layout.seams.tick))
            drag = begin(layout, Hit(Part.SEAM, float(layout.seams.tick[seam]), seam=seam), scores)
            assert drag is not None
            return automatic_again(layout, seam, scores) if rng.random() < 0.3 else drag.to(view, x, y)
        gap = drop_at(layout, view, x, y)
        assert gap is not None
        if kind == 5:
            return commands.insert(layout, gap, commands.Playable("moves.Steps", "bow", rng.uniform(0.01, 9.0)), scores)
        if kind == 6:
            return commands.paste(layout, gap, commands.copied(layout, selected), scores)
        if kind == 7:
            return rng.choice((commands.remove, commands.duplicate, commands.group))(layout, selected, scores)
        if kind == 8:
            return arrange.split(layout, box, float(layout.boxes.begin[box] + rng.random() * layout.boxes.length[box]),
                                 scores)
        if kind == 9:
            return arrange.beside(layout, selected, "head", scores)
        if kind == 10:
            return arrange.make_single(layout, box, scores)
        if kind == 11:
            name, value = rng.choice((("mirror", "yes"), ("duration", "3"), ("transition", ""), ("duration", "1 + 1")))
            return arrange.set_value(layout, selected, name, value, scores)
        return commands.dissolve(layout, box, scores)

    def tried(self, proposal: Proposal) -> Candidate | None:
        """Try it; None where it is refused, with a reason."""
        if proposal.change is None or proposal.refusal:
            return None
        try:
            return attempt(self.scores, self.text.path, proposal.change, self.settings)
        except EditError as error:
            assert len(str(error)) > 10
            return None


def check(session: Session, proposal: Proposal, candidate: Candidate) -> Layout:
    """What comes out is read as it was wanted, can be taken back byte for byte, and leaves all other elements alone."""
    edited = candidate.edited[session.text.path]
    assert apply(edited.text, *edited.inverse).text == session.text
    assert read(edited.text).problems == () or all(p.is_warning for p in read(edited.text).problems)
    if isinstance(proposal.change, Edits):
        only_in_tags(session.text, edited, proposal.change.edits)
    for _, element in proposal.selects or ():
        assert 0 < element < len(edited.text)
        assert edited.text.shape.depths[element] >= 2
    assert comments(edited.text) >= comments(session.text) or is_removal(proposal)
    return lay_out(candidate.sequence)


def only_in_tags(text: Text, edited: Edited, edits: tuple[object, ...]) -> None:
    """Edits of attributes change bytes of nothing but their elements' start tags."""
    attributes = [edit for edit in edits if isinstance(edit, SetAttribute | RemoveAttribute)]
    if len(attributes) == len(edits):
        tags = [text.tag_spans(edit.element)[0] for edit in attributes]
        for start, old, _ in edited.patches[0].replacements:
            assert any(tag.start <= start and start + len(old) <= tag.end for tag in tags)


def comments(text: Text) -> int:
    return str(text).count("<!--")


def is_removal(proposal: Proposal) -> bool:
    return proposal.hint.endswith(("removed", "dissolved"))


def play(session: Session) -> int:
    done = 0
    for _ in range(GESTURES):
        proposal = session.proposal()
        candidate = session.tried(proposal)
        if candidate is not None:
            layout = check(session, proposal, candidate)
            picture(layout, session.view, marked=Marked(selected=frozenset((layout.id_of(0),))), playhead=1.0)
            done += 1
    return done


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dance.pha", "walk.pha", "helix.pha"])
def test_samples(name: str) -> None:
    path = SAMPLES / name
    text = Text.of(path.read_bytes(), path)
    session = Session(text, Library((SAMPLES,)), 7)
    session.random = random.Random(11)
    assert play(session) > GESTURES // 8


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts(name: str) -> None:
    session = Session(Text.of(HOSTILE[name]), Texts({}), 3)
    assert play(session) > GESTURES // 8


@pytest.mark.slow
@pytest.mark.parametrize("group", range(4))
def test_random_programmes(group: int) -> None:
    done = 0
    for seed in range(group * 3, group * 3 + 3):
        texts = programme(seed)
        try:
            session = Session(Text.of(texts[""]), Texts(texts), seed)
        except FileError:
            continue
        for _ in range(GESTURES // 4):
            proposal = session.proposal()
            candidate = session.tried(proposal)
            if candidate is not None:
                check(session, proposal, candidate)
                done += 1
    assert done


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("fps", [24.0, 25.0, 30000.0 / 1001.0])
def test_reading_and_laying_out_writes_nothing(name: str, fps: float) -> None:
    text = Text.of(HOSTILE[name])
    layout = lay_out(expand(resolve(read(text), Texts({}))))
    frames = np.arange(0.0, layout.seconds(np.array((min(layout.ticks, 1000.0),)))[0] * fps)
    back = layout.seconds(layout.ticks_at(frames / fps)) * fps
    np.testing.assert_allclose(back, frames, atol=1e-6)
    assert layout.documents[0].text.data == HOSTILE[name]
    assert isinstance(layout.documents[0], Document)
