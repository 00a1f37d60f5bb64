// SPDX-License-Identifier: Apache-2.0
/* fake_loop_test.c - stands in for loop/ until it is here: hooks in order, timers that a test fires itself */
#include "base/mem.h"
#include "loop/crypto.h"
#include "loop/loop.h"

struct loop {
	struct loop_hook *first[LOOP_PHASE__COUNT];
};

struct loop *loop_new(void)
{
	return xcalloc(1, sizeof(struct loop));
}

void loop_free(struct loop *loop)
{
	free(loop);
}

void loop_schedule(struct loop *loop, struct loop_hook *hook)
{
	struct loop_hook **p = &loop->first[hook->phase];

	if (hook->queued)
		return;
	while (*p)
		p = &(*p)->next;
	hook->queued = true;
	hook->next = NULL;
	*p = hook;
}

void loop_unschedule(struct loop *loop, struct loop_hook *hook)
{
	for (struct loop_hook **p = &loop->first[hook->phase]; *p; p = &(*p)->next)
		if (*p == hook) {
			*p = hook->next;
			hook->queued = false;
			return;
		}
}

void loop_turn(struct loop *loop, bool poll)
{
	(void)poll;
	for (int i = 0; i < LOOP_PHASE__COUNT; i++) {
		struct loop_hook *h = loop->first[i];

		loop->first[i] = NULL;
		while (h) {
			struct loop_hook *next = h->next;

			h->queued = false;
			h->run(h->arg);
			h = next;
		}
	}
}

void loop_timer_set(struct loop *loop, struct loop_timer *t, int64_t ms)
{
	(void)loop;
	(void)ms;
	t->event = (void *)t;
}
void loop_timer_clear(struct loop_timer *t)
{
	t->event = NULL;
}
void loop_timer_done(struct loop_timer *t)
{
	t->event = NULL;
}
bool loop_timer_pending(const struct loop_timer *t)
{
	return t->event;
}

struct seal {
	char x;
};
int seal_open(const char *key_path, struct seal **ret, struct err *e)
{
	(void)key_path;
	(void)e;
	*ret = xcalloc(1, sizeof(struct seal));
	return 0;
}
void seal_free(struct seal *s)
{
	free(s);
}
void seal_close_text(struct seal *s, struct str plain, struct str context, struct sbuf *out)
{
	(void)s;
	sbuf_add(out, context.p, context.n);
	for (size_t i = 0; i < plain.n; i++)
		sbuf_addc(out, (char)(plain.p[i] ^ 0x55));
}
int seal_open_text(struct seal *s, struct str sealed, struct str context, struct sbuf *out, struct err *e)
{
	(void)s;
	if (sealed.n < context.n || memcmp(sealed.p, context.p, context.n) != 0)
		return err_set(e, ERR_CORRUPT, "wrong context");
	for (size_t i = context.n; i < sealed.n; i++)
		sbuf_addc(out, (char)(sealed.p[i] ^ 0x55));
	return 0;
}
