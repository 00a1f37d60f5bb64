// SPDX-License-Identifier: Apache-2.0
/* image.h - the monitor's program as it is embedded in stoker; made by the build */
#ifndef STOKER_MONITOR_IMAGE_H
#define STOKER_MONITOR_IMAGE_H

extern const unsigned char monitor_image[];
extern const unsigned char monitor_image_end[];

#endif
