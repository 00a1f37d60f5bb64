// SPDX-License-Identifier: Apache-2.0
/* names.h - what names, labels and ports may look like; each returns NULL or the complaint in Kubernetes' words */
#ifndef STOKER_KINDS_NAMES_H
#define STOKER_KINDS_NAMES_H

#include <stdbool.h>

#include "kinds/kind.h"

const char *name_check_subdomain(const char *s);  /* RFC 1123, <= 253 */
const char *name_check_label(const char *s);      /* RFC 1123 label, <= 63 */
const char *name_check_label_1035(const char *s); /* starts with a letter */
const char *name_check_path_segment(const char *s);
const char *name_check(enum name_rule rule, const char *s);
const char *name_check_qualified(const char *s);   /* label and annotation keys, resource names */
const char *name_check_domain_path(const char *s); /* domain/path */
const char *name_check_label_value(const char *s);
const char *name_check_env(const char *s);        /* environment variable names */
const char *name_check_config_key(const char *s); /* ConfigMap and Secret keys */
const char *name_check_port_name(const char *s);  /* IANA_SVC_NAME, <= 15 */

/* A label made of any text: lower case, anything that may not stand in one is '-', none at its ends; "" if nothing is
 * left.  Clients and server agree by it on the namespace of a user. */
#define NAME_LABEL_LEN 64
void name_make_label(const char *text, char out[NAME_LABEL_LEN]);

#endif
