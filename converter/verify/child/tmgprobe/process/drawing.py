"""Figures without a display: a script that asks matplotlib for a window draws, and shows nothing."""

from __future__ import absolute_import, division, print_function

import sys

QUIET = 'Agg'
WINDOWS = ('gtk', 'macosx', 'nbagg', 'notebook', 'qt', 'tk', 'web', 'widget', 'wx', 'ipympl')


def without_display():
    """Lets `matplotlib.use` take the backend that draws into memory in place of any that opens windows."""
    if 'matplotlib' in sys.modules:
        _change(sys.modules['matplotlib'])
    elif sys.version_info[0] > 2:
        sys.meta_path.insert(0, _Finder())


class _Finder(object):
    """Changes matplotlib as soon as it has been imported; finds nothing itself."""

    def find_spec(self, name, path=None, target=None):
        """The module as any other finder has it, with the change behind its own code."""
        if name != 'matplotlib':
            return None
        from importlib import util

        sys.meta_path.remove(self)
        spec = util.find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                _change(module)

            spec.loader.exec_module = exec_module
        return spec


def _change(matplotlib):
    use = matplotlib.use

    def headless(backend, *args, **kwargs):
        windows = str(backend).lower().startswith(WINDOWS)
        return use(QUIET if windows else backend, *args, **kwargs)

    matplotlib.use = headless
