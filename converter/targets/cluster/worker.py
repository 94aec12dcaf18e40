"""The class that a script converted for a cluster carries, and the lines that go above it."""

from __future__ import annotations

MODULES = ("json", "os", "random", "sys", "time", "numpy")  # what the class imports

# A synchronous step needs a gradient of every worker. The queue of tokens begins empty (num_tokens=0): with the usual
# N tokens a worker computes its second gradient before the first update, and the optimizer drops that as stale
# (tensorflow/python/training/sync_replicas_optimizer.py, 1.15).
CLASSES = '''\
class Cluster(object):
    """This process's place in a cluster: a parameter server, or a worker that computes on its rows of each batch.

    TF_CONFIG says where it belongs, or --ps_hosts, --worker_hosts, --job_name and --task_index do. --cluster_dir is
    where worker 0, the chief, keeps checkpoints, --cluster_save_steps how often. The script does not see these flags.
    """

    def __init__(self):
        flags = ('ps_hosts', 'worker_hosts', 'job_name', 'task_index', 'cluster_dir', 'cluster_save_steps')
        told = dict.fromkeys(flags, '')
        for word in sys.argv[1:]:
            name, equals, value = word.partition('=')
            if equals and name[:2] == '--' and name[2:] in told:
                told[name[2:]] = value
                sys.argv.remove(word)
        config = json.loads(os.environ.get('TF_CONFIG') or '{}')
        self.hosts = config.get('cluster') or {job: told[job + '_hosts'].split(',') for job in ('ps', 'worker')}
        task = config.get('task') or {'type': told['job_name'], 'index': told['task_index'] or 0}
        job, self.index = task['type'], int(task['index'])
        if sorted(self.hosts) != ['ps', 'worker'] or job not in self.hosts:
            raise SystemExit('TF_CONFIG, or --ps_hosts, --worker_hosts and --job_name, must name a task of the cluster')
        self.num_workers, self.is_chief = len(self.hosts['worker']), job == 'worker' and self.index == 0
        self.folder, self.save_steps = told['cluster_dir'] or None, int(told['cluster_save_steps'] or 0)
        self.optimizer = self.global_step = self.weight = self.target_session = None
        self.step = self.first_step = 0
        random.seed(0)  # all workers draw the same batches
        numpy.random.seed(0)
        if job == 'ps':
            os.environ['CUDA_VISIBLE_DEVICES'] = ''
        self.task = '/job:%s/task:%d' % (job, self.index)
        self.config = tf.ConfigProto(allow_soft_placement=True)
        self.config.gpu_options.allow_growth = True
        self.server = tf.train.Server(self.hosts, job_name=job, task_index=self.index, config=self.config)
        self.config.device_filters.extend(['/job:ps', self.task])
        if job == 'ps':
            self.server.join()  # serves until it is killed

    def device(self):
        """Variables on the parameter servers, in turn; everything else on this worker."""
        if self.index and tf.get_default_graph().seed is None:  # each worker has dropout of its own
            tf.set_random_seed(random.SystemRandom().randrange(2 ** 31))
        return tf.device(tf.train.replica_device_setter(cluster=self.hosts, worker_device=self.task))

    def synchronous(self, optimizer):
        """An optimizer that applies the mean of the gradients of all workers, once for all."""
        cluster = self

        class Synchronous(tf.train.SyncReplicasOptimizer):
            """Weights each worker's loss by its share of the examples, and counts steps where the script does not."""

            def compute_gradients(self, loss, *args, **kwargs):
                cluster.weight = tf.placeholder_with_default(tf.constant(1.0), [], name='cluster_weight')
                weighted = loss * tf.cast(cluster.weight, loss.dtype)
                return super(Synchronous, self).compute_gradients(weighted, *args, **kwargs)

            def apply_gradients(self, grads_and_vars, global_step=None, name=None):
                grads_and_vars = list(grads_and_vars)
                for grad, variable in grads_and_vars:
                    if isinstance(grad, tf.IndexedSlices):  # rows are divided by how many workers have them
                        raise ValueError('the gradient of %s is sparse: workers cannot average it' % variable.name)
                if global_step is None:
                    global_step = tf.train.get_or_create_global_step()
                elif tf.train.get_global_step() is None:
                    tf.add_to_collection(tf.GraphKeys.GLOBAL_STEP, global_step)
                cluster.global_step = global_step
                return super(Synchronous, self).apply_gradients(grads_and_vars, global_step, name)

            def get_chief_queue_runner(self):
                """The thread that hands out tokens ends with the session: that is no error."""
                tokens = super(Synchronous, self).get_chief_queue_runner()
                ends = (tf.errors.OutOfRangeError, tf.errors.CancelledError)
                return tf.train.QueueRunner(tokens.queue, tokens.enqueue_ops, queue_closed_exception_types=ends)

        self.optimizer = Synchronous(optimizer, self.num_workers, self.num_workers)
        return self.optimizer

    def session(self, config=None):
        """A session on the cluster; the chief initialises variables or reads its last checkpoint, the others wait."""
        cluster = self

        class Hook(tf.train.SessionRunHook):
            """Reads how many steps the variables have behind them."""

            def after_create_session(self, session, coord):
                cluster.target_session = session
                cluster.first_step = session.run(cluster.global_step)

        whole = tf.ConfigProto()
        whole.CopyFrom(config or self.config)
        whole.MergeFrom(self.config)
        with tf.device(self.task + '/cpu:0'):
            saver = tf.train.Saver()
        if not self.is_chief:
            missing = tf.report_uninitialized_variables(tf.global_variables())
            with tf.Session(self.server.target, config=self.config) as waiting:
                while len(waiting.run(missing)):
                    time.sleep(0.2)
        return tf.train.MonitoredTrainingSession(
            self.server.target, self.is_chief, self.folder, tf.train.Scaffold(saver=saver),
            [Hook(), self.optimizer.make_session_run_hook(self.is_chief, num_tokens=0)],
            save_checkpoint_secs=None if self.save_steps else 600, save_checkpoint_steps=self.save_steps or None,
            save_summaries_steps=None, save_summaries_secs=None, log_step_count_steps=None,
            config=whole, stop_grace_period_secs=2)

    def taken(self):
        """Whether the next step was taken before the checkpoint from which training goes on."""
        self.step += 1
        return self.step <= self.first_step

    def share(self, feed, batched):
        """What is fed to this worker: its rows of what is fed along the batch, and its weight in the mean.

        Sizes differ by at most one row; a worker without a row computes on one, with weight 0.
        """
        rows = [len(feed[key]) for key in batched]
        if len(set(rows)) > 1:
            raise ValueError('inputs of %s rows: a batch has the same number in each' % sorted(set(rows)))
        begin, end = [(rows[0] * i + self.num_workers - 1) // self.num_workers for i in (self.index, self.index + 1)]
        own = dict(feed)
        own[self.weight] = (end - begin) * self.num_workers / float(rows[0])
        begin = min(begin, rows[0] - 1)
        own.update((key, feed[key][begin:max(end, begin + 1)]) for key in batched)
        return own

    def on_chief(self, make, *args, **kwargs):
        """What a call gives; for other workers something whose methods do nothing."""
        return make(*args, **kwargs) if self.is_chief else Absent()

    def saver(self, saver):
        """A saver that the chief alone writes with."""
        return ChiefSaver(self, saver)


class ChiefSaver(object):
    """Saves in the session below the monitored one, which is no session for a saver."""

    def __init__(self, cluster, saver):
        self.cluster, self.made = cluster, saver

    def save(self, session, *args, **kwargs):
        """Writes a checkpoint; does nothing for other workers, and while steps of an earlier run are passed over."""
        if self.cluster.is_chief and self.cluster.step >= self.cluster.first_step:
            return self.made.save(self.cluster.target_session, *args, **kwargs)


class Absent(object):
    """Stands for what the chief alone has."""

    def __getattr__(self, name):
        return lambda *args, **kwargs: None
'''
