// SPDX-License-Identifier: Apache-2.0
/* full.c - disk full, and back
 *
 * `reserve` is a file of real blocks.  When a write finds no space, it is given up: that is room enough to move the WAL
 * into stoker.db and to log deletions and the steps before them.  Creates and updates are refused until there is space
 * for the reserve and then some (else the reserve itself would look like room); a one-shot timer tries, and nothing
 * ticks when the disk is not full.  When it was the objects that filled the disk, deleting some makes that space: each
 * try is followed by compaction, which then keeps little history and makes the file shorter.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>

#include "base/log.h"
#include "base/mem.h"
#include "store/store_impl.h"

#define RESERVE_BYTES (6 << 20) /* a whole WAL moved to the end of stoker.db, and some deletions */
#define ROOM_BYTES    (2 << 20) /* what must be free besides */
#define RETRY_MS      500

/* 0 or an errno. */
static int make_reserve(struct store *s)
{
	int rc;

	if (s->reserve_fd < 0)
		return 0;
	if (vfs_no_room(s->vfs))
		return ENOSPC;
	rc = posix_fallocate(s->reserve_fd, 0, RESERVE_BYTES + ROOM_BYTES);
	if (ftruncate(s->reserve_fd, rc ? 0 : RESERVE_BYTES) < 0 && !rc)
		rc = errno;
	return rc;
}

static void on_retry(void *arg)
{
	struct store *s = arg;

	if (!s->full)
		return;
	if (make_reserve(s) != 0) {
		loop_timer_set(s->loop, &s->full_timer, RETRY_MS);
		loop_schedule(s->loop, &s->compact_hook);
		return;
	}
	s->full = false;
	log_info("accepting writes again, the disk has room dir=%s", s->config.dir);
	compact_poke(s);
}

void full_init(struct store *s)
{
	s->reserve_fd = -1;
	s->full_timer = (struct loop_timer){ .fire = on_retry, .arg = s };
}

int full_open(struct store *s, struct err *e)
{
	auto_free char *path = xasprintf("%s/reserve", s->config.dir);
	int rc;

	signal(SIGXFSZ, SIG_IGN); /* a file-size limit is an error of write(2), not the end */
	s->reserve_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (s->reserve_fd < 0)
		return err_errno(e, ERR_INTERNAL, "cannot open %s", path);
	rc = make_reserve(s);
	if (rc == ENOSPC || rc == EDQUOT || rc == EFBIG)
		full_enter(s);
	else if (rc)
		log_warn("cannot keep a reserve for a full disk: %s dir=%s, ignoring", strerror(rc), s->config.dir);
	return 0;
}

void full_enter(struct store *s)
{
	if (s->full)
		return;
	s->full = true;
	log_error("refusing creates and updates, the disk is full dir=%s", s->config.dir);
	if (s->reserve_fd >= 0 && ftruncate(s->reserve_fd, 0) < 0)
		log_warn("cannot give up the reserve dir=%s, ignoring", s->config.dir);
	loop_timer_set(s->loop, &s->full_timer, RETRY_MS);
	/* With the WAL moved into stoker.db now, deletions write over its old frames and need no new space. */
	loop_schedule(s->loop, &s->checkpoint_hook);
}

void full_done(struct store *s)
{
	loop_timer_done(&s->full_timer);
	if (s->reserve_fd >= 0)
		close(s->reserve_fd);
}
