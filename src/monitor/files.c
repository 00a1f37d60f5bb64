// SPDX-License-Identifier: Apache-2.0
/* files.c - output goes to files of the user as well, byte by byte as it comes
 *
 * We run as root and the paths are the user's, who may have put anything there.  So the files are opened with the
 * user's identity (fsuid, fsgid and groups), to which all the kernel's checks then apply: a link can lead only to where
 * the user may write.  What a path may lead to besides are files whose writes the kernel judges by who writes, and that
 * is us: only plain files of a disk and /dev/null are taken, and after the start we give up all rights but that to kill
 * (files_drop_rights()).
 *
 * A file that cannot take more (full disk, quota) loses output; the log still has it.
 */
#include <asm/statfs.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <linux/stat.h>

#include "monitor/monitor.h"
#include "monitor/sys.h"

#define NULL_MAJOR 1
#define NULL_MINOR 3

#ifndef S_IFMT
#define S_IFMT  0170000
#define S_IFREG 0100000
#define S_IFCHR 0020000
#endif

/* File systems where writing does something. */
static const uint32_t acting[] = {
	PROC_SUPER_MAGIC,    SYSFS_MAGIC,  DEBUGFS_MAGIC,  TRACEFS_MAGIC,  SECURITYFS_MAGIC, CGROUP_SUPER_MAGIC,
	CGROUP2_SUPER_MAGIC, BPF_FS_MAGIC, EFIVARFS_MAGIC, BINFMTFS_MAGIC, SELINUX_MAGIC,    SMACK_MAGIC,
};

static bool is_harmless(int fd)
{
	struct statx st;
	struct statfs fs;

	if (SYS(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_TYPE, &st) < 0 || SYS(SYS_fstatfs, fd, &fs) < 0)
		return false;
	if ((st.stx_mode & S_IFMT) == S_IFCHR)
		return st.stx_rdev_major == NULL_MAJOR && st.stx_rdev_minor == NULL_MINOR;
	for (size_t i = 0; i < sizeof(acting) / sizeof(acting[0]); i++)
		if ((uint32_t)fs.f_type == acting[i])
			return false;
	return (st.stx_mode & S_IFMT) == S_IFREG;
}

static long open_one(const char *path)
{
	/* Never waits for a reader, never takes a terminal over; appends, so that two that are one do not overwrite. */
	long fd = sys_open(path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY, 0666);

	if (fd < 0)
		return fd;
	if (!is_harmless((int)fd)) {
		sys_close((int)fd);
		return -EPERM;
	}
	SYS(SYS_ftruncate, fd, 0);
	return fd;
}

/* As whom files are opened; what the kernel does not say otherwise is asked for. */
static long act_as(uint32_t uid, uint32_t gid, const uint32_t *groups, uint32_t count)
{
	long rc = SYS(SYS_setgroups, count, groups);

	SYS(SYS_setfsgid, gid);
	SYS(SYS_setfsuid, uid);
	if (rc == 0 && (SYS(SYS_setfsuid, -1) != (long)uid || SYS(SYS_setfsgid, -1) != (long)gid))
		rc = -EPERM;
	return rc;
}

static long open_all(struct monitor *m, const struct process *p)
{
	uint32_t joined = p->head->joined;

	for (int i = 0; i < 2; i++) {
		struct stream *s = &m->streams[i];
		long fd;

		if (!p->files[i][0] || (joined && joined != s->number))
			continue;
		fd = open_one(p->files[i]);
		if (fd < 0) {
			m->record.step = i ? MONITOR_STEP_STDERR : MONITOR_STEP_STDOUT;
			return fd;
		}
		s->file = (int)fd;
	}
	if (joined)
		m->streams[joined == MONITOR_STDOUT].file = m->streams[joined != MONITOR_STDOUT].file;
	return 0;
}

long files_open(struct monitor *m, const struct process *p)
{
	uint32_t mask = (uint32_t)SYS(SYS_umask, p->head->umask);
	long rc = 0, back = 0;

	if (!p->head->only)
		rc = act_as(p->head->uid, p->head->gid, p->groups, p->head->groups);

	m->record.step = rc < 0 ? MONITOR_STEP_START : MONITOR_STEP_NONE;
	if (rc == 0)
		rc = open_all(m, p);
	SYS(SYS_umask, mask);
	if (!p->head->only)
		back = act_as(0, 0, 0, 0);
	return rc < 0 ? rc : back;
}

void files_write(struct stream *s, const char *text, size_t n)
{
	if (s->file < 0 || !n)
		return;
	s->mid_line = text[n - 1] != '\n';
	while (n) {
		long rc = sys_write(s->file, text, n);

		if (rc == -EINTR)
			continue;
		if (rc <= 0)
			return;
		text += rc;
		n -= (size_t)rc;
	}
}

/* Who sits at its terminal reads it there, as lines of their own. */
static void say_at_terminal(struct monitor *m, const char *text, size_t n)
{
	char *at = m->chunk + 1, *end = m->chunk + MONITOR_PACKET;

	if (!m->tty || !serve_someone_attached(m) || serve_someone_behind(m))
		return;
	at = text_add(at, "\r\n");
	for (size_t i = 0; i < n && end - at > 2; i++) {
		if (text[i] == '\n')
			*at++ = '\r';
		*at++ = text[i];
	}
	serve_chunk(m, MONITOR_STDOUT, (size_t)(at - m->chunk) - 1);
}

void files_say(struct monitor *m, struct stream *s, const char *text, size_t n)
{
	const struct stream *other = &m->streams[s == &m->streams[0]];

	/* Two streams in one file end its last line, whoever began it. */
	if (s->mid_line || (other->file == s->file && other->mid_line))
		files_write(s, "\n", 1);
	files_write(s, text, n);
	log_part(&m->log, s);
	log_take(&m->log, s, text, n);
	log_flush(&m->log);
	say_at_terminal(m, text, n);
}

void files_drop_rights(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { .effective = 1u << CAP_KILL, .permitted = 1u << CAP_KILL } };

	SYS(SYS_capset, &head, data);
}
