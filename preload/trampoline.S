/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The target of a hooked return address: asks return_hook.c for the real one and jumps there, with
 * every register as the function left it. All of them are saved, not only those that carry results,
 * because a compiler that sees both sides of a call may rely on more than the calling convention
 * promises; vector and floating-point registers need no saving because the C function is compiled
 * without them.
 *
 * To an unwinder this is a frame of size zero whose return address is in the slot that ours was
 * read from. Its personality routine restores the real address there before the unwinder reads it.
 * An unwinder looks up the byte before a return address, hence the nop.
 */
    .text
    .hidden tms_rt_trampoline
    .hidden tms_rt_returned
    .hidden tms_rt_personality
    .globl tms_rt_trampoline
    .type tms_rt_trampoline, @function
    .cfi_startproc
    .cfi_personality 0x1b, tms_rt_personality
    .cfi_def_cfa_offset 0
    nop
tms_rt_trampoline:
    leaq -8(%rsp), %rsp /* the slot again: room for the address */
    .cfi_adjust_cfa_offset 8
    pushfq
    .cfi_adjust_cfa_offset 8
    .irp register, %rax, %rcx, %rdx, %rsi, %rdi, %r8, %r9, %r10, %r11
    pushq \register
    .cfi_adjust_cfa_offset 8
    .endr
    leaq 80(%rsp), %rdi
    cld
    leaq -8(%rsp), %rsp
    .cfi_adjust_cfa_offset 8
    call tms_rt_returned /* fills the slot */
    leaq 8(%rsp), %rsp
    .cfi_adjust_cfa_offset -8
    .irp register, %r11, %r10, %r9, %r8, %rdi, %rsi, %rdx, %rcx, %rax
    popq \register
    .cfi_adjust_cfa_offset -8
    .endr
    popfq
    .cfi_adjust_cfa_offset -8
    leaq 8(%rsp), %rsp
    .cfi_adjust_cfa_offset -8
    jmp *-8(%rsp) /* not ret: the caller's next return is still predicted then */
    .cfi_endproc
    .size tms_rt_trampoline, . - tms_rt_trampoline
    .section .note.GNU-stack, "", @progbits
