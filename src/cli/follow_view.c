// SPDX-License-Identifier: Apache-2.0
/* follow_view.c - see follow_view.h */
#include "cli/follow_view.h"

#include "base/mem.h"

#define BAR         10
#define SPARK_MAX   60
#define ABOVE_TABLE 4 /* job, loss, warning, title */

/* ---- lines ---- */

/* The length of an escape sequence that begins here, 0 if none does. */
static size_t escape_length(struct str s)
{
	size_t n = 2;

	if (s.n < 3 || s.p[0] != '\033' || s.p[1] != '[')
		return 0;
	while (n < s.n && (s.p[n] < '@' || s.p[n] > '~'))
		n++;
	return n < s.n ? n + 1 : n;
}

static bool begins_character(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

int follow_columns(struct str line)
{
	int columns = 0;

	for (size_t i = 0; i < line.n;) {
		size_t escape = escape_length((struct str){ line.p + i, line.n - i });

		columns += !escape && begins_character(line.p[i]);
		i += escape ? escape : 1;
	}
	return columns;
}

/* As much of the line as fits; colours end all the same. */
static void add_clipped(struct str line, int width, struct sbuf *out)
{
	int columns = 0;

	for (size_t i = 0; i < line.n;) {
		size_t escape = escape_length((struct str){ line.p + i, line.n - i });

		if (!escape && begins_character(line.p[i]))
			columns++;
		if (escape || !width || columns <= width)
			sbuf_add(out, line.p + i, escape ? escape : 1);
		i += escape ? escape : 1;
	}
	sbuf_addc(out, '\n');
}

static void add_lines(struct str text, const struct follow_screen *screen, size_t most, struct sbuf *out)
{
	struct str line;

	for (size_t i = 0; i < most && text.n && str_split(&text, '\n', &line); i++)
		add_clipped(line, screen->width, out);
}

/* Text from elsewhere cannot write elsewhere on the screen. */
static void add_plain(const char *text, struct sbuf *out)
{
	for (; *text; text++)
		sbuf_addc(out, (unsigned char)*text < ' ' || *text == 0x7f ? ' ' : *text);
}

static void add_tinted(const struct follow_screen *screen, enum tint tint, const char *text, struct sbuf *out)
{
	sbuf_addf(out, "%s%s%s", screen->colours ? tint_begin(tint) : "", text, screen->colours ? tint_end(tint) : "");
}

/* ---- pictures ---- */

static double bucket(const struct follow_curve *c, size_t width, size_t i)
{
	size_t from = i * c->n / width;
	size_t to = (i + 1) * c->n / width;
	double sum = 0;

	for (size_t k = from; k < to; k++)
		sum += c->points[k];
	return sum / (double)(to - from);
}

void follow_spark(const struct follow_curve *c, size_t width, bool ascii, struct sbuf *out)
{
	static const char *const blocks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const plain[] = { "_", ".", "-", ":", "=", "+", "*", "#" };
	double least = 0;
	double most = 0;

	width = width < c->n ? width : c->n;
	for (size_t i = 0; i < width; i++) {
		double v = bucket(c, width, i);

		least = !i || v < least ? v : least;
		most = !i || v > most ? v : most;
	}
	for (size_t i = 0; i < width; i++) {
		double share = most > least ? (bucket(c, width, i) - least) / (most - least) : 0;
		size_t level = (size_t)(share * (ARRAY_SIZE(blocks) - 1) + 0.5);

		sbuf_adds(out, (ascii ? plain : blocks)[level]);
	}
}

/* "██████░░░░  60%  " */
static void add_bar(double share, bool ascii, struct sbuf *out)
{
	int full = (int)(share * BAR + 0.5);

	sbuf_adds(out, ascii ? "[" : "");
	for (int i = 0; i < BAR; i++)
		sbuf_adds(out, i < full ? (ascii ? "#" : "█") : (ascii ? "." : "░"));
	sbuf_addf(out, "%s %3d%%  ", ascii ? "]" : "", (int)(share * 100));
}

static double share_of(const struct measure *m)
{
	double share = m->of > 0 ? m->at / m->of : 0;

	return share < 0 ? 0 : share > 1 ? 1 : share;
}

/* ---- above the table ---- */

static void add_left(const struct follow_numbers *n, int64_t now, struct sbuf *out)
{
	int64_t left = follow_left(n, now);
	char age[32];

	if (left > 0)
		sbuf_addf(out, "  %s left", output_age(left, age));
}

static int64_t job_seconds(const struct follow_state *s, int64_t now)
{
	int64_t from = s->work.started ? s->work.started : s->work.created;

	return (s->work.ended ? s->work.ended : now / 1000000) - from;
}

static void add_job(const struct follow_state *s, const struct follow_screen *screen, struct sbuf *out)
{
	const struct follow_replica *speaker = follow_speaker(s);
	enum work_phase phase = s->deleted ? WORK_ENDING : s->work.phase;
	size_t running = 0;
	char age[32];

	for (size_t i = 0; i < s->n; i++)
		running += s->replicas[i]->phase == FOLLOW_RUNNING;
	sbuf_addf(out, "%s  ", s->title);
	add_tinted(screen, work_phase_tint(phase), s->deleted ? "Deleted" : work_phase_name(phase), out);
	sbuf_addf(out, "  %s", output_age(job_seconds(s, screen->now), age));
	if (!follow_is_over(s))
		sbuf_addf(out, "  %zu of %lld running", running,
			  (long long)(s->work.wanted > (int64_t)s->n ? s->work.wanted : (int64_t)s->n));
	if (s->work.gpus)
		sbuf_addf(out, "  %lld GPU%s", (long long)s->work.gpus, s->work.gpus == 1 ? "" : "s");
	if (speaker && !follow_is_over(s))
		add_left(&speaker->numbers, screen->now, out);
	sbuf_addc(out, '\n');
}

/* "loss  2.301 █▆▄▃▂▁ 0.3698" */
static void add_curve(const struct follow_state *s, const struct follow_screen *screen, struct sbuf *out)
{
	const struct follow_replica *speaker = follow_speaker(s);
	const struct follow_curve *c = speaker ? &speaker->numbers.curve : NULL;
	auto_sbuf struct sbuf ends = SBUF(256);
	int room;

	if (!c || c->n < 2)
		return;
	sbuf_addf(&ends, "%s  %.4g  %.4g", c->name, c->first, c->last);
	room = screen->width ? screen->width - (int)ends.n : SPARK_MAX;
	if (room < 1)
		return;
	sbuf_addf(out, "%s  %.4g ", c->name, c->first);
	follow_spark(c, room < SPARK_MAX ? (size_t)room : SPARK_MAX, screen->ascii, out);
	sbuf_addf(out, " %.4g\n", c->last);
}

/* What is wrong with the job as a whole, in one line. */
static void add_warning(const struct follow_state *s, const struct follow_screen *screen, struct sbuf *out)
{
	auto_sbuf struct sbuf plain = SBUF(4096);
	const char *text = s->work.phase == WORK_PENDING && s->work.reason[0] ? s->work.reason : s->warning;

	if (!*text || follow_is_over(s))
		return;
	add_plain(text, &plain);
	add_tinted(screen, TINT_BUSY, plain.p, out);
	sbuf_addc(out, '\n');
}

/* ---- the table ---- */

static const struct table_column columns[] = {
	{ .title = "REPLICA" },
	{ .title = "STATE" },
	{ .title = "WHERE" },
	{ .title = "RESTARTS", .right = true },
	{ .title = "FOR", .right = true },
	{ .title = "LATEST", .cut = true },
};

static void add_latest(struct table *t, const struct follow_replica *r, const struct follow_screen *screen)
{
	auto_sbuf struct sbuf text = SBUF(4096);
	const struct follow_numbers *n = &r->numbers;

	if (*r->why) {
		table_add(t, r->phase == FOLLOW_FAILED ? TINT_BAD : TINT_BUSY, r->why);
		return;
	}
	if (n->any && n->last.of > 0)
		add_bar(share_of(&n->last), screen->ascii, &text);
	if (n->any)
		follow_numbers_text(&n->last, &text);
	if (n->any && r->phase == FOLLOW_RUNNING)
		add_left(n, screen->now, &text);
	table_add(t, TINT_NONE, text.p);
}

static void add_replica(struct table *t, const struct follow_replica *r, const struct follow_screen *screen)
{
	int64_t seconds = r->started ? ((r->ended ? r->ended : screen->now) - r->started) / 1000000 : -1;
	char age[32];

	table_add(t, TINT_NONE, r->name);
	table_add(t, follow_phase_tint(r->phase), follow_phase_name(r->phase));
	if (r->gpus)
		table_addf(t, TINT_NONE, "%s, %lld GPU%s", *r->node ? r->node : "-", (long long)r->gpus,
			   r->gpus == 1 ? "" : "s");
	else
		table_add(t, TINT_NONE, r->node);
	table_addf(t, r->restarts ? TINT_BUSY : TINT_NONE, "%lld", (long long)r->restarts);
	table_add(t, TINT_NONE, output_age(seconds, age));
	add_latest(t, r, screen);
}

/* Those that one looks for come first when there is no room for all: who decides, then what is not as usual. */
static int interest(const struct follow_state *s, const struct follow_replica *r)
{
	static const int by_phase[FOLLOW_PHASE__COUNT] = {
		[FOLLOW_FAILED] = 4, [FOLLOW_RESTARTING] = 3, [FOLLOW_PENDING] = 2, [FOLLOW_RUNNING] = 1
	};

	return r == follow_decider(s) ? 5 : by_phase[r->phase];
}

/* Marks the `most` replicas that have a row. */
static void choose_shown(const struct follow_state *s, size_t most, bool *shown)
{
	size_t n = 0;

	for (int level = 5; level >= 0; level--)
		for (size_t i = 0; i < s->n && n < most; i++)
			if (interest(s, s->replicas[i]) == level) {
				shown[i] = true;
				n++;
			}
}

/* "and 12 more: 11 Running, 1 Pending" */
static void add_rest(const struct follow_state *s, const bool *shown, struct sbuf *out)
{
	size_t counts[FOLLOW_PHASE__COUNT] = { 0 };
	const char *comma = ":";
	size_t hidden = 0;

	for (size_t i = 0; i < s->n; i++)
		if (!shown[i]) {
			counts[s->replicas[i]->phase]++;
			hidden++;
		}
	if (!hidden)
		return;
	sbuf_addf(out, "and %zu more", hidden);
	for (enum follow_phase p = 0; p < FOLLOW_PHASE__COUNT; p++)
		if (counts[p]) {
			sbuf_addf(out, "%s %zu %s", comma, counts[p], follow_phase_name(p));
			comma = ",";
		}
	sbuf_addc(out, '\n');
}

static void add_table(const struct follow_state *s, const struct follow_screen *screen, struct sbuf *out)
{
	size_t room = screen->rows > ABOVE_TABLE + 2 ? (size_t)screen->rows - ABOVE_TABLE - 2 : 1;
	size_t most = screen->rows && s->n > room ? room : s->n;
	auto_free bool *shown = xcalloc(s->n + 1, sizeof(*shown));
	auto_table struct table t = TABLE(columns);

	choose_shown(s, most, shown);
	for (size_t i = 0; i < s->n; i++)
		if (shown[i])
			add_replica(&t, s->replicas[i], screen);
	if (table_rows(&t))
		table_text(&t, false, screen->colours, screen->width, out);
	add_rest(s, shown, out);
}

void follow_view(const struct follow_state *s, const struct follow_screen *screen, struct sbuf *out)
{
	auto_sbuf struct sbuf text = SBUF(SIZE_MAX / 2);

	add_job(s, screen, &text);
	add_curve(s, screen, &text);
	add_warning(s, screen, &text);
	add_table(s, screen, &text);
	add_lines(sbuf_str(&text), screen, screen->rows > 1 ? (size_t)screen->rows - 1 : SIZE_MAX, out);
}
