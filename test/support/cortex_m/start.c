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

/* The start of a program on an emulated Cortex-M: its vectors, and the FPU switched on. */

#include <stdint.h>

#define CPACR (*(volatile uint32_t *)0xE000ED88u)

extern char stack_top[];
extern void _start(void);

static void reset(void) {
  CPACR |= 0xFu << 20;
  __asm volatile("dsb\n isb");
  _start();
}

static void fault(void) {
  /* Semihosting: exit with a failure, so that no test waits. */
  __asm volatile("mov r0, #0x18\n ldr r1, =0x20023\n bkpt 0xAB");
}

static const struct {
  char *stack;
  void (*handlers[6])(void);
} vectors __attribute__((section(".vectors"), used)) = {
    stack_top, {reset, fault, fault, fault, fault, fault}};
