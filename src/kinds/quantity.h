// SPDX-License-Identifier: Apache-2.0
/* quantity.h - Kubernetes' fixed-point numbers: 100m, 1.5Gi, 2e3 */
#ifndef STOKER_KINDS_QUANTITY_H
#define STOKER_KINDS_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QUANTITY_TEXT 48

/* A value in thousandths... of 10^-9 steps: value = units * 10^-9, 128 bits wide, so every resource fits exactly. */
struct quantity {
	__int128 nano;
	char format; /* 'd' decimal SI, 'b' binary SI, 'e' exponent: how it was written */
};

/* False if text is no quantity.  More precise than 10^-9 rounds up, as Kubernetes does. */
bool quantity_parse(const char *text, struct quantity *ret);
/* The canonical text Kubernetes would store: "0.5" is "500m", "1024Mi" is "1Gi". */
void quantity_text(const struct quantity *q, char out[QUANTITY_TEXT]);
/* Bytes for people to read, and to ask for: 16Gi, 512Mi, and of what is no whole number of MiB a tenth of a Gi or a Mi
 * less rather than more: 23.2Gi. */
void quantity_bytes_text(int64_t bytes, char out[QUANTITY_TEXT]);
int quantity_cmp(const struct quantity *a, const struct quantity *b);
/* Adds b (`times` of it: -1 takes it away).  A sum is written as its first part that is not zero was. */
void quantity_add(struct quantity *sum, const struct quantity *b, int times);
/* Rounded up; clamped to int64. */
int64_t quantity_value(const struct quantity *q);
int64_t quantity_milli(const struct quantity *q);

#endif
