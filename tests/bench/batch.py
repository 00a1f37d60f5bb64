"""Batch systems that run processes, side by side: Stoker by its PBS commands, Slurm, task-spooler.

Each is private: its own directory, loopback ports and sockets, and a user made for the benchmark.  Everything that
outlives a process is undone by Bench, on every way out.
"""
import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import time

from benchlib import BUILD, Bench, Failure, Stoker, counters, free_port

SLOTS = 32  # of every system: more than processors, for these jobs hardly use any
PATIENCE = 120

# Run as the user: how long a command takes in ms, of so many one after the other.
MEDIAN = """\
import subprocess, sys, time
took = []
for _ in range(int(sys.argv[1])):
    began = time.monotonic()
    subprocess.run(sys.argv[2:], check=True, stdout=subprocess.DEVNULL)
    took.append(1000 * (time.monotonic() - began))
print(sorted(took)[len(took) // 2])
"""

SLURM_CONF = """\
ClusterName=bench
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmctldPort={port}
SlurmdPort={node_port}
AuthType=auth/munge
AuthInfo=socket={dir}/munge.sock
CredType=cred/munge
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool
SlurmctldPidFile={dir}/slurmctld.pid
SlurmdPidFile={dir}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SlurmctldDebug=error
SlurmdDebug=error
ReturnToService=2
MpiDefault=none
MailProg=/bin/true
NodeName={host} NodeAddr=127.0.0.1 CPUs={slots} State=UNKNOWN
PartitionName=bench Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def wait_for(what: str, check, patience=PATIENCE):
    deadline = time.monotonic() + patience
    while not check():
        if time.monotonic() > deadline:
            raise Failure(f"{what}: not within {patience} s")
        time.sleep(0.01)


def installed(*programs: str) -> bool:
    return all(shutil.which(p) or os.path.exists(f"/usr/sbin/{p}") for p in programs)


class User:
    """Somebody who submits; gone with the benchmark."""

    def __init__(self, bench: Bench):
        self.name, self.home = f"stokerbench{os.getpid()}"[:32], bench.dir / "home"
        bench.dir.chmod(0o711)
        subprocess.run(["useradd", "-M", "-d", self.home, "-s", "/bin/sh", self.name], check=True)
        bench.undo.append(lambda: subprocess.run(["userdel", self.name], stderr=subprocess.DEVNULL))
        self.home.mkdir()
        self.ran = self.home / "ran"
        self.write("ran", "")
        account = pwd.getpwnam(self.name)
        os.chown(self.home, account.pw_uid, account.pw_gid)
        os.chown(self.ran, account.pw_uid, account.pw_gid)

    def write(self, name: str, text: str) -> pathlib.Path:
        path = self.home / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def prefix(self) -> list:
        return ["setpriv", f"--reuid={self.name}", f"--regid={self.name}", "--init-groups"]


class System:
    """start(), stop(), kill(); `submit`: words of a shell that hand in the script it finds as $1."""
    name = ""
    env: dict = {}
    submit = ""

    def __init__(self, bench: Bench, user: User):
        self.bench, self.user = bench, user

    def spawn_as_user(self, script: str, *args: str, **kwargs) -> subprocess.Popen:
        return self.bench.spawn([*self.user.prefix(), "/bin/sh", "-c", script, "sh", *args], cwd=self.user.home,
                                env=dict(os.environ, **self.env), **kwargs)

    def storm(self, job: str, n: int, shells: int, submit=None, each=1) -> float:
        """Jobs a second, from the first submission to the last job's line in the file; `each` of them a submission."""
        os.truncate(self.user.ran, 0)
        path = self.user.write("job", job)
        loop = f"i=0; while [ $i -lt $2 ]; do {submit or self.submit} >/dev/null || exit 1; i=$((i + 1)); done"
        began = time.monotonic()
        running = [self.spawn_as_user(loop, str(path), str(n // shells // each)) for _ in range(shells)]
        for p in running:
            if p.wait(PATIENCE):
                raise Failure(f"{self.name}: a submission failed")
            self.bench.end(p)
        wait_for(f"{self.name}: {n} jobs", lambda: os.stat(self.user.ran).st_size >= 2 * n)
        seconds = time.monotonic() - began
        if os.stat(self.user.ran).st_size != 2 * n:
            raise Failure(f"{self.name}: jobs ran twice")
        self.idle()
        return n / seconds

    def latency_ms(self, n: int) -> float:
        """The median of submissions of held jobs, one after the other: process and all."""
        path = self.user.write("job", "#!/bin/sh\ntrue\n")
        r = subprocess.run([*self.user.prefix(), "/usr/bin/python3", "-c", MEDIAN, str(n), *self.held, str(path)],
                           capture_output=True, text=True, cwd=self.user.home, env=dict(os.environ, **self.env))
        if r.returncode:
            raise Failure(f"{self.name}: {r.stderr[-500:]}")
        return float(r.stdout)

    def loss(self, n: int) -> tuple:
        """Submissions acknowledged, the server killed at once and started again: how many never ran, ran twice."""
        os.truncate(self.user.ran, 0)
        path = self.user.write("job", f"#!/bin/sh\nsleep 1\necho ${self.id_variable} >>{self.user.ran}\n")
        loop = f"i=0; while [ $i -lt $2 ]; do {self.submit} || exit 1; i=$((i + 1)); done"
        p = self.spawn_as_user(loop, str(path), str(n), stdout=subprocess.PIPE, text=True)
        said = [line.split()[-1] for line in p.stdout.read().splitlines()]
        self.kill()
        p.wait()
        self.bench.end(p)
        self.start()
        self.idle()
        time.sleep(2)
        ran = self.user.ran.read_text().split()
        return len(said), len(set(said) - set(ran)), len(ran) - len(set(ran))


class StokerPbs(System):
    name, id_variable = "Stoker", "PBS_JOBID"

    def __init__(self, bench: Bench, user: User):
        super().__init__(bench, user)
        self.server = Stoker(bench, "pbs", args=("--gpus", "4"))
        self.env = {"STOKER_SOCKET": str(self.server.socket)}
        self.qsub, self.qstat = BUILD / "bin" / "qsub", BUILD / "bin" / "qstat"
        self.submit = f'{self.qsub} -j oe -o /dev/null "$1"'
        self.held = [str(self.qsub), "-h"]
        self.start()
        node = socket.gethostname().split(".")[0]
        wait_for("the node of Stoker", lambda: self.server.request("GET", f"/api/v1/nodes/{node}")[0] == 200)
        for setting in (f"node {node} np = {SLOTS}", "server max_job_array_size = 1000000"):
            subprocess.run([BUILD / "bin" / "qmgr", "-c", f"set {setting}"], check=True,
                           env=dict(os.environ, **self.env), stdout=subprocess.DEVNULL)

    def start(self) -> float:
        seconds = self.server.start()
        self.server.socket.chmod(0o666)
        return seconds

    def kill(self):
        self.server.process.kill()
        self.server.stop()

    def stop(self):
        self.server.stop()

    def quiet(self):
        """Until it has done what follows from the last requests: less than a tenth of a processor, thrice."""
        seen = []

        def check():
            before = counters(self.server.pid)["cpu"]
            time.sleep(0.5)
            seen.append(counters(self.server.pid)["cpu"] - before)
            return len(seen) >= 3 and max(seen[-3:]) < 0.05
        wait_for("a quiet server", check, 10 * PATIENCE)

    def rows(self) -> list:
        r = subprocess.run([self.qstat], capture_output=True, text=True, env=dict(os.environ, **self.env))
        return [line.split()[4] for line in r.stdout.splitlines()[2:]]

    def idle(self):
        wait_for("Stoker's jobs", lambda: not set(self.rows()) - {"C", "H"})


class Slurm(System):
    """slurmctld, slurmd and munged of Debian, as they come but for accounting, which there is none."""
    name, id_variable, env = "Slurm", "SLURM_JOB_ID", {}

    def __init__(self, bench: Bench, user: User):
        super().__init__(bench, user)
        self.dir = bench.dir / "slurm"
        for d in (self.dir, self.dir / "state", self.dir / "spool"):
            d.mkdir()
        (self.dir / "munge.key").write_bytes(os.urandom(128))
        (self.dir / "munge.key").chmod(0o600)
        host = socket.gethostname().split(".")[0]
        (self.dir / "slurm.conf").write_text(SLURM_CONF.format(
            host=host, dir=self.dir, port=free_port(), node_port=free_port(), slots=SLOTS))
        self.env = {"SLURM_CONF": str(self.dir / "slurm.conf")}
        self.submit = 'sbatch -o /dev/null "$1"'
        self.held = ["sbatch", "-o", "/dev/null", "-H"]
        self.munged = self.daemon("/usr/sbin/munged", "-F", "--force", f"--key-file={self.dir}/munge.key",
                                  f"--socket={self.dir}/munge.sock", f"--pid-file={self.dir}/munged.pid",
                                  f"--log-file={self.dir}/munged.log", f"--seed-file={self.dir}/seed")
        wait_for("munged", (self.dir / "munge.sock").exists)
        self.control = None
        self.start()
        # What it starts outlives it: in a pid namespace of its own all of it ends with the first process there.
        self.node = self.daemon("/usr/bin/unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "/bin/sh", "-c",
                                "/usr/sbin/slurmd -D & wait")
        wait_for("Slurm's node", lambda: "idle" in self.ask("sinfo", "-h", "-o", "%T"))

    def daemon(self, *argv: str) -> subprocess.Popen:
        with open(self.dir / "log", "ab") as log:
            return self.bench.spawn(argv, env=dict(os.environ, **self.env),
                                    stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def ask(self, *argv: str) -> str:
        return subprocess.run(argv, capture_output=True, text=True, env=dict(os.environ, **self.env)).stdout

    def start(self):
        self.control = self.daemon("/usr/sbin/slurmctld", "-D")
        wait_for("slurmctld", lambda: "UP" in self.ask("scontrol", "ping"))

    def kill(self):
        self.control.kill()
        self.control.wait()
        self.bench.end(self.control)

    def stop(self):
        for p in (self.node, self.control, self.munged):
            self.bench.end(p)

    def idle(self):
        wait_for("Slurm's jobs", lambda: not self.ask("squeue", "-h", "-t", "PD,R,CG", "-o", "%r").replace("JobHeldUser", "").strip())


class TaskSpooler(System):
    """tsp, whose server is started by its first client and keeps everything in memory."""
    name = "task-spooler"

    def __init__(self, bench: Bench, user: User):
        super().__init__(bench, user)
        self.env = {"TS_SOCKET": str(user.home / "tsp.sock"), "TMPDIR": str(user.home), "TS_MAXFINISHED": "100"}
        self.submit = 'tsp -n /bin/sh "$1"'
        self.call("-S", str(SLOTS))
        bench.undo.append(self.stop)

    def call(self, *args: str):
        subprocess.run([*self.user.prefix(), "tsp", *args], env=dict(os.environ, **self.env), stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    def stop(self):
        self.call("-K")

    def idle(self):
        time.sleep(0.2)
        self.call("-C")
