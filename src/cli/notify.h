// SPDX-License-Identifier: Apache-2.0
/* notify.h - a word to systemd, if it was systemd that started this program */
#ifndef STOKER_CLI_NOTIFY_H
#define STOKER_CLI_NOTIFY_H

/* Sends `state`, such as "READY=1", to where $NOTIFY_SOCKET says; without it does nothing.  Later calls and programs
 * that are started from here find the variable gone: they are not who is waited for. */
void notify_manager(const char *state);

#endif
