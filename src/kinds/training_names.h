// SPDX-License-Identifier: Apache-2.0
/* training_names.h - the words by which controllers and nodes know the pods of training jobs */
#ifndef STOKER_KINDS_TRAINING_NAMES_H
#define STOKER_KINDS_TRAINING_NAMES_H

#define TRAINING_GROUP "kubeflow.org"

/* Annotation on pods: which of its replica's runs this is; 0 is not written. */
#define TRAINING_ATTEMPT "stoker.dev/attempt"

/* Labels on pods: which replica it is. */
#define LABEL_TRAINING_TYPE  "training.kubeflow.org/replica-type"
#define LABEL_TRAINING_INDEX "training.kubeflow.org/replica-index"

#endif
