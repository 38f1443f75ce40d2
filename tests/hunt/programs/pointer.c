/* SPDX-License-Identifier: Apache-2.0 */
/* A pointer that another thread resets between the check and the use. */
/* expected: block send_message, about connection */
#include <pthread.h>
#include <stdio.h>

#define MESSAGES 30

struct connection {
    int sent;
};

static struct connection first;
static struct connection *connection = &first;
static int lost;

static void deliver(struct connection *to)
{
    if (to == NULL) { /* a real program dies here */
        lost++;
    } else {
        to->sent++;
    }
}

static void send_message(void)
{
    if (connection != NULL) {
        deliver(connection);
    }
}

static void hang_up(void)
{
    connection = NULL;
}

static void *sender(void *unused)
{
    for (int i = 0; i < MESSAGES; i++) {
        send_message();
    }
    return unused;
}

static void *closer(void *unused)
{
    hang_up();
    return unused;
}

int main(void)
{
    pthread_t threads[2];

    pthread_create(&threads[0], NULL, sender, NULL);
    pthread_create(&threads[1], NULL, closer, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    printf("%d sent, %d lost\n", first.sent, lost);
    return 0;
}
