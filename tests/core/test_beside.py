"""What is missing is told: skipped by itself, failed under CI, unless a machine has said so."""

import pytest

from takt.tests import beside


@pytest.mark.parametrize(("is_ci", "outcome"), [("true", pytest.fail.Exception), ("", pytest.skip.Exception)])
def test_what_is_missing_fails_under_ci(monkeypatch: pytest.MonkeyPatch, is_ci: str,
                                        outcome: type[BaseException]) -> None:
    monkeypatch.setenv("CI", is_ci)
    monkeypatch.setattr(beside, "_GIVEN", "")
    monkeypatch.delenv("TAKT_OGRE_PYTHON", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(outcome, match=r"no real file at .*never_there"):
        beside.real_file("never_there")
    with pytest.raises(outcome, match="TAKT_OGRE_PYTHON names no Python"):
        beside.ogre_python()
    with pytest.raises(outcome, match="OgreXMLConverter is not installed"):
        beside.ogre_converter()
    monkeypatch.setattr(beside, "_GIVEN", "none")
    with pytest.raises(pytest.skip.Exception, match="no real files on purpose"):
        beside.real_file("never_there")
