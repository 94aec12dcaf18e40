"""Properties of the library's operations, asked for by name; the names themselves stand in rules/calls."""

from __future__ import annotations

from enum import Enum
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from converter.rule import rule_modules


class Trait(Enum):
    """A property of operations, calls or types of objects; the value says which."""

    LINEAR = "a mean or a sum over the examples stays one"
    ADDS = "adds its operands, or puts them side by side"
    SCALES = "multiplies or divides"
    CALLS_PYTHON = "hands tensors to a function of Python while the graph runs"
    LOADS_OPERATIONS = "loads a library of operations that are not known"
    COUNTS = "may stand in a count of examples or entries: it has no variables"
    GUARDS = "may keep a denominator from zero"
    ANY_AXIS = "is followed along any axis of the examples"
    SPARSE_PLACEHOLDER = "a placeholder for a sparse tensor"
    KEEPS_SPARSE = "gives a sparse tensor with the rows of the one that it takes"
    MAKES_SPARSE = "makes a sparse tensor of its indices, its values and its shape"
    TAKES_SPARSE_ROWS = "takes a sparse tensor with one row for each example, and gives a dense one"
    COUNTS_STEPS = "gives the number of a step, from a queue"
    GIVES_STEP = "gives the variable that counts the steps"
    READS_STEP = "reads the number of a step in a session"
    TRAINS = "takes a training step, by the last part of its name"
    TRAINS_IN_ANY_CALL = "takes a training step, or a whole one in a single call, by the last part of its name"
    ALIKE_OF_SLICES = "an attribute of a variable that is the same of what stands for its slices"
    OPENS_SCOPE = "opens a `with` block that may be opened again, by the last part of its name"
    OPENS_VARIABLE_SCOPE = "opens a variable scope, by the last part of its name"
    SETS_REUSE = "makes a variable scope reuse its variables, by the last part of its name"
    RANDOM = "gives other numbers when it is computed again"
    LAYER = "may make variables of its own"
    NAMES_NO_OUTPUT = "its argument `name` is not the name of its output"
    PASSES_UPDATES = "groups updates without adding any"
    CONDITION = "takes one of two branches in the graph"
    CHOICE = "takes one of several branches in the graph"
    SETTING = "reads a number that is no example: a rate, a condition, a bound"
    ONLY_IN_V1 = "TensorFlow 2 has it in the module of TensorFlow 1's names alone"
    V1_MODULE = "the module of TensorFlow 1's names in TensorFlow 2"
    OF_ONE_NUMBER = "gives one number for one number"
    FLOAT32 = "gives float32 for operands of any type (losses_impl.py, image_ops_impl.py, 1.15)"
    OWN_DTYPE = "gives another type than that of its operands, or one of its own"
    TAKES_DTYPE = "casts to the type that it is given"
    INTEGER = "gives integers"
    CASTS = "gives the same numbers in another type"
    KEEPS_ROW_NUMBERS = "has the numbers of the tensor that it takes, one after the other or each several times"
    ONES = "makes a tensor of ones"
    ZEROS = "makes a tensor of zeros"
    SAME_NUMBERS = "gives the numbers of its operand in their order, perhaps in another shape or type"
    CHOOSES = "gives the places where a condition is true, or entries of two tensors where it is and where it is not"
    PASSES_ROW_NUMBERS = "passes numbers of rows on"
    TELLS_ROWS = "tells rows apart by their numbers"
    LOOKS_UP = "takes rows of a table by their numbers"
    DRAWS_ROWS = "draws numbers in a given shape: its rows are examples that no input brings in"
    SHUFFLES_ROWS = "gives the rows of a tensor in a random order"
    TOLD_WIDTH = "is told by a number how many entries each example has, or how many are drawn for it"
    ROW_BY_ROW = "takes operands with as many rows as each other"
    BESIDE_ROWS = "takes states, lengths or conditions beside a batch, a row for each of its examples"
    TAKES_ARRAY = "makes a tensor of an array or a list as it is"
    COMPARES = "compares numbers, or asserts what they are"
    IN_DENOMINATOR = "may stand between a sum over the examples and the division by it"
    SUMS = "sums its operand"
    LARGEST = "gives the largest entry"
    ADDS_LIST = "adds the tensors of a list, by the last part of its name"
    CONCATENATES = "puts the tensors of a list behind each other along an axis, by the last part of its name"
    SAME = "gives its operand as it is, which may get a name so, by the last part of its name"
    LISTS_VARIABLES = "lists the variables made so far, by the last part of its name"
    VARIABLE_COLLECTION = "the name of a collection of variables"
    CUTS = "takes a part of a tensor along some of its axes"
    BY_OWN_CALL = "a method of a layer or a cell that gives what the `call` of its object does"
    BY_OWN_BUILD = "a method of a layer or a cell for which the `build` of its object makes the variables"
    ADDS_COLLECTED = "adds up the losses of a collection, or of a list of them, by the last part of its name"
    PENALTIES = "the name of the collection to which variables add the losses of their regularizers"
    GROWS_WITH_VARIABLES = "the name of a collection that making a variable adds to, and nothing else"
    GIVES_VARIABLES = "gives a list of variables to train or to keep, by the last part of its name"
    VARIABLES_KEY = "names a collection of such variables: an attribute of GraphKeys, or its text"
    TAKES_VARIABLES = "takes a list of variables as it is, by the last part of its name"
    TAKES_GRADIENTS = "takes a list of gradients as it is, by the last part of its name"
    TAKES_PAIRS = "takes pairs of gradients and variables as they are, by the last part of its name"
    TAKES_NUMBERS = "takes a list of numbers as it is, by the last part of its name"
    ELEMENT_BY_ELEMENT = "gives for slices of a variable the slices of its result, by the last part of its name"
    SUMS_SQUARES = "gives a number that the slices of a variable add up to, by the last part of its name"
    OF_ONE_VARIABLE = "takes one variable, slice by slice, by the last part of its name"
    TAKES_ROWS = "takes rows of a variable, by the last part of its name"
    TAKES_VARIABLE = "takes a variable for more than a tensor, by the last part of its name"
    MAKES_TABLES = "makes tables of which it takes rows, by the last part of its name"
    COPIES_CELLS = "copies the cells that it is given before it builds them, by the last part of its name"
    DENSE_GRADIENT = "gives each variable that it takes, or makes, a gradient that is no IndexedSlices"
    BY_VARIABLE = "treats each variable as a whole, by the last part of its name"
    ADDITIVE = "in a regularizer: the results of slices add up to the result of the whole, by the last part of its name"
    ASKS_BY_NAME = "asks for a tensor or an operation by its name, by the last part of its own"
    EXPORTS_BY_NAME = "writes the part of a graph that leads to operations of some names, by the last part of its own"
    GETS_COLLECTION = "reads a collection, by the last part of its name"
    DATA_FIRST = "takes data by its first argument"
    DATA_PAIR = "takes data by either of its two operands"
    DATA_SECOND = "takes data by its second argument, the numbers of rows"
    PRODUCT = "multiplies matrices"
    TRANSPOSES = "turns the axes of a tensor around"
    OF_PAIRS = "a loss that compares the examples of a batch with each other"
    ANY_PRODUCT = "multiplies matrices, dense or sparse ones"
    HOLDS_SETTINGS = "makes a dict or an object of settings of its keyword arguments"
    OPTIMIZER = "a class of optimizers, of which scripts may derive their own"
    ALWAYS_TRUE = "an object of this type is true"
    SETTINGS = "an object of this type holds flags or arguments"
    RUNS = "an object of this type runs a graph, or says how: what the graph computes does not depend on it"
    READS_FILES = "reads the files that its first argument names, or lists them"
    LISTS_FILES = "gives the names of files as a dataset"
    FROM_QUEUE = "a batch from a queue, or a call that is told its size"
    GIVES_BATCHES = "makes batches of single examples, in a data set or a queue"
    FROM_DATA_SET = "a batch from a data set, or a call that is told its size"
    NEXT_BATCH = "gives the next batch of a data set"
    ENQUEUES = "puts examples into a queue that the script makes"
    DEQUEUES = "takes a batch from a queue that the script makes"
    READS_RECORDS = "reads several records of files at a time"
    GIVES_HANDLE = "gives the handle of an iterator"
    TAKES_HANDLE = "makes an iterator that reads what the iterator of a handle reads"
    HAS_DEFAULT = "a placeholder that need not be fed, of the type of its default"
    STARTING_STATE = "gives the state that a recurrent net starts from, by the last part of its name"
    DECODES = "decodes until the longest sequence of the batch ends, by the last part of its name"
    TAKES_LONGEST = "takes the longest length as its argument maxlen"
    OTHER_FLOATS = "another floating point type than float32, or a cast to one, by the last part of its name"
    CASTS_LABELS = "casts labels to the type of its logits"
    FLOAT32_UNLESS_FILLED = "gives float32 unless it is given a type, or values that it fills in"
    TAKES_ALL_VARIABLES = "takes all variables made so far unless it is told which"
    LOSS = "a loss function that adds its result to the collection of losses"
    COLLECTED_BY_NAME_SCOPE = "a layer that is collected under its name scope: it has no variables"
    NAMES_LAYERS = "gives a dict whose keys are the names of layers, some with the name scopes around them"
    GETS_LOSSES = "reads the collection of losses, by the last part of its name"
    MODULE_OF_LAYERS = "a module of functions that make variables, by the last part of its name"
    OF_OBJECTS = "makes variables for objects, which no variable scope sees"
    CURRENT_SCOPE = "gives the variable scope that is open"
    AVERAGES_BEHIND_STEP = "an optimizer that keeps moving averages of the variables, by the last part of its name"
    BY_NAME = "takes an optimizer by its name, or a function that makes one, by the last part of its name"
    SLOTS_IN_SCOPE = "makes slots in a variable scope of its own, by the last part of its name"
    TAKES_ROWS_OF_SLICES = "takes the same rows of slices and of the whole, by the last part of its name"
    GIVES_PAIRS = "gives pairs of gradients and variables, by the last part of its name"
    GIVES_GRADIENTS = "gives a list of gradients, by the last part of its name"
    HOLDS_VARIABLES = "an attribute of an object that lists its variables"
    SESSION = "makes a session"
    MANAGED_SESSION = "makes a session that initialises variables by itself, or an object that does"
    INITIALIZES = "gives the operation that initialises variables or tables"
    NO_OPERATIONS = "adds no operation to the graph"
    GROUPS = "makes one operation of several"
    SEEDS = "seeds the graph's random numbers"
    SAVES = "makes an object that saves variables"
    CHECKPOINTS = "writes variables to a checkpoint or takes them from one, by the last part of its name"
    PLACEHOLDER = "is fed"
    DEVICE = "places operations on a device"
    UPDATES_COLLECTION = "the name of the collection that layers add their updates to"
    GIVES_COLLECTED_LOSSES = "gives collected losses, or their sum, by the last part of its name"
    ASSIGNS = "changes a variable, by the last part of its name"
    COMPUTES_ONE = "computes something of the tensors that it is given, and changes nothing"
    SHOWS = "shows its arguments, and gives nothing that is computed of them"
    CLIPS = "clips gradients by a norm, by the last part of its name"
    NORMALIZES = "normalises with statistics of the batch, by the last part of its name"
    MAKES_ITERATOR = "makes an iterator of a data set, by the last part of its name"
    DATA_SET = "makes a data set"
    ESTIMATOR = "makes an Estimator, which trains by itself"
    TRAINS_ITSELF = "makes an object with a method that trains"
    OWN_MODEL = "makes an Estimator of a model function"
    OPTIMIZED_MODEL = "makes an Estimator that an optimizer of tf.train trains, which the library makes"
    MIRRORED_MODEL = "makes an Estimator whose model a strategy can mirror"
    TAKES_NO_STRATEGY = "stands in a library whose Estimators take no distribution strategy"
    RUN_CONFIG = "makes the configuration of an Estimator"
    TRAINING_SPEC = "says what an Estimator is trained with"
    EVALUATION_SPEC = "says what an Estimator is evaluated with"
    NUMPY_INPUT = "makes an input function of arrays"
    BUILDS_MODEL = "makes a Keras model, or a layer of one"
    READS_MODEL = "reads a Keras model from a file"
    KERAS = "belongs to Keras"
    FITS_MODEL = "trains a Keras model, by the name of its method"
    KERAS_INPUT = "makes the input of a Keras model, by the last part of its name"
    STARTS_EAGERNESS = "switches eager execution on, by the last part of its name"
    KERAS_BATCH_NORM = "makes a layer of Keras that normalises with statistics of the batch"
    TAPE = "notes operations, to take gradients of them"
    ENDS_EAGERNESS = "must be called before the first operation, by the last part of its name"
    SETS_SESSION = "hands Keras a session of the script's"
    COUNTS_BATCHES = "a method of a data set that is told a number of its elements"
    CLIPS_ENTRIES = "clips entries one by one, by the last part of its name"
    DIVIDES_OR_MULTIPLIES = "divides or multiplies two tensors"
    NAMES_OPERATIONS = "opens a scope whose name stands before those of its operations"
    ADDS_UP = "adds up the entries of its operand"
    AVERAGES = "gives the mean of the entries of its operand"
    MASKS = "leaves out some entries of its operand"
    KNOWS_LENGTHS = "is told which steps of a sequence are padding, or which rows are left out"
    TELLS_PADDING = "tells padding from the values of a sequence, or from their signs"
    PADS_BATCHES = "pads each batch of a data set to its longest example, unless it is told how long"
    TAKES_PADDED_SHAPES = "is told by its second argument how long examples are once they are padded"
    SCHEDULES = "makes a learning rate that depends on the number of steps"
    SHOWS_DEVICES = "says which devices are used, for the whole program"
    ASKED_BY_HOOK = "what a hook asks for in front of a run: more fetches, and feeds"
    FEEDS_BY_FUNCTION = "a hook that feeds what a function returns"
    TAKES_EPOCHS = "goes over its data as often as num_epochs says, by the last part of its name"
    SAYS_TO_STOP = "says whether there are no more batches, or the session is to end, by the last part of its name"
    ASKS_TO_STOP = "ends the session or its threads soon, by the last part of its name"
    ENDS_AT_STEP = "a hook that ends the session at a step"
    FEEDS_NOTHING = "a hook that feeds nothing, or the class that hooks inherit from"
    SPEC = "what a model function gives"
    CLIPS_TOGETHER = "clips a list of gradients by the norm of all of them, by the last part of its name"


class Argument(Enum):
    """An argument that a call takes at some position."""

    NAME = "the name of the operation"
    DTYPE = "the type of the result, float32 where it is not given"
    OPTIMIZER = "the optimizer, or its name"
    LENGTHS = "how long each sequence is"


@cache
@cache
def has(name: str, trait: Trait) -> bool:
    """Whether an operation, a call or a type of objects has a property."""
    return name in names(trait) or any(fnmatchcase(name, pattern) for pattern in _patterns(trait))


@cache
def names(trait: Trait) -> frozenset[str]:
    """The names that have a property, patterns such as `layers.*` included."""
    found: list[str] = []
    for module in rule_modules("calls"):
        found += getattr(module, "TRAITS", {}).get(trait, "").split()
    once = frozenset(found)
    if not found or len(once) < len(found):
        twice = {name for name in found if found.count(name) > 1}
        raise ValueError(f"{trait} of {', '.join(sorted(twice)) or 'nothing'} in several files")
    return once


def name_of(trait: Trait) -> str:
    """The name with a property that only one name has."""
    (name,) = names(trait)
    return name


@cache
def _patterns(trait: Trait) -> tuple[str, ...]:
    return tuple(name for name in names(trait) if "*" in name)


@cache
def positions(argument: Argument) -> dict[str, int]:
    """Where calls take an argument, by their names."""
    tables = (getattr(module, "POSITIONS", {}).get(argument, {}) for module in rule_modules("calls"))
    return {name: place for table in tables for name, place in table.items()}


def optimizers_by_name() -> dict[str, str]:
    """What optimizers are made by that calls are given by a name: {name: call with `rate`}."""
    return _entries("BY_NAME")


def step_numbers() -> dict[str, tuple[tuple[int, str], ...]]:
    """The arguments of calls that count training steps, each by its position and its keyword."""
    return _entries("STEP_NUMBERS")


def step_counters() -> dict[str, tuple[int, str]]:
    """The argument that schedules take for the number of the step, by its position and its keyword."""
    return _entries("STEP_COUNTERS")


def default_rates() -> dict[str, str]:
    """The learning rates of optimizers that take one of their own where they are given none."""
    return _entries("DEFAULT_RATES")


def clip_arguments() -> dict[str, str]:
    """The arguments by which calls clip gradients, by the last parts of the calls' names."""
    return _entries("CLIP_ARGUMENTS")


@cache
def _entries(table: str) -> dict[str, Any]:
    """The entries of a table that files of calls may have, by the names of calls."""
    tables = (getattr(module, table, {}) for module in rule_modules("calls"))
    return {name: entry for one in tables for name, entry in one.items()}
