/*
 * Copyright 2026 The ros2_rnea authors
 *
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */

/*
 * Runs the tapes of a model file, which `ros2 run ros2_rnea export` writes.  C99 and C++; it needs
 * libm, a little-endian machine, and nothing else.
 *
 * A robot is loaded once, where time does not matter; the bytes are used in place, so they have
 * to stay, and nobody may change them:
 *
 *     rnea_model model;
 *     const char *error = rnea_load(bytes, size, &model);
 *     const rnea_tape *effort = rnea_find(&model, "inverse_dynamics");
 *
 * and run in each cycle, in memory that the caller gives:
 *
 *     rnea_inputs inputs = {q, qd, qdd, NULL, NULL, model.values};
 *     int status = rnea_run(&model, effort, &inputs, registers, tau);
 *
 * rnea_run allocates nothing, waits for nothing and changes nothing but the registers and the
 * output, so that several threads may share a model if each has registers of its own.
 */

#ifndef RNEA_TAPE_H
#define RNEA_TAPE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RNEA_VERSION 2u /* of the file; another one is refused */

/* ---- The records of the file.  A text is named by its place; rnea_text() returns it. ---------- */

typedef struct rnea_section { uint32_t offset, count; } rnea_section;

/*
 * left_out: names of the terms of the effort that the hardware adds by itself, with a space
 * between two; empty: none.  Who sends such a term as well makes it act twice.
 */
typedef struct rnea_header {
  char magic[8];
  uint32_t version, checksum, size, name, description_hash, writer, left_out, nq, nv, unused;
  double arm_gravity[3]; /* [m/s^2], for which the hardware adds gravity; NaN: the true one */
  rnea_section joints, bodies, parameters, values, tapes, text;
} rnea_header;

/* A joint: its first position and velocity, how many of them it has, its limits [SI units]. */
typedef struct rnea_joint {
  uint32_t name, type, unit, q, nq, v, nv, unused;
  double lower, upper, velocity, effort; /* infinite where there is none */
} rnea_joint;

/* A body, the joint that carries it, and the index of the independent joint that moves it. */
typedef struct rnea_body { uint32_t joint, link, moved_by, takes_payload; } rnea_body;

/* Some of model.values: `width` numbers for each body, or 0: for the robot as a whole. */
typedef struct rnea_parameter {
  uint32_t name, unit, first, count, width, is_read;
  double lower, upper; /* what each of them has to be within; infinite where there is no bound */
} rnea_parameter;

/* A quantity: its output has rows * columns numbers; bit i of inputs: it reads input i. */
typedef struct rnea_tape {
  uint32_t name, rows, columns, inputs, loads, constants, guards, runs, operands, registers, data,
      unused;
} rnea_tape;

/* ---- Loading ---------------------------------------------------------------------------------- */

typedef struct rnea_model {
  const unsigned char *bytes;
  const rnea_header *header;        /* nq, nv, and the counts of what follows */
  const rnea_joint *joints;         /* header->joints.count, and so on */
  const rnea_body *bodies;
  const rnea_parameter *parameters;
  const double *values;             /* the parameters as they were exported */
  const rnea_tape *tapes;
  const char *text;
  uint32_t registers;               /* as many numbers does the largest tape need */
} rnea_model;

/*
 * Loads a model file.  Returns NULL, or what is wrong with it in words; then the model must not be
 * used.  The bytes have to be aligned to 8.  Afterwards rnea_run stays inside of the bytes and the
 * registers, whatever the file holds; inputs and output have to be as large as the file says.
 */
const char *rnea_load(const void *bytes, size_t size, rnea_model *model);

/*
 * Checks a tape in other bytes, as rnea_load does.  begin: where its data may start at the earliest;
 * sizes: how many numbers each array of rnea_inputs has.  Returns NULL, or what is wrong with it in
 * words.  To run it afterwards, a model needs its `bytes` alone.
 */
const char *rnea_check(const void *bytes, size_t size, const rnea_tape *tape, uint32_t begin,
                       const uint32_t *sizes);

/* Returns the tape of a quantity, such as "gravity" or "jacobian of tool0", or NULL. */
const rnea_tape *rnea_find(const rnea_model *model, const char *quantity);

/* Returns a text of a record, such as joint->name. */
const char *rnea_text(const rnea_model *model, uint32_t place);

/* ---- Running ---------------------------------------------------------------------------------- */

#define RNEA_INPUTS 6u /* arrays that tapes read */

/* What tapes read; what a tape does not read may be NULL. */
typedef struct rnea_inputs {
  const double *q;          /* nq positions */
  const double *qd;         /* nv velocities */
  const double *qdd;        /* nv accelerations */
  const double *tau;        /* nv efforts */
  const double *f_ext;      /* 6 for each body: moment, force, in the axes of its link */
  const double *parameters; /* model.values, or a copy with other numbers in it */
} rnea_inputs;

enum { /* bits of tape->inputs */
  RNEA_Q = 1, RNEA_QD = 2, RNEA_QDD = 4, RNEA_TAU = 8, RNEA_F_EXT = 16, RNEA_PARAMETERS = 32
};

enum {
  RNEA_DONE = 0,
  RNEA_BEYOND = 1 /* a quaternion is not of length 1, or a result is not plausible */
};

/*
 * Computes a quantity.  Returns RNEA_DONE; or RNEA_BEYOND, and then the output is as it was.
 * A number that is not finite makes numbers that are not finite, or RNEA_BEYOND where a
 * quaternion or an acceleration of forward dynamics is one.  The output may be one of the inputs.
 *
 * The tape has to be one of this model, and the caller's arrays as large as the file says: inputs
 * by header->nq, header->nv and header->bodies.count, tape->rows * tape->columns numbers of output.
 * tape->inputs tells which inputs it reads, RNEA_Q and so on.
 *
 * registers: memory for tape->registers numbers, whose content does not matter.
 */
int rnea_run(const rnea_model *model, const rnea_tape *tape, const rnea_inputs *inputs,
             double *registers, double *output);

#ifdef __cplusplus
}
#endif

#endif
