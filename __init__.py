"""Takt: makes characters dance what a text score says.

Blender is imported only inside register and unregister, so that `takt.core` works where there is no Blender.
"""


def register() -> None:
    """Switch the extension on."""
    from . import operators, panels
    from .bridge import following, libraries, migrations, properties, score
    from .preview import choice_properties

    libraries.register()
    properties.register()
    migrations.register()
    score.register()
    choice_properties.register()
    operators.register()
    panels.register()
    following.register()


def unregister() -> None:
    """Switch the extension off and leave nothing behind."""
    from . import operators, panels
    from .bridge import following, libraries, migrations, properties, score
    from .preview import choice_properties

    following.unregister()
    panels.unregister()
    operators.unregister()
    choice_properties.unregister()
    score.unregister()
    migrations.unregister()
    properties.unregister()
    libraries.unregister()
