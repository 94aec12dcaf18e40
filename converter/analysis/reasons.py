"""Why a tensor is not known to hold examples, a mean or a sum: the reasons with their messages."""

from __future__ import annotations

from enum import Enum


class Why(Enum):
    """A reason; its value is the message, with {} in place of `Batch.about`."""

    # examples meet each other
    WHOLE_GRAPH = "the batch is multiplied by a matrix over all of its examples"
    MEETS_VARIABLES = "the batch is set against variables that have a row for each of its examples"
    MULTIPLIED = "examples of the batch are multiplied with each other"
    BROADCAST = "examples of the batch are combined with each other (broadcasting)"
    PAIRED = "a matrix over the examples of the batch"
    SUMMED_PRODUCT = "the batch is summed over in an einsum"
    TENSORDOT = "a tensordot over batched tensors"
    STEPS = "the result for one row of the batch goes into the next: its rows are the steps of one sequence"
    HISTORY = "an attention history has as many steps as the longest sequence of a shard"
    CONFLICT = "several concatenated batches are combined with an input that has one row for each example"
    OWN = "each tower has examples of its own, of any shape"
    # rows are picked, cut or joined
    APART = "the batch is taken apart example by example"
    PART = "a part of the batch is taken"
    PICKED = "one example of the batch is picked"
    PICKED_BY_INDEX = "examples of the batch are picked by index"
    PICKED_BY_PLACE = "entries of the batch are picked by their indices"
    PLACES_FED = "tf.{} takes numbers of rows that are fed: they count the whole batch, and a tower has a part of it"
    PICKED_LARGEST = "the largest values of the batch are picked"
    PLACES_OF_BATCH = "the places of maxima are counted through the whole batch (include_batch_in_index)"
    SEGMENTS = "tf.{} joins rows of the batch by numbers of segments: those of a shard are other ones"
    PLACES = "tf.where gives indices into the batch"
    JOINED = "several rows of the batch are joined to one: its rows are not the examples"
    PIECES = "the batch is split into consecutive pieces: the pieces of a shard are other ones"
    SPLIT = "the batch is split"
    PADDED = "the batch is padded"
    REVERSED = "the order of the batch is reversed"
    ALONG_BATCH = "tf.{} runs over the batch"
    ALONG_EXAMPLES = "tf.{} goes along the axis of the examples"
    MATRIX_OF_BATCH = "tf.{} works on the last axes, one of which may be the batch's"
    BAND = "the band of a matrix over the batch is taken"
    # shapes
    UNSIZED = "the batch is reshaped to a number of rows that is not known to be the batch size"
    UNWRITTEN_SHAPE = "it is reshaped to a shape that is not written out"
    TO_SCALAR = "the batch is reshaped to a scalar"
    TO_ONE_ELEMENT = "the batch is reshaped to one element"
    CUT_OR_JOINED = "it is reshaped so that examples are cut apart or joined"
    BATCH_NOT_IN_FRONT = "it is reshaped so that the batch is no longer in front"
    RESHAPED_BEHIND = "a tensor whose batch axis is not the first is reshaped"
    SQUEEZED = "the batch axis is squeezed away"
    UNKNOWN_RANK_TRANSPOSED = "a tensor of unknown rank is transposed"
    UNKNOWN_RANK_MULTIPLIED = "tensors of unknown rank are multiplied"
    PERMUTATION = "the permutation of a transpose is not a constant"
    AXIS = "the axis of {} is not a constant"
    AXIS_UNKNOWN = "the axis that tf.{} goes along is not known"
    MULTIPLES = "the multiples of a tile are not written out"
    # reductions
    SUM_IN_BRANCH = "it is a sum over the examples in one branch of a condition, and none in another"
    MASK_IN_BRANCH = "it is a mean over the entries that a mask leaves in one branch of a condition only"
    DIFFERS_IN_BRANCHES = "it differs between the branches of a condition"
    OVER_REDUCTION = "a number is divided by a reduction of the batch"
    NOT_LINEAR = "a reduction of the batch goes through a function that is not linear"
    CONDITION = "a condition on the batch chooses what it is"
    PRODUCT = "a product with a reduction of the batch"
    RATIO = "a ratio of two sums over the examples"
    PARTS_ADDED = "means over different parts of the batch are added"
    SUM_AND_MEAN = "a sum and a mean over the examples are added"
    NEITHER = "a reduction over the batch that is neither a mean nor a sum"
    NEITHER_CALL = "tf.{} over the batch is neither a mean nor a sum"
    VARIANCE = "a variance over the batch"
    STATISTIC = "a statistic of the batch"
    NORM = "a norm over the batch is not linear"
    GLOBAL_NORM = "a global norm"
    SEQUENCE_LOSS = "a sequence loss that is not averaged over steps and examples"
    CLASSES = "the classes are on the batch axis"
    CLASSES_DRAWN = "the classes to draw from are the examples of the batch"
    AGAINST_BATCH = "examples are combined with a sum or a maximum of their batch"
    AGAINST_MEAN = "examples are multiplied by a mean of their batch: a product of two means"
    DIVISOR_UNSEEN = "its denominator is not available where the towers are built"
    # distributions
    LAST_AXIS = "the last axis of a distribution's parameters is the batch's"
    SAMPLE_SHAPE = "the shape of a sample is not written out"
    SAMPLES_FOR_EACH = "for each example, as many samples as the batch has examples are drawn"
    UNKNOWN_DISTRIBUTION = "one of the two distributions is not known"
    TRIANGLE = "the triangular part may be taken over the batch"
    # code that is not followed
    UNSEEN = "the labels are compared with a value from code that is not followed"
    UNKNOWN_CALL = "the effect of {} on the batch is not known"
    HOST_CODE = "it comes out of {}, which is not followed"
    HOST_OBJECT = "it is made of a Python object that is not followed"
    ATTRIBUTE = "its attribute .{} is not known"
    HOST_FUNCTION = "tf.{} computes it in Python; set_shape([None, ...]) would say that it has a row for each example"
    CUSTOM = (
        "{} is an operation of a library that the script loads; set_shape([None, ...]) on its result would say that it "
        "has a row for each example"
    )
    COLLECTED = "which of the model's tensors a collection holds is not followed"
    LOOP = "tf.{} goes over the batch in a way that is not followed"
    SPARSE = "it is a sparse tensor"
    SPARSE_ENTRIES = "it has any number of entries for each row of a sparse tensor"
    # data in the graph
    MEETS_REDUCTION = "the data are combined with a value that is computed from all of them"
    DATA_RANKS = "data with an unknown number of axes are combined with each other"
    MEETS_ROWS = "the data are combined with a value that may have one entry for each example"


# Code that is not seen: what the script says of its result's rows, by a shape or by labels beside them, is believed.
UNSEEN_CODE = (Why.HOST_FUNCTION, Why.CUSTOM)
