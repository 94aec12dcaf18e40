"""Kinds of effects: what a call does beside returning a value, each kind with its meaning."""

from __future__ import annotations

from enum import Enum


class EffectKind(Enum):
    """An effect on the graph, on a Python object or on the walk; the value of each member describes it."""

    # variables
    VARIABLE = "a layer or a function makes a variable by the variable scope"
    RAW_VARIABLE = "a variable is made by its class; its name follows the name scope"
    OBJECT_VARIABLE = "an object such as a Keras layer makes variables and keeps them"
    REUSE = "a variable scope is set to find variables instead of making them"
    REUSE_READ = "it is asked whether a variable scope finds variables or makes them"
    SCOPE = "a name scope or a variable scope is entered"
    ASSIGN = "a variable is changed by an operation"
    ASSIGNED = "the operation that changes a variable, as a value"
    AVERAGE = "moving averages of variables or tensors are updated"
    AVERAGE_READ = "a moving average is read"
    BATCH_NORM = "a layer normalises with statistics of the batch, and updates moving averages"
    BATCH_NORM_SCOPE = "an arg_scope gives its layers batch normalisation"
    BATCH_STATISTICS = "the mean and variance of a batch are computed"
    # the graph
    COLLECTION = "something is added to a collection of the graph"
    GET_COLLECTION = "a collection of the graph is read"
    COLLECTION_SCOPE = "of a collection of the graph only what a scope holds is read"
    GRAPH_STATE = "something is made of all that the graph holds so far"
    TOTAL_LOSS = "all losses of the graph are added"
    DEVICE = "a device is entered"
    WAIT = "what is built in a block waits for operations; the value holds them"
    GRAPH_NAME = "the name or the operation of a tensor is read"
    CHECKPOINT = "a file of variables is written, read or looked for; the value is its name"
    LOOKUP = "a tensor is asked for by a name that is not known to be one"
    # inputs
    LABELS = "labels that are compared with a row for each example"
    LONGEST = "something is as long as the longest sequence of the batch"
    SPARSE_PLACEHOLDER = "a placeholder for a sparse batch"
    DEFAULT_OF_ONE_ROW = "a placeholder whose default has one row"
    TIME_MAJOR = "a recurrent net reads steps along what was taken for the batch axis"
    HOST_FUNCTION = "a function of Python is called by the graph and gives a row for each example"
    UNSEEN_HOOK = "a hook of a session may feed batches, and what it feeds is not seen"
    BATCHES_COUNTED = "a number of batches is taken from a data set, or left out; the value is their size"
    READ_BY_PYTHON = "Python code reads data that is cut"
    # Python
    MUTATION = "a list, a dict or an object is changed in place"
    UNFOLLOWED = "code is called that is not followed"
    ESCAPE = "code that is not followed gets something of the batch"
    TRACED = "what a call gives is known from a run"
    RECURSION = "a function calls itself, deeper than it is followed"
    REPETITION = "a function is called more often than it is followed"
    # files and libraries
    CHOSEN_MODULE = "the script chooses a module by its name"
    CIRCULAR_IMPORT = "a name is imported from a module that is still being imported"
    CONVERTED_MODULE = "a module is imported that was converted before"
    UNREAD_MODULE = "a module is imported that cannot be read"
    DISTRIBUTED = "training is spread over processes or GPUs by the script itself"
    OTHER_TRAINING = "training is left to an Estimator or to Keras"
    TRAINED_BY_LIBRARY = "an Estimator or a model of Keras is told to train"
    EAGER = "eager execution is switched on"


VARIABLES = (EffectKind.VARIABLE, EffectKind.RAW_VARIABLE, EffectKind.OBJECT_VARIABLE)
READS_COLLECTION = (EffectKind.GET_COLLECTION, EffectKind.TOTAL_LOSS)
BATCH_NORMS = (EffectKind.BATCH_NORM, EffectKind.BATCH_NORM_SCOPE)
