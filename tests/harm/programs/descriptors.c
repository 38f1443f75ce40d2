/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Closes descriptors as daemons do, and then has a file of its own where a careless runtime has
 * one: `closefrom` closes everything from 3 on and opens "data" many times; `dup2` puts "data" over
 * every descriptor up to 1023; `open` just opens it, when started with standard descriptors closed.
 * Then it records as much as it can.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "bank.h"

static void take_descriptors(const char *how)
{
    int file = open("data", O_RDWR);

    if (strcmp(how, "closefrom") == 0) {
        closefrom(3);
        for (int i = 0; i < 64; i++) {
            file = open("data", O_RDWR);
        }
    } else if (strcmp(how, "dup2") == 0) {
        for (int fd = 3; fd < 1024; fd++) {
            dup2(file, fd);
        }
    }
}

int main(int argc, char **argv)
{
    take_descriptors(argc > 1 ? argv[1] : "open");
    bank_work(100000);
    printf("%ld\n", bank_balance);
    return 0;
}
