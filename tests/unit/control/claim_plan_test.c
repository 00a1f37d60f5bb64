// SPDX-License-Identifier: Apache-2.0
#include "control/claim_plan.h"

#include "api/sample_json.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "base/str.h"
#include "test.h"

/* A claim for 5Gi ReadWriteOnce; `spec` adds to its spec, `meta` to its metadata. */
static json_t *make_claim(const char *meta, const char *spec, const char *phase)
{
	json_t *c = sample_json("{'metadata':{'name':'c','namespace':'n','uid':'cu'},'spec':{'accessModes':"
				"['ReadWriteOnce'],'resources':{'requests':{'storage':'5Gi'}}}}");
	json_auto_t *m = sample_json(meta);
	json_auto_t *s = sample_json(spec);

	json_object_update(json_object_get(c, "metadata"), m);
	json_object_update(json_object_get(c, "spec"), s);
	jsonx_set_new(c, "status.phase", json_string(phase));
	return c;
}

/* Volumes by short rows: name, size, what else the spec has. */
static json_t *make_volume(const char *name, const char *size, const char *spec)
{
	json_t *v = json_pack("{s:{s:s}, s:{s:[s], s:{s:s}}, s:{s:s}}", "metadata", "name", name, "spec", "accessModes",
			      "ReadWriteOnce", "capacity", "storage", size, "status", "phase", "Available");
	json_auto_t *s = sample_json(spec);

	json_object_update(json_object_get(v, "spec"), s);
	return v;
}

static json_t *volumes_of(const char *rows)
{
	json_auto_t *list = sample_json(rows);
	json_t *out = json_array();
	json_t *row;
	size_t i;

	json_array_foreach (list, i, row) {
		json_t *v = make_volume(jsonx_str(row, "n"), jsonx_str(row, "s"), "{}");
		json_t *spec = json_object_get(row, "spec");

		json_object_update(json_object_get(v, "spec"), spec);
		if (json_object_get(row, "phase"))
			jsonx_set_new(v, "status.phase", json_incref(json_object_get(row, "phase")));
		if (json_object_get(row, "meta"))
			json_object_update(json_object_get(v, "metadata"), json_object_get(row, "meta"));
		json_array_append_new(out, v);
	}
	return out;
}

static const char *const acts[CLAIM__COUNT] = {
	[CLAIM_NOTHING] = "nothing", [CLAIM_LOOK] = "look",         [CLAIM_LET_GO] = "let go",
	[CLAIM_TAKE] = "take",       [CLAIM_COMPLETE] = "complete", [CLAIM_BOUND] = "bound",
	[CLAIM_LOST] = "lost",       [CLAIM_PENDING] = "pending",   [CLAIM_PROVISION] = "provision",
};

#define TAKEN "'claimRef':{'name':'c','namespace':'n','uid':'cu'}"
#define DONE  "{'annotations':{'pv.kubernetes.io/bind-completed':'yes'}}"

TEST("a claim is brought one write nearer to the volume that fits it best")
{
	static const struct {
		const char *meta, *spec, *phase, *volumes, *want, *volume, *reason;
	} rows[] = {
		/* the smallest that is large enough, the first by name */
		{ "{}", "{}", "Pending", "[{'n':'a','s':'10Gi'},{'n':'b','s':'6Gi'},{'n':'c','s':'1Gi'}]", "take", "b",
		  NULL },
		{ "{}", "{}", "Pending", "[{'n':'b','s':'5Gi'},{'n':'a','s':'5Gi'}]", "take", "a", NULL },
		/* nothing fits */
		{ "{}", "{}", "Pending", "[{'n':'a','s':'1Gi'}]", "nothing", NULL, "FailedBinding" },
		{ "{}", "{}", "Pending", "[{'n':'a','s':'9Gi','spec':{'accessModes':['ReadOnlyMany']}}]", "nothing",
		  NULL, "FailedBinding" },
		{ "{}", "{}", "Pending", "[{'n':'a','s':'9Gi','spec':{'storageClassName':'x'}}]", "nothing", NULL,
		  "FailedBinding" },
		{ "{}", "{}", "Pending", "[{'n':'a','s':'9Gi','spec':{'volumeMode':'Block'}}]", "nothing", NULL,
		  "FailedBinding" },
		{ "{}", "{}", "Pending", "[{'n':'a','s':'9Gi','phase':'Released'}]", "nothing", NULL, "FailedBinding" },
		{ "{}", "{}", "Pending", "[{'n':'a','s':'9Gi','meta':{'deletionTimestamp':'t'}}]", "nothing", NULL,
		  "FailedBinding" },
		{ "{}", "{}", "Pending", "[{'n':'a','s':'9Gi','spec':{'claimRef':{'name':'d','namespace':'n'}}}]",
		  "nothing", NULL, "FailedBinding" },
		/* modes may be more than was asked for */
		{ "{}", "{}", "Pending",
		  "[{'n':'a','s':'9Gi','spec':{'accessModes':['ReadOnlyMany','ReadWriteOnce']}}]", "take", "a", NULL },
		/* selectors */
		{ "{}", "{'selector':{'matchLabels':{'t':'ssd'}}}", "Pending",
		  "[{'n':'a','s':'5Gi'},{'n':'b','s':'9Gi','meta':{'labels':{'t':'ssd'}}}]", "take", "b", NULL },
		/* a volume that waits for this claim wins */
		{ "{}", "{}", "Pending",
		  "[{'n':'a','s':'5Gi'},{'n':'b','s':'9Gi','spec':{'claimRef':{'name':'c','namespace':'n'}}}]", "take",
		  "b", NULL },
		{ "{}", "{}", "Pending",
		  "[{'n':'a','s':'1Gi','spec':{'claimRef':{'name':'c','namespace':'n'}}},{'n':'b','s':'9Gi'}]", "take",
		  "b", NULL },
		/* the further writes */
		{ "{}", "{}", "Pending", "[{'n':'a','s':'5Gi'},{'n':'b','s':'9Gi','spec':{" TAKEN "}}]", "complete",
		  "b", NULL },
		{ DONE, "{'volumeName':'b'}", "Pending", "[{'n':'b','s':'9Gi','spec':{" TAKEN "}}]", "bound", "b",
		  NULL },
		/* of another claim that had the same name */
		{ "{}", "{}", "Pending",
		  "[{'n':'b','s':'9Gi','spec':{'claimRef':{'name':'c','namespace':'n','uid':'old'}}}]", "nothing", NULL,
		  "FailedBinding" },
		/* by name */
		{ "{}", "{'volumeName':'b'}", "Pending", "[{'n':'a','s':'5Gi'},{'n':'b','s':'9Gi'}]", "take", "b",
		  NULL },
		{ "{}", "{'volumeName':'x'}", "Pending", "[{'n':'a','s':'5Gi'}]", "nothing", NULL, "FailedBinding" },
		{ "{}", "{'volumeName':'a'}", "Pending", "[{'n':'a','s':'1Gi'}]", "nothing", NULL, "VolumeMismatch" },
		{ "{}", "{'volumeName':'a'}", "Pending",
		  "[{'n':'a','s':'9Gi','spec':{'claimRef':{'name':'d','namespace':'n','uid':'du'}}}]", "nothing", NULL,
		  "FailedBinding" },
		/* a class */
		{ "{}", "{'storageClassName':'k'}", "Pending", "[]", "provision", NULL, NULL },
		{ "{'annotations':{'volume.kubernetes.io/storage-provisioner':'p'}}", "{'storageClassName':'k'}",
		  "Pending", "[]", "nothing", NULL, "ExternalProvisioning" },
		{ "{}", "{'storageClassName':'none'}", "Pending", "[]", "nothing", NULL, "ProvisioningFailed" },
		{ "{}", "{'storageClassName':'k'}", "Pending", "[{'n':'a','s':'5Gi','spec':{'storageClassName':'k'}}]",
		  "take", "a", NULL },
		/* lost */
		{ DONE, "{'volumeName':'b'}", "Bound", "[]", "lost", NULL, "ClaimLost" },
		{ DONE, "{'volumeName':'b'}", "Lost", "[]", "nothing", NULL, "ClaimLost" },
		{ DONE, "{}", "Bound", "[]", "lost", NULL, "ClaimLost" },
		{ DONE, "{'volumeName':'b'}", "Bound",
		  "[{'n':'b','s':'9Gi','spec':{'claimRef':{'name':'d','namespace':'n','uid':'du'}}}]", "lost", NULL,
		  "ClaimMisbound" },
		/* found again */
		{ DONE, "{'volumeName':'b'}", "Lost", "[{'n':'b','s':'9Gi'}]", "take", "b", NULL },
	};
	json_auto_t *class = sample_json("{'metadata':{'name':'k'},'provisioner':'p'}");

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *claim = make_claim(rows[i].meta, rows[i].spec, rows[i].phase);
		json_auto_t *volumes = volumes_of(rows[i].volumes);
		struct claim_view v = { .volumes = volumes,
					.class = strstr(rows[i].spec, "'k'") ? class : NULL,
					.use = CLAIM_USE_UNKNOWN };
		struct claim_plan p = claim_plan(claim, &v);

		if (!streq(acts[p.act], rows[i].want) || !str_same(p.reason, rows[i].reason) ||
		    !str_same(jsonx_str(p.volume, "metadata.name"), rows[i].volume))
			test_fail(__FILE__, __LINE__, "row %zu: %s %s (%s: %s)", i, acts[p.act],
				  jsonx_str_or(p.volume, "metadata.name", ""), p.reason ? p.reason : "", p.message);
	}
}

TEST("a bound claim with a true status is left alone")
{
	json_auto_t *claim = make_claim(DONE, "{'volumeName':'b'}", "Bound");
	json_auto_t *volumes = volumes_of("[{'n':'b','s':'9Gi','spec':{" TAKEN "}}]");

	jsonx_set_new(claim, "status.capacity", sample_json("{'storage':'9Gi'}"));
	jsonx_set_new(claim, "status.accessModes", sample_json("['ReadWriteOnce']"));
	CHECK_INT(claim_plan(claim, &(struct claim_view){ .volumes = volumes }).act, CLAIM_NOTHING);
}

TEST("a volume that is being written is not chosen, and one that waits for the claim is waited for")
{
	json_auto_t *claim = make_claim("{}", "{}", "Pending");
	json_auto_t *volumes = volumes_of("[{'n':'a','s':'5Gi'},{'n':'b','s':'6Gi'}]");
	json_auto_t *taken = volumes_of("[{'n':'a','s':'5Gi','spec':{" TAKEN "}},{'n':'b','s':'6Gi'}]");
	json_auto_t *busy = sample_json("{'a':true}");
	struct claim_plan p = claim_plan(claim, &(struct claim_view){ .volumes = volumes, .busy = busy });

	CHECK_INT(p.act, CLAIM_TAKE);
	CHECK_STR(jsonx_str(p.volume, "metadata.name"), "b");
	p = claim_plan(claim, &(struct claim_view){ .volumes = taken, .busy = busy });
	CHECK_INT(p.act, CLAIM_NOTHING);
}

TEST("a class may wait for the first pod that wants the claim")
{
	json_auto_t *claim = make_claim("{}", "{'storageClassName':'k'}", "Pending");
	json_auto_t *class = sample_json("{'provisioner':'p','volumeBindingMode':'WaitForFirstConsumer'}");
	json_auto_t *volumes = volumes_of("[{'n':'a','s':'5Gi','spec':{'storageClassName':'k'}}]");
	struct claim_view v = { .volumes = volumes, .class = class, .use = CLAIM_USE_UNKNOWN };

	CHECK_INT(claim_plan(claim, &v).act, CLAIM_LOOK);
	v.use = 0;
	CHECK_INT(claim_plan(claim, &v).act, CLAIM_NOTHING);
	CHECK_STR(claim_plan(claim, &v).reason, "WaitForFirstConsumer");
	v.use = CLAIM_USE_WANTED;
	CHECK_INT(claim_plan(claim, &v).act, CLAIM_TAKE);
	json_array_clear(volumes);
	CHECK_INT(claim_plan(claim, &v).act, CLAIM_PROVISION);
}

TEST("a deleted claim goes when no pod on a node uses it")
{
	json_auto_t *claim =
		make_claim("{'deletionTimestamp':'t','finalizers':['kubernetes.io/pvc-protection']}", "{}", "Bound");
	json_auto_t *freed = make_claim("{'deletionTimestamp':'t','finalizers':['e.org/x']}", "{}", "Bound");
	struct claim_view v = { .use = CLAIM_USE_UNKNOWN };

	CHECK_INT(claim_plan(claim, &v).act, CLAIM_LOOK);
	v.use = CLAIM_USE_WANTED | CLAIM_USE_MOUNTED;
	CHECK_INT(claim_plan(claim, &v).act, CLAIM_NOTHING);
	v.use = CLAIM_USE_WANTED;
	CHECK_INT(claim_plan(claim, &v).act, CLAIM_LET_GO);
	CHECK_INT(claim_plan(freed, &v).act, CLAIM_NOTHING);
}

TEST("only pods that have not ended use a claim")
{
	static const struct {
		const char *pod;
		unsigned want;
	} rows[] = {
		{ "{'spec':{'nodeName':'x','volumes':[{'persistentVolumeClaim':{'claimName':'c'}}]}}",
		  CLAIM_USE_WANTED | CLAIM_USE_MOUNTED },
		{ "{'spec':{'volumes':[{'emptyDir':{}},{'persistentVolumeClaim':{'claimName':'c'}}]}}",
		  CLAIM_USE_WANTED },
		{ "{'spec':{'nodeName':'x','volumes':[{'persistentVolumeClaim':{'claimName':'d'}}]}}", 0 },
		{ "{'spec':{'nodeName':'x','volumes':[{'persistentVolumeClaim':{'claimName':'c'}}]},"
		  "'status':{'phase':'Succeeded'}}",
		  0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *pods = json_pack("[o]", sample_json(rows[i].pod));

		CHECK_INT(claim_use(pods, "c"), rows[i].want);
	}
}

TEST("a volume's phase follows its claim and its policy")
{
	static const char protect[] = "{'finalizers':['kubernetes.io/pv-protection']}";
	static const char ours[] = "{'finalizers':['kubernetes.io/pv-protection'],'annotations':{"
				   "'pv.kubernetes.io/provisioned-by':'p'}}";
	static const char going[] = "{'finalizers':['kubernetes.io/pv-protection'],'deletionTimestamp':'t'}";
	static const struct {
		const char *meta, *spec, *phase, *claim; /* the claim's volumeName; NULL: no claim */
		enum volume_act want;
		const char *want_phase;
	} rows[] = {
		{ "{}", "{}", "Pending", NULL, VOLUME_PROTECT, NULL },
		{ protect, "{}", "Pending", NULL, VOLUME_PHASE, "Available" },
		{ protect, "{}", "Available", NULL, VOLUME_NOTHING, "Available" },
		{ protect, "{'claimRef':{'name':'c','namespace':'n'}}", "Pending", NULL, VOLUME_PHASE, "Available" },
		{ protect, "{" TAKEN "}", "Available", "v", VOLUME_PHASE, "Bound" },
		{ protect, "{" TAKEN "}", "Available", "", VOLUME_NOTHING, NULL },
		{ protect, "{" TAKEN "}", "Bound", NULL, VOLUME_PHASE, "Released" },
		{ protect, "{'claimRef':{'name':'c','namespace':'n','uid':'old'}}", "Bound", "v", VOLUME_PHASE,
		  "Released" },
		{ protect, "{" TAKEN "}", "Released", NULL, VOLUME_NOTHING, "Released" },
		{ protect, "{" TAKEN ",'persistentVolumeReclaimPolicy':'Delete'}", "Released", NULL, VOLUME_PHASE,
		  "Failed" },
		{ ours, "{" TAKEN ",'persistentVolumeReclaimPolicy':'Delete'}", "Released", NULL, VOLUME_NOTHING,
		  "Released" },
		{ protect, "{" TAKEN "}", "Available", "other", VOLUME_UNBIND, NULL },
		{ ours, "{" TAKEN "}", "Pending", "other", VOLUME_PHASE, "Released" },
		{ going, "{}", "Available", NULL, VOLUME_LET_GO, NULL },
		{ going, "{" TAKEN "}", "Bound", "v", VOLUME_NOTHING, "Bound" },
		{ going, "{" TAKEN "}", "Released", NULL, VOLUME_LET_GO, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *volume = make_volume("v", "5Gi", rows[i].spec);
		json_auto_t *meta = sample_json(rows[i].meta);
		json_auto_t *claim = rows[i].claim ? make_claim("{}", "{}", "Pending") : NULL;
		struct volume_plan p;

		json_object_update(json_object_get(volume, "metadata"), meta);
		jsonx_set_new(volume, "status.phase", json_string(rows[i].phase));
		if (claim)
			jsonx_set_new(claim, "spec.volumeName", json_string(rows[i].claim));
		p = volume_plan(volume, claim);
		if (p.act != rows[i].want || !str_same(p.phase, rows[i].want_phase))
			test_fail(__FILE__, __LINE__, "row %zu: act %d, phase %s", i, (int)p.act,
				  p.phase ? p.phase : "(none)");
	}
}
