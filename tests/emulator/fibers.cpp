#include "fibers.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

namespace emulated
{

enum { STACK_BYTES = 256 << 10, GUARD_BYTES = 4096 };

/* What the System V ABI asks a function to keep, but for the modes of floating point, which no kernel changes. */
#if defined(__x86_64__)
asm(".text\n"
    ".globl emulated_switch\n"
    ".type emulated_switch, @function\n"
    "emulated_switch:\n"
    "    push %rbp\n    push %rbx\n    push %r12\n    push %r13\n    push %r14\n    push %r15\n"
    "    mov %rsp, (%rdi)\n"
    "    mov %rsi, %rsp\n"
    "    pop %r15\n    pop %r14\n    pop %r13\n    pop %r12\n    pop %rbx\n    pop %rbp\n"
    "    ret\n"
    ".size emulated_switch, . - emulated_switch\n");
enum { SAVED = 6, ADDRESS = 6, PADDING = 2 };
#elif defined(__aarch64__)
asm(".text\n"
    ".globl emulated_switch\n"
    ".type emulated_switch, %function\n"
    "emulated_switch:\n"
    "    sub sp, sp, #160\n"
    "    stp x19, x20, [sp]\n    stp x21, x22, [sp, #16]\n    stp x23, x24, [sp, #32]\n"
    "    stp x25, x26, [sp, #48]\n    stp x27, x28, [sp, #64]\n    stp x29, x30, [sp, #80]\n"
    "    stp d8, d9, [sp, #96]\n    stp d10, d11, [sp, #112]\n    stp d12, d13, [sp, #128]\n    stp d14, d15, [sp, "
    "#144]\n"
    "    mov x9, sp\n    str x9, [x0]\n    mov sp, x1\n"
    "    ldp x19, x20, [sp]\n    ldp x21, x22, [sp, #16]\n    ldp x23, x24, [sp, #32]\n"
    "    ldp x25, x26, [sp, #48]\n    ldp x27, x28, [sp, #64]\n    ldp x29, x30, [sp, #80]\n"
    "    ldp d8, d9, [sp, #96]\n    ldp d10, d11, [sp, #112]\n    ldp d12, d13, [sp, #128]\n    ldp d14, d15, [sp, "
    "#144]\n"
    "    add sp, sp, #160\n"
    "    ret\n"
    ".size emulated_switch, . - emulated_switch\n");
enum { SAVED = 20, ADDRESS = 11, PADDING = 0 };
#else
#error "the emulator knows x86-64 and 64-bit Arm only"
#endif

void *new_stack(void (*entry)())
{
    char *const stack =
        (char *)mmap(nullptr, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED || mprotect(stack, GUARD_BYTES, PROT_NONE)) {
        perror("emulated device: the stack of a thread");
        abort();
    }
    /* The saved registers, and the address to go on at, as emulated_switch() leaves them. */
    uint64_t *const place = (uint64_t *)(stack + STACK_BYTES) - SAVED - PADDING;
    place[ADDRESS] = (uint64_t)entry;
    return place;
}

} // namespace emulated
