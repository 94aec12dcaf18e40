"""One process for each GPU: what a script that was converted for a cluster carries.

Each process runs the whole script with a graph of its own. TensorFlow's collective runtime, the engine below
MultiWorkerMirroredStrategy, averages the gradients; everything else of the graph stays as the script builds it.
"""

import atexit
import itertools
import json
import logging
import os
import pickle
import random
import shutil
import socket
import sys
import tempfile
import threading
import time
import zlib

import numpy

try:
    import tensorflow.compat.v1 as tf
except ImportError:  # before 1.13
    import tensorflow as tf

__version__ = '0.2.0'


class Cluster(object):
    """This process among those that train together, one for each GPU; worker 0 is the chief.

    TF_CONFIG says where the others are, or --worker_hosts=a:2222,b:2222 and --task_index=0 do (the script does not see
    these words). With neither the script trains alone, as it was written. In a cluster this object changes how
    TensorFlow's sessions, optimizers, savers and event files work in this process:

    - a session computes on this worker's devices;
    - `compute_gradients`, and `tf.gradients` by variables, give the mean of all workers' gradients;
    - a run of a training step takes this worker's part of the data. deal='rows': a batch is as large as those of all
      workers together, and each takes its rows. deal='batches': each N-th run makes a step, of the last N batches.
      deal='files': each run makes a step, of a batch of each worker's own files;
    - all workers begin with the chief's variables, and what a run returns is the same in all of them;
    - the chief alone prints, saves checkpoints, and writes files.

    main: False where another script imports this one. by_rows: whether a batch of n rows counts n times in the mean.
    whole: names of placeholders whose arrays are no rows. eager: False where Keras trains: TensorFlow must not execute
    eagerly then, as there would be no session.
    """

    def __init__(self, main=True, deal='rows', by_rows=True, whole=(), eager=True):
        self.deal, self.by_rows, self.whole = deal, by_rows, whole
        hosts, self.index = cluster_hosts() if main and cluster_may_start() else ([], 0)
        self.size, self.is_chief = max(len(hosts), 1), self.index == 0
        if self.size > 1 and not eager and tf.executing_eagerly():
            cluster_error('TensorFlow executes eagerly, so that Keras trains without a session; '
                          'call tf.compat.v1.disable_v2_behavior() below the imports')
        if self.size > 1:
            self.start(hosts)
            self.gradients = ClusterGradients(self)
            self.runs = ClusterRuns(self)
            self.files = ClusterFiles(self)
            self.draw_alike()

    def part_of(self, names):
        """This worker's part of the names of files, a list, a tensor or a dataset: every N-th, from its number on."""
        if hasattr(names, 'shard'):
            return names.shard(self.size, self.index)
        if isinstance(names, tf.Tensor):
            with tf.control_dependencies([tf.assert_greater_equal(
                    tf.size(names), self.size, message='fewer files than workers')]):
                return tf.reshape(names, [-1])[self.index::self.size]
        if isinstance(names, str) and self.size > 1 or not isinstance(names, str) and len(names) < self.size:
            cluster_error('there are fewer files than workers: %s' % (names,))
        return names if isinstance(names, str) else names[self.index::self.size]

    def start(self, hosts):
        """Starts this process's server, waits for the others, and checks that all run the same script."""
        self.thread, self.failed, self.here = threading.current_thread(), False, threading.local()
        self.task = '/job:worker/replica:0/task:%d' % self.index
        self.config = tf.ConfigProto(
            allow_soft_placement=True, isolate_session_state=True, device_filters=[self.task])
        self.config.gpu_options.allow_growth = True
        self.config.experimental.collective_group_leader = '/job:worker/replica:0/task:0'
        self.config.experimental.collective_nccl = True
        # TensorFlow 1.15 puts sums of a loop's gradients into temporary variables, which fail beside collectives.
        self.config.graph_options.rewrite_options.arithmetic_optimization = 2  # off
        try:
            self.server = tf.train.Server(
                {'worker': hosts}, job_name='worker', task_index=self.index, config=self.config)
        except tf.errors.OpError as error:
            cluster_error('%s cannot be used: %s' % (hosts[self.index], str(error).splitlines()[0]))
        cluster_wait(hosts)
        self.messages = ClusterMessages(self)
        self.host = self.device = self.task + '/device:CPU:0'
        if any(':GPU:' in device.name for device in self.messages.session.list_devices()):
            self.device = self.task + '/device:GPU:0'
        for what, path in (('the script', sys.argv[0]), ('the helpers', __file__.replace('.pyc', '.py'))):
            with open(path, 'rb') as file:
                self.agree('the text of ' + what, zlib.crc32(file.read()))
        self.agree('the version of TensorFlow', tf.__version__)
        shown, leave = sys.excepthook, sys.exit

        def fail(*error):
            self.failed = True
            shown(*error)

        def end(status=None):
            self.failed = self.failed or bool(status)
            leave(status)

        sys.excepthook, sys.exit = fail, end
        atexit.register(self.leave)

    def leave(self):
        """Waits for the others at the end: one that is gone could not send them its part of the last step."""
        if not self.failed:
            if self.is_chief and not self.runs.trained:
                sys.stderr.write('cluster: no training step was taken: no optimizer of tf.train or Keras has run '
                                 'in a session\n')
            try:
                self.messages.all(b'end', 20)
                time.sleep(1)
            except tf.errors.OpError:
                pass

    def agree(self, what, value):
        """Ends all workers with one message where they have different values."""
        values = [pickle.loads(data) for data in self.messages.all(pickle.dumps(value, 2))]
        for index, other in enumerate(values):
            if other != values[0]:
                cluster_error('%s of worker %d is not that of worker 0: %s, %s' % (what, index, other, values[0]))

    def of_chief(self, value):
        """The chief's value of something, for all."""
        data = self.messages.all(pickle.dumps(value, 2) if self.is_chief else b'')[0]
        return value if self.is_chief else pickle.loads(data)

    def leads(self):
        """Whether this thread is the one that all workers have alike; others run what they like, each for itself."""
        return threading.current_thread() is self.thread and not self.is_alone()

    def is_alone(self):
        """Whether this thread is in something that this worker does by itself."""
        return getattr(self.here, 'alone', False)

    def by_itself(self, function, *args, **kwargs):
        """The result of a function whose runs of sessions are this worker's alone."""
        before, self.here.alone = self.is_alone(), True
        try:
            return function(*args, **kwargs)
        finally:
            self.here.alone = before

    def draw_alike(self):
        """Lets all workers draw the same numbers in Python, in NumPy and for the order of datasets."""
        from tensorflow.python.data.util import random_seed as of_datasets
        from tensorflow.python.framework import random_seed

        def seeding(plain):
            def seed(*args, **kwargs):  # which may be the time
                args, kwargs = self.of_chief((args, kwargs)) if self.leads() else (args, kwargs)
                return plain(*args, **kwargs)
            return seed

        random.seed(0)
        numpy.random.seed(0)
        random.seed, numpy.random.seed = seeding(random.seed), seeding(numpy.random.seed)
        of_graph, of_dataset, datasets = random_seed.get_seed, of_datasets.get_seed, []

        def graph_seed(seed):
            first, second = of_graph(seed)
            own = second is not None and not datasets and not tf.executing_eagerly()
            return first, second + 7919 * self.index if own else second  # dropout of each worker's own

        def dataset_seed(seed):
            graph = tf.get_default_graph()
            if seed is None and graph.seed is None:
                seed = cluster_state(graph).shuffle()
            datasets.append(seed)
            try:
                return of_dataset(seed)
            finally:
                datasets.pop()

        random_seed.get_seed, of_datasets.get_seed = graph_seed, dataset_seed


def cluster_hosts():
    """The addresses of all workers and the number of this one; takes its own words from the command line."""
    told, kept, words = {}, sys.argv[:1], iter(sys.argv[1:])
    for word in words:
        name, equals, value = word.partition('=')
        if name in ('--worker_hosts', '--task_index'):
            told[name] = value if equals else next(words, '')
        else:
            kept.append(word)
    sys.argv[:] = kept
    try:
        given = json.loads(os.environ.pop('TF_CONFIG', '') or '{}')
        if not isinstance(given, dict):
            raise ValueError('it is no object of JSON')
        jobs = given.get('cluster') or {'worker': [host for host in told.get('--worker_hosts', '').split(',') if host]}
        task = given.get('task') or {'index': told.get('--task_index') or 0}
        tasks = [(job, number) for job in ('chief', 'master', 'worker') for number in range(len(jobs.get(job, ())))]
        hosts = [str(jobs[job][number]) for job, number in tasks]
        own = task.get('type', 'worker'), int(task.get('index', 0))
    except (ValueError, AttributeError, TypeError, KeyError) as error:
        cluster_error('TF_CONFIG, or --task_index, cannot be read: %s' % error)
    if own[0] not in ('chief', 'master', 'worker'):
        cluster_error('there is nothing to do for a task of type %s: the workers train, and the chief does the rest; '
                      'start none' % own[0])
    if (given or told) and not hosts:
        cluster_error('%s names no worker' % ('TF_CONFIG' if given else '--worker_hosts'))
    for host in hosts:
        if not host.rpartition(':')[0] or not host.rpartition(':')[2].isdigit():
            cluster_error('%s is no address of a worker: a list of HOST:PORT is wanted' % host)
    if hosts and own not in tasks:
        cluster_error('there is no %s %d among %s' % (own + (', '.join('%s %d' % task for task in tasks),)))
    index = tasks.index(own) if hosts else 0
    if 'CLUSTER_GPU' in os.environ:  # set for this worker by whoever starts all of them
        os.environ['CUDA_VISIBLE_DEVICES'] = os.environ['CLUSTER_GPU']
    return hosts, index


def cluster_may_start():
    """Whether this is no process that the script has started itself, and TensorFlow has collectives."""
    multiprocessing = sys.modules.get('multiprocessing')
    if multiprocessing is not None and multiprocessing.current_process().name != 'MainProcess':
        return False
    version = [int(part) for part in tf.__version__.split('.')[:2]]
    if version < [1, 14] and (os.environ.get('TF_CONFIG') or '--worker_hosts' in ' '.join(sys.argv)):
        cluster_error('TensorFlow %s has no collectives that work here: 1.14 is the first' % tf.__version__)
    return version >= [1, 14]


def cluster_wait(hosts):
    """Waits until all workers listen; CLUSTER_WAIT: for how many seconds (300)."""
    until = time.time() + float(os.environ.get('CLUSTER_WAIT') or 300)
    for host in hosts:
        name, _, port = host.rpartition(':')
        while True:
            try:
                socket.create_connection((name.strip('[]'), int(port)), 5).close()
                break
            except (OSError, IOError, ValueError) as error:
                if time.time() > until:
                    cluster_error('worker %d does not answer at %s: %s' % (hosts.index(host), host, error))
                time.sleep(0.2)


def cluster_error(message):
    """Ends this process with one line and status 2."""
    sys.stderr.write('cluster: %s\n' % message)
    sys.stderr.flush()
    raise SystemExit(2)


class ClusterMessages(object):
    """Byte strings that all workers send one another, by collectives of a graph of their own."""

    SHORT = 1024  # bytes that one collective carries; longer ones take a second one, by powers of two

    def __init__(self, cluster):
        self.cluster, self.made, self.run = cluster, {}, tf.Session.run
        with tf.Graph().as_default() as self.graph:
            self.session = tf.Session(cluster.server.target, config=cluster.config)

    def all(self, data, seconds=0):
        """What all workers give, in their order."""
        heads = self.gathered(numpy.int32(len(data)).tobytes() + data[:self.SHORT - 4], self.SHORT, seconds)
        lengths = [int(numpy.frombuffer(head[:4], numpy.int32)[0]) for head in heads]
        longest = max(lengths)
        if longest <= self.SHORT - 4:
            return [head[4:4 + length] for head, length in zip(heads, lengths)]
        wholes = self.gathered(data, 1 << (longest - 1).bit_length(), seconds)
        return [whole[:length] for whole, length in zip(wholes, lengths)]

    def gathered(self, data, size, seconds):
        """`size` bytes of each worker."""
        from tensorflow.python.ops import collective_ops

        if size not in self.made:
            with self.graph.as_default(), tf.device(self.cluster.task + '/device:CPU:0'):
                given = tf.placeholder(tf.int32, [size // 4])
                self.made[size] = given, collective_ops.all_gather(
                    tf.identity(given), self.cluster.size, 1, 1000000000 + size)
        given, sent = self.made[size]
        words = numpy.frombuffer(data + b'\0' * (size - len(data)), numpy.int32)
        options = tf.RunOptions(timeout_in_ms=int(seconds * 1000))
        whole = self.run(self.session, sent, {given: words}, options).tobytes()
        return [whole[begin:begin + size] for begin in range(0, len(whole), size)]


class ClusterState(object):
    """What is known of one graph.

    weight: how much this worker's gradients count, 1 on average. reduced: the collectives that average gradients.
    losses: names of what was differentiated; trained: names of the operations of the variables that it was by.
    shuffles: seeds of datasets. steps: {names of what is run: ClusterStep}.
    """

    def __init__(self, graph):
        self.graph, self.reduced, self.losses, self.shuffles, self.steps = graph, set(), set(), [], {}
        self.trained, self.weight, self.share = set(), None, None
        self.starts, self.waiting, self.copies = {}, {}, {}
        self.seen = -1, False  # version of the graph, and whether batches came into it

    def weighted(self):
        """The placeholder of the weight."""
        if self.weight is None:
            with self.graph.control_dependencies(None), tf.device(None), tf.name_scope(None):
                self.weight = tf.placeholder_with_default(
                    tf.constant(1.0), [], name='cluster_weight')
        return self.weight

    def shared(self):
        """The placeholder of this worker's part in a count that all keep: 0 or 1; below 0 it counts alone."""
        if self.share is None:
            with self.graph.control_dependencies(None), tf.device(None), tf.name_scope(None):
                self.share = tf.placeholder_with_default(tf.constant(-1.0), [], name='cluster_share')
        return self.share

    def takes_data(self):
        """Whether batches come into the graph: steps that draw theirs in it, as a generator's, keep pace."""
        if self.seen[0] != self.graph.version:
            self.seen = self.graph.version, any(
                op.type in ClusterStep.SOURCES or op.type == 'Placeholder' and op.outputs[0].shape.ndims != 0
                for op in self.graph.get_operations())
        return self.seen[1]

    def shuffle(self):
        """A seed for the order of a dataset; it differs each time an iterator starts."""
        with tf.device(None):
            seed = tf.placeholder_with_default(
                tf.constant(len(self.shuffles) + 1, tf.int64), [], name='cluster_shuffle')
        self.shuffles.append(seed)
        return seed


def cluster_state(graph):
    """What is known of a graph."""
    if not hasattr(graph, '_cluster_state'):
        graph._cluster_state = ClusterState(graph)
    return graph._cluster_state


def cluster_is_array(value):
    """Whether what is fed is an array: no number. A tensor that is fed stands for one."""
    return isinstance(value, tf.Tensor) or bool(numpy.ndim(value))


def cluster_above(operations, by_control=True, stop=()):
    """The operations that these need, themselves included; not what those in `stop` need."""
    found, left = set(), list(operations)
    while left:
        operation = left.pop()
        if operation not in found:
            found.add(operation)
            if operation not in stop:
                left.extend(tensor.op for tensor in operation.inputs)
                left.extend(operation.control_inputs if by_control else ())
    return found


class ClusterGradients(object):
    """Averages gradients over the workers, each with its weight."""

    SMALL = 1 << 18  # gradients up to this many numbers go together, in one collective

    def __init__(self, cluster):
        from tensorflow.python.ops import variables
        from tensorflow.python.training import optimizer

        self.cluster, self.keys, self.is_variable = cluster, itertools.count(1), variables.Variable
        compute, plain = optimizer.Optimizer.compute_gradients, tf.gradients

        def compute_gradients(maker, loss, *args, **kwargs):
            self.note(loss)
            pairs = compute(maker, loss, *args, **kwargs)
            found = self.mean([gradient for gradient, _ in pairs], [variable for _, variable in pairs])
            return list(zip(found, [variable for _, variable in pairs]))

        def gradients(ys, xs, *args, **kwargs):
            self.note(ys)
            found = plain(ys, xs, *args, **kwargs)
            by = list(xs) if isinstance(xs, (list, tuple)) else [xs]
            return self.mean(found, by) if all(isinstance(x, self.is_variable) for x in by) else found

        optimizer.Optimizer.compute_gradients = compute_gradients
        for name, module in list(sys.modules.items()):
            is_read = name == 'tensorflow' or name.startswith('tensorflow') and name.endswith('.v1')
            if is_read and getattr(module, 'gradients', None) is plain:  # by scripts, and by Keras
                module.gradients = gradients
        for name, imported in (('backend', 'gradients_module'), ('optimizer_v2.optimizer_v2', 'gradients')):
            module = sys.modules.get('tensorflow.python.keras.' + name)
            if hasattr(module, imported):
                setattr(module, imported, ClusterNames(getattr(module, imported), gradients=gradients))
        self.ordered = set()
        self.counts()
        self.averages()
        self.keras()

    def counts(self):
        """Lets all workers count together in variables that are sums over replicas, as those of Keras' metrics."""
        from tensorflow.python.ops import resource_variable_ops

        kind = resource_variable_ops.ResourceVariable
        plain = kind.assign_add

        def assign_add(variable, delta, *args, **kwargs):
            kinds = variable.aggregation.name, variable.synchronization.name
            if (kinds == ('SUM', 'ON_READ') or hasattr(variable, 'cluster_counts')) and not tf.executing_eagerly():
                delta = self.counted(tf.convert_to_tensor(delta, variable.dtype.base_dtype))
            return plain(variable, delta, *args, **kwargs)

        kind.assign_add = assign_add

    def keras(self):
        """Lets the package `keras` (2.2 and 2.3) do what TensorFlow's own does: metrics of all, steps counted last."""
        metric, optimizer, model = (getattr(sys.modules.get('keras.' + module), name, None) for module, name in (
            ('metrics', 'Metric'), ('optimizers', 'Optimizer'), ('engine.training', 'Model')))
        if not hasattr(model, '_make_train_function'):
            return
        start, add = optimizer.__init__, getattr(metric, 'add_weight', None)

        def started(this, *args, **kwargs):
            start(this, *args, **kwargs)
            plain = this.get_updates

            def get_updates(*given, **named):
                updates = plain(*given, **named)
                if isinstance(getattr(this, 'iterations', None), self.is_variable):
                    self.count_last(this.iterations)
                return updates

            this.get_updates = get_updates

        def add_weight(this, *args, **kwargs):
            variable = add(this, *args, **kwargs)
            variable.cluster_counts = True
            return variable

        optimizer.__init__ = started
        if add is not None:
            metric.add_weight = add_weight

    def count_last(self, variable):
        """Makes what adds to a variable wait for what reads it: else each worker has its own order of the two."""
        used = variable.op.outputs[0].consumers()
        reads = [op for op in used if op.type in ('Identity', 'ReadVariableOp')]
        reads += [op for read in reads for op in read.outputs[0].consumers()]
        for add in used:
            if add.type in ('AssignAdd', 'AssignAddVariableOp') and add not in self.ordered:
                self.ordered.add(add)
                add._add_control_inputs([op for op in reads if add not in cluster_above([op])])

    def averages(self):
        """Lets moving averages of single numbers, as of losses, follow the means over all workers' rows."""
        from tensorflow.python.training import moving_averages

        plain = moving_averages.assign_moving_average

        def assign(variable, value, *args, **kwargs):
            if isinstance(value, tf.Tensor) and value.shape.ndims == 0 and value.dtype.is_floating:
                weight = cluster_state(value.graph).weighted()
                value = self.in_step(value, lambda: tf.cast(weight, value.dtype) * value, 'Div')
            return plain(variable, value, *args, **kwargs)

        moving_averages.assign_moving_average = assign

    def counted(self, delta):
        """The sum over all workers of what they add to a count in a training step; elsewhere, what this one adds."""
        share = cluster_state(delta.graph).shared()
        return self.in_step(delta, lambda: tf.cast(delta, tf.float64) * tf.cast(share, tf.float64), 'Id')

    def in_step(self, tensor, own, final):
        """In a training step what all workers' parts come to, `own()` of each; elsewhere, the tensor."""
        def of_all():
            found = self.reduced(own(), final, self.cluster.host)
            cluster_state(found.graph).reduced.discard(found.op)  # no gradient
            return tf.cast(found, tensor.dtype)

        share = cluster_state(tensor.graph).shared()
        with tf.name_scope('cluster'), tf.device(None):
            found = tf.cond(share >= 0, of_all, lambda: tf.identity(tensor))
        found.set_shape(tensor.shape)
        return found

    def note(self, losses):
        """Keeps the names of losses; refuses a loss that reads gradients which are averaged already."""
        for loss in losses if isinstance(losses, (list, tuple)) else [losses]:
            if isinstance(loss, tf.Tensor):
                state = cluster_state(loss.graph)
                state.losses.add(loss.op.name)
                if state.reduced & cluster_above([loss.op], by_control=False):
                    cluster_error('%s is computed from gradients by variables: they would be averaged' % loss.name)

    def mean(self, gradients, variables):
        """The means; None stays None, and IndexedSlices stay sparse."""
        state, found, small = cluster_state(tf.get_default_graph()), list(gradients), {}
        weight = state.weighted()
        state.trained.update(variable.op.name for variable in variables if hasattr(variable, 'op'))
        with tf.name_scope('cluster'), tf.device(None):
            for place, (gradient, variable) in enumerate(zip(gradients, variables)):
                if isinstance(gradient, tf.IndexedSlices):
                    found[place] = self.mean_of_rows(gradient, variable, weight)
                elif gradient is not None:
                    shape = gradient.shape if gradient.shape.is_fully_defined() else variable.shape
                    if not shape.is_fully_defined():
                        cluster_error('the gradient of %s has no fixed shape' % variable.name)
                    gradient = tf.reshape(gradient, [-1])
                    if shape.num_elements() <= self.SMALL:
                        small.setdefault(gradient.dtype, []).append((place, gradient, shape))
                    else:
                        found[place] = tf.reshape(self.mean_of(gradient, weight), shape)
            for dtype in sorted(small, key=lambda dtype: dtype.name):
                together = self.mean_of(tf.concat([gradient for _, gradient, _ in small[dtype]], 0), weight)
                sizes = [shape.num_elements() for _, _, shape in small[dtype]]
                for (place, _, shape), part in zip(small[dtype], tf.split(together, sizes)):
                    found[place] = tf.reshape(part, shape)
        return found

    def mean_of(self, vector, weight):
        """The mean of a vector of numbers."""
        known = vector.dtype in (tf.float16, tf.float32, tf.float64)
        number = vector if known else tf.cast(vector, tf.float32)
        return tf.cast(self.reduced(number * tf.cast(weight, number.dtype), 'Div'), vector.dtype)

    def reduced(self, tensor, final, device=None):
        """The sum over all workers ('Id'), or that divided by their number ('Div')."""
        from tensorflow.python.ops import collective_ops

        device = device or self.cluster.device
        with tf.device(device):
            found = collective_ops.all_reduce(
                tf.identity(tensor), self.cluster.size, 2 if 'GPU' in device else 1, next(self.keys), 'Add', final)
        cluster_state(found.graph).reduced.add(found.op)
        return found

    def mean_of_rows(self, gradient, variable, weight):
        """The rows of all workers, one after the other.

        A collective keeps the shape of its first run (TensorFlow 1.15): rows are filled up to a power of two, each with
        collectives of its own, and cut to their numbers again.
        """
        cluster, host = self.cluster, self.cluster.host
        values = gradient.values * tf.cast(weight / cluster.size, gradient.values.dtype)
        values = tf.reshape(values, [-1] + variable.shape.as_list()[1:])
        number = tf.one_hot(cluster.index, cluster.size, dtype=tf.int32) * tf.shape(gradient.indices)[0]
        rows = self.reduced(number, 'Id', host)
        largest, tensors, parts = tf.reduce_max(rows), (values, gradient.indices), []

        def filled(size, keys):
            return [self.rows_of_all(tensor, key, size, rows) for tensor, key in zip(tensors, keys)]

        def nothing():
            return [tf.zeros([0] + tensor.shape.as_list()[1:], tensor.dtype) for tensor in tensors]

        for power in range(6, 24):
            size, keys = 1 << power, (next(self.keys), next(self.keys))
            fits = tf.logical_and(largest <= size, largest > (size // 2 if power > 6 else -1))
            parts.append(tf.cond(fits, lambda size=size, keys=keys: filled(size, keys), nothing))
        values, indices = [tf.concat(part, 0) for part in zip(*parts)]
        return tf.IndexedSlices(values, indices, gradient.dense_shape)

    def rows_of_all(self, tensor, key, size, rows):
        """The rows of a tensor in all workers, one after the other; rows: their numbers, none above `size`."""
        from tensorflow.python.ops import collective_ops

        cluster, shape = self.cluster, tensor.shape.as_list()[1:]
        with tf.device(cluster.host):
            padded = tf.pad(tensor, [[0, size - rows[cluster.index]]] + [[0, 0]] * len(shape))
            padded.set_shape([size] + shape)
            whole = collective_ops.all_gather(tf.identity(padded), cluster.size, 1, key)
            cluster_state(whole.graph).reduced.add(whole.op)
            whole.set_shape([size * cluster.size] + shape)
            return tf.boolean_mask(whole, tf.reshape(tf.sequence_mask(rows, size), [-1]))


class ClusterNames(object):
    """What a module has, some of it changed for those that read it here."""

    def __init__(self, module, **changed):
        self.__dict__.update(vars(module))
        self.__dict__.update(changed)


class ClusterStep(object):
    """What a run of certain operations needs of the graph; found once.

    trains: whether gradients are averaged in it. sources: operations that give the next batch. starts: those that start
    an iterator. writes: names of the variables that are assigned. noisy: whether a trained variable takes random
    numbers.
    """

    SOURCES = ('IteratorGetNext', 'IteratorGetNextSync', 'QueueDequeueV2', 'QueueDequeueManyV2',
               'QueueDequeueUpToV2', 'ReaderReadV2', 'ReaderReadUpToV2')
    VARIABLES = ('Variable', 'VariableV2', 'VarHandleOp')
    WRITES = ('Assign', 'Apply', 'Scatter', 'ResourceApply', 'ResourceScatter', 'ResourceSparseApply', 'SparseApply')

    def __init__(self, graph, operations):
        self.graph, self.state = graph, cluster_state(graph)
        self.above = cluster_above(operations)
        self.trains = bool(self.state.reduced & self.above)
        self.key = tuple(sorted(operation.name for operation in self.state.reduced & self.above))
        self.sources = [op for op in self.above if op.type in self.SOURCES or self.makes_data(op)]
        self.sources.sort(key=lambda op: op.name)
        self.starts = any(op.type == 'MakeIterator' for op in self.above)
        self.writes = set(target.name for target in map(self.target, self.above) if target is not None)
        self.noisy, self.kinds = False, {}

    def target(self, operation):
        """The variable that an operation assigns, None for one that assigns none."""
        if not operation.type.startswith(self.WRITES) or not operation.inputs:
            return None
        above = cluster_above([operation.inputs[0].op], by_control=False)
        return next((one for one in above if one.type in self.VARIABLES), None)

    @staticmethod
    def makes_data(operation):
        """Whether this calls a Python function that no batch goes into: it may give one."""
        return operation.type in ('PyFunc', 'EagerPyFunc', 'PyFuncStateless') and not any(
            above.type not in ('Const', 'Identity', 'Pack', 'Shape', 'VariableV2', 'VarHandleOp', 'ReadVariableOp')
            for above in cluster_above([tensor.op for tensor in operation.inputs], by_control=False))

    def of_data(self, tensor, fed):
        """Whether a tensor is computed from what is fed, or from a batch, and not from averaged gradients alone."""
        stop = self.state.reduced | set(op for op in self.above if op.type in self.VARIABLES)
        above = cluster_above([tensor.op], by_control=False, stop=stop)
        return any(op in fed or op in self.sources for op in above - stop)

    def kind(self, tensor, fed):
        """How a result of this step is made one for all: 'mean', 'sum', 'rows' for arrays alone, or 'chief'."""
        if tensor.name not in self.kinds:
            operation = tensor.op
            losses = self.state.losses
            while operation.type in ('Identity', 'Cast', 'Reshape', 'Squeeze') and operation.name not in losses:
                operation = operation.inputs[0].op
            added = operation.type == 'Sum' and operation.name not in losses
            kind = 'sum' if added else 'mean' if tensor.dtype.is_floating else 'rows'
            self.kinds[tensor.name] = kind if self.of_data(tensor, fed) else 'chief'
        return self.kinds[tensor.name]

    def check(self, fed):
        """Ends the process where workers would come to have different weights; fed: what arrays are fed to."""
        trained, own, kept = self.state.trained, {}, set(op for op in self.above if op.type in self.VARIABLES)
        for op in self.above:
            target = self.target(op)
            if target is not None:
                stop = self.state.reduced | kept
                above = cluster_above([tensor.op for tensor in op.inputs], by_control=False, stop=stop) - stop
                if any(one in fed or one in self.sources for one in above):
                    if target.name in trained:
                        cluster_error('%s is changed by %s, which each worker computes from its own rows'
                                      % (target.name, op.name))
                    if 'AssignMovingAvg' not in op.name:
                        own[target] = op
                elif target.name in trained and any(one.type.startswith('Random') for one in above):
                    self.noisy = True
        read = cluster_above([op for op in self.above if op in self.state.reduced], by_control=False) if own else ()
        for target in sorted(set(own) & set(read), key=lambda op: op.name):
            cluster_error('%s is changed by %s from each worker\'s own rows, and the loss reads it'
                          % (target.name, own[target].name))


class ClusterRuns(object):
    """What `session.run` does in a cluster."""

    COMPARED = 3  # batches that all workers read, and compare as wholes
    SAMPLED = 4096  # numbers of an array that are compared later

    def __init__(self, cluster):
        from tensorflow.python.client import session as sessions

        self.cluster, self.compared, self.updated, self.trained = cluster, 0, [], False
        self.fetched, base = sessions._FetchHandler, sessions.BaseSession
        bare, begin = base.run, base.__init__
        self.bare = bare

        def initialise(session, target='', graph=None, config=None):
            if not target:
                whole = tf.ConfigProto()
                whole.CopyFrom(config or tf.ConfigProto())
                whole.MergeFrom(cluster.config)
                target, config = cluster.server.target, whole
            begin(session, target, graph, config)

        def run(session, fetches, feed_dict=None, options=None, run_metadata=None):
            if cluster.is_alone() or not cluster.leads() and not self.step(session.graph, fetches).trains:
                return bare(session, fetches, feed_dict, options, run_metadata)
            return self.run(session, fetches, feed_dict, (options, run_metadata))

        def make_callable(session, fetches, feed_list=None, accept_options=False):
            def call(*args, **told):
                return session.run(fetches, dict(zip(feed_list or (), args)), **told)
            return call

        def make_callable_of_options(session, told):
            feeds, fetches, targets = list(told.feed), list(told.fetch), list(told.target)
            links = [(link.to_tensor, link.from_tensor) for link in told.tensor_connection]

            def call(*args, **kwargs):
                feed = dict(zip(feeds, args))
                feed.update((name, session.graph.as_graph_element(given)) for name, given in links)
                return session.run(fetches + targets, feed, told.run_options, **kwargs)[:len(fetches)]
            return call

        base.__init__, base.run, base.make_callable = initialise, run, make_callable
        base._make_callable_from_options = make_callable_of_options  # by which Keras runs everything

    def run(self, session, fetches, feed_dict, told):
        """Runs a training step on this worker's part of the data, anything else as it is, with the chief's results."""
        links = [value for value in (feed_dict or {}).values() if isinstance(value, tf.Tensor)]
        step, feed = self.step(session.graph, [fetches, links] if links else fetches), {}
        if step.trains:
            self.cluster.thread, self.trained = threading.current_thread(), True
        for key, value in (feed_dict or {}).items():
            try:
                feed[session.graph.as_graph_element(key, allow_operation=False)] = value
            except (TypeError, ValueError):
                feed[key] = value
        return (self.train if step.trains else self.other)(session, step, fetches, feed, told)

    def plain(self, session, fetches, feed_dict=None, options=None, run_metadata=None):
        """A run of this worker's own, without anything around it."""
        return self.cluster.by_itself(self.bare, session, fetches, feed_dict, options, run_metadata)

    def step(self, graph, fetches):
        """What these fetches need of the graph."""
        found = self.fetched(graph, fetches, {})
        operations = set([tensor.op for tensor in found.fetches()] + list(found.targets()))
        steps = cluster_state(graph).steps
        key = frozenset(operation.name for operation in operations)
        if key not in steps:
            steps[key] = ClusterStep(graph, operations)
        return steps[key]

    def other(self, session, step, fetches, feed, told):
        """A run without a training step: evaluation, initialisation. All workers get the chief's results."""
        if step.starts:
            state, turn = step.state, step.state.starts.get(step, 0)
            state.starts[step] = turn + 1
            feed.update((seed, number + 1 + 104729 * turn) for number, seed in enumerate(state.shuffles))
        found, failed = None, None
        try:
            found = self.plain(session, fetches, self.linked(session, feed) or None, *told)
        except (tf.errors.OpError, ValueError, TypeError) as error:
            failed = error
        if step.writes:
            session._cluster_unlike = getattr(session, '_cluster_unlike', set()) | step.writes
        if failed is not None or self.leaves(fetches, found):
            found = self.as_chief(fetches, found, failed)
        elif failed is not None:
            raise failed
        return found

    def as_chief(self, fetches, found, failed):
        """The chief's results, or the error that it has come to."""
        told = (type(failed).__name__, str(failed)) if failed is not None else None
        data = pickle.dumps((told, self.leaves(fetches, found) if failed is None else []), 2)
        sums = self.cluster.messages.all(b'%d' % zlib.crc32(data))
        if any(other != sums[0] for other in sums):
            told_first, values = self.cluster.of_chief(pickle.loads(data) if self.cluster.is_chief else None)
            if told_first and not self.cluster.is_chief:
                raise getattr(tf.errors, told_first[0], RuntimeError)(*(
                    (None, None, told_first[1]) if hasattr(tf.errors, told_first[0]) else told_first[1:]))
            if failed is None:
                values = iter(values)
                return self.each(fetches, found, lambda leaf, value: next(values))
        if failed is not None:
            raise failed
        return found

    def each(self, fetches, found, change):
        """The results in the form of what was fetched, each changed; operations give none."""
        if isinstance(fetches, dict):
            return type(found)((key, self.each(fetches[key], found[key], change)) for key in sorted(fetches, key=str))
        if isinstance(fetches, (list, tuple)) and isinstance(found, (list, tuple)):
            parts = [self.each(fetch, value, change) for fetch, value in zip(fetches, found)]
            return type(found)(*parts) if hasattr(found, '_fields') else type(found)(parts)
        return found if found is None else change(fetches, found)

    def leaves(self, fetches, found):
        """The results one after the other."""
        values = []
        self.each(fetches, found, lambda leaf, value: values.append(value))
        return values

    def train(self, session, step, fetches, feed, told):
        """A run of a training step on this worker's part of the data."""
        arrays = [key for key, value in feed.items() if cluster_is_array(value) and isinstance(key, tf.Tensor)]
        if not step.state.copies.get(step):
            step.state.copies[step] = True
            with session.graph.as_default():
                step.check(set(tensor.op for tensor in arrays))
        if not getattr(session, '_cluster_alike', False):
            self.start_alike(session)
        elif getattr(session, '_cluster_unlike', None):
            self.start_alike(session, session._cluster_unlike)
        session._cluster_alike, session._cluster_unlike = not step.noisy, set()
        dealt = bool(arrays or step.sources)
        if self.cluster.deal == 'batches' and (dealt or step.state.takes_data()):
            return self.train_in_turn(session, step, fetches, feed, told)
        if dealt and self.cluster.deal == 'files':
            return self.train_on_own_files(session, step, fetches, feed, told)
        if dealt:
            whole = self.with_batches(session, step, feed, True)
            whole = self.compare(whole, self.prints(whole))
            return self.merged(session, step, fetches, *self.rows_of(whole), told=told)
        return self.merged(session, step, fetches, feed, (None, None, [1] * self.cluster.size), told)

    def with_batches(self, session, step, feed, wanted):
        """What is fed, with the next batch of datasets and queues; wanted: whether this worker reads it."""
        sources = [source for source in step.sources if not any(tensor in feed for tensor in source.outputs)]
        if any(source._get_control_flow_context() is not None for source in sources):
            cluster_error('%s gives the next batch under a condition of the graph' % sources[0].name)
        if not sources:
            return self.linked(session, feed)
        if not wanted:
            self.plain(session, sources)
            return feed
        tensors = [tensor for source in sources for tensor in source.outputs]
        unknown = [tensor.name for tensor in tensors if tensor.dtype in (tf.variant, tf.resource)]
        if unknown:
            cluster_error('%s is sparse, or no array: it cannot be dealt to workers' % unknown[0])
        return self.linked(session, self.joined(feed, zip(tensors, self.plain(session, tensors) if tensors else ())))

    def linked(self, session, feed):
        """The feed, with values in place of the tensors that are fed: Keras feeds those of a dataset."""
        links = [(key, value) for key, value in feed.items() if isinstance(value, tf.Tensor)]
        known = dict((key, value) for key, value in feed.items() if not isinstance(value, tf.Tensor))
        values = self.plain(session, [tensor for _, tensor in links], known) if links else ()
        return self.joined(known, zip([key for key, _ in links], values))

    @staticmethod
    def joined(feed, more):
        """Two feeds as one."""
        found = dict(feed)
        found.update(more)
        return found

    def prints(self, feed):
        """Name, whether it is an array, and checksum of what is fed; later ones are of some numbers of an array."""
        found = []
        for key, value in feed.items():
            if isinstance(key, tf.Tensor) and not key.op.type.startswith(('Queue', 'Reader')):
                value = numpy.asarray(value)
                part = value if self.compared < self.COMPARED else value.flat[::value.size // self.SAMPLED | 1]
                found.append((key.name, bool(value.ndim), zlib.crc32(pickle.dumps((value.shape, part), 2))))
        return sorted(found)

    def compare(self, feed, prints):
        """Ends all workers where arrays are not alike; the feed, with the chief's numbers where others have other ones.

        A time that the script has measured is such a number. prints: of all that was prepared since the last time.
        """
        self.compared += 1
        others = [pickle.loads(data) for data in self.cluster.messages.all(pickle.dumps(prints, 2))]
        for index, other in enumerate(others):
            arrays = [name for name, is_array, _ in sorted(set(other) ^ set(others[0])) if is_array]
            if arrays:
                cluster_error('worker %d has another batch for %s than worker 0: seed what prepares it'
                              % (index, arrays[0]))
        if all(other == others[0] for other in others):
            return feed
        numbers = dict((key.name, value) for key, value in feed.items() if isinstance(key, tf.Tensor)
                       and not cluster_is_array(value))
        told = self.cluster.of_chief(numbers)
        return self.joined(feed, ((key, told[key.name]) for key in feed if getattr(key, 'name', None) in told))

    def rows_of(self, feed):
        """This worker's rows of a batch, and its share, see `merged`."""
        cluster = self.cluster
        cut = [key for key, value in feed.items() if isinstance(key, tf.Tensor) and numpy.ndim(value)
               and key.op.name not in cluster.whole]
        numbers = dict((key.name, len(feed[key])) for key in cut)
        if len(set(numbers.values())) != 1 or any(not isinstance(key, tf.Tensor) for key in feed):
            cluster_error('these are no rows of one batch: %s' % (
                ', '.join('%s (%d)' % one for one in sorted(numbers.items())) or 'what is fed'))
        total = len(feed[cut[0]])
        if not total:
            cluster_error('a batch without rows is fed to %s' % cut[0].name)
        bounds = [(total * index + cluster.size - 1) // cluster.size for index in range(cluster.size + 1)]
        rows = [end - begin for begin, end in zip(bounds, bounds[1:])]
        begin = min(bounds[cluster.index], total - 1)
        end = max(bounds[cluster.index + 1], begin + 1)
        own = self.joined(feed, ((key, feed[key][begin:end]) for key in cut))
        return own, (rows[cluster.index] * cluster.size / float(total), rows, rows)

    def train_on_own_files(self, session, step, fetches, feed, told):
        """A step on the next batch of this worker's files; the data has ended where one worker has no further batch."""
        cluster, failed, whole, rows = self.cluster, None, feed, -1
        if any(numpy.ndim(value) for value in feed.values() if not isinstance(value, tf.Tensor)):
            cluster_error('arrays are fed: they come from no files that each worker could read its part of')
        try:
            whole = self.with_batches(session, step, feed, True)
            sizes = set(len(value) for key, value in whole.items()
                        if value is not feed.get(key) and cluster_is_array(value))
            rows = sizes.pop() if len(sizes) == 1 else 1
        except tf.errors.OutOfRangeError as error:
            failed = error
        counts = [int(data) for data in cluster.messages.all(b'%d' % rows)]
        if min(counts) < 0:
            raise failed or tf.errors.OutOfRangeError(None, None, 'another worker has read all of its files')
        weight = rows * cluster.size / float(sum(counts))
        return self.merged(session, step, fetches, whole, (weight, counts, counts), told)

    def train_in_turn(self, session, step, fetches, feed, told):
        """Keeps this run's batch if it is this worker's turn; each N-th run makes a step of the last N."""
        cluster, waiting = self.cluster, step.state.waiting.setdefault(step.key, {'turn': 0, 'shown': {}})
        if any(value is one for value in feed.values() for one in self.updated):
            cluster_error('what one step returns of its update is fed to the next: batches cannot be dealt to workers')
        turn, waiting['turn'] = waiting['turn'], (waiting['turn'] + 1) % cluster.size
        shown = self.to_show(fetches, session.graph, waiting) if turn < cluster.size - 1 else []
        early = self.compared < self.COMPARED
        whole = self.with_batches(session, step, feed, turn == cluster.index or bool(shown) or early)
        given = dict((key, value) for key, value in feed.items() if not isinstance(value, tf.Tensor))
        waiting['prints'] = waiting.get('prints', []) + self.prints(whole if early else given)
        if early or turn == cluster.size - 1:
            whole = self.compare(whole, waiting.pop('prints'))
        if turn == cluster.index:
            waiting['feed'] = dict((key, numpy.array(value) if isinstance(key, tf.Tensor) else value)
                                   for key, value in whole.items())
        if turn < cluster.size - 1:
            return self.between(session, fetches, whole, waiting, shown)
        self.updated = []
        scalars = dict((key, whole[key]) for key, value in feed.items() if not cluster_is_array(value))
        own = self.joined(waiting.pop('feed'), scalars.items())
        rows = [1] * cluster.size
        if cluster.by_rows:
            sizes = set(len(value) for value in own.values() if numpy.ndim(value))
            own_rows = min(sizes) if len(sizes) == 1 else -1 if sizes else 1
            rows = [int(data) for data in cluster.messages.all(b'%d' % own_rows)]
            if min(rows) < 0:
                cluster_error('a batch has arrays of different lengths: it does not count by rows')
        weight = rows[cluster.index] * cluster.size / float(sum(rows))
        found = self.merged(session, step, fetches, own, (weight, None, rows), told)
        self.each(fetches, found, lambda leaf, value: waiting['shown'].update({self.name(session.graph, leaf): value}))
        return found

    @staticmethod
    def name(graph, leaf):
        """The name of something fetched, None for what has none."""
        try:
            return graph.as_graph_element(leaf).name
        except (TypeError, ValueError, KeyError):
            return None

    def to_show(self, fetches, graph, waiting):
        """What a run between two steps has to compute: arrays, and numbers that no step has given yet."""
        wanted = []

        def look(fetch):
            for one in fetch.values() if isinstance(fetch, dict) else fetch if isinstance(fetch, (list, tuple)) else ():
                look(one)
            name = None if isinstance(fetch, (dict, list, tuple)) else self.name(graph, fetch)
            if name and ':' in name:
                tensor = graph.as_graph_element(name)
                if tensor.shape.ndims != 0 or name not in waiting['shown']:
                    wanted.append((name, self.before_update(tensor)))

        look(fetches)
        return wanted

    @staticmethod
    def before_update(tensor):
        """A tensor that has the same value, and whose run changes no variable: that behind an identity; or None."""
        state = cluster_state(tensor.graph)
        while True:
            above = cluster_above([tensor.op])
            if not state.reduced & above and not any(op.type.startswith(ClusterStep.WRITES) for op in above):
                return tensor
            if tensor.op.type != 'Identity':
                return None
            tensor = tensor.op.inputs[0]

    def between(self, session, fetches, feed, waiting, shown):
        """The results of a run between two steps: of this run's batch, or, for single numbers, of the last step."""
        tensors = [tensor for _, tensor in shown if tensor is not None]
        values = dict(zip([tensor.name for tensor in tensors], self.as_chief(
            tensors, self.plain(session, tensors, feed), None) if tensors else ()))
        known, missing = dict(waiting['shown']), []
        for name, tensor in shown:
            if tensor is not None:
                known[name] = values[tensor.name]
            else:
                wanted = session.graph.as_graph_element(name)
                sizes = [size or 0 for size in wanted.shape.as_list()] if wanted.shape.ndims else ()
                nothing = b'' if wanted.dtype == tf.string else 0  # such are summaries of gradients
                known.setdefault(name, numpy.full(sizes, nothing, wanted.dtype.as_numpy_dtype)[()])
                missing.append(known[name])
        self.updated = [value for value in missing if numpy.ndim(value)]

        def filled(fetch):
            if isinstance(fetch, dict):
                return dict((key, filled(one)) for key, one in fetch.items())
            if isinstance(fetch, (list, tuple)):
                parts = [filled(one) for one in fetch]
                return type(fetch)(*parts) if hasattr(fetch, '_fields') else type(fetch)(parts)
            return known.get(self.name(session.graph, fetch))

        return filled(fetches)

    def merged(self, session, step, fetches, feed, share, told):
        """Runs the step, and gives what all workers have found as one.

        share: this worker's weight in the mean, None for 1; the rows of all workers, None where batches are whole; and
        how much the results of each count.
        """
        weight, rows, counts = share
        if weight is not None:
            feed = self.joined(feed, [(step.state.weighted(), weight)])
            if step.state.share is not None:
                feed = self.joined(feed, [(step.state.share, 1.0 if weight else 0.0)])
        found = self.plain(session, fetches, feed, *told)
        fed = set(key.op for key, value in feed.items() if isinstance(key, tf.Tensor) and numpy.ndim(value))
        kinds, own = [], []

        def look(leaf, value):
            tensor = self.tensor(session.graph, leaf)
            kinds.append('own' if tensor is None or tensor.dtype == tf.string else step.kind(tensor, fed))
            own.append(None if kinds[-1] == 'own' else value)

        self.each(fetches, found, look)
        if all(kind == 'own' for kind in kinds):
            return found
        others = zip(*[pickle.loads(data) for data in self.cluster.messages.all(pickle.dumps(own, 2))])
        values = iter([self.one_of(kind, several, rows, counts) for kind, several in zip(kinds, others)])
        return self.each(fetches, found, lambda leaf, value: self.either(value, next(values)))

    @staticmethod
    def either(own, merged):
        """The merged value, this worker's own where there is none."""
        return own if merged is None else merged

    @staticmethod
    def tensor(graph, leaf):
        """The tensor of something fetched, None for what is none."""
        try:
            return graph.as_graph_element(leaf, allow_operation=False)
        except (TypeError, ValueError, KeyError):
            return None

    def one_of(self, kind, values, rows, counts):
        """One value of those of all workers: a mean by rows, a sum, their rows one after the other, or the chief's.

        Where batches are dealt whole an array is that of the last worker: of the batch of the run that makes the step.
        """
        first = values[0]
        if kind == 'own':
            return None
        if numpy.ndim(first):
            if rows and all(len(value) == max(number, 1) for value, number in zip(values, rows)):
                return numpy.concatenate([value[:number] for value, number in zip(values, rows)])
            return values[-1] if kind != 'chief' and self.cluster.deal == 'batches' else first
        if kind in ('chief', 'rows'):
            return first
        kept = [(value, count) for value, count in zip(values, counts) if count]
        if kind == 'sum':
            return numpy.asarray(sum(value for value, _ in kept), first.dtype)[()]
        whole = sum(count for _, count in kept)
        return numpy.asarray(sum(float(value) * count for value, count in kept) / whole, first.dtype)[()]

    def start_alike(self, session, names=None):
        """Gives all workers the chief's variables; names: of those alone."""
        cluster, graph, state = self.cluster, session.graph, cluster_state(session.graph)
        finalized = graph.finalized
        graph._unsafe_unfinalize()
        with graph.as_default(), tf.device(None), graph.control_dependencies(None):
            variables = [v for v in tf.global_variables() if names is None or v.op.name in names]
            self.agree_on(variables)
            key = tuple(sorted(variable.name for variable in variables))
            if ('made', key) not in state.copies:
                state.copies['made', key] = [tf.is_variable_initialized(v) for v in variables]
            made = cluster.of_chief(self.plain(session, state.copies['made', key]) if variables else [])
            for variable, is_made in zip(variables, made):
                if is_made and variable.name not in state.copies and self.is_reducible(variable):
                    zeros = tf.zeros(variable.shape, variable.dtype.base_dtype)
                    value = variable.read_value() if cluster.is_chief else zeros
                    copied = cluster.gradients.reduced(value, 'Id', cluster.host)
                    state.reduced.discard(copied.op)
                    state.copies[variable.name] = tf.assign(variable, copied).op
        if finalized:
            graph.finalize()
        chosen = [v for v, is_made in zip(variables, made) if is_made]
        self.plain(session, [state.copies[v.name] for v in chosen if v.name in state.copies])
        for variable in chosen:
            if variable.name not in state.copies:
                value = cluster.of_chief(self.plain(session, variable) if cluster.is_chief else None)
                if not cluster.is_chief:
                    variable.load(value, session)

    def agree_on(self, variables):
        """Ends all workers where one has other variables."""
        own = [(v.name, v.dtype.base_dtype.name, str(v.shape)) for v in variables]
        others = [pickle.loads(data) for data in self.cluster.messages.all(pickle.dumps(own, 2))]
        first = dict((name, (dtype, shape)) for name, dtype, shape in others[0])
        for index, other in enumerate(others):
            there = dict((name, (dtype, shape)) for name, dtype, shape in other)
            for name in sorted(set(first) | set(there)):
                kinds = ['%s of shape %s' % one[name] if name in one else 'missing' for one in (there, first)]
                if kinds[0] != kinds[1]:
                    cluster_error('variable %s is %s in worker %d, %s in worker 0' % (name, kinds[0], index, kinds[1]))

    @staticmethod
    def is_reducible(variable):
        """Whether a collective can carry a variable."""
        known = (tf.float16, tf.float32, tf.float64, tf.int32, tf.int64)
        return variable.dtype.base_dtype in known and variable.shape.is_fully_defined()


class ClusterFiles(object):
    """What the chief does alone: checkpoints, event files, lines that are printed, files that are written."""

    def __init__(self, cluster):
        self.cluster, self.folder = cluster, None
        self.checkpoints()
        self.records()
        if not cluster.is_chief:
            sys.stdout = open(os.devnull, 'w')  # noqa: SIM115  until the process ends
            logging.disable(logging.INFO)
            self.events()
            self.own_files()

    def checkpoints(self):
        """The chief alone saves and restores; the others get its variables."""
        from tensorflow.python.training import checkpoint_management as found
        from tensorflow.python.training import saver

        cluster, save, restore = self.cluster, saver.Saver.save, saver.Saver.restore

        def of_chief(plain):
            def called(*args, **kwargs):
                value = cluster.by_itself(plain, *args, **kwargs)
                return cluster.of_chief(value) if cluster.leads() else value
            return called

        def save_by_chief(this, session, path, global_step=None, *args, **kwargs):
            if cluster.is_chief:
                return cluster.by_itself(save, this, session, path, global_step, *args, **kwargs)
            if isinstance(global_step, (tf.Tensor, tf.Variable, tf.Variable)):
                global_step = cluster.runs.plain(session, global_step)
            return path if global_step is None else '%s-%s' % (path, global_step)

        def restore_by_chief(this, session, path):
            if not cluster.leads():
                return restore(this, session, path)
            failed = None
            try:
                if cluster.is_chief:
                    cluster.by_itself(restore, this, session, path)
            except (tf.errors.OpError, ValueError) as error:
                failed = error
            told = cluster.of_chief((type(failed).__name__, str(failed)) if failed is not None else None)
            if failed is not None:
                raise failed
            if told:
                raise ValueError(told[1])
            cluster.runs.start_alike(session)

        saver.Saver.save, saver.Saver.restore = save_by_chief, restore_by_chief
        self.objects()
        for name in ('latest_checkpoint', 'get_checkpoint_state', 'checkpoint_exists'):
            plain = getattr(found, name)
            alike = of_chief(plain)
            for module in (found, tf.train, sys.modules['tensorflow'].train):
                if getattr(module, name, None) is plain:
                    setattr(module, name, alike)

    def objects(self):
        """The chief alone saves tf.train.Checkpoint, and Keras' weights in that form; the others wait until it has."""
        try:
            from tensorflow.python.training.tracking import util
        except ImportError:  # from 2.10 on
            from tensorflow.python.checkpoint import checkpoint as util

        cluster, plain = self.cluster, util.TrackableSaver.save

        def save_by_chief(this, file_prefix, *args, **kwargs):
            value = file_prefix
            if cluster.is_chief:
                value = cluster.by_itself(plain, this, file_prefix, *args, **kwargs)
            return cluster.of_chief(value) if cluster.leads() else value

        util.TrackableSaver.save = save_by_chief

    def records(self):
        """Files of records appear when they are whole: each worker reads what it has written, maybe on one disk."""
        from tensorflow.python.lib.io import file_io, tf_record

        writer, rename, numbers = tf_record.TFRecordWriter, file_io.rename_v2, itertools.count()
        start, close = writer.__init__, writer.close

        def started(this, path, *args, **kwargs):
            path = path.decode('utf-8') if isinstance(path, bytes) and bytes is not str else str(path)
            path = path if '://' in path else os.path.abspath(path)
            folder, name = os.path.split(path)
            this.cluster_paths = os.path.join(
                folder, '.%s.%d-%d' % (name, self.cluster.index, next(numbers))), path
            start(this, this.cluster_paths[0], *args, **kwargs)

        def closed(this, *args):
            if getattr(this, 'cluster_paths', None):
                close(this)
                rename(*this.cluster_paths + (True,))
                this.cluster_paths = None

        writer.__init__, writer.close, writer.__exit__, writer.__del__ = started, closed, closed, closed

    def events(self):
        """Event files that nobody reads."""
        from tensorflow.python.summary.writer import writer

        class NoEvents(object):
            """Takes events and keeps none."""

            def __init__(self, logdir, *args, **kwargs):
                self.logdir = logdir

            def get_logdir(self):
                return self.logdir

            def __getattr__(self, name):
                return lambda *args, **kwargs: None

        writer.EventFileWriter = NoEvents

    def own(self, path):
        """Where this worker has its own file in place of one that it writes."""
        if self.folder is None:
            self.folder = tempfile.mkdtemp(prefix='cluster-')
            atexit.register(shutil.rmtree, self.folder, True)
        return os.path.join(self.folder, '%08x' % (zlib.crc32(os.path.abspath(path).encode('utf-8')) & 0xffffffff))

    def instead(self, path, mode):
        """The file to open for a path: this worker's own where it writes, or has written before."""
        path = path.__fspath__() if hasattr(path, '__fspath__') else path
        if not hasattr(path, 'encode') or path.startswith(('/dev/', '/proc/')):
            return path
        own = self.own(path) if self.folder or set(mode) & set('wax+') else ''
        if set(mode) & set('wax+'):
            if set(mode) & set('a+') and 'w' not in mode and not os.path.exists(own) and os.path.exists(path):
                shutil.copyfile(path, own)
            return own
        return own if own and os.path.exists(own) else path

    def own_files(self):
        """Files that are written, moved or removed are this worker's own."""
        import io

        from tensorflow.python.lib.io import file_io

        builtins = sys.modules.get('builtins') or sys.modules['__builtin__']
        make, make_all, start = os.mkdir, os.makedirs, file_io.FileIO.__init__

        def opening(plain):
            def opened(file, mode='r', *args, **kwargs):
                return plain(self.instead(file, mode), mode, *args, **kwargs)
            return opened

        def made(plain):
            def called(path, *args, **kwargs):
                try:
                    plain(path, *args, **kwargs)
                except OSError:
                    if not os.path.isdir(path):  # the chief may have made it just now
                        raise
            return called

        def of_tensorflow(this, name, mode):
            start(this, self.instead(name, mode), mode)

        def nothing(*args, **kwargs):
            return None

        builtins.open, io.open = opening(builtins.open), opening(io.open)
        os.mkdir, os.makedirs, file_io.FileIO.__init__ = made(make), made(make_all), of_tensorflow
        self.own_models()
        for module, names in ((os, ('remove', 'unlink', 'rename', 'replace', 'rmdir', 'removedirs')),
                              (shutil, ('rmtree', 'move')),
                              (file_io, ('delete_recursively_v2', 'delete_file_v2', 'rename_v2'))):
            for name in names:
                if hasattr(module, name):
                    setattr(module, name, nothing)

    def own_models(self):
        """HDF5 files that are written are this worker's own: Keras keeps models in them."""
        try:
            import h5py
        except ImportError:
            return
        start = h5py.File.__init__

        def of_h5(this, name, mode=None, *args, **kwargs):
            start(this, self.instead(name, mode or 'a'), mode, *args, **kwargs)

        h5py.File.__init__ = of_h5
