// SPDX-License-Identifier: Apache-2.0
/* default_class.h - a claim that names no StorageClass gets the default one */
#ifndef STOKER_API_DEFAULT_CLASS_H
#define STOKER_API_DEFAULT_CLASS_H

#include "api/verbs.h"

/* An admission rule for new PersistentVolumeClaims. */
int default_class_admit(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e);

#endif
