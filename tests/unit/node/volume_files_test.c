// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <sys/statfs.h>
#include <sys/sysinfo.h>

#include "volume_lab.h"

#define TMPFS 0x01021994

static bool on_tmpfs(const struct lab *l, const char *rel)
{
	char path[512];
	struct statfs fs;

	return statfs(lab_path(l, rel, path), &fs) == 0 && fs.f_type == TMPFS;
}

static const char *link_of(const struct lab *l, const char *rel, char buf[512])
{
	char path[512];
	ssize_t n = readlink(lab_path(l, rel, path), buf, 511);

	buf[n < 0 ? 0 : n] = '\0';
	return buf;
}

static int entries(const struct lab *l, const char *rel)
{
	char path[512];
	DIR *d = opendir(lab_path(l, rel, path));
	int n = -2;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

TEST("a configMap becomes files behind links, with text, bytes and modes")
{
	struct lab l = lab_new("[{'name':'v','configMap':{'name':'m','defaultMode':292}}]");
	char buf[512];

	lab_object(&l, "configmaps/m", "{'data':{'a':'one','b':''},'binaryData':{'c':'AAEC'}}");
	lab_ready(&l);
	CHECK_STR(lab_read(&l, "pod/volumes/v/a", buf), "one");
	CHECK_STR(lab_read(&l, "pod/volumes/v/b", buf), "");
	lab_read(&l, "pod/volumes/v/c", buf);
	CHECK(memcmp(buf, "\0\1\2", 4) == 0);
	CHECK_STR(link_of(&l, "pod/volumes/v/a", buf), "..data/a");
	CHECK(str_starts(link_of(&l, "pod/volumes/v/..data", buf), "..20"));
	CHECK_INT(lab_mode(&l, "pod/volumes/v/..data/a"), 0444);
	CHECK_INT(lab_mode(&l, "pod/volumes/v"), 0777);
	CHECK(!on_tmpfs(&l, "pod/volumes/v"));
	lab_done(&l);
}

TEST("refreshing changes all files in one rename and removes what is gone")
{
	struct lab l = lab_new("[{'name':'v','configMap':{'name':'m'}}]");
	char before[512], after[512], buf[512], path[512];
	int old;

	lab_object(&l, "configmaps/m", "{'data':{'a':'1','gone':'x'}}");
	lab_ready(&l);
	link_of(&l, "pod/volumes/v/..data", before);
	lab_ready(&l);
	CHECK_STR(link_of(&l, "pod/volumes/v/..data", buf), before);
	old = open(lab_path(&l, "pod/volumes/v/a", path), O_RDONLY | O_CLOEXEC);
	lab_object(&l, "configmaps/m", "{'data':{'a':'2','new':'y'}}");
	lab_ready(&l);
	CHECK(!streq(link_of(&l, "pod/volumes/v/..data", after), before));
	CHECK_STR(lab_read(&l, "pod/volumes/v/a", buf), "2");
	CHECK_STR(lab_read(&l, "pod/volumes/v/new", buf), "y");
	CHECK(!lab_has(&l, "pod/volumes/v/gone"));
	CHECK_INT(entries(&l, "pod/volumes/v"), 4); /* a, new, ..data, the directory */
	CHECK(read(old, buf, 1) == 1 && buf[0] == '1');
	close(old);
	lab_done(&l);
}

TEST("items choose keys, paths and modes; missing ones are errors unless optional")
{
	static const struct {
		const char *volumes, *want;
	} rows[] = {
		{ "[{'name':'v','configMap':{'name':'m','items':[{'key':'a','path':'x/y/z','mode':256}]}}]", NULL },
		{ "[{'name':'v','configMap':{'name':'none','optional':true}}]", NULL },
		{ "[{'name':'v','configMap':{'name':'m','optional':true,'items':[{'key':'no','path':'x'}]}}]", NULL },
		{ "[{'name':'v','configMap':{'name':'none'}}]", "configmap \"none\" not found" },
		{ "[{'name':'v','secret':{'secretName':'none'}}]", "secret \"none\" not found" },
		{ "[{'name':'v','configMap':{'name':'m','items':[{'key':'no','path':'x'}]}}]",
		  "configmap references non-existent config key: no" },
		{ "[{'name':'v','secret':{'secretName':'s','items':[{'key':'no','path':'x'}]}}]",
		  "references non-existent secret key: no" },
		{ "[{'name':'v','configMap':{'name':'m','items':[{'key':'a','path':'../x'}]}}]",
		  "invalid path: must not contain '..': ../x" },
		{ "[{'name':'v','configMap':{'name':'m','items':[{'key':'a','path':'x/../../y'}]}}]",
		  "invalid path: must not contain '..': x/../../y" },
		{ "[{'name':'v','configMap':{'name':'m','items':[{'key':'a','path':'/etc/x'}]}}]",
		  "invalid path: must be relative path: /etc/x" },
		{ "[{'name':'v','configMap':{'name':'m','items':[{'key':'a','path':'..data/x'}]}}]",
		  "invalid path: must not start with '..': ..data/x" },
	};
	struct lab l = lab_new("[]");
	char buf[512];

	lab_object(&l, "configmaps/m", "{'data':{'a':'one'}}");
	lab_object(&l, "secrets/s", "{'data':{'a':'b25l'}}");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		lab_volumes(&l, rows[i].volumes);
		if (rows[i].want)
			lab_fails(&l, rows[i].want);
		else
			lab_ready(&l);
		if (i > 0)
			continue;
		CHECK_STR(lab_read(&l, "pod/volumes/v/x/y/z", buf), "one");
		CHECK_INT(lab_mode(&l, "pod/volumes/v/x/y/z"), 0400);
	}
	lab_done(&l);
}

TEST("a secret is kept in memory and belongs to fsGroup")
{
	struct lab l = lab_new("[{'name':'v','secret':{'secretName':'s','defaultMode':256}}]");
	char buf[512];

	lab_object(&l, "secrets/s", "{'data':{'key':'c2VjcmV0'}}");
	l.c.fs_group = 4321;
	lab_ready(&l);
	CHECK_STR(lab_read(&l, "pod/volumes/v/key", buf), "secret");
	CHECK(on_tmpfs(&l, "pod/volumes/v"));
	CHECK_INT(lab_mode(&l, "pod/volumes/v/..data/key"), 0440);
	CHECK_INT(lab_gid(&l, "pod/volumes/v/..data/key"), 4321);
	CHECK(lab_mode(&l, "pod/volumes/v") & S_ISGID);
	lab_done(&l);
}

TEST("after a reboot, when what was in memory is gone, it is written again")
{
	struct lab l = lab_new("[{'name':'v','secret':{'secretName':'s'}}]");
	char path[512], buf[512];

	lab_object(&l, "secrets/s", "{'data':{'key':'c2VjcmV0'}}");
	lab_ready(&l);
	CHECK(umount(lab_path(&l, "pod/volumes/v", path)) == 0);
	lab_ready(&l);
	CHECK_STR(lab_read(&l, "pod/volumes/v/key", buf), "secret");
	lab_done(&l);
}

TEST("downwardAPI files say what the pod is and has")
{
	struct lab l = lab_new("[{'name':'v','downwardAPI':{'items':["
			       "{'path':'name','fieldRef':{'fieldPath':'metadata.name'}},"
			       "{'path':'labels','fieldRef':{'fieldPath':'metadata.labels'}},"
			       "{'path':'b','fieldRef':{'fieldPath':'metadata.labels[`'b`']'},'mode':384},"
			       "{'path':'none','fieldRef':{'fieldPath':'metadata.annotations'}},"
			       "{'path':'cpu','resourceFieldRef':{'containerName':'c','resource':'limits.cpu'}},"
			       "{'path':'mem','resourceFieldRef':{'containerName':'c','resource':'limits.memory',"
			       "'divisor':'1Mi'}},"
			       "{'path':'req','resourceFieldRef':{'containerName':'c','resource':'requests.cpu',"
			       "'divisor':'1m'}}]}}]");
	json_t *b =
		json_array_get(jsonx_at(json_array_get(jsonx_at(l.pod, "spec.volumes"), 0), "downwardAPI.items"), 2);
	char buf[512], want[32];

	jsonx_set_new(b, "fieldRef.fieldPath", json_string("metadata.labels['b']"));
	jsonx_set_new(json_array_get(jsonx_at(l.pod, "spec.containers"), 0), "resources",
		      sample_json("{'limits':{'memory':'100Mi'},'requests':{'cpu':'1500m'}}"));
	lab_ready(&l);
	snprintf(want, sizeof(want), "%ld", sysconf(_SC_NPROCESSORS_ONLN));
	CHECK_STR(lab_read(&l, "pod/volumes/v/name", buf), "p");
	CHECK_STR(lab_read(&l, "pod/volumes/v/labels", buf), "a=\"x\\ny\"\nb=\"2\"");
	CHECK_STR(lab_read(&l, "pod/volumes/v/b", buf), "2");
	CHECK_INT(lab_mode(&l, "pod/volumes/v/..data/b"), 0600);
	CHECK_STR(lab_read(&l, "pod/volumes/v/none", buf), "");
	CHECK_STR(lab_read(&l, "pod/volumes/v/cpu", buf), want);
	CHECK_STR(lab_read(&l, "pod/volumes/v/mem", buf), "100");
	CHECK_STR(lab_read(&l, "pod/volumes/v/req", buf), "1500");
	lab_done(&l);
}

TEST("a projected volume brings all four sources together, and a token belongs to who runs")
{
	struct lab l =
		lab_new("[{'name':'v','projected':{'sources':["
			"{'configMap':{'name':'m'}},"
			"{'secret':{'name':'s','items':[{'key':'k','path':'d/k'}]}},"
			"{'downwardAPI':{'items':[{'path':'ns','fieldRef':{'fieldPath':'metadata.namespace'}}]}},"
			"{'serviceAccountToken':{'path':'token'}}]}}]");
	char buf[512], path[512];
	struct stat st;

	lab_object(&l, "configmaps/m", "{'data':{'ca.crt':'CA'}}");
	lab_object(&l, "secrets/s", "{'data':{'k':'dg=='}}");
	CHECK(lab_prepare(&l) < 0);
	CHECK_INT(l.e.kind, ERR_NOT_FOUND);
	lab_object(&l, "tokens/v/token", "'ey.J'");
	lab_ready(&l);
	CHECK_STR(lab_read(&l, "pod/volumes/v/ca.crt", buf), "CA");
	CHECK_STR(lab_read(&l, "pod/volumes/v/d/k", buf), "v");
	CHECK_STR(lab_read(&l, "pod/volumes/v/ns", buf), "n");
	CHECK_STR(lab_read(&l, "pod/volumes/v/token", buf), "ey.J");
	CHECK_INT(lab_mode(&l, "pod/volumes/v/..data/token"), 0644);
	CHECK(on_tmpfs(&l, "pod/volumes/v"));
	l.c.owner = LAB_UID;
	lab_ready(&l);
	CHECK(stat(lab_path(&l, "pod/volumes/v/token", path), &st) == 0 && st.st_uid == LAB_UID);
	CHECK_INT(st.st_mode & 07777, 0600);
	lab_done(&l);
}
