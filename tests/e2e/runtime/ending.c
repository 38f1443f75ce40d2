/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A violation, and then the end of the process in one of many ways: the report must be complete in
 * each. With "fork" the child continues with threads and memory of its own, and the parent waits
 * for it. With "exec" the process continues as another program.
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scene.h"

extern int x; /* not static: its accesses must not be optimised away */
int x;
static int *volatile nowhere;

static void write_x(void)
{
    x = 1;
}

static void *work(void *unused)
{
    void *volatile memory = malloc(1000);

    free(memory);
    write_x();
    return unused;
}

/* Checks that the child of a fork works like any process; 0 if it does. */
static int live(void)
{
    pthread_t threads[2];

    if (pthread_create(&threads[0], NULL, work, NULL) != 0 ||
        pthread_create(&threads[1], NULL, work, NULL) != 0) {
        return 1;
    }
    return pthread_join(threads[0], NULL) != 0 || pthread_join(threads[1], NULL) != 0;
}

static int fork_and_wait(void)
{
    int status = 1;
    pid_t child = fork();

    if (child == 0) {
        exit(live());
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

static int end(const char *way)
{
    if (strcmp(way, "fork") == 0) {
        return fork_and_wait();
    } else if (strcmp(way, "_exit") == 0) {
        _exit(7);
    } else if (strcmp(way, "abort") == 0) {
        abort();
    } else if (strcmp(way, "crash") == 0) {
        *nowhere = 1;
    } else if (strcmp(way, "terminate") == 0) {
        raise(SIGTERM);
    } else if (strcmp(way, "interrupt") == 0) {
        signal(SIGINT, SIG_DFL); /* a background process inherits that it is ignored */
        raise(SIGINT);
    } else if (strcmp(way, "kill") == 0) {
        raise(SIGKILL);
    } else if (strcmp(way, "exec") == 0) {
        execl("/bin/true", "true", (char *)NULL);
    }
    return 7;
}

int main(int argc, char **argv)
{
    static struct scene scene = {"", write_x, write_x, NULL};
    char *names[] = {argv[0], "", NULL};

    if (argc != 2) {
        fprintf(stderr,
                "usage: ending exit|_exit|abort|crash|terminate|interrupt|kill|exec|fork\n");
        return 2;
    }
    scene_play(&scene, 1, 2, names);
    return end(argv[1]);
}
