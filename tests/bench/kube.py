"""P15 of tools/bench on the real thing: a kube-apiserver that $BENCH_KUBE_APISERVER names, on an etcd of its own.

Where kube-controller-manager lies beside it, its Job controller makes the same pods on the same server: with the limit of
requests that it comes with (20 a second), and without one.  Nobody runs the pods.
"""
import contextlib
import os
import pathlib
import subprocess
import time

from benchlib import BUILD, Bench, Etcd, Failure, counters, free_port
from figures import row
from jobs import Jobs, job

NAME = "BENCH_KUBE_APISERVER"
TOKEN = "bench"
CONFIG = """\
apiVersion: v1
kind: Config
clusters: [{name: k, cluster: {server: "%s", insecure-skip-tls-verify: true}}]
users: [{name: u, user: {token: %s}}]
contexts: [{name: c, context: {cluster: k, user: u}}]
current-context: c
"""


class KubeServer:
    """Without service accounts, for which another program would be needed."""
    token = TOKEN

    def __init__(self, bench: Bench):
        self.bench, self.program = bench, pathlib.Path(os.environ[NAME])
        self.dir = bench.dir / "kube"
        self.dir.mkdir()
        self.config, self.url = self.dir / "kubeconfig", f"https://127.0.0.1:{free_port()}"
        self.config.write_text(CONFIG % (self.url, TOKEN))
        (self.dir / "tokens").write_text(f'{TOKEN},bench,1,"system:masters"\n')
        key = self.dir / "accounts.key"
        subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, stderr=subprocess.DEVNULL)
        self.version = subprocess.run([self.program, "--version"], check=True, capture_output=True, text=True).stdout.split()[1]
        etcd = Etcd(bench)
        with open(self.dir / "log", "wb") as log:
            self.process = bench.spawn(
                [self.program, f"--etcd-servers={etcd.url}", "--bind-address=127.0.0.1", f"--secure-port={self.url.rpartition(':')[2]}",
                 f"--cert-dir={self.dir}", f"--token-auth-file={self.dir / 'tokens'}", "--authorization-mode=RBAC",
                 f"--service-account-key-file={key}", f"--service-account-signing-key-file={key}",
                 "--service-account-issuer=https://kubernetes.default.svc", "--disable-admission-plugins=ServiceAccount",
                 "--service-cluster-ip-range=10.96.0.0/16"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.pid = self.process.pid


class KubeJobs(Jobs):
    def __init__(self, bench: Bench):
        self.bench, self.server = bench, KubeServer(bench)
        self.head = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        for _ in range(600):
            with contextlib.suppress(OSError, Failure):
                if self.call(self.connect(), "GET", "/api/v1/namespaces/default"):
                    return
            if self.server.process.poll() is not None:
                break
            time.sleep(0.2)
        raise Failure(f"{self.server.program} did not start: " + (self.server.dir / "log").read_text()[-2000:])

    def made_by(self, argv: list, name: str, many: int) -> tuple:
        """Pods a second that this program makes for one Job, the memory it has after that, and its CPU. Then all goes."""
        process = self.bench.spawn(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(5)  # one of them finds out first what the server has
        before = counters(process.pid)["cpu"]
        rate = self.pods_made([job(name, completions=many, parallelism=many, backoffLimit=0)], many)
        time.sleep(2)
        after = counters(process.pid)
        self.bench.end(process)
        conn = self.connect()
        for path in ("/apis/batch/v1/namespaces/default/jobs", "/api/v1/namespaces/default/pods?gracePeriodSeconds=0"):
            self.call(conn, "DELETE", path)
        return rate, after["pss"] / 1e6, 1000 * (after["cpu"] - before) / many


def kube_figures(bench: Bench):
    many = 50 if bench.quick else 1000
    server = KubeJobs(bench)
    config, on = server.server.config, f"kube-apiserver {server.server.version}"
    manager = server.server.program.with_name("kube-controller-manager")
    kube = [manager, "--kubeconfig", config, "--controllers=job", "--leader-elect=false", "--port=0", "--secure-port=0"]
    ours = [BUILD / "stoker", "operate", "--kubeconfig", config, "--controllers", "job", "--leader-elect=false"]
    if not manager.exists():
        rate, pss, cpu = server.made_by(ours, "ours", many)
        yield row("P15", f"`stoker operate` on {on}: one Job of {many:,}", rate, "/s", kube=130, times=5)
        yield row("P15", "the same, its CPU a pod", cpu, "ms")
        yield row("P15", f"`stoker operate` on {on}: memory (PSS)", pss, "MB", kube=192, at_most=10)
        return
    limited, *_ = server.made_by(kube, "limited", min(many, 100))
    peer, peer_pss, peer_cpu = server.made_by([*kube, "--kube-api-qps=10000", "--kube-api-burst=10000"], "theirs", many)
    rate, pss, cpu = server.made_by(ours, "ours", many)  # the last: pods of ours that are deleted wait for it
    yield row("P15", f"`stoker operate` on {on}: one Job of {many:,}", rate, "/s", measured=(peer, "its own, no limit"))
    yield row("P15", "the same, its CPU a pod", cpu, "ms", measured=(peer_cpu, "its own, no limit"))
    yield row("P15", "the same against its own as it comes", rate, "/s", measured=(limited, "its own, as it comes"), times=5)
    yield row("P15", f"`stoker operate` on {on}: memory (PSS)", pss, "MB", measured=(peer_pss, "kube-controller-manager"),
              at_most=10)
