# SPDX-License-Identifier: Apache-2.0
"""converge_model.py - what the API promises of a cluster in which nothing happens any more

A Picture is everything there is at one moment.  problem() holds it against what was asked for and says the first thing
that is wrong.  It knows nothing of how controllers work.
"""
SPACES = ("east", "west")


class Kind:
    def __init__(self, version, kind, prefix, holds=None, wished=True, scales=False, rolls=False):
        self.version, self.kind, self.prefix = version, kind, prefix
        self.holds, self.wished, self.scales, self.rolls = holds, wished, scales, rolls
        self.plural = kind.lower() + ("" if kind.endswith("s") else "s")

    def path(self, ns=None, name=None):
        root = "/apis/" if "/" in self.version else "/api/"
        return root + self.version + ("/namespaces/" + ns if ns else "") + "/" + self.plural + ("/" + name if name else "")


class Picture:
    def __init__(self, call):
        self.objects = []
        for kind in KINDS:
            for obj in call("GET", kind.path()).json["items"]:
                obj["row"] = kind
                self.objects.append(obj)
        self.by_uid = {o["metadata"]["uid"]: o for o in self.objects}
        self.pods = [o for o in self.objects if o["row"].kind == "Pod"]
        self.nodes = [n["metadata"]["name"] for n in call("GET", "/api/v1/nodes").json["items"]]

    def owned(self, obj, kind="Pod"):
        uid = obj["metadata"]["uid"]
        return [o for o in self.objects if o["row"].kind == kind and controller(o) == uid]

    def revisions(self):
        return {title(o): o["metadata"]["resourceVersion"] for o in self.objects}


def title(obj):
    meta = obj["metadata"]
    return "%s %s/%s" % (obj["row"].kind, meta.get("namespace", ""), meta["name"])


def controller(obj):
    return next((r["uid"] for r in obj["metadata"].get("ownerReferences", ()) if r.get("controller")), None)


def going(obj):
    return "deletionTimestamp" in obj["metadata"]


def condition(obj, kind):
    return next((c["status"] == "True" for c in obj.get("status", {}).get("conditions", ()) if c["type"] == kind), False)


def active(pod):
    return not going(pod) and pod.get("status", {}).get("phase") not in ("Succeeded", "Failed")


def ready(pod):
    return active(pod) and condition(pod, "Ready")


def matches(selector, pod):
    labels = pod["metadata"].get("labels", {})
    return bool(selector) and all(labels.get(k) == v for k, v in selector.items())


def version(pod):
    return pod["spec"]["containers"][0]["env"][0]["value"]


def differ(obj, **wanted):
    """The first number of the status that is not what it should be."""
    for name, value in wanted.items():
        have = obj.get("status", {}).get(name, 0)
        if have != value:
            return "status.%s is %s, not %s" % (name, have, value)
    if obj["status"].get("observedGeneration", 0) != obj["metadata"]["generation"]:
        return "its last change was not observed"
    return ""


def counts(pods, want):
    have = [p for p in pods if active(p)]
    if len(have) != want:
        return "%d pods, not %d" % (len(have), want)
    if not all(ready(p) for p in have):
        return "not all pods are ready"
    return ""


# --- each kind ---


def replicas(picture, obj, _):
    want = obj["spec"]["replicas"]
    pods = picture.owned(obj)
    selector = obj["spec"]["selector"]
    if not all(matches(selector.get("matchLabels", selector), p) for p in pods):
        return "it has pods that it does not select"
    if condition(obj, "ReplicaFailure"):
        return "it says that it fails"
    return counts(pods, want) or differ(obj, replicas=want, fullyLabeledReplicas=want, readyReplicas=want,
                                        availableReplicas=want)


def job(picture, obj, _):
    pods = picture.owned(obj)
    status = obj.get("status", {})
    uncounted = status.get("uncountedTerminatedPods", {})
    if any(p["metadata"].get("finalizers") for p in pods):
        return "a finalizer holds its pods"
    if any(active(p) for p in pods) or status.get("active") or status.get("terminating"):
        return "its pods are active"
    if uncounted.get("succeeded") or uncounted.get("failed"):
        return "ends are not counted"
    if condition(obj, "Complete"):
        want = obj["spec"].get("completions", 1)
        return "" if status.get("succeeded") == want else "%s successes, not %d" % (status.get("succeeded"), want)
    if condition(obj, "Failed"):
        return "" if status.get("failed", 0) > obj["spec"]["backoffLimit"] else "it failed too early"
    return "" if obj["spec"].get("suspend") else "it has not ended"


def service(picture, obj, _):
    ns, name = obj["metadata"]["namespace"], obj["metadata"]["name"]
    want = sorted(p["status"]["podIP"] for p in picture.pods
                  if p["metadata"]["namespace"] == ns and matches(obj["spec"].get("selector"), p) and ready(p)
                  and "podIP" in p["status"])
    here = [o for o in picture.objects if o["metadata"].get("namespace") == ns]
    plain = sorted(a["ip"] for o in here if o["row"].kind == "Endpoints" and o["metadata"]["name"] == name
                   for s in o.get("subsets", ()) for a in s.get("addresses", ()))
    sliced = sorted(a for o in here if o["row"].kind == "EndpointSlice"
                    and o["metadata"].get("labels", {}).get("kubernetes.io/service-name") == name
                    for e in o.get("endpoints") or () if e["conditions"].get("ready") for a in e["addresses"])
    return "" if plain == want == sliced else "endpoints %s, slices %s, pods %s" % (plain, sliced, want)


def deployment(picture, obj, wish):
    if not wish:
        return "nobody asked for it"
    want = wish["replicas"]
    sets = picture.owned(obj, "ReplicaSet")
    new = [s for s in sets if version(s["spec"]["template"]) == wish["image"]]
    old = [s for s in sets if s not in new]
    if len(new) != 1 or len(old) > obj["spec"]["revisionHistoryLimit"]:
        return "%d new sets, %d old ones" % (len(new), len(old))
    if new[0]["spec"]["replicas"] != want or any(s["spec"]["replicas"] for s in old):
        return "its sets have %s replicas" % [s["spec"]["replicas"] for s in new + old]
    if not condition(obj, "Available") or not condition(obj, "Progressing"):
        return "it does not say that it is available"
    return differ(obj, replicas=want, updatedReplicas=want, readyReplicas=want, availableReplicas=want,
                  unavailableReplicas=0)


def stateful_set(picture, obj, wish):
    if not wish:
        return "nobody asked for it"
    want = wish["replicas"]
    pods = picture.owned(obj)
    names = sorted(p["metadata"]["name"] for p in pods)
    if names != ["%s-%d" % (obj["metadata"]["name"], i) for i in range(want)]:
        return "its pods are %s" % names
    if any(version(p) != wish["image"] for p in pods):
        return "it has pods of an old template"
    if obj["status"].get("currentRevision") != obj["status"].get("updateRevision"):
        return "it is between two revisions"
    return counts(pods, want) or differ(obj, replicas=want, updatedReplicas=want, currentReplicas=want,
                                        readyReplicas=want, availableReplicas=want)


def daemon_set(picture, obj, wish):
    want = len(picture.nodes)
    pods = picture.owned(obj)
    if sorted(p["spec"].get("nodeName", "") for p in pods) != sorted(picture.nodes):
        return "its pods are on %s" % [p["spec"].get("nodeName") for p in pods]
    if any(version(p) != wish["image"] for p in pods):
        return "it has pods of an old template"
    return counts(pods, want) or differ(obj, desiredNumberScheduled=want, currentNumberScheduled=want,
                                        updatedNumberScheduled=want, numberReady=want, numberAvailable=want,
                                        numberUnavailable=0, numberMisscheduled=0)


KINDS = [
    Kind("apps/v1", "Deployment", "dep", deployment, scales=True, rolls=True),
    Kind("apps/v1", "ReplicaSet", "set", replicas, scales=True),
    Kind("v1", "ReplicationController", "con", replicas, scales=True),
    Kind("apps/v1", "StatefulSet", "sts", stateful_set, scales=True, rolls=True),
    Kind("apps/v1", "DaemonSet", "dae", daemon_set, rolls=True),
    Kind("batch/v1", "Job", "job", job),
    Kind("v1", "Service", "svc", service),
    Kind("v1", "Pod", None, wished=False),
    Kind("v1", "Endpoints", None, wished=False),
    Kind("v1", "Namespace", None, wished=False),
    Kind("apps/v1", "ControllerRevision", None, wished=False),
    Kind("discovery.k8s.io/v1", "EndpointSlice", None, wished=False),
]


# --- all ---


def wrong_owner(picture, obj):
    for ref in obj["metadata"].get("ownerReferences", ()):
        owner = picture.by_uid.get(ref["uid"])
        if not owner:
            return "it belongs to %s %s, which is gone" % (ref["kind"], ref["name"])
        if owner["metadata"]["name"] != ref["name"]:
            return "it belongs to somebody of another name"
    return ""


def wrong_orphan(picture, pod, let_go):
    meta = pod["metadata"]
    if controller(pod):
        return ""
    if meta["uid"] not in let_go and (meta["namespace"], meta.get("labels", {}).get("app")) not in let_go:
        return "it is nobody's"
    for o in picture.objects:
        if o["row"].holds is replicas and o["metadata"]["namespace"] == meta["namespace"] and active(pod):
            if matches(o["spec"]["selector"].get("matchLabels", o["spec"]["selector"]), pod):
                return "%s has not adopted it" % title(o)
    return ""


def problem(picture, wishes, let_go):
    found = set()
    for obj in picture.objects:
        meta, row = obj["metadata"], obj["row"]
        key = (row.kind, meta.get("namespace"), meta["name"])
        wish = wishes.get(key)
        if meta.get("namespace", meta["name"]) not in SPACES:
            continue
        found.add(key)
        says = "it was deleted and stays" if going(obj) else wrong_owner(picture, obj)
        if row.kind == "Pod":
            says = says or wrong_orphan(picture, obj, let_go)
        if row.scales and wish and obj["spec"]["replicas"] != wish["replicas"]:
            says = says or "%d replicas were asked for" % wish["replicas"]
        if row.wished and not wish and not controller(obj) and not let_go & {
                (meta.get("namespace"), name) for name in (meta["name"], meta.get("labels", {}).get("app"))}:
            says = says or "nobody asked for it"
        if row.holds:
            says = says or row.holds(picture, obj, wish)
        if says:
            return "%s: %s" % (title(obj), says)
    missing = set(wishes) - found
    return "%s are gone" % sorted(missing) if missing else ""
