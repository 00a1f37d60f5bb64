// SPDX-License-Identifier: Apache-2.0
/* pbs.h - what PBS's commands share: the table of programs, the way to the server, errors in PBS's words
 *
 * A command is a row in pbs.c and a function that gets a `struct pbs`.  Nothing is asked of the server before the
 * first call; most commands make one or two.
 */
#ifndef STOKER_PBS_PBS_H
#define STOKER_PBS_PBS_H

#include <jansson.h>

#include "base/err.h"
#include "base/str.h"
#include "kinds/pbs_id.h"

#define PBS_API       "/apis/stoker.dev/v1"
#define PBS_REPLY_MAX (512u * 1024 * 1024)

struct terminal_told;

/* A program in a pod whose input and output are joined with ours. */
struct pbs_join {
	const char *path; /* of exec or attach, with terminal_query() */
	bool in, tty;
	bool patient;               /* a container that does not run yet is waited for */
	struct terminal_told *told; /* is kept up; or NULL */
	/* afterwards */
	bool over;
	bool cut; /* input was left that was not passed on */
	int status;
	struct err e; /* why it could not be, or ended before its time */
};

/* A program in a pod whose output we have in part: the rest is in its log. */
struct pbs_rest {
	const char *pod, *container; /* the pod's path */
	const char *input;           /* path of an attach that only takes input from our terminal; or NULL */
	struct terminal_told *told;  /* so far, and is kept up */
};

/* How requests reach the server: the socket of this machine (socket.c), or whatever a kubeconfig names (remote.c). */
struct pbs_door {
	/* NULL with e->kind ERR_UNAVAILABLE and errno if it cannot be reached. */
	void *(*open)(struct err *e);
	void (*close)(void *self);
	int (*call)(void *self, const char *method, const char *path, const char *type, struct str body, int *ret_code,
		    struct sbuf *reply, struct err *e);
	/* GET of text that comes piece by piece; a piece that answers false ends it. */
	int (*stream)(void *self, const char *path, int *ret_code, bool (*piece)(void *arg, struct str piece),
		      void *arg, struct err *e);
	/* The namespace of who calls; the caller owns it. */
	char *(*ns)(void *self);
	/* Where the server is, for messages. */
	const char *(*place)(void *self);
	/* Joins this terminal with a pod's program (a path of exec or attach) until that ends; its exit status.  NULL
	 * where there is no loop to do it with: pbs_run_stoker() first. */
	int (*attach)(void *self, const char *path, int *ret_status, struct err *e);
	/* The same for several at once, until all have ended.  SIGINT, SIGTERM and SIGHUP come to `signal`, which may
	 * say false: then nobody waits any more. */
	int (*join)(void *self, struct pbs_join *joins, size_t n, bool (*signal)(void *arg, int signo), void *arg,
		    struct err *e);
	/* Writes the rest of a program's output, until it ends (0) or the server goes away (-1). */
	int (*rest)(void *self, const struct pbs_rest *rest, bool (*signal)(void *arg, int signo), void *arg,
		    struct err *e);
	/* The images of a registry: an array of names, owned.  NULL as with attach. */
	int (*images)(const char *registry, json_t **ret, struct err *e);
};

extern const struct pbs_door pbs_door_socket, pbs_door_remote;
/* The socket of this machine's server, appended: $STOKER_SOCKET, the user's own, the system's; false if there is none,
 * or $KUBECONFIG names a server. */
bool pbs_socket_path(struct sbuf *out);

/* Lets stoker, which lies beside this program, do the command instead; returns only if it is not there. */
void pbs_run_stoker(const char *command, int argc, char *const *argv);

struct pbs {
	const char *command; /* "qsub": begins every message */
	const struct pbs_door *door;
	void *open; /* the door's, from the first call on */
	char *ns;
	int64_t retry_seconds; /* for how long to try to connect (-b) */
	int connect_errno;     /* why there is no connection, or 0 */
	json_t *settings;      /* PBSServer default, once it was asked for */
};

struct pbs_program {
	const char *name;
	/* Exit status; argv[0] is the name. */
	int (*run)(struct pbs *p, int argc, char **argv);
};

/* The program of this name, which may be a path; NULL if there is none.  Anything may stand before the name (sqsub),
 * for machines that have another PBS. */
const struct pbs_program *pbs_program_find(const char *argv0);
/* Runs it: argv[0] is its name. */
int pbs_main(const struct pbs_program *program, const struct pbs_door *door, int argc, char **argv);
/* One record a command, in its own file. */
int qsub_main(struct pbs *p, int argc, char **argv);
int qstat_main(struct pbs *p, int argc, char **argv);
int qdel_main(struct pbs *p, int argc, char **argv);
int qhold_main(struct pbs *p, int argc, char **argv);
int qrls_main(struct pbs *p, int argc, char **argv);
int qalter_main(struct pbs *p, int argc, char **argv);
int qrerun_main(struct pbs *p, int argc, char **argv);
int qsig_main(struct pbs *p, int argc, char **argv);
int qmove_main(struct pbs *p, int argc, char **argv);
int qmsg_main(struct pbs *p, int argc, char **argv);
int qorder_main(struct pbs *p, int argc, char **argv);
int qrun_main(struct pbs *p, int argc, char **argv);
int qstart_main(struct pbs *p, int argc, char **argv);
int qstop_main(struct pbs *p, int argc, char **argv);
int qenable_main(struct pbs *p, int argc, char **argv);
int qdisable_main(struct pbs *p, int argc, char **argv);
int qmgr_main(struct pbs *p, int argc, char **argv);
int pbsnodes_main(struct pbs *p, int argc, char **argv);
int qselect_main(struct pbs *p, int argc, char **argv);
int chk_gpu_main(struct pbs *p, int argc, char **argv);
int tracejob_main(struct pbs *p, int argc, char **argv);
int chk_gpuused_main(struct pbs *p, int argc, char **argv);
int chk_res_main(struct pbs *p, int argc, char **argv);
int chk_quota_main(struct pbs *p, int argc, char **argv);
int k_log_main(struct pbs *p, int argc, char **argv);
int dockerlog_main(struct pbs *p, int argc, char **argv);
int getallreposimages_main(struct pbs *p, int argc, char **argv);
int get_report_main(struct pbs *p, int argc, char **argv);
int startdocker_main(struct pbs *p, int argc, char **argv);
int pbsdsh_main(struct pbs *p, int argc, char **argv);
int rpt_detail_main(struct pbs *p, int argc, char **argv);

/* --- requests.  Paths begin with '/'; *ret (may be NULL) is owned.  Errors have the server's own words. --- */

int pbs_get(struct pbs *p, const char *path, json_t **ret, struct err *e);
/* The reply as it is: for the board's rows. */
int pbs_get_text(struct pbs *p, const char *path, struct sbuf *out, struct err *e);
int pbs_post(struct pbs *p, const char *path, const json_t *body, json_t **ret, struct err *e);
/* A merge patch. */
int pbs_patch(struct pbs *p, const char *path, const json_t *patch, json_t **ret, struct err *e);
/* Replaces the object there. */
int pbs_put(struct pbs *p, const char *path, const json_t *obj, json_t **ret, struct err *e);
int pbs_delete(struct pbs *p, const char *path, struct err *e);
/* The objects of a watch, one by one, until `event` says false or the stream ends; NULL when a signal came. */
typedef bool pbs_event(void *arg, const char *type, const json_t *obj);
int pbs_watch(struct pbs *p, const char *path, pbs_event *event, void *arg, struct err *e);
/* The user's namespace; connects if need be, NULL if it cannot. */
const char *pbs_namespace(struct pbs *p, struct err *e);

/* PBSServer "default", borrowed; an empty object if there is none. */
const json_t *pbs_settings(struct pbs *p);
/* Who the server takes us for (owned), and whether that is one who may act on everyone's jobs. */
int pbs_self(struct pbs *p, char **ret_user, bool *ret_operator, struct err *e);
/* Its name, or this host's. */
const char *pbs_server_name(struct pbs *p);
/* Up to the first dot, as PBS names hosts. */
void pbs_host_name(struct sbuf *out);

/* A job by what people call it: *ret_job is a PBSJob (owned, without its script); an unknown one is PBSE_UNKJOBID. Only
 * the number counts, and [i] if it is there. */
int pbs_job_find(struct pbs *p, const struct pbs_id *id, json_t **ret_job, struct err *e);
/* Path of a PBSJob object, appended. */
void pbs_job_path(const json_t *job, struct sbuf *out);

/* --version and --about of every command: two lines on standard error.  Returns 0. */
int pbs_version(void);

/* --- errors --- */

/* PBS's number for an error, and its words (borrowed from e or constant). */
int pbs_error_of(const struct err *e, const char **ret_words);
/* "cmd: TEXT" or, with an id, "cmd: TEXT ID"; for a server out of reach "cmd: cannot connect to server NAME (errno=N)
 * text".  Returns the exit status. */
int pbs_fail(struct pbs *p, const struct err *e, const char *id);
/* The latter part alone: 0 if it is not what happened. */
int pbs_fail_connect(struct pbs *p);

#endif
