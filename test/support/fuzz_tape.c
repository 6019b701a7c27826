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
 * Damages a model file in all ways, under sanitizers: fuzz_tape FILE SEED ROUNDS.
 *
 * What is damaged and keeps its checksum has to be refused.  What has a new checksum is refused,
 * or everything in it is read and run, in memory of exactly the size that it says.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tape.h"

#define MOST 65536u

static uint64_t state;

static uint32_t draw(uint32_t below) { /* xorshift64* */
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return (uint32_t)((state * 0x2545F4914F6CDD1Dull) >> 33) % below;
}

static void repair(unsigned char *bytes, size_t size) {
  uint32_t crc = 0xFFFFFFFFu;
  for (size_t i = 16; i < size; ++i) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1u) ? 0xEDB88320u : 0u);
  }
  crc = ~crc;
  memcpy(bytes + 12, &crc, 4);
}

static double *numbers(uint32_t count) {
  double *made = malloc(sizeof(double) * count + !count);
  for (uint32_t i = 0; i < count; ++i) made[i] = 0.5;
  return made;
}

static double *input(const rnea_tape *tape, int which, uint32_t count) {
  return tape->inputs >> which & 1u ? numbers(count < MOST ? count : MOST) : NULL;
}

static size_t use(const rnea_model *model) {
  const rnea_header *header = model->header;
  size_t letters = strlen(rnea_text(model, header->name)) +
                   strlen(rnea_text(model, header->writer)) +
                   strlen(rnea_text(model, header->left_out)) +
                   strlen(rnea_text(model, header->description_hash));
  for (uint32_t i = 0; i < header->joints.count; ++i) {
    const rnea_joint *joint = &model->joints[i];
    letters += strlen(rnea_text(model, joint->name)) + strlen(rnea_text(model, joint->type)) +
               strlen(rnea_text(model, joint->unit)) + (joint->lower < joint->effort);
  }
  for (uint32_t i = 0; i < header->bodies.count; ++i) {
    const rnea_body *body = &model->bodies[i];
    letters += strlen(rnea_text(model, body->joint)) + strlen(rnea_text(model, body->link)) +
               model->joints[body->moved_by].q;
  }
  for (uint32_t i = 0; i < header->parameters.count; ++i) {
    const rnea_parameter *parameter = &model->parameters[i];
    letters += strlen(rnea_text(model, parameter->name));
    for (uint32_t k = 0; k < parameter->count; ++k)
      letters += model->values[parameter->first + k] > 0.0;
  }
  for (uint32_t i = 0; i < header->tapes.count; ++i) {
    const rnea_tape *tape = &model->tapes[i];
    const rnea_inputs inputs = {
        input(tape, 0, header->nq), input(tape, 1, header->nv), input(tape, 2, header->nv),
        input(tape, 3, header->nv), input(tape, 4, 6 * header->bodies.count),
        input(tape, 5, header->values.count)};
    double *registers = numbers(tape->registers), *output = numbers(tape->rows * tape->columns);
    letters += rnea_find(model, rnea_text(model, tape->name)) != NULL;
    letters += (size_t)rnea_run(model, tape, &inputs, registers, output);
    free(registers), free(output);
    free((void *)inputs.q), free((void *)inputs.qd), free((void *)inputs.qdd);
    free((void *)inputs.tau), free((void *)inputs.f_ext), free((void *)inputs.parameters);
  }
  return letters;
}

static size_t used, accepted, refused;

static int load(const unsigned char *bytes, size_t size) {
  unsigned char *copy = malloc(size + !size); /* beyond which nothing may be read */
  rnea_model model;
  memcpy(copy, bytes, size);
  const char *error = rnea_load(copy, size, &model);
  if (error) {
    used += strlen(error);
    ++refused;
  } else {
    used += use(&model);
    ++accepted;
  }
  free(copy);
  return error == NULL;
}

static unsigned char whole[1 << 20], bytes[sizeof whole];
static size_t size;

static void put(size_t place, uint32_t value) { memcpy(bytes + place, &value, 4); }

static uint32_t get(size_t place) {
  uint32_t value;
  memcpy(&value, bytes + place, 4);
  return value;
}

enum { SIZE = 16, NAME = 20, VALUES = 96, TAPES = 104, TEXT = 112 }; /* places in the header */

/* What chance would hardly find: each of these has to be refused. */
static int attacks(void) {
  for (int attack = 0; attack < 3; ++attack) {
    size_t length = size;
    memcpy(bytes, whole, size);
    if (attack == 0) { /* a text without an end, at the end of the file */
      memset(bytes + size, 'x', 8);
      length += 8;
      put(SIZE, (uint32_t)length);
      put(TEXT + 4, (uint32_t)length - get(TEXT));
      put(NAME, get(TEXT + 4) - 1);
    } else if (attack == 1) { /* values beyond the end */
      put(SIZE, get(SIZE) + 4096);
      put(VALUES, (uint32_t)size);
    } else { /* the last tape has so many outputs that twice the number is 4 */
      const size_t tape = get(TAPES) + sizeof(rnea_tape) * (get(TAPES + 4) - 1);
      put(tape + 4, 2147549185u);
      put(tape + 8, 4294836226u);
    }
    repair(bytes, length);
    if (load(bytes, length)) return attack + 1;
  }
  return 0;
}

int main(int count, char **arguments) {
  if (count != 4) return 2;
  FILE *file = fopen(arguments[1], "rb");
  if (!file) return 2;
  size = fread(whole, 1, sizeof whole, file);
  fclose(file);
  state = strtoull(arguments[2], NULL, 10) * 2654435769u + 1;
  if (!load(whole, size)) return 3;
  for (size_t cut = 0; cut < size; ++cut)
    if (load(whole, cut)) return 4;
  memcpy(bytes, whole, size);
  for (size_t place = 0; place < size; ++place) {
    bytes[place] ^= 0xFF;
    if (load(bytes, size)) return 5;
    bytes[place] = whole[place];
  }
  if (attacks()) return 6;
  accepted = refused = 0;
  static const unsigned char flips[] = {0x01, 0x80, 0xFF};
  for (size_t place = 16; place < size; ++place)
    for (size_t flip = 0; flip < sizeof flips; ++flip) {
      bytes[place] ^= flips[flip];
      repair(bytes, size);
      load(bytes, size);
      bytes[place] = whole[place];
    }
  for (long round = strtol(arguments[3], NULL, 10); round > 0; --round) {
    memcpy(bytes, whole, size);
    for (uint32_t edits = 1 + draw(3); edits > 0; --edits) {
      const uint32_t width = 1u << draw(3), place = 16 + draw((uint32_t)size - 16 - width);
      uint32_t value = draw(2) ? draw(0x7FFFFFFF) * 2 : draw(300);
      memcpy(bytes + place / width * width, &value, width);
    }
    repair(bytes, size);
    load(bytes, size);
  }
  printf("accepted %zu refused %zu (%zu)\n", accepted, refused, used);
  return 0;
}
