"""Words for parts of the body in other languages, without accents, and the English words for the same part."""

from typing import Final

_GERMAN = """becken:pelvis huefte:hip hufte:hip hueften:hips huften:hips wirbelsaeule:spine wirbelsaule:spine
    ruecken:back rucken:back bauch:belly brust:chest brustkorb:chest rumpf:torso oberkoerper:torso oberkorper:torso
    hals:neck nacken:neck kopf:head schluesselbein:collarbone schlusselbein:collarbone schulterblatt:scapula
    schulter:shoulder oberarm:upperarm unterarm:forearm ellbogen:elbow ellenbogen:elbow handgelenk:wrist
    oberschenkel:thigh unterschenkel:calf bein:leg oberbein:upperleg unterbein:lowerleg schienbein:shin wade:calf
    knie:knee fuss:foot fussgelenk:ankle knoechel:ankle knochel:ankle zeh:toe zehe:toe zehen:toes"""
_FRENCH = """bassin:pelvis hanche:hip hanches:hips colonne:spine ventre:belly poitrine:chest torse:torso buste:chest
    cou:neck nuque:neck tete:head clavicule:clavicle epaule:shoulder bras:arm hautbras:upperarm avantbras:forearm
    coude:elbow poignet:wrist main:hand cuisse:thigh jambe:leg genou:knee mollet:calf cheville:ankle pied:foot
    orteil:toe orteils:toes"""
_SPANISH = """cadera:hip caderas:hips columna:spine espalda:back vientre:belly pecho:chest cuello:neck cabeza:head
    clavicula:clavicle hombro:shoulder brazo:arm antebrazo:forearm codo:elbow muneca:wrist mano:hand muslo:thigh
    pierna:leg rodilla:knee pantorrilla:calf tobillo:ankle pie:foot"""
_CZECH = """panev:pelvis kycel:hip pater:spine zada:back bricho:belly hrudnik:chest krk:neck hlava:head
    rameno:shoulder paze:upperarm predlokti:forearm loket:elbow zapesti:wrist ruka:hand stehno:thigh noha:leg
    koleno:knee lytko:calf kotnik:ankle chodidlo:foot"""
_SLOVAK = """panva:pelvis bedro:hip chrbtica:spine chrbat:back brucho:belly plece:shoulder nadlaktie:upperarm
    predlaktie:forearm laket:elbow zapastie:wrist clenok:ankle"""
_LITHUANIAN = """dubuo:pelvis klubas:hip stuburas:spine nugara:back pilvas:belly krutine:chest kaklas:neck galva:head
    raktikaulis:clavicle petys:shoulder zastas:upperarm dilbis:forearm alkune:elbow riesas:wrist ranka:arm
    plastaka:hand slaunis:thigh koja:leg blauzda:calf kelis:knee kulksnis:ankle peda:foot"""
_SWEDISH = """backen:pelvis hoft:hip hofter:hips rygg:back ryggrad:spine buk:belly brost:chest nacke:neck huvud:head
    nyckelben:clavicle skuldra:shoulder overarm:upperarm underarm:forearm armbage:elbow handled:wrist lar:thigh
    overben:upperleg underben:lowerleg kna:knee vrist:ankle fot:foot"""

PARTS: Final = dict(entry.split(":") for language in (
    _GERMAN, _FRENCH, _SPANISH, _CZECH, _SLOVAK, _LITHUANIAN, _SWEDISH) for entry in language.split())
"""English words for parts of the body by foreign ones; words that are English too are left out."""
SIDES: Final = {word: side for side, words in {
    "l": "links linke linker linkes gauche izquierda izquierdo leva levy leve lava lavy lave kaire kairys vanster",
    "r": "rechts rechte rechter rechtes droite droit derecha derecho prava pravy prave desine desinys hoger",
}.items() for word in words.split()}
"""Sides by foreign words."""
