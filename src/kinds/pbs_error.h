// SPDX-License-Identifier: Apache-2.0
/* pbs_error.h - PBS's numbers for refusals, and how they travel in an error's text
 *
 * The server refuses with "... PBS 15020: Unknown queue MSG=requested queue not found"; the commands find the number
 * there, show the rest in the words that people know, and exit with the number modulo 256.
 */
#ifndef STOKER_KINDS_PBS_ERROR_H
#define STOKER_KINDS_PBS_ERROR_H

#include "base/err.h"

/* The numbers are Torque's; pbs_error.c has the table of their texts. */
enum pbs_error {
	PBSE_UNKJOBID = 15001,
	PBSE_NOATTR = 15002,
	PBSE_IVALREQ = 15004,
	PBSE_PERM = 15007,
	PBSE_BADHOST = 15010,
	PBSE_UNKSIG = 15015,
	PBSE_BADATVAL = 15016,
	PBSE_MODATRRUN = 15017,
	PBSE_BADSTATE = 15018,
	PBSE_UNKQUE = 15020,
	PBSE_QUNOENB = 15023,
	PBSE_QACESS = 15024,
	PBSE_BADUSER = 15025,
	PBSE_QUEEXIST = 15027,
	PBSE_QUEBUSY = 15029,
	PBSE_UNKRESC = 15037,
	PBSE_EXCQRESC = 15038,
	PBSE_QUENODFLT = 15039,
	PBSE_NORERUN = 15040,
	PBSE_BADGRP = 15047,
	PBSE_MAXQUED = 15048,
	PBSE_BADDEPEND = 15056,
	PBSE_UNKNODE = 15064,
	PBSE_MAXUSERQUED = 15076,
	PBSE_NOINTERACTIVE = 15078,
	PBSE_NOBATCH = 15079,
	PBSE_NORERUNABLE = 15080,
	PBSE_NONONRERUNABLE = 15081,
	PBSE_UNKARRAYID = 15082,
	PBSE_BAD_ARRAY_REQ = 15083,
	PBSE_TIMEOUT = 15085,
	PBSE_NOFAULTTOLERANT = 15087,
	PBSE_NOFAULTINTOLERANT = 15088,
	PBSE_NO_ARRAYS = 15089,
};

/* Torque's words, or "Unknown error". */
const char *pbs_error_text(int number);
/* -1, with "PBS NUMBER: TEXT[ MSG=detail]"; detail NULL for none. */
int pbs_error_set(struct err *e, enum err_kind kind, enum pbs_error number, const char *detail, ...)
	__attribute__((format(printf, 4, 5)));
/* -1, with 15018 and the name of the state (Q, R, C, ...) that the job is in. */
int pbs_error_state(struct err *e, char state);
/* The number in an error's text, and what follows it (borrowed); 0 if there is none. */
int pbs_error_find(const char *text, const char **ret_words);

#endif
