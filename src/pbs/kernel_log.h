// SPDX-License-Identifier: Apache-2.0
/* kernel_log.h - records of the kernel's log as lines with a time.  Pure */
#ifndef STOKER_PBS_KERNEL_LOG_H
#define STOKER_PBS_KERNEL_LOG_H

#include "base/str.h"

/* One record of /dev/kmsg ("6,1,5140900,-;text\n KEY=value\n").  Appends "[date] text" if it is not older than `since`
 * (seconds since 1970); `booted` is when the kernel's clock began. */
void kernel_log_add(struct str record, int64_t booted, int64_t since, struct sbuf *out);

#endif
