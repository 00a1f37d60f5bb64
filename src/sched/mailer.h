// SPDX-License-Identifier: Apache-2.0
/* mailer.h - runs a program for each mail, one after the other, never longer than a minute */
#ifndef STOKER_SCHED_MAILER_H
#define STOKER_SCHED_MAILER_H

#include <jansson.h>

#include "base/str.h"
#include "loop/loop.h"

#define MAIL_MAX 16384 /* bytes of one */

struct mailer;

struct mailer *mailer_new(struct loop *loop);
/* What has not been sent is not sent any more. */
void mailer_free(struct mailer *m);
/* Runs args[0] with these arguments and `text` as its input, as the server itself.  When too many wait it is dropped,
 * and the log says so. */
void mailer_send(struct mailer *m, const json_t *args, struct str text);

#endif
