// SPDX-License-Identifier: Apache-2.0
/* limits.h - every ceiling on what comes from outside, in one place, with its reason */
#ifndef STOKER_BASE_LIMITS_H
#define STOKER_BASE_LIMITS_H

#define LIMIT_BODY            (3u * 1024 * 1024) /* request body; kube-apiserver's figure */
#define LIMIT_OBJECT          (1536u * 1024)     /* one stored object; etcd's default request limit */
#define LIMIT_HEADERS         (64u * 1024)       /* all headers of a request together */
#define LIMIT_URL             (16u * 1024)       /* request line: long selectors fit, floods do not */
#define LIMIT_QUERY_PARAMS    64
#define LIMIT_JSON_DEPTH      512    /* deeper than any schema; every walker may recurse this far */
#define LIMIT_YAML_NODES      200000 /* after alias expansion */
#define LIMIT_SELECTOR_TERMS  128
#define LIMIT_ANNOTATIONS     (256u * 1024) /* total of keys and values, as Kubernetes */
#define LIMIT_WATCH_QUEUE     (512u * 1024) /* unsent bytes of one watcher before it falls back to reading history */
#define LIMIT_WATCH_QUEUE_FEW (8u * 1024 * 1024)  /* the same where few watch, so that a burst is not read twice */
#define LIMIT_WATCH_QUEUES    (64u * 1024 * 1024) /* what all of them share then */
#define LIMIT_REPLY_QUEUE     (64u * 1024 * 1024)
#define LIMIT_STATUS_TEXT     4096
#define LIMIT_GANG            100000 /* pods that must start together; more than any cluster has room for */
#define LIMIT_CONNECTIONS     4096   /* accepted at once; below a usual fd limit */
#define LIMIT_REQUEST_SECONDS 60     /* to send a whole request once begun */
#define LIMIT_IDLE_SECONDS    900    /* a kept-alive connection with nothing to say; kubectl needs < 90 */
#define STALL_BUDGET_MS       50     /* what one callback may hold the loop for */

#endif
