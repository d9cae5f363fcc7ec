"""Messages are found by their templates, and their values go into the translated ones."""

import json
from pathlib import Path

import numpy as np
import pytest

from takt.bridge import wording
from takt.bridge.wording import Wording
from takt.core.maths import rotations as rot
from takt.core.retargeting.comparing.matching import _question
from takt.core.skeletons.maps.skeleton_map import SkeletonMap
from takt.core.skeletons.skeleton import Skeleton

LANGUAGES = Path(wording.__file__).parents[1] / "languages"

GERMAN = Wording({
    "Copied": "Kopiert",
    "{count} bones are idle": "{count} Knochen ohne Wirkung",
    "'{name}' plays '{text}', {seconds} s": "{seconds} s lang spielt '{name}' '{text}'",
    "'{name}' has no Action: {problem}": "'{name}' hat keine Aktion: {problem}",
    "the file is empty": "die Datei ist leer",
    "the file is empty, or {name} is": "die Datei ist leer, oder {name} ist es",
    "{name} and {name} differ": "{name} ist nicht {name}",
    "; choose a shorter name": "; wähle einen kürzeren Namen",
    "not yet translated": "",
})


@pytest.mark.parametrize(("english", "german"), [
    ("", ""),
    ("Copied", "Kopiert"),
    ("12 bones are idle", "12 Knochen ohne Wirkung"),
    ("'Amy' plays 'waltz.pha', 3.2 s", "3.2 s lang spielt 'Amy' 'waltz.pha'"),
    ("'Amy' has no Action: the file is empty", "'Amy' hat keine Aktion: die Datei ist leer"),
    ("The file is empty", "Die Datei ist leer"),
    ("a.pha:3: the file is empty", "a.pha:3: die Datei ist leer"),
    ("the file is empty\nCopied", "die Datei ist leer\nKopiert"),
    ("the file is empty, or 'it' is", "die Datei ist leer, oder 'it' ist es"),
    ("a and a differ", "a ist nicht a"),
    ("not yet translated", "not yet translated"),
    ("nobody knows this", "nobody knows this"),
])
def test_messages_are_said_in_the_language(english: str, german: str) -> None:
    assert GERMAN.of(english) == german
    assert GERMAN.of(english) == german  # once more, as it is kept


@pytest.mark.parametrize("place", ["a.x3d:3", "a.x3d:3:14", "a.b.usd (byte 99)", "/home/amy/a.dae, line 3"])
def test_what_is_wrong_at_a_place_is_one_message_though_it_has_colons(place: str) -> None:
    words = Wording({"this is no {kind}: it begins with {found}": "kein {kind}, sondern {found}",
                     "{a} is no {b}": "{a}{b}", "it begins with {found}": "falsch {found}"})
    assert words.of(f"{place}: this is no X3D: it begins with 'a'") == f"{place}: kein X3D, sondern 'a'"


def test_names_in_quotes_are_not_translated() -> None:
    assert GERMAN.of("'Copied' plays 'the file is empty', 1 s") == "1 s lang spielt 'Copied' 'the file is empty'"


def test_names_of_bones_are_not_translated_as_labels() -> None:
    words = Wording({"'{armature}' has no bones {missing}": "'{armature}' hat keine Knochen {missing}", "Head": "Kopf",
                     "Copied": "Kopiert"})
    assert words.of("'Hero' has no bones Head, Hips") == "'Hero' hat keine Knochen Head, Hips"
    assert words.of("Head, Copied and others") == "Head, Copied and others"
    assert words.of("Head") == "Kopf"


def test_what_says_most_is_meant() -> None:
    words = Wording({"{a} is {b}": "kurz {a} {b}", "{a} is not {b}": "lang {a} {b}"})
    assert words.of("x is not y") == "lang x y"
    assert words.of("x is y") == "kurz x y"


def test_long_messages_stay_as_they_are_and_cost_little() -> None:
    long = "a b " * 100_000
    assert Wording({"{a} b {b} b {c} b {d} x": "{a}{b}{c}{d}"}).of(long) == long


def test_a_long_message_that_no_template_has_is_given_up_at_once() -> None:
    words = Wording({"{path}: in {name} {sum} {what}, first that of {joints}{where}; {damaged}": "{path} {sum}"})
    message = "a: in " + "one two " * 120 + ", first that of " + "word " * 200
    assert words.of(message) == message  # with a pattern that looks for values again, this takes minutes


def test_values_are_the_shortest_that_fit() -> None:
    words = Wording({"{a} of {b} in {c} of {d}": "{d}|{c}|{b}|{a}"})
    assert words.of("1 of 2 of 3 in 4 in 5 of 6 of 7") == "6 of 7|4 in 5|2 of 3|1"


def test_what_is_said_of_a_doubtful_skeleton_is_translated_to_its_labels() -> None:
    """All joints of a table with only four clear names are listed by labels, which are in the language too."""
    skeleton = Skeleton.from_arrays(("Hips", "LeftUpLeg", "LeftLeg"), (-1, 0, 1), rot.identities(3), np.zeros((3, 3)))
    asked = SkeletonMap(skeleton, ("HumanoidRoot", "l_hip", "l_knee"), (0.5, 0.5, 0.5))
    message = _question(asked)
    assert "not found: " in message and "Right Thigh" in message and "LeftUpLeg (Left Thigh?)" in message
    for language, words in (("de", "nicht gefunden: "), ("fr", "introuvable : ")):
        said = json.loads((LANGUAGES / f"{language}.json").read_text(encoding="utf-8"))
        german = Wording({english: own for part in said.values() for english, own in part.items()}).of(message)
        assert words in german and said["labels"]["Right Thigh"] in german and "Right Thigh" not in german
