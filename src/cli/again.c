// SPDX-License-Identifier: Apache-2.0
/* again.c - see again.h */
#include "cli/again.h"

#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

/* As many lines as there is room for, each to its end, and nothing below: no flicker. */
void again_draw(const struct sbuf *text)
{
	struct winsize size = { .ws_row = 0 };
	struct str rest = sbuf_str(text);
	struct str line;
	int row = 0;

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	fputs("\033[H", stdout);
	while (rest.n && str_split(&rest, '\n', &line)) {
		if (size.ws_row && ++row >= size.ws_row)
			break;
		printf("%.*s\033[K\n", STR_FMT(line));
	}
	fputs("\033[J", stdout);
}

void again_clock(char out[16])
{
	time_t now = (time_t)clock_wall();
	struct tm tm;

	out[0] = '\0';
	if (localtime_r(&now, &tm))
		strftime(out, 16, "%H:%M:%S", &tm);
}

static void on_interrupt(void *arg, int signo)
{
	(void)signo;
	*(bool *)arg = true;
}

static void on_time(void *arg)
{
	*(bool *)arg = true;
}

int again_show(struct loop *loop, int (*show)(void *arg), void *arg, struct err *e)
{
	bool due = false, interrupted = false;
	struct loop_timer timer = { .fire = on_time, .arg = &due };
	int status;

	if (loop_on_signal(loop, SIGINT, on_interrupt, &interrupted, e) < 0)
		return -1;
	if (isatty(STDOUT_FILENO))
		fputs("\033[2J", stdout);
	while ((status = show(arg)) == 0 && !interrupted && !ferror(stdout)) {
		due = false;
		loop_timer_set(loop, &timer, AGAIN_MS);
		while (!due && !interrupted)
			loop_turn(loop, false);
		if (interrupted)
			break;
	}
	loop_timer_done(&timer);
	return interrupted ? 128 + SIGINT : status ? status : 1;
}
