"""The TensorFlow 1.x API for a script, on whatever TensorFlow is installed.

TensorFlow 2.x: `import tensorflow` gives `tensorflow.compat.v1`, completed by those parts of
`tf.contrib` that tf-slim still offers. TensorFlow 1.x: only `tensorflow.compat.v1` where it is missing.
"""

from __future__ import absolute_import, division, print_function

import importlib
import os
import sys
import types

MISSING = []  # one line for each name that a script asked for in vain

# where the pieces of tf.contrib went: modules that are searched in order
CONTRIB = {
    'slim': ('tf_slim',),
    'layers': ('tf_slim.layers', 'tf_slim'),
    'framework': ('tf_slim.ops.variables', 'tf_slim.ops.arg_scope', 'tf_slim', 'tensorflow.compat.v1.nest'),
    'training': ('tf_slim.training.training', 'tf_slim.training.evaluation', 'tf_slim.training', 'tf_slim'),
    'losses': ('tf_slim.losses', 'tensorflow.compat.v1.losses'),
    'metrics': ('tf_slim.metrics',),
    'rnn': ('tensorflow.compat.v1.nn.rnn_cell', 'tensorflow.compat.v1.nn'),
    'data': ('tensorflow.compat.v1.data.experimental', 'tensorflow.compat.v1.data'),
    'summary': ('tensorflow.compat.v1.summary',),
}

# single names of these that TensorFlow still has, by the module where they are now
V1 = 'tensorflow.compat.v1'
NAMES = {
    'layers': {V1 + '.nn': ('safe_embedding_lookup_sparse',)},
    'framework': {
        V1: ('TensorSpec', 'argsort', 'assert_same_float_dtype', 'assert_scalar', 'convert_to_tensor_or_sparse_tensor',
             'is_tensor', 'py_func', 'sort'),
        V1 + '.train': ('init_from_checkpoint', 'list_variables', 'load_checkpoint', 'load_variable'),
    },
    'training': {V1 + '.train': ('checkpoints_iterator',)},
    'metrics': {V1 + '.math': ('confusion_matrix',)},
}
SETS = ('difference', 'intersection', 'size', 'union')  # tf.contrib.metrics.set_* are tf.sets.*

# modules inside of them that scripts import by their path
PATHS = {
    'rnn.python.ops.rnn_cell': (V1 + '.nn.rnn_cell',),
    'rnn.python.ops.rnn_cell_impl': (V1 + '.nn.rnn_cell',),
    'rnn.python.ops.core_rnn_cell': (V1 + '.nn.rnn_cell',),
    'layers.python.layers': ('tf_slim.layers', 'tf_slim'),
    'framework.python.ops': ('tf_slim.ops', 'tf_slim.ops.variables', 'tf_slim.ops.arg_scope'),
    'slim.nets': ('tf_slim.nets',),
    'slim.python.slim.nets': ('tf_slim.nets',),
}

# names that tf-slim still asks for where they were, by the module where they are now
MOVED = {
    'framework.ops': {'Tensor': 'framework.tensor', 'IndexedSlices': 'framework.indexed_slices'},
    'ops.control_flow_ops': {'cond': 'ops.cond', 'case': 'ops.control_flow_case', 'while_loop': 'ops.while_loop'},
}


def load():
    """Imports TensorFlow, makes it answer as 1.x, and returns the module that a script will see."""
    os.environ['TF_USE_LEGACY_KERAS'] = '1'
    import tensorflow

    version = getattr(tensorflow, '__version__', None)
    if version is None:
        raise ImportError('the module tensorflow has no version')
    if version.split('.')[0] == '1':
        return _first(tensorflow)
    return _second(tensorflow)


def _first(tensorflow):
    if 'tensorflow.compat.v1' not in sys.modules:
        try:
            importlib.import_module('tensorflow.compat.v1')
        except ImportError:
            compat = types.ModuleType('tensorflow.compat')
            compat.__path__ = []
            for name in dir(getattr(tensorflow, 'compat', None)):
                if not name.startswith('__'):
                    setattr(compat, name, getattr(tensorflow.compat, name))
            compat.v1 = tensorflow
            sys.modules['tensorflow.compat'] = tensorflow.compat = compat
            sys.modules['tensorflow.compat.v1'] = tensorflow
    for name in ('disable_v2_behavior', 'disable_eager_execution', 'disable_resource_variables'):
        if not hasattr(tensorflow, name):
            setattr(tensorflow, name, _nothing)
    return tensorflow


def _nothing():
    """Stands for the switches back to 1.x behaviour, which 1.x does not need."""


def _second(tensorflow):
    v1 = importlib.import_module('tensorflow.compat.v1')
    v1.disable_v2_behavior()
    try:
        # both ask for `tensorflow` themselves, and mean the real one
        importlib.import_module('tf_keras')
        _slim_parts()
    except ImportError:
        pass
    _keras(v1)
    getattr(v1, 'layers', None)
    shim = _Module('tensorflow', v1.__version__, (v1,), keep=tensorflow)
    shim.__path__, shim.__file__ = tensorflow.__path__, tensorflow.__file__
    shim.__spec__ = tensorflow.__spec__
    shim.compat, shim.python = tensorflow.compat, importlib.import_module('tensorflow.python')
    sys.modules['tensorflow'] = shim
    contrib = shim.contrib = v1.contrib = _below(None, 'tensorflow.contrib', (), v1.__version__)
    for name, homes in CONTRIB.items():
        _below(contrib, name, homes, v1.__version__)
    for name, parts in NAMES.items():
        for home, listed in parts.items():
            for part in listed:
                if hasattr(_find(home), part):
                    setattr(getattr(contrib, name), part, getattr(_find(home), part))
    for part in SETS:
        setattr(contrib.metrics, 'set_' + part, getattr(v1.sets, part))
    for path, homes in PATHS.items():
        _put(contrib, path.split('.'), homes, v1.__version__)
    return shim


def _keras(v1):
    """Lets `keras` be what tf.keras is here: Keras 3 knows no sessions."""
    if 'tf_keras' not in sys.modules:
        return
    folder = os.path.join(os.path.dirname(sys.modules['tf_keras'].__file__), 'api', '_v1', 'keras')
    if os.path.isdir(folder):
        sys.modules['keras'] = _Module('keras', v1.__version__, (V1 + '.keras',))
        sys.modules['keras'].__path__ = [folder]


def _below(parent, name, homes, version):
    """The module of this name below another one, which is made if there is none."""
    full = parent.__name__ + '.' + name if parent else name
    if full not in sys.modules:
        sys.modules[full] = _Module(full, version, homes)
        sys.modules[full].__path__ = []
        if parent:
            setattr(parent, name, sys.modules[full])
    return sys.modules[full]


def _put(parent, path, homes, version):
    """Makes a module below another one, and those on the way to it."""
    module = _below(parent, path[0], () if path[1:] else homes, version)
    if path[1:]:
        _put(module, path[1:], homes, version)


def _slim_parts():
    for old, names in MOVED.items():
        module = importlib.import_module('tensorflow.python.' + old)
        for name, home in names.items():
            if not hasattr(module, name):
                setattr(module, name, getattr(importlib.import_module('tensorflow.python.' + home), name))
    layers = importlib.import_module('tf_keras.src.legacy_tf_layers')
    sys.modules.setdefault('tf_keras.legacy_tf_layers', layers)
    for part in ('base', 'convolutional', 'core', 'normalization', 'pooling'):
        sys.modules.setdefault(
            'tf_keras.legacy_tf_layers.' + part,
            importlib.import_module('tf_keras.src.legacy_tf_layers.' + part),
        )
    keras = sys.modules['tf_keras']
    if not hasattr(keras, 'legacy_tf_layers'):
        keras.legacy_tf_layers = layers


class _Module(types.ModuleType):
    """A module whose names live elsewhere; a name that is nowhere is noted for the report."""

    def __init__(self, name, version, homes, keep=None):
        super(_Module, self).__init__(name)
        self.__dict__['_tmg_homes'] = homes
        self.__dict__['_tmg_version'] = version
        self.__dict__['_tmg_keep'] = keep

    def __getattr__(self, name):
        if name.startswith('__') and name != '__version__':
            raise AttributeError(name)
        homes = self.__dict__['_tmg_homes']
        for module in map(_home, homes):
            if hasattr(module, name):
                return getattr(module, name)
        for home in homes:
            module = None if isinstance(home, types.ModuleType) else _find(home + '.' + name)
            if module is not None:
                return module
        full = self.__name__ + '.' + name
        MISSING.append(
            '%s is not in TensorFlow %s; run verify with --python and an interpreter that has '
            'TensorFlow 1.x' % (full, self.__dict__['_tmg_version'])
        )
        raise AttributeError('module %r has no attribute %r' % (self.__name__, name))

    def __dir__(self):
        names = set(self.__dict__)
        for module in map(_home, self.__dict__['_tmg_homes']):
            names.update(dir(module) if module is not None else ())
        return sorted(names)

    @property
    def __all__(self):
        return [name for name in dir(self) if not name.startswith('_')]


def _home(home):
    return home if isinstance(home, types.ModuleType) else _find(home)


def _find(name):
    """A module by its dotted name, through attributes where the last parts are not importable."""
    parts = name.split('.')
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.import_module('.'.join(parts[:length]))
        except ImportError:
            continue
        for part in parts[length:]:
            found = getattr(found, part, None)
        return found
    return None


def missing_line(error):
    """The line for a script that ended because a part of the 1.x API is not there, else None."""
    if not isinstance(error, (ImportError, AttributeError)):
        return None
    if MISSING:
        return MISSING[-1]
    text = '%s' % (error,)
    if 'tensorflow.contrib' in text or "'contrib'" in text:
        return text + '; run verify with --python and an interpreter that has TensorFlow 1.x'
    return None
