"""A clip file that is packed and unpacked is the same, and what is not whole is refused."""

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.clips.clip_file import ClipFile
from takt.core.clips.packed_file import pack, unpack
from takt.core.errors import TaktError
from takt.core.maths import rotations as rot
from takt.core.skeletons.skeleton import Skeleton
from takt.core.skeletons.skin_sample import SkinSample


def made(seed: int) -> ClipFile:
    """Return a file of two skeletons with three clips, two of which share skeleton and skin."""
    random = np.random.default_rng(seed)
    names = [tuple(f"{one}{joint}" for joint in range(4)) for one in ("bone.", "Knöchel ")]
    skeletons = [Skeleton.from_arrays(own, (-1, 0, 1, 1), rot.normalized(random.normal(size=(4, 4))),
                                      random.normal(size=(4, 3)), name=own[0], meant={own[0]: "humanoid_root"})
                 for own in names]
    skin = SkinSample(random.integers(0, 4, 7), random.normal(size=(7, 3)))

    def tracks(joints: int, channels: int) -> Tracks:
        keys = random.integers(1, 5, joints)
        times = np.concatenate([np.sort(random.random(count)) for count in keys]) if joints else np.zeros(0)
        return Tracks(random.permutation(4)[:joints], np.append(0, np.cumsum(keys)), times,
                      random.normal(size=(len(times), channels)))

    clips = tuple(Clip(f"clip {number}", skeletons[number // 2], 1.5 + number, tracks(3, 4), tracks(number, 3),
                       tracks(0, 3), is_looping=number == 1, skin=skin if number < 2 else None) for number in range(3))
    return ClipFile(skeletons[1], clips, warnings=("something is odd",))


@pytest.mark.parametrize("seed", range(5))
def test_there_and_back(seed: int) -> None:
    file = made(seed)
    found = unpack(pack(file))
    assert found.warnings == file.warnings and found.skeleton is found.clips[2].skeleton
    assert found.clips[0].skeleton is found.clips[1].skeleton and found.clips[0].skin is found.clips[1].skin is not None
    assert found.clips[2].skin is None
    parts = [(channel, part) for channel in ("rotations", "translations", "scales")
             for part in ("joints", "starts", "times_s", "values")]
    for one, other in zip(found.clips, file.clips, strict=True):
        assert (one.name, one.duration_s, one.is_looping) == (other.name, other.duration_s, other.is_looping)
        assert (one.skeleton.names, one.skeleton.name) == (other.skeleton.names, other.skeleton.name)
        assert dict(one.skeleton.meant) == dict(other.skeleton.meant)
        np.testing.assert_array_equal(one.skeleton.rest_world, other.skeleton.rest_world)
        for channel, part in parts:
            np.testing.assert_array_equal(getattr(getattr(one, channel), part), getattr(getattr(other, channel), part))
    np.testing.assert_array_equal(found.clips[0].skin.offsets, file.clips[0].skin.offsets)  # type: ignore[union-attr]


def test_without_clips() -> None:
    found = unpack(pack(ClipFile(made(0).skeleton)))
    assert found.clips == () and len(found.skeleton) == 4


def test_what_is_not_whole_is_refused() -> None:
    data = pack(made(0))
    for cut in range(0, len(data), 97):
        with pytest.raises(TaktError, match=r"not whole"):
            unpack(data[:cut])


def test_nothing_in_it_is_run() -> None:
    import io

    file = io.BytesIO()
    np.savez(file, head=np.array([print], dtype=object))
    with pytest.raises(TaktError, match=r"not whole.*allow_pickle"):
        unpack(file.getvalue())
