// SPDX-License-Identifier: Apache-2.0
#include <sys/statvfs.h>

#include "volume_lab.h"

/* ---- emptyDir ---- */

TEST("an emptyDir is open to every user, whatever the server's umask, and keeps its files")
{
	struct lab l = lab_new("[{'name':'v','emptyDir':{}},{'name':'w'}]");
	mode_t old = umask(077);
	char buf[512];

	lab_ready(&l);
	CHECK_INT(lab_mode(&l, "pod/volumes/v"), 0777);
	CHECK_INT(lab_mode(&l, "pod/volumes/w"), 0777);
	lab_write(&l, "pod/volumes/v/f", "kept");
	lab_ready(&l);
	CHECK_STR(lab_read(&l, "pod/volumes/v/f", buf), "kept");
	l.c.fs_group = 777;
	lab_ready(&l);
	CHECK_INT(lab_mode(&l, "pod/volumes/v"), 02777);
	CHECK_INT(lab_gid(&l, "pod/volumes/v"), 777);
	/* A container may close its own; that stays. */
	lab_mkdir(&l, "pod/volumes/v", 0700);
	lab_ready(&l);
	CHECK_INT(lab_mode(&l, "pod/volumes/v"), 0700);
	umask(old);
	lab_done(&l);
}

TEST("an emptyDir in memory has the size it was given")
{
	struct lab l = lab_new("[{'name':'v','emptyDir':{'medium':'Memory','sizeLimit':'2Mi'}}]");
	char path[512];
	struct statvfs fs;

	l.c.fs_group = 777;
	lab_ready(&l);
	lab_ready(&l);
	CHECK(statvfs(lab_path(&l, "pod/volumes/v", path), &fs) == 0);
	CHECK_INT(fs.f_blocks * fs.f_frsize, 2 << 20);
	CHECK_INT(lab_mode(&l, "pod/volumes/v"), 03777);
	CHECK_INT(lab_gid(&l, "pod/volumes/v"), 777);
	CHECK(umount(path) == 0);
	CHECK(umount(path) < 0);
	lab_volumes(&l, "[{'name':'v','emptyDir':{'medium':'HugePages'}}]");
	lab_fails(&l, "emptyDir medium \"HugePages\" is not supported: use \"\" or \"Memory\"");
	lab_done(&l);
}

TEST("usage counts emptyDirs on disk and names the first over its limit")
{
	struct lab l = lab_new("[{'name':'v','emptyDir':{'sizeLimit':'64Ki'}},{'name':'w','emptyDir':{}}]");
	auto_free char *big = xmalloc(200001);
	const json_t *over = l.pod;

	memset(big, 'x', 200000);
	big[200000] = '\0';
	lab_ready(&l);
	CHECK_INT(volumes_usage(&l.c, &over), 0);
	CHECK(over == NULL);
	lab_write(&l, "pod/volumes/w/f", big);
	CHECK(volumes_usage(&l.c, &over) >= 200000);
	CHECK(over == NULL);
	lab_write(&l, "pod/volumes/v/f", big);
	CHECK(volumes_usage(&l.c, &over) >= 400000);
	CHECK_STR(jsonx_str(over, "name"), "v");
	lab_done(&l);
}

TEST("a tree too large to count in the loop is counted apart, and removed apart")
{
	struct lab l = lab_new("[{'name':'v','emptyDir':{'sizeLimit':'10Gi'}}]");
	const json_t *over;
	int64_t bytes = 0;

	lab_ready(&l);
	for (int i = 0; i < 2500; i++) {
		char rel[64];

		snprintf(rel, sizeof(rel), "pod/volumes/v/f%d", i);
		lab_write(&l, rel, "x");
	}
	for (int i = 0; i < 6000 && bytes < 2500 * 4096; i++) {
		bytes = volumes_usage(&l.c, &over);
		usleep(10000);
	}
	CHECK_INT(bytes, 2500 * 4096);
	volumes_remove(l.dir);
	for (int i = 0; i < 6000 && lab_has(&l, "pod/volumes"); i++)
		usleep(10000);
	lab_done(&l);
}

/* ---- subPath ---- */

TEST("a subPath is made with the root's rights, pinned, and the same the next time")
{
	struct lab l = lab_new("[{'name':'v','emptyDir':{}}]");
	auto_free char *first = NULL;
	auto_free char *second = NULL;
	char path[512], buf[512];

	lab_ready(&l);
	first = lab_source(&l, "a/b");
	CHECK(first && str_ends(first, "/.subpath/v/c/0"));
	CHECK_INT(lab_mode(&l, "pod/volumes/v/a/b"), 0777);
	lab_write(&l, "pod/volumes/v/a/b/f", "x");
	CHECK_STR(lab_read(&l, "pod/volumes/.subpath/v/c/0/f", buf), "x");
	second = lab_source(&l, "a/b");
	CHECK_STR(second, first);
	CHECK(umount(first) == 0);
	CHECK(umount(first) < 0);
	lab_write(&l, "pod/volumes/v/file", "a file");
	free(first);
	first = lab_source(&l, "file");
	CHECK_STR(lab_read(&l, "pod/volumes/.subpath/v/c/0", buf), "a file");
	/* Another file of the same name is another file. */
	CHECK(unlink(lab_path(&l, "pod/volumes/v/file", path)) == 0);
	lab_write(&l, "pod/volumes/v/file", "next");
	free(second);
	second = lab_source(&l, "file");
	CHECK_STR(lab_read(&l, "pod/volumes/.subpath/v/c/0", buf), "next");
	lab_done(&l);
}

TEST("no subPath leads out of its volume")
{
	static const struct {
		const char *sub_path, *want;
	} rows[] = {
		{ "up", "subPath \"up\" leads out of volume \"v\"" },
		{ "up/new", "subPath \"up/new\" leads out of volume \"v\"" },
		{ "abs", "subPath \"abs\" leads out of volume \"v\"" },
		{ "abs/new", "subPath \"abs/new\" leads out of volume \"v\"" },
		{ "chain", "subPath \"chain\" leads out of volume \"v\"" },
		{ "chain/x/y", "subPath \"chain/x/y\" leads out of volume \"v\"" },
		{ "proc/1", "subPath \"proc/1\" leads out of volume \"v\"" },
		{ "../w", "subPath \"../w\" must not contain '..'" },
		{ "a/../../w", "subPath \"a/../../w\" must not contain '..'" },
		{ "/etc", "subPath \"/etc\" must be a relative path" },
		{ "loop", "subPath \"loop\" leads out of volume \"v\"" },
	};
	static const char opening[] = "failed to prepare subPath for volumeMount \"v\" of container \"c\": ";
	struct lab l = lab_new("[{'name':'v','emptyDir':{}},{'name':'w','emptyDir':{}}]");
	auto_free char *inside = NULL;

	lab_ready(&l);
	lab_link(&l, "../w", "pod/volumes/v/up");
	lab_link(&l, "/etc", "pod/volumes/v/abs");
	lab_link(&l, "up", "pod/volumes/v/chain");
	lab_link(&l, "/proc/self/root", "pod/volumes/v/proc");
	lab_link(&l, "loop", "pod/volumes/v/loop");
	lab_mkdir(&l, "pod/volumes/v/real", 0755);
	lab_link(&l, "real", "pod/volumes/v/ok");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *source = lab_source(&l, rows[i].sub_path);

		CHECK_STR(source, NULL);
		CHECK(str_starts(l.e.text, opening));
		CHECK_STR(l.e.text + strlen(opening), rows[i].want);
	}
	CHECK(!lab_has(&l, "pod/volumes/w/new"));
	inside = lab_source(&l, "ok");
	CHECK(inside != NULL);
	lab_done(&l);
}

TEST("a configMap's key can be a subPath")
{
	struct lab l = lab_new("[{'name':'v','configMap':{'name':'m'}}]");
	auto_free char *source = NULL;
	char buf[512];

	lab_object(&l, "configmaps/m", "{'data':{'a.conf':'text'}}");
	lab_ready(&l);
	source = lab_source(&l, "a.conf");
	CHECK(source != NULL);
	CHECK_STR(lab_read(&l, "pod/volumes/.subpath/v/c/0", buf), "text");
	lab_done(&l);
}

TEST("a user's subPath is opened and made with the user's rights")
{
	struct lab l = lab_new("[{'name':'v','persistentVolumeClaim':{'claimName':'c'}}]");
	auto_free char *no = NULL;
	auto_free char *yes = NULL;
	char path[512];
	struct stat st;

	l.c.owner = LAB_UID;
	lab_mkdir(&l, "shared", 0777);
	lab_mkdir(&l, "shared/alice", 0700);
	lab_mkdir(&l, "shared/alice/pub", 0755);
	lab_object(&l, "persistentvolumeclaims/c",
		   "{'metadata':{'uid':'cu'},'spec':{'volumeName':'pv'},'status':{'phase':'Bound'}}");
	lab_object(&l, "persistentvolumes/pv", "{'spec':{'claimRef':{'uid':'cu'},'hostPath':{'path':'@/shared'}}}");
	lab_ready(&l);
	no = lab_source(&l, "alice/pub");
	CHECK_STR(no, NULL);
	CHECK_INT(l.e.kind, ERR_FORBIDDEN);
	yes = lab_source(&l, "bob/x");
	CHECK(yes != NULL);
	CHECK(stat(lab_path(&l, "shared/bob/x", path), &st) == 0 && st.st_uid == LAB_UID);
	lab_done(&l);
}

/* ---- claims ---- */

#define CLAIM "[{'name':'v','persistentVolumeClaim':{'claimName':'c'}}]"
#define BOUND "{'metadata':{'uid':'cu'},'spec':{'volumeName':'pv'},'status':{'phase':'Bound'}}"

TEST("a claim leads to its volume's directory; an unbound or foreign one does not")
{
	static const struct {
		const char *claim, *pv, *want;
	} rows[] = {
		{ NULL, NULL, "persistentvolumeclaim \"c\" not found" },
		{ "{'metadata':{'uid':'cu'},'status':{'phase':'Pending'}}", NULL,
		  "persistentvolumeclaim \"c\" is not bound to a volume yet" },
		{ BOUND, NULL, "persistentvolume \"pv\" of claim \"c\" not found" },
		{ BOUND, "{'spec':{'claimRef':{'uid':'other'},'hostPath':{'path':'@/data'}}}",
		  "persistentvolume \"pv\" is not bound to claim \"c\"" },
		{ BOUND, "{'metadata':{'name':'pv'},'spec':{'claimRef':{'uid':'cu'},'csi':{'driver':'x'}}}",
		  "persistentvolume \"pv\" is of a type that is not supported here; hostPath, local and nfs are" },
		{ BOUND, "{'spec':{'claimRef':{'uid':'cu'},'volumeMode':'Block','local':{'path':'@/data'}}}",
		  "persistentvolume \"pv\": volumeMode Block is not supported" },
		{ BOUND, "{'spec':{'claimRef':{'uid':'cu'},'local':{'path':'@/none'}}}",
		  "path \"@/none\" does not exist" },
		{ BOUND, "{'spec':{'claimRef':{'uid':'cu'},'hostPath':{'path':'@/none','type':'Directory'}}}",
		  "hostPath type check failed: @/none is not a directory" },
		{ BOUND, "{'spec':{'claimRef':{'uid':'cu'},'local':{'path':'@/data'}}}", NULL },
		{ BOUND, "{'spec':{'claimRef':{'uid':'cu'},'hostPath':{'path':'@/data'}}}", NULL },
	};
	struct lab l = lab_new(CLAIM);
	auto_free char *want = xasprintf("%s/data", l.top);
	auto_free char *source = NULL;

	lab_mkdir(&l, "data", 0755);
	lab_write(&l, "data/f", "x");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_object_clear(l.objects);
		if (rows[i].claim)
			lab_object(&l, "persistentvolumeclaims/c", rows[i].claim);
		if (rows[i].pv)
			lab_object(&l, "persistentvolumes/pv", rows[i].pv);
		if (rows[i].want)
			lab_fails(&l, rows[i].want);
		else
			lab_ready(&l);
	}
	source = lab_source(&l, NULL);
	CHECK_STR(source, want);
	volumes_remove(l.dir);
	CHECK(lab_has(&l, "data/f"));
	lab_done(&l);
}

TEST("fsGroup is given to all of a local volume, or only if its root differs")
{
	struct lab l = lab_new(CLAIM);
	char path[512];

	lab_mkdir(&l, "data", 0755);
	lab_mkdir(&l, "data/sub", 0700);
	lab_write(&l, "data/sub/f", "x");
	lab_write(&l, "outside", "x");
	lab_link(&l, "../outside", "data/link");
	lab_object(&l, "persistentvolumeclaims/c", BOUND);
	lab_object(&l, "persistentvolumes/pv", "{'spec':{'claimRef':{'uid':'cu'},'local':{'path':'@/data'}}}");
	l.c.fs_group = 888;
	lab_wait(&l);
	lab_ready(&l);
	CHECK_INT(lab_mode(&l, "data/sub"), 02770);
	CHECK_INT(lab_mode(&l, "data") & S_ISGID, S_ISGID);
	CHECK_INT(lab_gid(&l, "data/sub/f"), 888);
	CHECK_INT(lab_mode(&l, "data/sub/f") & 0660, 0660);
	CHECK_INT(lab_gid(&l, "outside"), 0);
	/* The root is right: nothing below is looked at. */
	CHECK(chown(lab_path(&l, "data/sub/f", path), 0, 0) == 0);
	volumes_remove(l.dir);
	jsonx_set_new(l.pod, "spec.securityContext.fsGroupChangePolicy", json_string("OnRootMismatch"));
	lab_wait(&l);
	lab_ready(&l);
	CHECK_INT(lab_gid(&l, "data/sub/f"), 0);
	lab_done(&l);
}

/* ---- nfs, with a mount program of our own ---- */

static void fake_mount(const struct lab *l, const char *script)
{
	auto_free char *path = xasprintf("%s:/usr/bin:/bin", l->top);
	char file[512];

	lab_write(l, "mount", script);
	lab_write(l, "mount.nfs", "#!/bin/sh\n");
	CHECK(chmod(lab_path(l, "mount", file), 0755) == 0);
	CHECK(chmod(lab_path(l, "mount.nfs", file), 0755) == 0);
	setenv("PATH", path, 1);
}

#define NFS "[{'name':'v','nfs':{'server':'fd00::1','path':'/export','readOnly':true}}]"

TEST("an nfs volume is mounted by a process of its own, and the pod waits for it")
{
	struct lab l = lab_new(NFS);
	auto_free char *old = xstrdup(getenv("PATH"));
	char buf[512];

	fake_mount(&l, "#!/bin/sh\necho \"$*\" >\"${0%/*}/args\"\nsleep 0.2\n"
		       "for last; do :; done\nexec /bin/mount -t tmpfs fake \"$last\"\n");
	CHECK(lab_prepare(&l) < 0);
	CHECK_INT(l.e.kind, ERR_UNAVAILABLE);
	CHECK(lab_prepare(&l) < 0);
	CHECK_INT(l.e.kind, ERR_UNAVAILABLE);
	lab_wait(&l);
	lab_ready(&l);
	CHECK(str_starts(lab_read(&l, "args", buf), "-t nfs -o ro -- [fd00::1]:/export "));
	setenv("PATH", old, 1);
	lab_done(&l);
}

TEST("a failed nfs mount is reported in mount's own words")
{
	struct lab l = lab_new(NFS);
	auto_free char *old = xstrdup(getenv("PATH"));

	fake_mount(&l, "#!/bin/sh\necho mount.nfs: access denied >&2\nexit 32\n");
	lab_wait(&l);
	CHECK_INT(l.e.kind, ERR_INTERNAL);
	CHECK(strstr(l.e.text, "mount failed: exit status 32") != NULL);
	CHECK(strstr(l.e.text, "Output: mount.nfs: access denied") != NULL);
	setenv("PATH", old, 1);
	lab_done(&l);
}

TEST("an nfs mount that comes too late undoes itself")
{
	struct lab l = lab_new(NFS);
	auto_free char *old = xstrdup(getenv("PATH"));
	char buf[512];

	fake_mount(&l, "#!/bin/sh\nsleep 0.3\nfor last; do :; done\n/bin/mkdir -p \"$last\"\n"
		       "/bin/mount -t tmpfs fake \"$last\" && echo done >\"${0%/*}/args\"\n");
	CHECK(lab_prepare(&l) < 0);
	volumes_remove(l.dir);
	for (int i = 0; i < 6000 && !streq(lab_read(&l, "args", buf), "done\n"); i++)
		usleep(10000);
	CHECK_STR(lab_read(&l, "args", buf), "done\n");
	for (int i = 0; i < 6000 && lab_has(&l, "pod/volumes/v"); i++)
		usleep(10000);
	CHECK(!lab_has(&l, "pod/volumes/v"));
	setenv("PATH", old, 1);
	lab_done(&l);
}

/* ---- the table ---- */

TEST("a type that is not supported is named, with those that are")
{
	struct lab l = lab_new("[{'name':'v','iscsi':{'iqn':'x'}}]");

	lab_fails(&l, "volume type iscsi is not supported here; these are: hostPath, emptyDir, configMap, secret, "
		      "downwardAPI, projected, persistentVolumeClaim, nfs, csi");
	CHECK_INT(l.e.kind, ERR_INVALID);
	lab_done(&l);
}

TEST("of CSI drivers there is only that for the files of PBS jobs")
{
	static const struct {
		const char *volumes, *why;
	} rows[] = {
		{ "[{'name':'v','csi':{'driver':'x'}}]",
		  "csi driver x is not known here; there is only pbs.stoker.dev" },
		{ "[{'name':'v','csi':{'driver':'pbs.stoker.dev'}}]",
		  "csi driver pbs.stoker.dev is for pods of PBSJobs only" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct lab l = lab_new(rows[i].volumes);

		lab_fails(&l, rows[i].why);
		lab_done(&l);
	}
}

TEST("what must be fetched is listed once, required before optional, the volume after its claim")
{
	struct lab l = lab_new("[{'name':'a','configMap':{'name':'m','optional':true}},"
			       "{'name':'b','projected':{'sources':[{'configMap':{'name':'m'}},{'secret':{'name':'s',"
			       "'optional':true}},{'serviceAccountToken':{'path':'t'}}]}},"
			       "{'name':'c','secret':{'secretName':'s','optional':true}},"
			       "{'name':'d','persistentVolumeClaim':{'claimName':'p'}},{'name':'e','emptyDir':{}}]");
	json_auto_t *first = volumes_needed(l.pod, l.objects);
	json_auto_t *second = NULL;

	CHECK_JSON(first, "['configmaps/m','?secrets/s','persistentvolumeclaims/p']");
	lab_object(&l, "persistentvolumeclaims/p", "{'spec':{'volumeName':'pv'}}");
	second = volumes_needed(l.pod, l.objects);
	CHECK_JSON(second, "['configmaps/m','?secrets/s','persistentvolumeclaims/p','persistentvolumes/pv']");
	lab_done(&l);
}

TEST("volumes made of objects are read-only, others if they say so")
{
	static const struct {
		const char *volumes;
		bool want;
	} rows[] = {
		{ "[{'name':'v','configMap':{'name':'m'}}]", true },
		{ "[{'name':'v','secret':{'secretName':'m'}}]", true },
		{ "[{'name':'v','emptyDir':{}}]", false },
		{ "[{'name':'v','persistentVolumeClaim':{'claimName':'c','readOnly':true}}]", true },
		{ "[{'name':'v','persistentVolumeClaim':{'claimName':'c'}}]", false },
	};
	struct lab l = lab_new("[]");

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const json_t *c;

		lab_volumes(&l, rows[i].volumes);
		c = json_array_get(jsonx_at(l.pod, "spec.containers"), 0);
		CHECK_INT(volume_is_read_only(l.pod, json_array_get(json_object_get(c, "volumeMounts"), 0)),
			  rows[i].want);
	}
	lab_done(&l);
}
