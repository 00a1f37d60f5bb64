// SPDX-License-Identifier: Apache-2.0
/* training_wait.c - who keeps a job from starting
 *
 * The programs of a gang start together (node/pod_gang.c): one whose image cannot be had holds all of them.  The job
 * says which one and why, since nobody looks into a hundred pods for it.
 */
#include "base/jsonx.h"
#include "control/training_parts.h"

#define WAIT_MOST 1000 /* bytes of the message */

/* Between two tries to pull an image it is for the reason of the last one. */
static void say_reason(const json_t *stuck, struct sbuf *out)
{
	static const char inner[] = ": ErrImagePull: ";
	const char *message = jsonx_str_or(stuck, "message", "");
	const char *pull = strstr(message, inner);

	if (pull && streq(jsonx_str_or(stuck, "reason", ""), "ImagePullBackOff"))
		sbuf_adds(out, pull + strlen(": "));
	else
		sbuf_addf(out, "%s%s%s", jsonx_str_or(stuck, "reason", ""), *message ? ": " : "", message);
}

char *replicas_wait(const struct training_work *w)
{
	auto_sbuf struct sbuf text = SBUF(WAIT_MOST);
	const struct replica *first = NULL;
	size_t others = 0;

	for (size_t i = 0; i < w->n; i++) {
		const struct replica *r = &w->replicas[i];

		if (r->is != REPLICA_PENDING || !r->pod->stuck)
			continue;
		others += first != NULL;
		first = first ? first : r;
	}
	if (!first)
		return NULL;
	sbuf_adds(&text, first->name);
	if (others)
		sbuf_addf(&text, " and %zu more", others);
	sbuf_adds(&text, " cannot start: ");
	say_reason(first->pod->stuck, &text);
	return sbuf_steal(&text);
}
