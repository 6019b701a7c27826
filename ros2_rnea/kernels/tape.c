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

/* See tape.h.  All checks are in rnea_load and rnea_check, so that rnea_run needs none. */

#include "tape.h"

#include <math.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "tape.c reads numbers in place, which needs a little-endian machine"
#endif

#define INPUTS RNEA_INPUTS
#define CHECKED_FROM 16u /* where the part of the file starts that the checksum is of */

enum {
  ADD, SUBTRACT, MULTIPLY, MULTIPLY_ADD, MULTIPLY_SUBTRACT, SUBTRACT_PRODUCT, DIVIDE, SQUARE_ROOT,
  SINE_COSINE, KINDS
};

static const unsigned char OPERANDS[KINDS] = {2, 2, 2, 3, 3, 3, 2, 1, 1};

typedef struct { double bound; uint32_t place, nan; } guard;

/* The records have no gaps; otherwise this does not compile. */
typedef char records_are_packed[
    sizeof(rnea_header) == 120 && sizeof(rnea_joint) == 64 && sizeof(rnea_body) == 16 &&
    sizeof(rnea_parameter) == 40 && sizeof(rnea_tape) == 48 && sizeof(guard) == 16 ? 1 : -1];

/* The parts of a tape's data, one after the other. */
typedef struct {
  const double *constants;
  const guard *guards;
  const uint16_t *loads, *runs, *outputs, *operands;
} parts;

static parts parts_of(const unsigned char *bytes, const rnea_tape *tape) {
  parts part;
  part.constants = (const double *)(const void *)(bytes + tape->data);
  part.guards = (const guard *)(const void *)(part.constants + tape->constants);
  part.loads = (const uint16_t *)(const void *)(part.guards + tape->guards);
  part.runs = part.loads + 2 * (size_t)tape->loads;
  part.outputs = part.runs + 2 * (size_t)tape->runs;
  part.operands = part.outputs + (size_t)tape->rows * tape->columns;
  return part;
}

/* ---- Loading ---------------------------------------------------------------------------------- */

static uint32_t checksum(const unsigned char *bytes, size_t size) { /* CRC-32, as of zlib */
  uint32_t crc = 0xFFFFFFFFu;
  size_t i;
  int bit;
  for (i = 0; i < size; ++i) {
    crc ^= bytes[i];
    for (bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1u) ? 0xEDB88320u : 0u);
  }
  return ~crc;
}

/* Returns where a section is, or NULL: not aligned, or not inside of the file. */
static const void *inside(const rnea_header *header, const rnea_section *section, size_t record) {
  if (section->offset % 8 || section->offset > header->size ||
      section->count > (header->size - section->offset) / record) return NULL;
  return (const unsigned char *)header + section->offset;
}

/* Returns how many bytes the data of a tape need. */
static uint64_t size_of(const rnea_tape *tape) {
  return 8 * (uint64_t)tape->constants + 16 * (uint64_t)tape->guards +
      2 * (2 * (uint64_t)tape->loads + 2 * (uint64_t)tape->runs +
           (uint64_t)tape->rows * tape->columns + tape->operands);
}

const char *rnea_check(const void *bytes, size_t size, const rnea_tape *tape, uint32_t begin,
                       const uint32_t *sizes) {
  const uint64_t outputs = (uint64_t)tape->rows * tape->columns;
  uint32_t i, operation, operand, next, used = 0;
  parts part;
  if ((uintptr_t)bytes % 8 || tape->data % 8 || tape->data > size || outputs > size ||
      size_of(tape) > size - tape->data)
    return "a tape of the model file is not inside of it";
  if (tape->data < begin) return "the tapes of the model file are not one after the other";
  part = parts_of((const unsigned char *)bytes, tape);
  for (i = 0; i < tape->loads; ++i) {
    const uint16_t array = part.loads[2 * i], place = part.loads[2 * i + 1];
    if (array >= INPUTS || !(tape->inputs >> array & 1u) || place >= sizes[array])
      return "a tape of the model file reads what is no input";
  }
  next = tape->loads + tape->constants; /* the register that is written next */
  for (i = 0; i < tape->runs; ++i) {
    const uint16_t kind = part.runs[2 * i];
    if (kind >= KINDS) return "a tape of the model file has an unknown operation";
    for (operation = 0; operation < part.runs[2 * i + 1]; ++operation) {
      if (tape->operands - used < OPERANDS[kind]) return "a tape of the model file is cut off";
      for (operand = 0; operand < OPERANDS[kind]; ++operand)
        if (part.operands[used++] >= next)
          return "a tape of the model file reads a register before it is written";
      next += kind == SINE_COSINE ? 2 : 1;
    }
  }
  if (next != tape->registers || used != tape->operands)
    return "a tape of the model file has other operations than it says";
  for (i = 0; i < tape->guards; ++i)
    if (part.guards[i].place >= next) return "a tape of the model file guards no register";
  for (i = 0; i < outputs; ++i)
    if (part.outputs[i] >= next) return "a tape of the model file returns no register";
  return NULL;
}

const char *rnea_load(const void *bytes, size_t size, rnea_model *model) {
  const rnea_header *header = (const rnea_header *)bytes;
  uint32_t i, texts, finite = 0, nan = 0, end = 0;
  uint32_t sizes[INPUTS];
  if (!bytes || (uintptr_t)bytes % 8) return "the bytes of the model file are not aligned to 8";
  if (size < sizeof *header || memcmp(header->magic, "RNEAMODL", 8))
    return "this is no model file of ros2_rnea";
  if (header->version != RNEA_VERSION)
    return "the model file has another version than this program: export it again";
  if (header->size != size) return "the model file has not the size that it says";
  model->bytes = (const unsigned char *)bytes;
  if (header->checksum != checksum(model->bytes + CHECKED_FROM, size - CHECKED_FROM))
    return "the model file is damaged: its checksum is wrong";

  model->header = header;
  model->joints = (const rnea_joint *)inside(header, &header->joints, sizeof(rnea_joint));
  model->bodies = (const rnea_body *)inside(header, &header->bodies, sizeof(rnea_body));
  model->parameters =
      (const rnea_parameter *)inside(header, &header->parameters, sizeof(rnea_parameter));
  model->values = (const double *)inside(header, &header->values, sizeof(double));
  model->tapes = (const rnea_tape *)inside(header, &header->tapes, sizeof(rnea_tape));
  model->text = (const char *)inside(header, &header->text, 1);
  if (!model->joints || !model->bodies || !model->parameters || !model->values ||
      !model->tapes || !model->text)
    return "a section of the model file is not inside of it";

  for (i = 0; i < 3; ++i) {
    const double *const gravity = header->arm_gravity;
    finite += gravity[i] - gravity[i] == 0.0;
    nan += gravity[i] != gravity[i];
  }
  if (finite != 3 && nan != 3) return "the arm's own gravity in the model file is no vector";
  texts = header->text.count;
  if (!texts || model->text[texts - 1] || header->name >= texts ||
      header->description_hash >= texts || header->writer >= texts || header->left_out >= texts)
    return "the model file names a text that it does not have";
  for (i = 0; i < header->joints.count; ++i) {
    const rnea_joint *joint = &model->joints[i];
    if (joint->name >= texts || joint->type >= texts || joint->unit >= texts)
      return "a joint of the model file names a text that it does not have";
    if (joint->nq > header->nq || joint->q > header->nq - joint->nq || joint->nv > header->nv ||
        joint->v > header->nv - joint->nv)
      return "a joint of the model file has other coordinates than the robot";
  }
  for (i = 0; i < header->bodies.count; ++i) {
    const rnea_body *body = &model->bodies[i];
    if (body->joint >= texts || body->link >= texts || body->moved_by >= header->joints.count)
      return "a body of the model file names a text or a joint that it does not have";
  }
  for (i = 0; i < header->parameters.count; ++i) {
    const rnea_parameter *parameter = &model->parameters[i];
    if (parameter->name >= texts || parameter->unit >= texts ||
        parameter->count > header->values.count ||
        parameter->first > header->values.count - parameter->count ||
        (parameter->width &&
         parameter->count != (uint64_t)parameter->width * header->bodies.count))
      return "a parameter of the model file is not among its values";
  }
  sizes[0] = header->nq;
  sizes[1] = sizes[2] = sizes[3] = header->nv;
  sizes[4] = 6 * header->bodies.count;
  sizes[5] = header->values.count;
  model->registers = 0;
  for (i = 0; i < header->tapes.count; ++i) {
    const rnea_tape *tape = &model->tapes[i];
    const char *error = rnea_check(bytes, size, tape, end, sizes);
    if (error) return error;
    if (tape->name >= texts) return "a tape of the model file is not inside of it";
    end = tape->data + (uint32_t)size_of(tape);
    if (model->registers < tape->registers) model->registers = tape->registers;
  }
  return NULL;
}

const char *rnea_text(const rnea_model *model, uint32_t place) { return model->text + place; }

const rnea_tape *rnea_find(const rnea_model *model, const char *quantity) {
  uint32_t i;
  for (i = 0; i < model->header->tapes.count; ++i)
    if (!strcmp(rnea_text(model, model->tapes[i].name), quantity)) return &model->tapes[i];
  return NULL;
}

/* ---- Running ---------------------------------------------------------------------------------- */

#define R(operand) registers[use[operand]]
#define EACH(operands, result) \
  for (; next < end; ++next, use += (operands)) *next = (result); \
  break

int rnea_run(const rnea_model *model, const rnea_tape *tape, const rnea_inputs *inputs,
             double *registers, double *output) {
  const parts part = parts_of(model->bytes, tape);
  const double *const arrays[INPUTS] = {
      inputs->q, inputs->qd, inputs->qdd, inputs->tau, inputs->f_ext, inputs->parameters};
  const size_t outputs = (size_t)tape->rows * tape->columns;
  const uint16_t *use = part.operands, *run = part.runs;
  double *next = registers, *end;
  size_t i;
  for (i = 0; i < tape->loads; ++i) *next++ = arrays[part.loads[2 * i]][part.loads[2 * i + 1]];
  for (i = 0; i < tape->constants; ++i) *next++ = part.constants[i];
  for (i = 0; i < tape->runs; ++i, run += 2) {
    end = next + run[1];
    switch (run[0]) {
      case ADD: EACH(2, R(0) + R(1));
      case SUBTRACT: EACH(2, R(0) - R(1));
      case MULTIPLY: EACH(2, R(0) * R(1));
      case MULTIPLY_ADD: EACH(3, R(0) * R(1) + R(2));
      case MULTIPLY_SUBTRACT: EACH(3, R(0) * R(1) - R(2));
      case SUBTRACT_PRODUCT: EACH(3, R(2) - R(0) * R(1));
      case DIVIDE: EACH(2, R(0) / R(1));
      case SQUARE_ROOT: EACH(1, sqrt(R(0)));
      default: /* SINE_COSINE */
        for (end += run[1]; next < end; next += 2, ++use) {
          const double angle = R(0);
          next[0] = sin(angle);
          next[1] = cos(angle);
        }
    }
  }
  for (i = 0; i < tape->guards; ++i) {
    const double value = fabs(registers[part.guards[i].place]);
    if (value > part.guards[i].bound || (part.guards[i].nan && value != value)) return RNEA_BEYOND;
  }
  for (i = 0; i < outputs; ++i) output[i] = registers[part.outputs[i]];
  return RNEA_DONE;
}
