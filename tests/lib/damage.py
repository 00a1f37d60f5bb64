# SPDX-License-Identifier: Apache-2.0
"""damage.py HOME [SEED] - bytes flipped, files cut: named at start, or harmless; never a wrong answer

Two images are made: of a server that was stopped (everything in stoker.db) and of one that was killed (much of it in
the log).  Each case damages a copy and starts a server on it.  The server may refuse, naming the file, and then must
have left the copy as it was; or, where the damage hit what nobody was promised, it must serve every acknowledged object.
"""
import hashlib
import os
import random
import re
import shutil
import sys

from checks import Checks
from ledger import GONE, NAMESPACE, RESOURCES, Broken, Ledger, make_data
from wire import Server

OBJECTS = 240
PAGE = 4096
FLIPS = 48
CUTS = 24


def write_some(server, ledger):
    conn = server.connect()
    keys = [ledger.key(RESOURCES[i % 2], "d%03d" % i) for i in range(OBJECTS)]
    for n, key in enumerate(random.choices(keys, k=OBJECTS * 2)):
        data = make_data(n, random.choice((30, 900, 9000)))
        body = {"metadata": {"name": key.name}, "data": data}
        if key.state is GONE:
            reply = conn.call("POST", NAMESPACE + key.resource, body)
        elif n % 7 == 0:
            if conn.call("DELETE", key.path).code != 200:
                raise Broken("a delete was refused")
            ledger.deleted(key)
            continue
        else:
            reply = conn.call("PUT", key.path, body)
        if reply.code not in (200, 201):
            raise Broken("a write was refused: %s" % reply.body)
        ledger.answered(key, reply.json, 0)
    conn.close()


def flip(path, at=None):
    """A changed byte somewhere, or the bit that is hardest to see."""
    with open(path, "r+b") as f:
        at = random.randrange(os.path.getsize(path)) if at is None else at
        f.seek(at)
        byte = f.read(1)[0]
        f.seek(at)
        f.write(bytes([byte ^ random.choice((1, 128, 0xff, 1 << random.randrange(8)))]))
    return at


def digest(directory):
    """Of what the store keeps."""
    total = hashlib.sha256()
    for name in ("stoker.db", "stoker.db-wal", "lock"):
        path = os.path.join(directory, name)
        total.update(name.encode())
        if os.path.exists(path):
            with open(path, "rb") as f:
                total.update(f.read())
    return total.hexdigest()


def copy(source, target):
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("reserve", "audit.log"))


class Bench:
    def __init__(self, home):
        self.server = Server(os.path.join(home, "server"))
        self.stopped, self.killed = os.path.join(home, "stopped"), os.path.join(home, "killed")
        self.ledger = Ledger()

    def make_images(self):
        self.server.start()
        write_some(self.server, self.ledger)
        self.server.stop()
        self.server.start()
        write_some(self.server, self.ledger)
        self.server.kill()
        copy(self.server.data, self.killed)
        self.server.start()
        self.server.stop()
        copy(self.server.data, self.stopped)

    def case(self, image, hurt):
        """("refused", words), ("served", "") or ("wrong", why) after hurt(directory) on a copy of the image."""
        data = self.server.data
        shutil.rmtree(data)
        copy(image, data)
        where = hurt(data)
        before = digest(data)
        self.server.spawn()
        if not self.server.wait_ready():
            status = self.server.end(0)
            said = self.server.said()
            if status != 1:
                return "wrong", "%s: it ended with status %d: %s" % (where, status, said)
            if digest(data) != before:
                return "wrong", "%s: it refused, but has written" % where
            return "refused", said
        try:
            conn = self.server.connect()
            for resource in RESOURCES:
                self.ledger.settle(resource, conn.call("GET", NAMESPACE + resource).json)
        except (Broken, ValueError, KeyError) as e:
            return "wrong", "%s: %s; it said: %s" % (where, e, self.server.said())
        finally:
            self.server.kill()
        return "served", ""


def run(checks, bench, sentence, image, cases, refusal, may_serve):
    outcomes = [bench.case(image, hurt) for hurt in cases]
    wrong = [why for what, why in outcomes if what == "wrong"]
    refused = [why for what, why in outcomes if what == "refused"]
    wrong += ["refused in other words: " + said for said in refused if not re.search(refusal, said)]
    served = len(outcomes) - len(refused)
    if not may_serve and served:
        wrong.append("%d were served" % served)
    checks.ok(sentence + " (%d refused, %d harmless)" % (len(refused), served), not wrong, "\n".join(wrong))


def cut(name, length):
    def hurt(directory):
        path = os.path.join(directory, name)
        n = length(os.path.getsize(path))
        os.truncate(path, n)
        return "%s cut to %d" % (name, n)
    return hurt


def flipped(name, at=None):
    def hurt(directory):
        return "%s flipped at %d" % (name, flip(os.path.join(directory, name), at))
    return hurt


def page_moved(directory):
    with open(os.path.join(directory, "stoker.db"), "r+b") as f:
        f.seek(5 * PAGE)
        page = f.read(PAGE)
        f.seek(6 * PAGE)
        f.write(page)
    return "page 6 over page 7"


def page_blank(directory):
    with open(os.path.join(directory, "stoker.db"), "r+b") as f:
        f.seek(5 * PAGE)
        f.write(bytes(PAGE))
    return "page 6 blank"


def removed(name):
    def hurt(directory):
        os.unlink(os.path.join(directory, name))
        return name + " removed"
    return hurt


def written(name, text):
    def hurt(directory):
        with open(os.path.join(directory, name), "wb") as f:
            f.write(text)
        return "%s overwritten" % name
    return hurt


def story(checks, bench):
    bench.make_images()
    pages = os.path.getsize(os.path.join(bench.stopped, "stoker.db")) // PAGE
    frames = (os.path.getsize(os.path.join(bench.killed, "stoker.db-wal")) - 32) // (PAGE + 24)
    checks.ok("there are pages and frames to damage", pages > 100 and frames > 100, (pages, frames))
    named_page = r"stoker\.db: page \d+ is damaged"
    named_log = r"stoker\.db-wal: (frame \d+ is damaged|its header is damaged|it has lost its \d+ frames)"
    any_length = lambda size: random.randrange(size)  # noqa: E731

    run(checks, bench, "an image without damage is served", bench.stopped, [lambda d: ""], "^$", True)
    run(checks, bench, "a flipped byte in stoker.db is found at start and its page named", bench.stopped,
        [flipped("stoker.db") for _ in range(FLIPS)] + [flipped("stoker.db", at) for at in (0, 18, 28, 60, 4095)],
        named_page, False)
    run(checks, bench, "stoker.db cut off is found and named", bench.stopped,
        [cut("stoker.db", any_length) for _ in range(CUTS // 2)] +
        [cut("stoker.db", lambda size, n=n: n) for n in (0, 1, PAGE - 1, PAGE, 2 * PAGE)] +
        [cut("stoker.db", lambda size: size - 1)], named_page, False)
    run(checks, bench, "a page in another's place, or blank, is found", bench.stopped, [page_moved, page_blank],
        named_page, False)
    run(checks, bench, "a flipped byte in the log is named, or hurts nothing acknowledged", bench.killed,
        [flipped("stoker.db-wal") for _ in range(FLIPS)] + [flipped("stoker.db-wal", at) for at in (0, 8, 17, 31, 32, 40)],
        named_log, True)
    run(checks, bench, "a log cut off is named", bench.killed,
        [cut("stoker.db-wal", any_length) for _ in range(CUTS)] + [cut("stoker.db-wal", lambda size: 0)], named_log, True)
    run(checks, bench, "flipped bytes in stoker.db beside a log are named, or newer in the log", bench.killed,
        [flipped("stoker.db") for _ in range(CUTS)], named_page, True)
    run(checks, bench, "a missing log or a missing stoker.db beside a log is named", bench.killed,
        [removed("stoker.db-wal"), removed("stoker.db")], r"stoker\.db(-wal)? is missing", False)
    run(checks, bench, "a lost or broken lock file is no harm", bench.killed,
        [removed("lock"), written("lock", b"\0" * 300), cut("lock", lambda size: 5)], "^$", True)
    run(checks, bench, "a file that is not Stoker's is refused", bench.stopped,
        [written("stoker.db", b"SQLite format 3\0" + bytes(9000)), written("stoker.db", b"hello"),
         written("stoker.db", random.randbytes(3 * PAGE))], r"stoker\.db", False)
    run(checks, bench, "a broken key file is named", bench.stopped,
        [cut("secrets.key", lambda size: size // 2), written("secrets.key", b"")], r"secrets\.key", False)


def main():
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 30)
    random.seed(seed)
    checks = Checks()
    bench = Bench(sys.argv[1])
    try:
        story(checks, bench)
    except Exception as e:  # pylint: disable=broad-except
        checks.ok("damage is dealt with (seed %d)" % seed, False, "%s: %s" % (type(e).__name__, e))
    finally:
        if bench.server.proc and bench.server.proc.poll() is None:
            bench.server.kill()
    if checks.failed:
        print("    seed %d" % seed)
    checks.done()


main()
