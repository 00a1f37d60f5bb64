"""Every verb of the typed clients, the custom objects client and watches; a line a check, as tests/e2e/lib.sh counts them."""
import base64
import datetime
import threading
import time

import urllib3
from kubernetes import client, config, watch
from kubernetes.client.rest import ApiException

urllib3.disable_warnings()
config.load_kube_config()
core, batch, apps = client.CoreV1Api(), client.BatchV1Api(), client.AppsV1Api()
NS = "python"


def check(name, good, seen=""):
    print(f"{'ok' if good else 'not ok'} - {name}", flush=True)
    if not good:
        print(f"seen: {seen!r}", flush=True)


def equal(name, seen, wanted):
    check(name, seen == wanted, seen)


def refused(name, code, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
        check(name, False, "it was allowed")
    except ApiException as e:
        check(name, e.status == code, (e.status, e.body))


def pod(name, **labels):
    return client.V1Pod(
        metadata=client.V1ObjectMeta(name=name, labels=labels),
        spec=client.V1PodSpec(scheduler_name="nobody", containers=[client.V1Container(name="c", image="registry.example/a:1")]))


def discovery():
    equal("version", client.VersionApi().get_code().major, "1")
    check("api versions", "v1" in client.CoreApi().get_api_versions().versions)
    groups = {g.name for g in client.ApisApi().get_api_versions().groups}
    check("api groups", {"apps", "batch", "kubeflow.org", "stoker.dev"} <= groups, groups)
    resources = {r.name for r in core.get_api_resources().resources}
    check("api resources", {"pods", "pods/status", "configmaps", "nodes"} <= resources)
    check("api resources of a group", any(r.name == "jobs" for r in batch.get_api_resources().resources))


def objects():
    core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=NS)))
    equal("a namespace", core.read_namespace(NS).status.phase, "Active")
    cm = core.create_namespaced_config_map(NS, client.V1ConfigMap(metadata=client.V1ObjectMeta(name="a", labels={"x": "1"}), data={"k": "v"}))
    check("create gives a uid and a revision", cm.metadata.uid and int(cm.metadata.resource_version) > 0)
    check("times are times", isinstance(cm.metadata.creation_timestamp, datetime.datetime))
    equal("list by label", [c.metadata.name for c in core.list_namespaced_config_map(NS, label_selector="x=1").items], ["a"])
    equal("list by field", [c.metadata.name for c in core.list_namespaced_config_map(NS, field_selector="metadata.name=none").items], [])
    equal("patch merges", core.patch_namespaced_config_map("a", NS, {"data": {"l": "w"}}).data, {"k": "v", "l": "w"})
    equal("a JSON patch", core.patch_namespaced_config_map("a", NS, [{"op": "remove", "path": "/data/k"}]).data, {"l": "w"})
    cm = core.read_namespaced_config_map("a", NS)
    cm.data = {"n": "1"}
    equal("replace", core.replace_namespaced_config_map("a", NS, cm).data, {"n": "1"})
    refused("replace of an old revision", 409, core.replace_namespaced_config_map, "a", NS, cm)
    refused("create again", 409, core.create_namespaced_config_map, NS, client.V1ConfigMap(metadata=client.V1ObjectMeta(name="a")))
    refused("read what is not there", 404, core.read_namespaced_config_map, "none", NS)
    core.create_namespaced_config_map(NS, client.V1ConfigMap(metadata=client.V1ObjectMeta(name="dry")), dry_run="All")
    refused("a dry run keeps nothing", 404, core.read_namespaced_config_map, "dry", NS)
    equal("delete", core.delete_namespaced_config_map("a", NS).status, "Success")
    secret = core.create_namespaced_secret(NS, client.V1Secret(metadata=client.V1ObjectMeta(name="s"), string_data={"p": "x"}))
    equal("a secret", base64.b64decode(secret.data["p"]), b"x")
    core.create_namespaced_config_map(NS, client.V1ConfigMap(metadata=client.V1ObjectMeta(name="b", labels={"gone": "1"})))
    core.delete_collection_namespaced_config_map(NS, label_selector="gone=1")
    equal("delete a collection", [c.metadata.name for c in core.list_namespaced_config_map(NS, label_selector="gone=1").items], [])
    pages, token = [], None
    for i in range(5):
        core.create_namespaced_config_map(NS, client.V1ConfigMap(metadata=client.V1ObjectMeta(name=f"page-{i}", labels={"page": "1"})))
    while True:
        page = core.list_namespaced_config_map(NS, limit=2, label_selector="page=1", _continue=token)
        pages.append(len(page.items))
        token = page.metadata._continue
        if not token:
            break
    equal("pages", pages, [2, 2, 1])


def workloads():
    made = core.create_namespaced_pod(NS, pod("p", app="p"))
    equal("a pod's defaults", (made.spec.restart_policy, made.status.phase), ("Always", "Pending"))
    core.patch_namespaced_pod_status("p", NS, {"status": {
        "phase": "Running", "podIP": "10.0.0.1", "startTime": "2026-01-01T00:00:00Z",
        "conditions": [{"type": "Ready", "status": "True"}],
        "containerStatuses": [{"name": "c", "image": "registry.example/a:1", "imageID": "x", "ready": True, "restartCount": 0,
                               "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}]}})
    seen = core.read_namespaced_pod("p", NS)
    equal("a pod's status", (seen.status.phase, seen.status.container_statuses[0].ready), ("Running", True))
    check("pods of all namespaces", any(p.metadata.name == "p" for p in core.list_pod_for_all_namespaces().items))
    core.delete_namespaced_pod("p", NS, grace_period_seconds=0)
    template = client.V1PodTemplateSpec(
        metadata=client.V1ObjectMeta(labels={"app": "j"}),
        spec=client.V1PodSpec(restart_policy="Never", containers=[client.V1Container(name="c", image="registry.example/a:1")]))
    job = batch.create_namespaced_job(NS, client.V1Job(metadata=client.V1ObjectMeta(name="j"), spec=client.V1JobSpec(template=template, suspend=True)))
    equal("a job", (job.spec.backoff_limit, job.spec.completions, job.spec.suspend), (6, 1, True))
    check("jobs", [j.metadata.name for j in batch.list_namespaced_job(NS).items] == ["j"])
    batch.delete_namespaced_job("j", NS, propagation_policy="Background")
    refused("the job is gone", 404, batch.read_namespaced_job, "j", NS)
    cron = batch.create_namespaced_cron_job(NS, client.V1CronJob(
        metadata=client.V1ObjectMeta(name="cj"),
        spec=client.V1CronJobSpec(schedule="@daily", suspend=True, job_template=client.V1JobTemplateSpec(spec=client.V1JobSpec(template=template)))))
    equal("a cron job", cron.spec.concurrency_policy, "Allow")
    old = client.BatchV1beta1Api().read_namespaced_cron_job("cj", NS)
    equal("a cron job by its old version", old.spec.schedule, "@daily")
    spec = client.V1DeploymentSpec(replicas=0, selector=client.V1LabelSelector(match_labels={"app": "d"}), template=client.V1PodTemplateSpec(
        metadata=client.V1ObjectMeta(labels={"app": "d"}), spec=client.V1PodSpec(containers=[client.V1Container(name="c", image="registry.example/a:1")])))
    apps.create_namespaced_deployment(NS, client.V1Deployment(metadata=client.V1ObjectMeta(name="d"), spec=spec))
    equal("a deployment", apps.read_namespaced_deployment("d", NS).spec.strategy.type, "RollingUpdate")
    scale = apps.read_namespaced_deployment_scale("d", NS)
    equal("its scale", (scale.spec.replicas, scale.status.replicas), (0, 0))
    apps.patch_namespaced_deployment("d", NS, {"spec": {"paused": True}})
    equal("scale it", apps.patch_namespaced_deployment_scale("d", NS, {"spec": {"replicas": 2}}).spec.replicas, 2)
    apps.delete_namespaced_deployment("d", NS)
    for name, call in (("daemon sets", apps.list_namespaced_daemon_set), ("replica sets", apps.list_namespaced_replica_set),
                       ("stateful sets", apps.list_namespaced_stateful_set), ("services", core.list_namespaced_service),
                       ("endpoints", core.list_namespaced_endpoints), ("claims", core.list_namespaced_persistent_volume_claim),
                       ("quotas", core.list_namespaced_resource_quota), ("limit ranges", core.list_namespaced_limit_range),
                       ("service accounts", core.list_namespaced_service_account), ("events", core.list_namespaced_event)):
        check(f"list of {name}", isinstance(call(NS).items, list))
    check("list of nodes", isinstance(core.list_node().items, list))
    rbac = client.RbacAuthorizationV1Api()
    check("list of cluster roles", any(r.metadata.name == "admin" for r in rbac.list_cluster_role().items))
    check("list of bindings", all(b.role_ref.name for b in rbac.list_cluster_role_binding().items))
    check("list of priority classes", isinstance(client.SchedulingV1Api().list_priority_class().items, list))
    check("list of definitions", any(d.metadata.name == "widgets.example.org" for d in client.ApiextensionsV1Api().list_custom_resource_definition().items))


def reviews():
    auth = client.AuthorizationV1Api()
    review = client.V1SelfSubjectAccessReview(spec=client.V1SelfSubjectAccessReviewSpec(
        resource_attributes=client.V1ResourceAttributes(verb="create", resource="pods", namespace=NS)))
    equal("may I", auth.create_self_subject_access_review(review).status.allowed, True)
    rules = auth.create_self_subject_rules_review(client.V1SelfSubjectRulesReview(spec=client.V1SelfSubjectRulesReviewSpec(namespace=NS)))
    check("what may I", len(rules.status.resource_rules) > 0 and rules.status.incomplete is False)
    core.create_namespaced_service_account(NS, client.V1ServiceAccount(metadata=client.V1ObjectMeta(name="bot")))
    token = core.create_namespaced_service_account_token("bot", NS, client.AuthenticationV1TokenRequest(spec=client.V1TokenRequestSpec(audiences=[], expiration_seconds=600)))
    check("a service account's token", token.status.token.count(".") == 2 and token.status.expiration_timestamp)


def watching():
    seen = []
    start = core.list_namespaced_config_map(NS).metadata.resource_version

    def write():
        time.sleep(0.3)
        core.create_namespaced_config_map(NS, client.V1ConfigMap(metadata=client.V1ObjectMeta(name="w")))
        core.patch_namespaced_config_map("w", NS, {"data": {"a": "1"}})
        core.delete_namespaced_config_map("w", NS)

    writer = threading.Thread(target=write)
    writer.start()
    w = watch.Watch()
    for event in w.stream(core.list_namespaced_config_map, NS, resource_version=start, timeout_seconds=5):
        seen.append((event["type"], event["object"].metadata.name))
        if event["type"] == "DELETED":
            w.stop()
    writer.join()
    equal("a watch", seen, [("ADDED", "w"), ("MODIFIED", "w"), ("DELETED", "w")])
    kinds = {e["type"] for e in watch.Watch().stream(core.list_namespaced_config_map, NS, timeout_seconds=1)}
    equal("a watch begins with what is there", kinds, {"ADDED"})
    named = [e["object"].metadata.name for e in watch.Watch().stream(core.list_namespaced_config_map, NS, field_selector="metadata.name=page-1", timeout_seconds=1)]
    equal("a watch of one", named, ["page-1"])


def custom():
    objects = client.CustomObjectsApi()
    at = ("example.org", "v1", NS, "widgets")
    made = objects.create_namespaced_custom_object(*at, {"apiVersion": "example.org/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"size": 3}})
    equal("a custom object", (made["spec"]["colour"], made["metadata"]["generation"]), ("green", 1))
    equal("list of them", [o["metadata"]["name"] for o in objects.list_namespaced_custom_object(*at)["items"]], ["w"])
    equal("patch it", objects.patch_namespaced_custom_object(*at, "w", {"spec": {"size": 4}})["spec"]["size"], 4)
    equal("its status", objects.patch_namespaced_custom_object_status(*at, "w", {"status": {"replicas": 1}})["status"]["replicas"], 1)
    equal("its scale", objects.get_namespaced_custom_object_scale(*at, "w")["spec"]["replicas"], 1)
    made = objects.get_namespaced_custom_object(*at, "w")
    made["spec"]["size"] = 5
    equal("replace it", objects.replace_namespaced_custom_object(*at, "w", made)["spec"]["size"], 5)
    refused("an invalid one", 422, objects.patch_namespaced_custom_object, *at, "w", {"spec": {"size": 1000}})
    names = [e["object"]["metadata"]["name"] for e in watch.Watch().stream(objects.list_namespaced_custom_object, *at, timeout_seconds=1)]
    equal("watch them", names, ["w"])
    equal("delete it", objects.delete_namespaced_custom_object(*at, "w")["status"], "Success")
    equal("of all namespaces", objects.list_cluster_custom_object("example.org", "v1", "widgets")["items"], [])
    job = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "pt"}, "spec": {"runPolicy": {"suspend": True}, "pytorchReplicaSpecs": {
        "Master": {"replicas": 1, "restartPolicy": "Never", "template": {"spec": {"containers": [{"name": "pytorch", "image": "registry.example/a:1"}]}}}}}}
    made = objects.create_namespaced_custom_object("kubeflow.org", "v1", NS, "pytorchjobs", job)
    equal("a PyTorchJob", made["spec"]["pytorchReplicaSpecs"]["Master"]["replicas"], 1)


for part in (discovery, objects, workloads, reviews, watching, custom):
    try:
        part()
    except Exception as e:  # the rest is still worth seeing
        check(f"{part.__name__} raises nothing", False, e)
core.delete_namespace(NS)
