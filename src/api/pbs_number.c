// SPDX-License-Identifier: Apache-2.0
/* pbs_number.c - see pbs_parts.h
 *
 * The counter is the last number given, and part of the transaction that stores the job: a number is taken if and only
 * if there is a job.  Only an admin who sets it back, or a hundred million jobs, make it meet a job that is still
 * there; then that number is passed over.
 */
#include "api/pbs_board.h"
#include "api/pbs_parts.h"
#include "base/mem.h"

#define COUNTER     "pbsjobs"
#define MOST        99999999
#define PASSED_OVER 1000000 /* at most, before it is said that there is none */

static bool is_taken(struct api *api, const char *ns, bool named, int64_t n)
{
	struct pbs *p = api_pbs(api);
	char name[24];

	if (pbs_board_find(p->board, n))
		return true;
	snprintf(name, sizeof(name), "%lld", (long long)n);
	return named && store_exists(api_store(api), p->job_kind.number, ns, name);
}

int pbs_number_next(struct api *api, const char *ns, bool named, int64_t *ret, struct err *e)
{
	int64_t n = 0;

	if (stored_resolve(api, &api_pbs(api)->job_kind, e) < 0 || store_counter(api_store(api), COUNTER, &n, e) < 0)
		return -1;
	for (int i = 0; i < PASSED_OVER; i++) {
		n = n >= MOST ? 0 : n + 1;
		if (!is_taken(api, ns, named, n)) {
			*ret = n;
			return 0;
		}
	}
	return err_set(e, ERR_UNAVAILABLE, "there is no free number for a PBS job from %lld on", (long long)n);
}

int pbs_number_take(struct api *api, int64_t number, struct err *e)
{
	return store_counter_set(api_store(api), COUNTER, number, e);
}

int pbs_number_set(struct api *api, int64_t next, struct err *e)
{
	return store_counter_set(api_store(api), COUNTER, next > 0 ? next - 1 : MOST, e);
}
