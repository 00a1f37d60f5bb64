// SPDX-License-Identifier: Apache-2.0
/* reservation_check.h - whether the machine has what a Reservation keeps; for api/admission.c */
#ifndef STOKER_API_RESERVATION_CHECK_H
#define STOKER_API_RESERVATION_CHECK_H

#include "api/api.h"

int reservation_admit(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e);

#endif
