// SPDX-License-Identifier: Apache-2.0
/* service_columns.h - the columns of services, for service.c */
#ifndef STOKER_KINDS_SERVICE_COLUMNS_H
#define STOKER_KINDS_SERVICE_COLUMNS_H

#include "kinds/kind.h"

#define SERVICE_COLUMNS 7
extern const struct column service_columns[SERVICE_COLUMNS];

#endif
