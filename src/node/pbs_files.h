// SPDX-License-Identifier: Apache-2.0
/* pbs_files.h - a job's node file, GPU file and script on this machine */
#ifndef STOKER_NODE_PBS_FILES_H
#define STOKER_NODE_PBS_FILES_H

#include "kinds/pbs_process.h"

/* Where they are for processes of the host; malloc'ed.  The data directory itself is nobody's but root's; where the
 * server is an ordinary user's, and so are all its jobs, `data` is that directory, else NULL. */
char *pbs_files_dir(const char *data, const char *prefix);
/* Writes them for one job, below p->dir. */
int pbs_files_write(const struct pbs_place *p, struct err *e);
/* Those of the job whose node file has this path. */
void pbs_files_remove(const char *node_file);
/* All whose node files are not among `kept`, an array of paths; and the directories if nothing is left. */
void pbs_files_sweep(const char *dir, const json_t *kept);

#endif
