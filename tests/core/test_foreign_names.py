"""Rigs whose bones are called in other languages than English."""

import pytest

from takt.core.skeletons import hanim
from takt.core.skeletons.bone_names import words
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.maps.foreign import PARTS
from takt.core.skeletons.maps.names import read

from .rigs import RIGS, both, trunk, worn

SPOKEN = {
    "German": both("L", "R", trunk("M_Becken", "M_Bauch", "M_Brust", "M_Hals", "M_Kopf"),
                   "{}_OberSchenkel {}_UnterSchenkel {}_Fuß {}_Zehen {}_Schlüsselbein {}_OberArm {}_UnterArm {}_Hand"),
    "German, in lower case": both("links", "rechts", trunk("hüften", "wirbelsäule", "brustkorb", "nacken", "kopf"),
                                  "bein.oben.{} unterschenkel.{} fuss.{} zeh.{} schulter.{} oberarm.{} unterarm.{} "
                                  "handgelenk.{}"),
    "French": both("gauche", "droite", trunk("Bassin", "Ventre", "Poitrine", "Cou", "Tête"),
                   "Cuisse_{} Jambe_{} Pied_{} Orteils_{} Clavicule_{} Bras_{} AvantBras_{} Main_{}"),
    "Spanish": both("izquierda", "derecha", trunk("Cadera", "Columna", "Pecho", "Cuello", "Cabeza"),
                    "muslo_{} pantorrilla_{} pie_{} - clavícula_{} brazo_{} antebrazo_{} mano_{}"),
    "Czech": both("L", "R", trunk("pánev", "páteř", "hrudník", "krk", "hlava"),
                  "stehno.{} lýtko.{} chodidlo.{} - - paže.{} předloktí.{} zápěstí.{}"),
    "Slovak": both("ľavé", "pravé", trunk("panva", "brucho", "hrudník", "krk", "hlava"),
                   "{}~stehno {}~lýtko {}~chodidlo - - {}~nadlaktie {}~predlaktie {}~zápästie"),
    "Lithuanian": both("kairė", "dešinė", trunk("dubuo", "stuburas", "krūtinė", "kaklas", "galva"),
                       "šlaunis_{} blauzda_{} pėda_{} - raktikaulis_{} žastas_{} dilbis_{} plaštaka_{}"),
    "Swedish": both("L", "R", trunk("höfter", "rygg", "bröst", "nacke", "huvud"),
                    "lår.{} underben.{} fot.{} - nyckelben.{} överarm.{} underarm.{} handled.{}")}


@pytest.mark.parametrize("language", SPOKEN)
def test_a_rig_in_another_language_is_read(language: str) -> None:
    names = SPOKEN[language]
    found = find_map(worn(names, language))
    limbs = {name: joint for joint, name in names.items() if joint not in hanim.SPINE}
    assert {bone: joint for bone, joint in zip(found.skeleton.names, found.meant, strict=True)
            if joint and joint not in hanim.SPINE} == limbs
    assert found.certainty > 0.9 and found.is_sure and not found.warnings


def test_english_words_of_a_name_count_before_foreign_ones() -> None:
    assert read("main_arm_L").word == "arm" and read("Hals_Arm.L").word == "arm"
    assert read("main_ctrl").is_helper and not read("Weiss.L").word


def test_foreign_words_are_written_as_they_are_read() -> None:
    """Without accents, in lower case, as one word; none is a word of a known rig."""
    assert all(words(each) == [each] for each in PARTS)
    known = {word for rig in RIGS.values() for name in rig.values() for word in words(name)}
    assert not known & set(PARTS)
