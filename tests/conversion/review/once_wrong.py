from __future__ import annotations
import re
def R(old, new):
    def f(t):
        assert old in t, (old, t[-2500:])
        return t.replace(old, new)
    return f
def X(old, new):
    def f(t):
        assert re.search(old, t, re.M), old
        return re.sub(old, new, t, flags=re.M)
    return f
def seq(*fs):
    def f(t):
        for g in fs: t = g(t)
        return t
    return f
def drop(line):  # drops whole line(s) containing
    def f(t):
        ls = t.split("\n"); assert any(line in l for l in ls), line
        return "\n".join(l for l in ls if line not in l)
    return f
def move(line, before=None, after=None, n=1, indent=None):
    def f(t):
        ls = t.split("\n")
        i = next(i for i,l in enumerate(ls) if l.strip().startswith(line))
        block = ls[i:i+n]; del ls[i:i+n]
        a = before or after
        idx = [k for k,l in enumerate(ls) if l.strip().startswith(a)]
        assert idx, a
        j = idx[-1] + (0 if before else 1)
        w = len(ls[idx[-1]]) - len(ls[idx[-1]].lstrip())
        b0 = len(block[0]) - len(block[0].lstrip())
        block = [" "*w + l[b0:] for l in block]
        ls[j:j] = block
        return "\n".join(ls)
    return f
END = "x, y = x_batch, y_batch"
F = {}
def fault(name, case, cause, f, **opts): F[name] = (case, cause, f, opts)
fault("unnamed layer moved in front", "numbered layer in front", "e6938d6", move("side = ", before="optimizer = "))
fault("unnamed layer moved behind", "numbered layer in front", "e6938d6", move("side = ", after="loss = tf.add_n"))
fault("unnamed layer of h behind", "numbered layer behind", "e6938d6", seq(move("side = tf.layers", after="loss = tf.add_n"), R("tower_side.append(side[:rows])","tower_side.append(h[:rows])"), R("side = tf.concat(tower_side, 0)",""), R("side = tf.layers.dense(h, 4)","h = tf.concat(tower_side, 0)\nside = tf.layers.dense(h, 4)")))
fault("made behind the towers that reuse it", "decoder made behind reuse", "e6938d6", move("with tf.variable_scope('decoder'):", after="loss = tf.add_n", n=2))
fault("uncut value merged as rows", "side merged as if cut", "e6938d6", seq(R("tower_loss, tower_grads = [], []","tower_loss, tower_grads, tower_side = [], [], []"), X("^        tower_loss.append","        tower_side.append(side[:rows])\n        tower_loss.append"), R("loss = tf.add_n(tower_loss)","loss = tf.add_n(tower_loss)\nside = tf.concat(tower_side, 0)")))
fault("rows in a collection", "collection of rows", "TMG236", seq(move("tf.add_to_collection('rows'", after="h = tf.layers"), drop("h = tf.concat"), drop("tower_h.append")))
fault("counter not reset", "counter", "TMG131", drop("count[:] = first_count"))
fault("list of names not reset", "counter", "TMG131", drop("names[:] = first_names"))
fault("class attribute not reset", "class attribute counter", "febf489", drop("Net.made = first_made"))
fault("cached attribute not reset", "cached attribute", "TMG131", drop("net.__dict__.pop"))
fault("list of decay not reset", "weight decay list", "TMG131", drop("decay[:] = first_decay"))
fault("towers see each other's losses", "weight decay collection", "TMG107", R(", \\\n            tower_collections.tower(gpu):", ":"))
fault("summary of one tower", "summary of loss", "ii", seq(move("with tf.name_scope('summaries')", before="tower_grads.append", n=3)))
fault("accuracy of one tower", "accuracy of one tower", "merge", seq(move("accuracy =", before="tower_p.append"), move("hit =", before="accuracy =")))
fault("constructor's size not scaled", "two sizes of a class", "929018a", R("Model(16 * num_gpus, None)","Model(16, None)"))
fault("feed not scaled", "two sizes of a class", "929018a", R("global_batch_size = 16 * num_gpus","global_batch_size = 16"))
fault("epoch's count not scaled (literal)", "literal sizes", "febf489 TMG338", R("(len(data) // (64 * num_gpus))","(len(data) // 64)"))
fault("batch not scaled (literal)", "literal sizes", "05dfec4", R("next_batch(64 * num_gpus)","next_batch(64)"))
fault("evaluation's rows scaled", "literal sizes", "281a3ae", R("test[:64]","test[:64 * num_gpus]"))
fault("schedule's steps not scaled", "decay steps", "cd2718b", R("640 // batch_size","640 // 16"))
fault("schedule's steps scaled twice", "decay steps", "05dfec4", R("640 // batch_size","640 // (batch_size * num_gpus)"))
fault("pipeline not scaled", "dataset batch", "05dfec4", R(".batch(batch_size)",".batch(16)"))
fault("pipeline's epoch not scaled", "dataset batch", "n", R("range(640 // batch_size)","range(640 // 16)"))
fault("mean of an epoch not scaled", "mean of epoch", "febf489", R("total += c / n_batches","total += c / int(len(data) / 16)"))
fault("divided by the whole batch", "static size in model", "mm", R("tf.square(p - y)) / batch_size","tf.square(p - y)) / global_batch_size"))
fault("session without config", "session config", "TMG111", R("tf.Session(config=config)","tf.Session()"))
fault("clipped in each tower", "clipped", "clip", seq(move("opt = tf.train", before="x_batch, y_batch"), drop("pairs = tower_gradients"), drop("pairs = [(tf.clip"), R("        tower_loss.append(loss * weight)","        pairs = opt.compute_gradients(loss * weight)\n        pairs = [(tf.clip_by_norm(g, 1.0), v) for g, v in pairs]\n        tower_loss.append(pairs)"), R("loss = tf.add_n(tower_loss)\n",""), R("apply_gradients(pairs)","apply_gradients(average_gradients(tower_loss))")))
fault("global step not counted", "global step", "arg", R(", global_step=step",""))
fault("each tower minimises", "global step", "N steps", seq(move("step = tf.Variable", before="optimizer ="), R("        tower_grads.append(optimizer.compute_gradients(loss * weight))","        train_op = optimizer.minimize(loss * weight, global_step=step)"), drop("train_op = optimizer.apply_gradients(")))
fault("updates of all towers", "update ops", "TMG107", R(", first_tower_updates(gpu):",":"))
fault("updates not apart", "update ops", "TMG107", R("tower_collections.tower(gpu), first_tower_updates(gpu):","first_tower_updates(gpu):"))
fault("saver of the last tower", "saver in between", "aa", drop("saver = tower_saver[0]"))
fault("saver in front of the variables", "saver after", "aa", move("saver =", before="optimizer ="))
fault("variables of each tower", "raw variables", "TMG107", R(", shared_variables.tower(gpu):",":"))
fault("no reuse of variables", "session config", "reuse", R(", reuse=gpu > 0):","):"))
fault("no device of the tower", "session config", "device", R("with tf.device(tower_device(gpu)), tf.name_scope","with tf.name_scope"))
fault("losses swapped", "two losses", "another_loss", R("tower_gradients(optimizer_2, tower_loss)","tower_gradients(optimizer_2, tower_other)"))
fault("one optimizer for both", "two losses", "slots", R("tower_gradients(optimizer_2, tower_loss)","tower_gradients(optimizer, tower_loss)"))
fault("applied by another optimizer", "two losses", "slots", R("train_op = optimizer_2.apply","train_op = optimizer.apply"))
fault("seed behind the model", "seed", "b93b95b", move("tf.set_random_seed", after="loss = tf.add_n"))
fault("fed size of the whole batch", "fed batch size", "TMG108", R("import","import"))
fault("attribute not restored", "attribute bound to input", "jj", drop("self.inputs, self.y = inputs_batch"))
fault("reuse before it is made", "model elsewhere", "y", move("shown =", before="optimizer ="))
fault("second model in the towers", "model elsewhere", "dd", move("shown =", before="tower_grads.append"))
fault("cut along the steps", "time major", "u", seq(R("(x,), rows_x, weight_x = shard_along([x_batch], [1], gpu)","(x,), rows_x, weight_x = shard([x_batch], gpu)")))
fault("sum begun in front of the towers", "loss by turns", "b", move("loss = 0.", before="optimizer ="))
fault("term of a branch behind the towers", "loss in branch", "c,d", seq(move("if wide:", after="loss = tf.add_n", n=2), R("tower_loss, tower_grads = [], []","tower_loss, tower_grads, tower_p = [], [], []"), X("^        tower_loss.append","        tower_p.append(p[:rows])\n        tower_loss.append"), R("loss = tf.add_n(tower_loss)\n","loss = tf.add_n(tower_loss)\np = tf.concat(tower_p, 0)\n")))
fault("value of a branch not merged", "attribute of one branch", "ee", seq(drop("if tower_more:"), drop("self.more = tf.concat"), drop("if hasattr(self, 'more')"), drop("tower_more.append")))
fault("item of a dict not merged", "returned dict", "477cb8f", drop("p = tf.concat(tower_p, 0)"))
fault("item of a list not merged", "list of layers", "477cb8f", drop("layers[1] = tf.concat"))
fault("another item merged", "list of layers", "477cb8f", R("layers[1] = tf.concat","layers[2] = tf.concat"))
fault("print after the name is bound again", "name rebound print", "d061fe1", move("print('h'", after="loss = tf.add_n"))
fault("scores of a shard", "scores", "i", seq(move("scores =", before="p = tf.layers"), R("tower_u.append(u[:rows])","tower_u.append(scores[:rows])"), R("u = tf.concat(tower_u, 0)","scores = tf.concat(tower_u, 0)")))
fault("size of a flag counted twice", "flag size twice", "l", R("next_batch(config.batch_size)","next_batch(config.batch_size * num_gpus)"))
fault("epoch counted twice", "flag size twice", "l", R("640 // config.batch_size","640 // (config.batch_size * num_gpus)"))
fault("number of GPUs set after its use", "flag size twice", "p", move("num_gpus = args.num_gpus", after="config.batch_size ="))
fault("learning rate scaled", "session config", "lr", R("AdamOptimizer(0.01)","AdamOptimizer(0.01 * num_gpus)"))
fault("examples not counted", "counted examples", "febf489", R("while step * batch_size <","while step * 16 <"))
fault("optimizer in each tower", "session config", "slots", move("optimizer =", before="tower_grads.append"))
fault("placeholder in each tower", "session config", "inputs", seq(drop("(x, y), rows, weight"), drop("x_batch, y_batch = x, y"), drop("x, y = x_batch"), move("x = tf.placeholder", before="loss = tf.reduce"), move("y = tf.placeholder", before="loss = tf.reduce"), R("* weight","* (1. / num_gpus)")))
fault("initializer in front of the variables", "session config", "order", R("x_batch, y_batch = x, y","init = tf.global_variables_initializer()\nx_batch, y_batch = x, y"))
fault("averaged loss of one tower", "session config", "merge", R("loss = tf.add_n(tower_loss)","loss = tower_loss[0]"))
fault("loss not merged", "epoch not followed", "merge", drop("loss = tf.add_n(tower_loss)"))
