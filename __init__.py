"""Takt: makes characters dance what a text score says.

Blender is imported only inside register and unregister, so that `takt.core` works where there is no Blender.
"""


def register() -> None:
    """Switch the extension on."""
    from . import operators, panels
    from .bridge import hearing, language, libraries, migrations, paths, properties
    from .bridge.rigs import constraints
    from .bridge.scores import following, score, score_fields, score_tree
    from .preview import choice_properties, score_editor

    language.register()
    libraries.register()
    properties.register()
    migrations.register()
    hearing.register()
    paths.register()
    score.register()
    score_tree.register()
    score_fields.register()
    score_editor.register()
    choice_properties.register()
    operators.register()
    panels.register()
    constraints.register()
    following.register()


def unregister() -> None:
    """Switch the extension off and leave nothing behind."""
    from . import operators, panels
    from .bridge import hearing, language, libraries, migrations, paths, properties
    from .bridge.files import second_blender
    from .bridge.rigs import constraints
    from .bridge.scores import following, score, score_fields, score_tree, sound
    from .preview import choice_properties, score_editor

    following.unregister()
    constraints.unregister()
    sound.unregister()
    panels.unregister()
    operators.unregister()
    choice_properties.unregister()
    score_editor.unregister()
    score_fields.unregister()
    score_tree.unregister()
    score.unregister()
    second_blender.unregister()
    paths.unregister()
    hearing.unregister()
    migrations.unregister()
    properties.unregister()
    libraries.unregister()
    language.unregister()
