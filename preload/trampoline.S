/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a function returns to whose return address was replaced: return_hook.c says where it would have
 * returned to, and we go on there, with every register as the function left it. All of them are
 * kept and not only those that carry results, because a compiler that sees both sides of a call
 * may rely on more than the calling convention promises; vector and floating-point registers are
 * left alone because the C function is compiled without them.
 *
 * To an unwinder this is a frame of no size whose return address lies in the very slot from which
 * ours was read. Its personality routine puts the real address there before the unwinder looks.
 * An unwinder looks for the byte before a return address, so there is one.
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
