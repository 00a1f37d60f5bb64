// SPDX-License-Identifier: Apache-2.0
/* pbs_programs.c - see pbs_programs.h
 *
 * What a script needs to find its way: shells, files, texts, the clock; and startdocker, which with all of PBS's
 * commands is stoker.  Nothing that computes.
 *
 * The loader must be among them, or no program could begin; who calls it by its name can have it load any file.  So
 * this keeps a site's rule in sight of people who would forget it, and is no wall against those who want to break it:
 * walls are what the job's user, group and cards are.
 */
#include "node/pbs_programs.h"

#include "base/jsonx.h"
#include "base/mem.h"

static const char *const names[] = {
	"sh",     "bash",      "dash",   "zsh",      "csh",     "tcsh",       "ksh",      "env",       "cat",  "date",
	"echo",   "printf",    "pwd",    "ls",       "mkdir",   "rmdir",      "cp",       "mv",        "rm",   "ln",
	"touch",  "test",      "[",      "true",     "false",   "sleep",      "head",     "tail",      "wc",   "cut",
	"sort",   "uniq",      "tr",     "tee",      "grep",    "egrep",      "fgrep",    "sed",       "awk",  "mawk",
	"gawk",   "seq",       "expr",   "basename", "dirname", "readlink",   "realpath", "stat",      "df",   "du",
	"chmod",  "find",      "xargs",  "id",       "whoami",  "groups",     "hostname", "uname",     "tty",  "mesg",
	"locale", "dircolors", "mktemp", "kill",     "ps",      "timeout",    "nohup",    "tar",       "gzip", "gunzip",
	"zcat",   "diff",      "cmp",    "md5sum",   "nproc",   "nvidia-smi", "module",   "modulecmd",
};

static const char *const dirs[] = { "/usr/bin", "/bin" };

static const char *const loaders[] = {
	"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux.so.2",        "/lib/ld-linux-aarch64.so.1",
	"/lib/ld-musl-x86_64.so.1",    "/lib/ld-musl-aarch64.so.1",
};

json_t *pbs_programs(const char *dir, const char *const *own)
{
	json_t *list = json_array();

	for (size_t d = 0; d < ARRAY_SIZE(dirs); d++)
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			json_array_append_new(list, jsonx_stringf("%s/%s", dirs[d], names[i]));
	for (size_t i = 0; i < ARRAY_SIZE(loaders); i++)
		json_array_append_new(list, json_string(loaders[i]));
	json_array_append_new(list, jsonx_stringf("%s/stoker", dir));
	json_array_append_new(list, jsonx_stringf("%s/stoker-pbs", dir));
	for (; own && *own; own++)
		if (**own == '/')
			json_array_append_new(list, jsonx_string(*own));
	return list;
}
