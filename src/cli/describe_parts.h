// SPDX-License-Identifier: Apache-2.0
/* describe_parts.h - the parts of the page, for describe_page.c */
#ifndef STOKER_CLI_DESCRIBE_PARTS_H
#define STOKER_CLI_DESCRIBE_PARTS_H

#include "cli/about.h"
#include "cli/page.h"

/* What is special about a kind; any may be NULL. */
struct describer {
	const struct kind *kind;
	/* Sentence and colour; kinds without it are told as workloads, or by their phase. */
	enum tint (*state)(const struct about *a, struct sbuf *out);
	void (*fields)(const struct about *a, struct page *p);
	void (*tables)(const struct about *a, struct page *p);
};
/* NULL if there is nothing special. */
const struct describer *describer_of(const struct kind *k);

/* ": the next run is in 3h"; false if that cannot be told. */
bool cron_words(const struct about *a, struct sbuf *out);

/* describe_things.c: kinds that run nothing. */
enum tint service_state(const struct about *a, struct sbuf *out);
void service_fields(const struct about *a, struct page *p);
void service_tables(const struct about *a, struct page *p);
enum tint node_state(const struct about *a, struct sbuf *out);
void node_fields(const struct about *a, struct page *p);
void node_tables(const struct about *a, struct page *p);
enum tint claim_state(const struct about *a, struct sbuf *out);
void claim_fields(const struct about *a, struct page *p);
enum tint namespace_state(const struct about *a, struct sbuf *out);
void namespace_tables(const struct about *a, struct page *p);
void quota_tables(const struct about *a, struct page *p);
void data_tables(const struct about *a, struct page *p);

/* describe_pods.c: the pod template, pods, containers and volumes of a workload. */
void template_fields(const struct about *a, struct page *p);
void pods_tables(const struct about *a, struct page *p);
void volumes_table(const struct about *a, struct page *p);

/* Seconds since 1970 of a time in the object; 0 if there is none. */
int64_t time_in(const json_t *obj, const char *path);
/* "3m12s" since then, "-" if it is not known. */
const char *since(const struct about *a, int64_t then, char buf[32]);
/* Labels, selectors: "a=b, c=d". */
void map_words(const json_t *map, struct sbuf *out);

#endif
