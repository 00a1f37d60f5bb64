// SPDX-License-Identifier: Apache-2.0
/* setting_write.h - settings of queues, the server and nodes as qmgr writes them: the same table as setting_show().
 * Pure
 */
#ifndef STOKER_PBS_SETTING_WRITE_H
#define STOKER_PBS_SETTING_WRITE_H

#include "base/err.h"
#include "pbs/settings.h"

enum setting_op { SETTING_SET, SETTING_ADD, SETTING_REMOVE, SETTING_UNSET };

/* The setting of this name, in any case; NULL if PBS has none.  `resource`: or NULL. */
const struct setting *setting_find(const struct setting *table, const char *name, const char *resource);
/* Changes the object.  Errors have PBS's numbers: 15002 for an attribute that there is not, 15016 for a value that is
 * none of its kind, 15037 for an unknown resource. */
int setting_write(const struct setting *table, json_t *object, const char *name, const char *resource,
		  enum setting_op op, const char *value, struct err *e);

#endif
