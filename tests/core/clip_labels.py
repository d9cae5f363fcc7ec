"""What clips are, as a person sees them: place, pose at the beginning, at the end, gait, turn. "?": people differ."""

from __future__ import annotations

from pathlib import Path

S, SIT, LIE = "standing", "sitting", "lying"
SPOT, GOES = "on the spot", "travelling"
Label = tuple[str, str, str, str, str]

OWN: dict[str, Label] = {
    "left_step": (GOES, S, S, "walk", ""), "right_step": (GOES, S, S, "walk", ""),
    "left_run": (GOES, S, S, "run", ""), "right_run": (GOES, S, S, "run", ""),
    "quarter_left": (SPOT, S, S, "?", "turning left"), "quarter_right": (SPOT, S, S, "?", "turning right"),
    "side_step_left": ("?", S, S, "walk", ""), "side_step_right": ("?", S, S, "walk", ""),
    **dict.fromkeys((
        "sway", "arms_up", "hip_circle", "body_roll", "kick_left", "kick_right", "squat", "disco", "bow", "wave",
        "clap", "hello"), (SPOT, S, S, "gesture", "")),
    "jump": (SPOT, S, S, "jump", ""),
}
"""The samples' clips."""

_ROGUE: dict[str, Label] = {
    **dict.fromkeys((
        "1H_Melee_Attack_Chop", "1H_Melee_Attack_Slice_Diagonal", "1H_Melee_Attack_Slice_Horizontal",
        "1H_Melee_Attack_Stab", "1H_Ranged_Aiming", "1H_Ranged_Reload", "1H_Ranged_Shoot", "1H_Ranged_Shooting",
        "2H_Melee_Attack_Slice", "2H_Melee_Attack_Stab", "2H_Ranged_Reload", "2H_Ranged_Shooting", "Block",
        "Block_Attack", "Block_Hit", "Cheer", "Dualwield_Melee_Attack_Stab", "Hit_A", "Interact", "PickUp",
        "Spellcast_Long", "Spellcast_Raise", "Spellcast_Shoot", "Spellcasting", "Throw",
        "Unarmed_Melee_Attack_Kick", "Unarmed_Melee_Attack_Punch_A", "Use_Item", "Dualwield_Melee_Attack_Chop",
        "Hit_B", "Dualwield_Melee_Attack_Slice"), (SPOT, S, S, "gesture", "")),
    **dict.fromkeys(("2H_Melee_Attack_Chop", "Unarmed_Melee_Attack_Punch_B"), (SPOT, S, S, "?", "")),
    **dict.fromkeys((
        "2H_Melee_Attack_Spin", "2H_Melee_Attack_Spinning", "2H_Ranged_Aiming", "2H_Ranged_Shoot"),
        (SPOT, S, S, "?", "turning right")),
    **dict.fromkeys(("2H_Melee_Idle", "Idle", "Unarmed_Idle", "Blocking"), (SPOT, S, S, "idle", "")),
    **dict.fromkeys((
        "Jump_Full_Long", "Jump_Full_Short", "Jump_Idle", "Jump_Land", "Jump_Start"), (SPOT, S, S, "jump", "")),
    **dict.fromkeys(("Running_A", "Running_B", "Running_Strafe_Left", "Running_Strafe_Right"), (SPOT, S, S, "run", "")),
    **dict.fromkeys(("Walking_A", "Walking_B", "Walking_C", "Walking_Backwards"), (SPOT, S, S, "walk", "")),
    **dict.fromkeys(("Dodge_Backward", "Dodge_Forward", "Dodge_Left", "Dodge_Right"), (GOES, S, S, "?", "")),
    **dict.fromkeys(("Death_A", "Death_B", "Lie_Down"), ("?", S, LIE, "", "")),
    "Lie_StandUp": ("?", LIE, S, "", "?"), "Lie_Idle": (SPOT, LIE, LIE, "idle", ""),
    **dict.fromkeys(("Death_A_Pose", "Death_B_Pose", "Lie_Pose"), (SPOT, LIE, LIE, "pose", "")),
    **dict.fromkeys(("Sit_Chair_Down", "Sit_Floor_Down"), ("?", S, SIT, "", "")),
    **dict.fromkeys(("Sit_Chair_StandUp", "Sit_Floor_StandUp"), ("?", SIT, S, "", "")),
    **dict.fromkeys(("Sit_Chair_Idle", "Sit_Floor_Idle"), (SPOT, SIT, SIT, "idle", "")),
    **dict.fromkeys(("Sit_Chair_Pose", "Sit_Floor_Pose"), (SPOT, SIT, SIT, "pose", "")),
    **dict.fromkeys(("T-Pose", "Unarmed_Pose"), (SPOT, S, S, "pose", "")),
}
_OTHERS: dict[str, Label] = {
    "bow": (SPOT, S, S, "gesture", ""), "dance_body_roll": (SPOT, S, S, "?", ""),
    "dance_charleston": (SPOT, S, S, "?", ""), "dance_reach_hip": (SPOT, S, S, "?", ""),
    "jumping_jacks": (SPOT, S, S, "jump", ""), "victory": (SPOT, S, S, "jump", ""),
    "cmu_01_01": (GOES, S, S, "jump", ""),  # forward jumps, by the list of the database
}
_SINBAD: dict[str, Label] = {
    **dict.fromkeys(("DrawSwords", "SliceHorizontal", "SliceVertical"), (SPOT, S, S, "gesture", "")),
    "Dance": (SPOT, S, S, "?", ""), "RunTop": (SPOT, S, S, "?", ""), "RunBase": (SPOT, S, S, "run", ""),
    **dict.fromkeys(("HandsClosed", "HandsRelaxed"), (SPOT, S, S, "pose", "")),
    **dict.fromkeys(("IdleBase", "IdleTop"), (SPOT, S, S, "idle", "")),
    **dict.fromkeys(("JumpEnd", "JumpLoop", "JumpStart"), (SPOT, S, S, "jump", "")),
}


def files(data: Path) -> list[tuple[Path, dict[str, Label]]]:
    """Return the files of the shared data that are there, each with the labels of its clips."""
    clips = [(data / "clips" / f"{name}.{ending}", {name: label}) for name, label in _OTHERS.items()
             for ending in ("glb", "bvh")]
    whole = [(data / "characters" / "KayKit_Rogue_Hooded.glb", _ROGUE), *clips,
             (data / "ogre" / "Sinbad.skeleton", _SINBAD)]
    return [(path, labels) for path, labels in whole if path.is_file()]
