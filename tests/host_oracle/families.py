"""The same host programs in all the spellings that scripts have for them, each family with its near misses.

A line of a family is one spelling. `@B` is the batch size where it counts rows, `@S` where it counts steps.
"""

from __future__ import annotations

STEP = "sess.run(train_op, {x: rows})"
DRAWN = "for i in range(10):\n    rows = data[np.random.randint(0, 160, %s)]\n    sess.run(train_op, {x: rows})\n"
WINDOW = "for i in range(160 // @B):\n    rows = data[%s]\n    sess.run(train_op, {x: rows})\n"
EPOCH = "%s\n    sess.run(train_op, {x: rows})\n"
TAIL = "    sess.run(train_op, {x: data[np.random.randint(0, 160, @B)]})\n"
TURNS = "%s\n" + TAIL
SHOWN = "for step in range(64):\n" + TAIL + "    if %s:\n        print(step)\n"
SHOWN_IN_EPOCHS = (
    "n = 160 // @B\nfor epoch in range(8):\n    for i in range(n):\n"
    "        sess.run(train_op, {x: data[i * @B:(i + 1) * @B]})\n        if %s:\n            print(i)\n"
)
FILLED = "rows = []\nfor row in data:\n    rows.append(row)\n%s"

# Rows that are drawn: their number is a multiple of the batch size, of the first degree.
ROWS = [
    *("@B", "2 * @B", "@B // 2", "int(@B * 1.5)", "@B + @B // 2", "3 * @B - @B", "(@B + 1 - 1)", "int(@B)"),
    *("@B * @B // @B", "divmod(@B, 2)[0]", "max(@B, 0 * @B)", "int(np.ceil(@B))", "@B << 1"),
    *("int(np.floor(@B / 2))", "sum([@B // 2, @B // 2])", "len(range(@B))", "abs(@B)", "np.int32(@B)", "@B ** 1"),
    *("(lambda b: b)(@B)", "-(-@B // 1)", "round(@B)", "operator.mul(@B, 1)", "(@B, 1)[0]", "{'b': @B}['b']"),
]
# The same, of another number: N times the batch size gives other rows than N batches.
OTHER_ROWS = [
    *(
        "@B - 1",
        "4 + @B",
        "@B ** 2 // 16",
        "max(@B, 24)",
        "@B * @B // 8",
        "min(@B, 12)",
        "min(@B, 160)",
        "2 ** @B // 4096",
        "@B % 10",
    ),
    *("int(np.sqrt(@B)) ** 2 + 1", "@B - @B // @B", "divmod(@B, 10)[1]", "@B | 1", "max(@B - 1, 1)", "@B + 2 * 2"),
    *("int(@B ** 0.5)", "len(range(1, @B))", "sum([@B, 1])", "int(np.log2(@B))", "np.maximum(@B, 24)"),
    *("abs(@B - 20)", "len([0] * @B) - 1", "16 * 16 // @B", "512 // @B", "(lambda b: b - 1)(@B)"),
]
# A part of the rows that were drawn.
CUT = "for i in range(10):\n    rows = data[np.random.randint(0, 160, @B)]\n    sess.run(train_op, {x: %s})\n"
CUTS = [
    "rows[:@B // 2]",
    "rows[::2]",
    "rows[@B // 2:]",
    "rows[:]",
    "rows[0:]",
    "rows[:len(rows) // 2]",
    "rows[:-(@B // 2)]",
    "rows[-(@B // 2):]",
    "rows[-@B:]",
    *("rows[len(rows) // 2:]", "rows[:rows.shape[0] // 2]", "np.tile(rows[0], (@B, 1))", "np.vstack([rows, rows])"),
    *("np.random.rand(*rows.shape)", "data[np.random.randint(0, 160, rows.shape[0])]"),
    *("rows[::-1]", "rows[:-(@B // 2)][:]", "rows[-@B:-(@B // 2)]"),
]
OTHER_CUTS = [
    "rows[1:]",
    "rows[:-1]",
    "rows[2:-2]",
    "rows[:10]",
    "rows[4:12]",
    "rows[:len(rows) - 1]",
    "rows[1:][:-1]",
    "rows[-4:]",
    *("rows[::3]", "rows[4::2]", "rows[-4:-1]"),
    *("rows[[0, 3, 5]]", "rows[range(4)]", "rows[np.random.choice(len(rows), 4)]", "np.take(rows, [0, 1, 2], axis=0)"),
    *("[rows[0], rows[1]]", "np.stack([rows[0], rows[1]])", "np.repeat(rows[:1], 4, 0)"),
    *("np.mean(rows, 0, keepdims=True)", "rows.sum(axis=0, keepdims=True)", "rows.reshape(4, -1).mean(1)[:, None]"),
    *("rows[len(rows) - 4:]", "rows[rows.shape[0] - 1:]", "rows[:rows.shape[0] - 4]", "rows[:np.shape(rows)[0] - 1]"),
    *("np.vstack([rows[0], rows[2]])", "np.vstack([rows[0], rows])", "np.tile(rows[0], (4, 1))"),
    *("np.broadcast_to(rows[0], (4, 1))", "np.ones((4, 1)) * rows[0]", "np.resize(rows, (4, 1))"),
    *("np.zeros((rows.shape[0] - 1, 1))", "data[np.random.randint(0, 160, rows.shape[0] - 1)]"),
]
# Lists of a batch that are changed behind it, and are as long as before, or twice as long.
LISTED = (
    "for i in range(160 // @B):\n    part = data[i * @B:(i + 1) * @B]\n"
    "    rows = %s\n    sess.run(train_op, {x: rows})\n"
)
LISTS = ["list(part)", "part.tolist()", "[r for r in part]"]
CHANGED = [
    f"{made}\n    {change}"
    for made in LISTS
    for change in (
        *("rows.reverse()", "rows.sort()", "random.shuffle(rows)", "rows.extend(rows)", "q = list(rows); q.pop()"),
        *("while len(rows) < @B:\n        rows.append(data[0])", "rows[:] = rows[::-1]"),
    )
]
OTHER_CHANGED = [
    f"{made}\n    {change}"
    for made in LISTS
    for change in (
        *("rows.pop()", "rows.pop(0)", "del rows[0]", "del rows[:3]", "rows.remove(rows[0])", "rows = rows[1:]"),
        *("rows.append(data[0])", "rows.insert(0, data[0])", "rows += [data[0]]", "same = rows; same.append(data[0])"),
        *("rows.extend(data[:3])", "rows.extend([data[0], data[1]])", "if i % 2: rows.append(data[0])"),
        *("rows = np.delete(rows, 0, 0)", "rows = np.insert(rows, 0, data[0], 0)"),
    )
]
# Rows at the number of a turn times the batch size, where the number of turns stays: they would lie N times as far.
FAR = "for i in range(10):\n    rows = %s\n    sess.run(train_op, {x: rows})\n"
FAR_ROWS = [
    *("data[i * @B:(i + 1) * @B]", "data.take(range(i * @B, (i + 1) * @B), axis=0)", "data[np.arange(@B) + i * @B]"),
    *("np.take(data, i * @B + np.arange(@B), axis=0)", "[data[i * @B + k] for k in range(@B)]", "data[i * @B:][:@B]"),
    *("[data[k] for k in range(i * @B, (i + 1) * @B)]", "data[[i * @B + k for k in range(@B)]]"),
    *("data[list(range(i * @B, (i + 1) * @B))]", "list(itertools.islice(data, i * @B, (i + 1) * @B))"),
    "np.empty((@B, 1))\n    for k in range(@B):\n        rows[k] = data[i * @B + k]",
    "[]\n    for k in range(@B):\n        rows.append(data[i * @B + k])",
]
# Windows of the data: `x[a:b]` has b - a rows from a, and the next one begins where it ends.
WINDOWS = [
    *("i * @B:(i + 1) * @B", "i * @B:i * @B + @B", "@B * i:@B * (1 + i)", "i * @B:@B + i * @B", "@B * i:@B * i + @B"),
    *("slice(i * @B, (i + 1) * @B)", "range(i * @B, (i + 1) * @B)", "np.arange(i * @B, i * @B + @B)"),
    *("(i + 1) * @B - @B:(i + 1) * @B", "i * @B:min((i + 1) * @B, 160)", "np.arange(@B) + i * @B"),
    *("160 - (i + 1) * @B:160 - i * @B", "(i + 1) * @B:i * @B:-1", "i * @B:(i + 1) * @B:2"),
    *("i * @B:][:@B", "list(range(160))[i * @B:(i + 1) * @B]", "[i * @B + k for k in range(@B)]"),
]
# Windows that overlap, are strided, run backwards or leave rows out: larger ones hold other rows.
OTHER_WINDOWS = [
    *("i * @B:i * @B + @B - 1", "i * @B // 2:i * @B // 2 + @B", "i::160 // @B", "i:i + @B", "i * @B + 1:(i + 1) * @B"),
    *("-(i + 1) * @B:-i * @B", "i * @B:i * @B + @B // 2", "i * 16:i * 16 + @B"),
    *("i * @B:(i + 2) * @B", "i * @B:(i + 1) * @B - 1", "i * (@B | 1):i * (@B | 1) + @B"),
]
# The same where the place moves on by what no multiple of the batch size is.
OTHER_MOVES = [
    f"def batches(b):\n    i = 0\n    while i < 160:\n        yield data[i:i + b]\n        i += {move}\n"
    f"for rows in batches(@B):\n    {STEP}\n"
    for move in ("min(b, 18)", "max(b, 20)", "b - 1", "divmod(b, 10)[1]")
]
# Loops over the data in steps of a batch.
EPOCHS = [
    "for i in range(0, 160, @B):\n    rows = data[i:i + @B]",
    "for i in range(0, len(data), @B):\n    rows = data[i:i + @B]",
    "for i in np.arange(0, 160, @B):\n    rows = data[i:i + @B]",
    "i = -@B\nwhile i + @B < 160:\n    i += @B\n    rows = data[i:i + @B]",
    "i = 0\nwhile i < 160:\n    rows = data[i:i + @B]\n    i += @B",
    "i = 0\nwhile True:\n    if i >= 160:\n        break\n    rows = data[i:i + @B]\n    i = i + @B",
    "begin, end = 0, @B\nwhile end <= 160:\n    rows = data[begin:end]\n    begin, end = end, end + @B",
    "for i, j in zip(range(0, 160, @B), range(@B, 161, @B)):\n    rows = data[i:j]",
    "for rows in [data[i:i + @B] for i in range(0, 160, @B)]:",
    "for rows in (data[i:i + @B] for i in range(0, 160, @B)):",
    "for rows in np.split(data, 160 // @B):",
    "for rows in np.array_split(data, len(data) // @B):",
    "for rows in np.array_split(data, np.arange(@B, 160, @B)):",
    "for rows in zip(*[iter(data)] * @B):",
    "for rows in data.reshape(-1, @B, 1):",
    "parts = np.split(data, 160 // @B)\nfor i in range(160 // @B):\n    rows = np.vstack([parts[i] * 2.0])",
    "for rows in data.reshape(160 // @B, @B, 1):",
    "for rows in map(lambda i: data[i:i + @B], range(0, 160, @B)):",
    "def cut(b):\n    for i in range(0, 160, b):\n        yield data[i:i + b]\nfor rows in cut(@B):",
    "def cut(b):\n    i = 0\n    while i < len(data):\n"
    "        yield data[i:i + b]\n        i += b\nfor rows in cut(@B):",
    "it = iter(data)\nfor _ in range(160 // @B):\n    rows = [next(it) for _ in range(@B)]",
    "left = data\nwhile len(left) > 0:\n    rows, left = left[:@B], left[@B:]",
    "left = list(data)\nwhile left:\n    rows = left[:@B]\n    del left[:@B]",
    "left = list(data)\nwhile left:\n    rows = [left.pop(0) for _ in range(@B)]",
    "for i, _ in enumerate(range(160 // @B)):\n    rows = data[i * @B:(i + 1) * @B]",
    "for i in range(160 // @B):\n    begin, end = i * @B, (i + 1) * @B\n"
    "    end = end if end < len(data) else len(data)\n    rows = data[begin:end]",
    "it = iter(data)\nfor rows in iter(lambda: list(itertools.islice(it, @B)), []):",
]
# Readers that remember how far they are, and begin again behind the last whole batch.
READER = """\
class Reader:
    offset = 0

    def __init__(self, data, size):
        self.data, self.size = data, size

    def next_batch(self, size):
{body}

reader = Reader(data, @B)
for i in range(30):
    rows = reader.next_batch(@B)
"""
BODIES = [
    "start = self.offset\nself.offset += size\nif self.offset > len(self.data):\n"
    "    start = 0\n    self.offset = size\nend = self.offset\nreturn self.data[start:end]",
    "start = self.offset\nself.offset += size\nif self.offset > self.data.shape[0]:\n"
    "    self.data = self.data[np.random.permutation(len(self.data))]\n    start = 0\n    self.offset = size\n"
    "return self.data[start:self.offset]",
    "if self.offset + size > len(self.data):\n    self.offset = 0\nstart = self.offset\nself.offset += size\n"
    "return self.data[start:self.offset]",
    "if self.offset >= len(self.data):\n    self.offset = 0\nrows = self.data[self.offset:self.offset + size]\n"
    "self.offset = self.offset + size\nreturn rows",
    "start, end = self.offset, self.offset + size\nif end > len(self.data):\n    start, end = 0, size\n"
    "self.offset = end\nreturn self.data[start:end]",
    "end = self.offset + size\nif end <= len(self.data):\n    start = self.offset\nelse:\n    start, end = 0, size\n"
    "self.offset = end\nreturn self.data[start:end]",
    "start = self.offset\nself.offset = (start + size) % len(self.data)\nreturn self.data[start:start + size]",
    "start = self.offset * size\nself.offset = (self.offset + 1) % (len(self.data) // size)\n"
    "return self.data[start:start + size]",
    "start = self.offset\nif start + size > len(self.data):\n    rest = self.data[start:]\n"
    "    self.offset = size - len(rest)\n    return np.concatenate([rest, self.data[:self.offset]])\n"
    "self.offset = start + size\nreturn self.data[start:self.offset]",
]
READERS = [READER.replace("{body}", "        " + body.replace("\n", "\n        ")) for body in BODIES]
OTHER_READERS = [
    READERS[0].replace("self.offset = size", "self.offset = 16"),
    READERS[4].replace("start, end = 0, size", "start, end = size, 2 * size - 1"),
    READERS[3].replace("self.offset = self.offset + size", "self.offset = self.offset + size // 2"),
    READERS[6].replace("(start + size) %", "(start + size // 2) %"),
]
# As many steps as the batch size says: that number of steps stays.
STEPS = [
    *("for i in range(@S):", "for i in range(0, @S):", "for i in range(1, @S + 1):", "for i in range(@S // 2):"),
    *("for i in range(2 * @S):", "for i in list(range(@S)):", "for i in [None] * @S:", "for i in reversed(range(@S)):"),
    *("for i, j in zip(range(@S), range(100)):", "for i, j in enumerate(range(@S)):", "for i in np.arange(@S):"),
    *(
        "for i in itertools.repeat(0, @S):",
        "for i in itertools.islice(itertools.count(), @S):",
        "for i in range(@S, 0, -1):",
    ),
    *("for i in sorted(range(@S)):", "for i in [j for j in range(@S)]:", "for i in (j for j in range(@S)):"),
    *("k = @S\nwhile k:\n    k -= 1", "k = @S\nwhile k > 0:\n    k = k - 1", "k = 0\nwhile k < @S:\n    k += 1"),
    *("k = 0\nwhile k != @S:\n    k += 1", "k = 0\nwhile True:\n    if k == @S:\n        break\n    k += 1"),
    *("k = 0\nwhile @S > k:\n    k += 1", "k = 1\nwhile k <= @S:\n    k += 1", "steps = @S\nfor i in range(steps):"),
    *("for i in 'a' * @S:", "for i in range(100):\n    if i == @S:\n        break", "for i in range(@S + 4):"),
    "k = iter(range(@S))\nfor i in k:",
    "def many():\n    return @S\nfor i in range(many()):",
    "class C(object):\n    steps = @S\nfor i in range(C.steps):",
]
# What happens every so many steps goes on happening as often.
SHOWS = [
    *("step % @S == 0", "not step % @S", "(step + 1) % @S == 0", "step % @S == @S - 1", "divmod(step, @S)[1] == 0"),
    *("(lambda s: s % @S == 0)(step)", "step - step // @S * @S == 0", "step in range(0, 64, @S)", "0 == step % @S"),
    *(
        "np.mod(step, @S) == 0",
        "step % (2 * @S) == 0",
        "step % (@S // 2) == 0",
        "step % @S < 1",
        "step // @S * @S == step",
    ),
    *("step == @S", "step > @S", "step < @S", "@S <= step", "step % @S in (0,)", "float(step) / @S == step // @S"),
    *("(step % @S) == 0 and step > 0", "not (step % @S)", "step and step % @S == 0", "step & (@S - 1) == 0"),
    *(
        "math.fmod(step, @S) == 0",
        "operator.mod(step, @S) == 0",
        "step.__mod__(@S) == 0",
        "step in list(range(64))[::@S]",
    ),
    *("step == 3 * @S", "step >= 64 - @S", "any(step == k for k in range(0, 64, @S))", "divmod(step, @S) == (1, 0)"),
]
# The same, where the steps are counted through all epochs.
SHOWS_OF_EPOCHS = [
    "(epoch * n + i) % @S == 0",
    "(i + n * epoch) % @S == 0",
    "not (epoch * n + i + 1) % @S",
    "(epoch * (160 // @B) + i) % @S == 0",
    "((epoch + 1) * n + i) % (@S // 2) == 1",
]
# The same, where the loop counts them in other ways.
COUNTED_SHOWS = [
    f"{loop}:\n{TAIL}{moved}    if step % @S == 0:\n        print(step)\n"
    for loop, moved in (
        *(("for step, _ in zip(range(64), [0] * 64)", ""), ("for step in np.arange(64)", "")),
        ("for step in itertools.count()", "    if step == 60: break\n"),
        *(("step = 0\nwhile step < 60", "    step = 1 + step\n"), ("step = 60\nwhile step > 0", "    step -= 1\n")),
        *(("step = 0\nwhile step < 60", "    step += 2\n"), ("step = 60\nwhile step > 0", "    step -= 4\n")),
        *(("step = 0.0\nwhile step < 60", "    step += 1.0\n"), ("for step in range(0, 128, 2)", "")),
        ("by, step = 2, 0\nwhile step < 60", "    step = step + by\n"),
    )
]
# Steps that begin once so many turns are over.
WARM_UPS = [
    "for i in range(160):\n    if i > @S:\n    " + TAIL,
    "for i in range(160):\n    if i < 2 * @S: continue\n" + TAIL,
    "for i in range(160):\n    if not int(i) + 1 < @S:\n    " + TAIL,
    "turn = 0\nfor i in range(160):\n    turn += 1\n    if turn > @S:\n    " + TAIL,
]
# The same, where as many rows must have been collected: with larger batches the first steps are left out.
OTHER_WARM_UPS = [
    f"memory = {memory}\nfor i in range(160):\n    {add}\n    if {test}:\n        sess.run(train_op, {{x: {drawn}}})\n"
    for memory, add in (
        *(("[]", "memory.append(data[i])"), ("[]", "memory.append(data[i:i + 1][0])")),
        ("collections.deque(maxlen=100)", "memory.append(data[i])"),
    )
    for test in ("len(memory) > @B", "len(memory) >= 2 * @B", "not len(memory) < @B")
    for drawn in (
        *("random.sample(list(memory), @B)", "[random.choice(memory) for _ in range(@B)]"),
        "[memory[k] for k in np.random.randint(0, len(memory), @B)]",
    )
]
OTHER_WARM_UPS += [
    "for epoch in range(2):\n    memory = []\n    for i in range(80):\n        memory.append(data[i])\n"
    f"        if len(memory) > @B:\n            sess.run(train_op, {{x: {drawn}}})\n"
    for drawn in ("random.sample(memory, @B)", "[random.choice(memory) for _ in range(@B)]")
]
# Epochs that leave out a number of batches.
SHORT = "for epoch in range(2):\n    for i in range(%s):\n        sess.run(train_op, {x: data[i * @B:(i + 1) * @B]})\n"
LEFT_OUT = ["160 // @B - 1", "len(data) // @B - 2", "data.shape[0] // @B - 1", "(160 - @B) // @B", "1, 160 // @B"]
# Lists that are filled row by row, and given away when they are full.
FILLS = [
    *(
        "    if len(rows) == @B:\n        RUN\n        rows = []",
        "    if len(rows) >= @B:\n        RUN\n        rows = []",
    ),
    *(
        "    if len(rows) != @B: continue\n    RUN\n    rows = []",
        "    if not len(rows) < @B:\n        RUN\n        rows = []",
    ),
    *(
        "    if @B <= len(rows):\n        RUN\n        rows = []",
        "    if @B == len(rows):\n        RUN\n        rows = []",
    ),
    *(
        "    if len(rows) < @B: continue\n    RUN\n    rows = []",
        "    if len(rows) > @B - 1:\n        RUN\n        rows = []",
    ),
    *(
        "    if len(rows) == @B:\n        RUN\n        del rows[:]",
        "    if len(rows) % @B == 0:\n        RUN\n        rows = []",
    ),
    *("    if len(rows) < @B:\n        continue\n    else:\n        RUN\n        rows = []",),
    "    full = len(rows) == @B\n    if full:\n        RUN\n        rows = []",
    "    if not len(rows) != @B:\n        RUN\n        rows.clear()",
]
# Lists that loops put rows into, as many as a batch has.
PUTS = "for i in range(10):\n    rows = []\n    %s\n    sess.run(train_op, {x: rows})\n"
ROW = "data[np.random.randint(160)]"
PUT = [
    f"for k in range(@B):\n        rows.append({ROW})\n    rows = np.vstack(rows)",
    f"for k in range(@B):\n        rows.append({ROW})\n    rows = np.stack(rows, axis=0)",
    f"for k in range(@B):\n        rows.append([{ROW}])\n    rows = np.concatenate(rows, 0)",
    f"for k in range(@B):\n        rows.append({ROW})\n    rows = np.concatenate(rows).reshape(-1, 1)",
    "for k in range(4):\n        rows.append(data[np.random.randint(0, 160, @B // 4)])\n"
    "    rows = np.concatenate(rows)",
    f"for k in range(@B // 2):\n        rows.append({ROW})\n        rows.append({ROW})",
    f"for k in range(@B // 2):\n        rows += [{ROW}, {ROW}]",
    f"for k in range(@B // 2):\n        rows.extend([{ROW}, {ROW}])",
    f"for k in range(4):\n        for j in range(@B // 4):\n            rows.append({ROW})",
    "for k in range(@B // 4):\n        rows.extend(data[np.random.randint(0, 160, 4)])",
    f"for k in range(@B // 2):\n        rows.append({ROW})\n    for k in range(@B // 2):\n        rows.append({ROW})",
    f"rows = list(data[np.random.randint(0, 160, @B // 2)])\n    for k in range(@B // 2):\n        rows.append({ROW})",
    f"rows.append({ROW})\n    for k in range(@B - 1):\n        rows.append({ROW})",
    f"rows = [{ROW}]\n    for k in range(@B - 1):\n        rows.append({ROW})",
    f"rows = [{ROW}]\n    while len(rows) < @B:\n        rows.append({ROW})",
    f"for k in range(160):\n        rows.append({ROW})\n        if len(rows) == @B: break",
    f"for k in range(160):\n        if len(rows) >= @B: break\n        rows.append({ROW})",
    f"for k in range(160):\n        rows.append({ROW})\n        if k == @B - 1: break",
    f"k = 3\n    while k < @B + 3:\n        rows.append({ROW})\n        k += 1",
    f"k = @B\n    while k > 0:\n        rows.append({ROW})\n        k -= 1",
    f"k = @B\n    while k > 0:\n        k -= 1\n        rows.append({ROW})",
    f"for k in range(@B):\n        if k % 2:\n            rows.append({ROW})\n"
    f"        else:\n            rows += [{ROW}]",
]
OTHER_PUT = [
    f"for k in range(160):\n        rows.append({ROW})\n        if k == @B: break",
    f"k = 3\n    while k < @B:\n        rows.append({ROW})\n        k += 1",
    f"for k in range(@B):\n        rows.append({ROW})\n        if k == 11: break",
    f"if i % 2:\n        for k in range(@B):\n            rows.append({ROW})\n"
    f"    else:\n        for k in range(@B - 1):\n            rows.append({ROW})",
    f"rows = [{ROW}]\n    for k in range(@B):\n        rows.append({ROW})",
    f"for k in range(@B):\n        rows.append({ROW})\n    rows.append({ROW})",
    f"for k in range(@B):\n        rows.append({ROW})\n    rows.extend([{ROW}, {ROW}])",
    f"for k in range(@B):\n        rows.append({ROW})\n    rows = np.vstack(rows)[1:]",
    f"for k in range(@B // 2):\n        for j in range(@B // 8):\n            rows.append({ROW})",
    "for k in range(@B // 4):\n        rows.append(data[np.random.randint(0, 160, @B // 4)])\n"
    "    rows = np.concatenate(rows)",
]
# The same with a count beside the list.
COUNTED_FILLS = [
    "rows, k = [], @B\nfor row in data:\n    rows.append(row)\n    k -= 1\n"
    "    if k == 0:\n        RUN\n        rows, k = [], @B",
    "rows, k = [], 0\nfor row in data:\n    rows.append(row)\n    k += 1\n"
    "    if k == @B:\n        RUN\n        rows, k = [], 0",
    "rows = []\nfor k, row in enumerate(data):\n    rows.append(row)\n"
    "    if (k + 1) % @B == 0:\n        RUN\n        rows = []",
    "rows = []\nfor k in range(160):\n    rows.append(data[k])\n"
    "    if k % @B == @B - 1:\n        RUN\n        rows = []",
    "for i in range(160 // @B):\n    rows = []\n    for k in range(@B):\n"
    "        rows.append(data[i * @B + k])\n    RUN",
    "k = 0\nfor i in range(160 // @B):\n    rows = []\n    while len(rows) < @B:\n"
    "        rows.append(data[k])\n        k += 1\n    RUN",
    "k = 0\nfor i in range(160 // @B):\n    rows = []\n    while @B > len(rows):\n"
    "        rows.append(data[k])\n        k += 1\n    RUN",
    "k = 0\nfor i in range(160 // @B):\n    rows = []\n    for _ in [0] * @B:\n"
    "        rows.append(data[k])\n        k += 1\n    RUN",
    *(
        f"for i in range(10):\n    rows = []\n    for k in [0] * ({size}):\n"
        "        rows.append(data[np.random.randint(160)])\n    RUN"
        for size in ("sum([@B])", "@B + 2 - 2", "divmod(@B, 2)[0]", "abs(@B)")
    ),
    "rows = np.zeros((@B, 1))\nfor k in range(160):\n    rows[k % @B] = data[k]\n"
    "    if k % @B == @B - 1:\n        sess.run(train_op, {x: rows.copy()})",
    "q = queue.Queue()\nfor row in data: q.put(row)\n"
    "for i in range(160 // @B):\n    rows = [q.get() for _ in range(@B)]\n    RUN",
    "d = collections.deque(data)\nwhile d:\n    rows = [d.popleft() for _ in range(@B)]\n    RUN",
    "def batches(b):\n    for i in range(0, 160, b):\n        yield np.array(list(zip(data[i:i + b], data[i:i + b])))\n"
    "for batch in batches(@B):\n    rows, _ = zip(*batch)\n    RUN",
    "for i in range(0, 160, @B):\n    batch = data[i:i + @B]\n    rows = []\n    for k in range(len(batch)):\n"
    "        rows.append(batch[k] + 0)\n    RUN",
]
# Lists that are given away with one row more or fewer.
OTHER_FILLS = [
    *(
        "    if len(rows) > @B:\n        RUN\n        rows = []",
        "    if len(rows) == @B - 1:\n        RUN\n        rows = []",
    ),
    *(
        "    if len(rows) == @B + 2:\n        RUN\n        rows = []",
        "    if len(rows) >= max(@B, 20):\n        RUN\n        rows = []",
    ),
    *(
        "    if len(rows) == @B:\n        RUN\n        rows = rows[-1:]",
        "    if len(rows) == @B:\n        RUN\n        rows.pop(0)",
    ),
    *("    if len(rows) >= 2 * @B - 1:\n        RUN\n        rows = []",),
]
# A batch beside other rows.
BESIDE = [
    "np.concatenate([data[np.random.randint(0, 160, @B)], data[np.random.randint(0, 160, 4)]])",
    "np.concatenate([data[np.random.randint(0, 160, @B)], data[:4]])",
    "np.vstack([data[np.random.randint(0, 160, @B)], data[np.random.randint(0, 160, 4)]])",
    "list(data[np.random.randint(0, 160, @B)]) + list(data[:4])",
    "np.append(data[np.random.randint(0, 160, @B)], data[:4], 0)",
    "data[np.random.permutation(160)[:@B - 2]]",
    "data[list(np.random.randint(0, 160, @B)) + [0, 1]]",
    "np.pad(data[np.random.randint(0, 160, @B)], ((0, 4), (0, 0)), 'constant')",
    *("np.r_[data[np.random.randint(0, 160, @B)], data[:4]]", "data[np.r_[np.random.randint(0, 160, @B), 0:4]]"),
    *("[*data[np.random.randint(0, 160, @B)], data[0]]", "[data[0], *data[np.random.randint(0, 160, @B)]]"),
]
# Batches of rows in other ways.
DRAWS = [
    *("data[np.random.permutation(160)[:@B]]", "data[np.random.choice(160, @B)]", "random.sample(list(data), @B)"),
    *("np.concatenate([data[np.random.randint(0, 160, @B // 2)], data[np.random.randint(0, 160, @B // 2)]])",),
    *(
        "[data[np.random.randint(160)] for _ in range(@B)]",
        "np.random.rand(@B, 1)",
        "np.array([data[k] for k in np.random.randint(0, 160, @B)])",
    ),
    *(
        "np.vstack([data[np.random.randint(160)] for _ in range(@B)])",
        "np.random.uniform(size=(@B, 1))",
        "np.random.normal(0, 1, [@B, 1])",
    ),
    *("data[np.random.permutation(160)][:@B]", "np.stack([data[np.random.randint(160)] for k in range(@B)])"),
    *("np.r_[data[np.random.randint(0, 160, @B)]]", "data[np.r_[0:@B] + np.random.randint(100)]"),
    *("[*data[np.random.randint(0, 160, @B)]]", "data[[*np.random.randint(0, 160, @B)]]"),
    *(
        "list(map(lambda k: data[k], np.random.randint(0, 160, @B)))",
        "np.tile(data[:@B // 2], (2, 1)) + np.random.rand(@B, 1)",
    ),
]
# The same rows in each step: N times as many are other ones. So they are of data that stays as it is.
# Rows that are changed in their places, and then counted: as many as before.
CHANGED_IN_PLACE = [
    f"def change(rows):\n    {change}\n    return rows\n"
    "def fill(rows):\n    made = []\n    for k in range(len(rows)):\n        made.append(rows[k])\n    return made\n"
    f"for i in range(160 // @B):\n    rows = {rows}\n    rows = {made}\n    RUN\n"
    for rows in ("data[i * @B:(i + 1) * @B]", "np.array(data[i * @B:(i + 1) * @B])")
    for change in ("rows[:, 0] = 0.5 * rows[:, 0]", "for k in range(len(rows)):\n        rows[k] = rows[k] * 0.5")
    for made in ("fill(change(rows))", "[row for row in fill(change(rows))]", "change(rows)[np.arange(len(rows))]")
]
SAME = [
    *("data[:@B]", "data[0:@B]", "data[-@B:]", "data[range(@B)]", "data[np.arange(@B)]", "data[:@B] / 2.0"),
    *("np.array(data[:@B])", "data[:@B].reshape(-1, 1)", "[data[k] for k in range(@B)]", "(lambda b: data[:b])(@B)"),
    *("data[40:40 + @B]", "data[::2][:@B]", "data[:2 * @B][:@B]"),
]
CHANGING = [
    f"{before}for i in range(10):\n    {change}\n    rows = %s\n    RUN\n"
    for before, change in (
        *(("", "np.random.shuffle(data)"), ("", "data = data[np.random.permutation(160)]")),
        ("def mix(rows):\n    np.random.shuffle(rows)\n", "mix(data)"),
        ("data = list(data)\n", "random.shuffle(data)"),
        ("", "data[:] = data[np.random.permutation(160)]"),
    )
]
# A list that a function fills row by row, and what is computed of it.
LOADED = (
    "def load(batch_size):\n    rows = []\n    for k in np.random.choice(160, batch_size):\n"
    "        rows.append(data[k])\n    return %s\nfor i in range(10):\n    rows = load(@B)\n    RUN\n"
)
ARRANGED = [
    *("rows", "np.array(rows)", "np.array(rows).transpose((0, 1))", "np.transpose(rows, [0, 1])", "np.vstack(rows)"),
    *("np.array(rows).reshape(-1, 1)", "np.reshape(rows, [len(rows), 1])", "np.concatenate(rows).reshape(-1, 1)"),
    *("np.expand_dims(np.squeeze(np.array(rows), 1), 1)", "np.fliplr(np.array(rows))", "np.array(rows).T.T"),
    *("np.array(rows).swapaxes(1, 1)", "np.repeat(np.array(rows), 2, 0)", "np.array(rows)[:batch_size // 2]"),
    *("np.array(rows)[np.argsort(np.array(rows)[:, 0])]", "[row for row in np.array(rows).transpose(0, 1)]"),
]
# A number of rows of it that the script writes out.
OTHER_ARRANGED = [
    *("np.array(rows).transpose(0, 1)[:10]", "np.transpose(rows, [0, 1])[4:12]", "np.array(rows).reshape(-1, 1)[-4:]"),
    *("rows[:10]", "rows[-4:]", "np.array(rows)[:1]", "[max(rows)]", "np.array(rows)[-4:]"),
]

IMPORTS = ("itertools", "collections", "math", "operator", "random", "queue")


def _written(template: str, spellings: list[str]) -> list[str]:
    return [_with_imports(template.replace("%s", spelling)) for spelling in spellings]


def _with_imports(host: str) -> str:
    """A program with the imports that it needs."""
    host = host.replace("RUN", STEP)
    return "".join(f"import {name}\n" for name in IMPORTS if f"{name}." in host) + host


DRAW = "for i in range(10):\n    rows = %s\n    sess.run(train_op, {x: rows})\n"
SCALED: dict[str, list[str]] = {  # what a person scales
    "rows": _written(DRAWN, ROWS),
    "cuts": _written(CUT, CUTS),
    "changed lists": _written(LISTED, CHANGED),
    "windows": _written(WINDOW, WINDOWS),
    "epochs": _written(EPOCH, EPOCHS),
    "steps": _written(TURNS, STEPS),
    "shows": _written(SHOWN, SHOWS),
    "shows of epochs": [
        host
        for loop in (SHOWN_IN_EPOCHS, SHOWN_IN_EPOCHS.replace("range(n)", "range(0, n)"))
        for host in _written(loop, SHOWS_OF_EPOCHS)
    ],
    "shows of other counters": _written("%s", COUNTED_SHOWS),
    "warm ups": _written("%s", WARM_UPS),
    "fills": _written(FILLED, FILLS),
    "puts": _written(PUTS, PUT),
    "counted fills": _written("%s\n", COUNTED_FILLS),
    "draws": _written(DRAW, DRAWS),
    "changing data": _written("%s", [loop.replace("%s", rows) for loop in CHANGING for rows in SAME[:2]]),
    "arranged": _written(LOADED, ARRANGED),
    "changed in place": _written("%s", CHANGED_IN_PLACE),
    "readers": _written(EPOCH, READERS),
}
OTHERS: dict[str, list[str]] = {  # what no number of rows makes N batches of
    "other rows": _written(DRAWN, OTHER_ROWS),
    "other cuts": _written(CUT, OTHER_CUTS),
    "other changed lists": _written(LISTED, OTHER_CHANGED),
    "far rows": _written(FAR, FAR_ROWS),
    "other windows": _written(WINDOW, OTHER_WINDOWS),
    "other moves": OTHER_MOVES,
    "other warm ups": _written("%s", OTHER_WARM_UPS),
    "left out": _written(SHORT, LEFT_OUT),
    "other puts": _written(PUTS, OTHER_PUT),
    "other fills": _written(FILLED, OTHER_FILLS),
    "other arranged": _written(LOADED, OTHER_ARRANGED),
    "beside": _written(DRAW, BESIDE),
    "same rows": _written(DRAW, SAME),
    "other readers": _written(EPOCH, OTHER_READERS),
}
