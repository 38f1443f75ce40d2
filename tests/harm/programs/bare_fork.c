/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forks by the raw instruction, which can't be intercepted; parent and child run on concurrently.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bank.h"

static long bare_fork(void)
{
    long result;

    __asm__ volatile("syscall" : "=a"(result) : "a"(SYS_fork) : "rcx", "r11", "memory");
    return result;
}

int main(void)
{
    bank_work(100);
    long child = bare_fork();
    for (int i = 0; i < 3000; i++) {
        bank_deposit();
    }
    if (child == 0) {
        _exit(bank_balance == 3200 ? 0 : 1);
    }
    int status = 1;
    waitpid((pid_t)child, &status, 0);
    printf("%ld %d\n", bank_balance, status);
    return 0;
}
