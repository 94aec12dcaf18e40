"""The size of the batches was not found."""

from __future__ import annotations

from converter.planner.plan_faults import PlanFault
from converter.planner.wording import Words

# How a step goes on whose batch does not grow with the number of towers.
GOES_ON = ": a step goes on taking as many examples as before, shared among the towers (--batch total)"

WORDS = {
    PlanFault.QUEUE_FILLED_BY_HAND: Words(
        "TMG303",
        "the script fills the queue of its batches in runs of its own, as many examples at a time as before" + GOES_ON,
        "fill it by a QueueRunner, which goes on until a larger batch is there",
    ),
    PlanFault.PLAIN_NUMBER_OF_ROWS: Words(
        "TMG303",
        "the shape of this input gives the number of rows as a plain number" + GOES_ON,
        "name the batch size batch_size, and write this name in shapes and where batches are made",
    ),
    PlanFault.SIZE_NOT_FOUND: Words(
        "TMG303",
        "the size of the batches that are fed here was not found" + GOES_ON,
        "cut the batches that are fed here by one number, named batch_size, in this file or one that it imports",
    ),
    PlanFault.NUMBER_OF_PARTS: Words(
        "TMG303",
        "the data is split here into a number of batches, and no number says how large they are" + GOES_ON,
        "compute the number of parts from the batch size: len(x) // batch_size",
    ),
    PlanFault.SIZE_OF_TWO_CALLS: Words(
        "TMG303",
        "this call hands over the batch size by itself, another call of the function in a dict of settings" + GOES_ON,
        "hand over the batch size in the same way in all calls of the function",
    ),
    PlanFault.SETTING_OR_NUMBER: Words(
        "TMG303",
        "the batch size that is read here may be one that the script has set, or one that it has read from outside"
        + GOES_ON,
        "put the number that the script sets into the settings before those from outside are put in",
    ),
    PlanFault.SIZE_IN_OTHER_MEANING: Words(
        "TMG303",
        "this number is as large as the batch size, {number}, and may mean another thing" + GOES_ON,
        "name the batch size batch_size, and write this name wherever it is meant",
    ),
    PlanFault.ROWS_BESIDE_TURNS: Words(
        "TMG303",
        "the batches have as many rows as this number says, and the batch size tells how often a loop turns" + GOES_ON,
        "name the number of rows batch_size, and write this name wherever it is meant",
    ),
    PlanFault.OTHER_SIZE_OF_STATE: Words(
        "TMG303",
        "the state that the steps hand on begins with as many examples as this number says, which is not seen to be "
        "the batch size" + GOES_ON,
        "make the first state by the batch size's own name",
    ),
    PlanFault.RESHAPED_DATA: Words(
        "TMG303",
        "the data that is reshaped here by the batch size does not grow with it" + GOES_ON,
        "compute the number of batches from the batch size, or write -1 in its place",
    ),
    PlanFault.BINS_OF_HISTOGRAM: Words(
        "TMG303",
        "the batch size is the number of bins of this histogram, and more bins are narrower ones" + GOES_ON,
        "give the histogram a number of its own, and cut the batches from its bins",
    ),
    PlanFault.GRID_OF_BATCH: Words(
        "TMG303",
        "this lays out a batch in a grid whose sides are the root of the batch size, and the root of a multiple of it "
        "may be no whole number" + GOES_ON,
        "cut what is shown to the grid, as samples[:n * n], or draw a number of its own for it",
    ),
    PlanFault.ROWS_OF_ANOTHER_DEGREE: Words(
        "TMG303",
        "a step is fed {rows} rows here, which N times the batch size does not make N times as many" + GOES_ON,
        "feed a multiple of the batch size in each step to scale up",
    ),
    PlanFault.FED_BY_CALLER: Words(
        "TMG303",
        "what is fed here is an argument of a function that nothing in these files calls" + GOES_ON,
        "hand over batches of the size of one tower times the number of GPUs to scale up",
    ),
    PlanFault.FED_BY_HOOK: Words(
        "TMG303",
        "the batches are fed by this hook of the session, in a way that is not followed" + GOES_ON,
        "return tf.train.SessionRunArgs(…, feed_dict=…) from before_run of a class in these files, or give a "
        "function that returns the feeds to tf.train.FeedFnHook",
    ),
    PlanFault.STEP_RUN_ELSEWHERE: Words(
        "TMG303",
        "this training step is run by code outside this file" + GOES_ON,
        "feed batches of the size of one tower times the number of GPUs to scale up",
    ),
}
