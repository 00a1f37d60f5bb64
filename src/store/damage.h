// SPDX-License-Identifier: Apache-2.0
/* damage.h - looks at every byte of a data directory before SQLite may touch it */
#ifndef STOKER_STORE_DAMAGE_H
#define STOKER_STORE_DAMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "store/lock.h"

struct db_facts {
	bool exists;
	uint32_t version;     /* of the schema */
	uint32_t application; /* SCHEMA_APPLICATION if it is ours */
};

/* Reads only.  ERR_CORRUPT names the file and the page or frame and says what to do. */
int damage_check(const char *dir, const struct wal_mark *mark, struct db_facts *ret, struct err *e);

#endif
