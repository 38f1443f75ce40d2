/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A treap under a read-write lock: mostly look-ups, which go down a path that both threads read,
 * now and then an insertion, recursive, that turns nodes around. A node's priority follows from
 * its key, so the tree does not depend on the order of insertions.
 */
#include "kernel.h"

#define KEYS (1u << 16)

struct node {
    struct node *left, *right;
    uint64_t key, priority;
};

static struct node *root;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static struct node *turn_right(struct node *node)
{
    struct node *left = node->left;

    node->left = left->right;
    left->right = node;
    return left;
}

static struct node *turn_left(struct node *node)
{
    struct node *right = node->right;

    node->right = right->left;
    right->left = node;
    return right;
}

static struct node *insert(struct node *node, uint64_t key)
{
    if (node == NULL) {
        node = need(1, sizeof(*node));
        node->key = key;
        node->priority = mix(key);
    } else if (key < node->key) {
        node->left = insert(node->left, key);
        return node->left->priority > node->priority ? turn_right(node) : node;
    } else if (key > node->key) {
        node->right = insert(node->right, key);
        return node->right->priority > node->priority ? turn_left(node) : node;
    }
    return node;
}

/* Keys are even where they are looked up, and those are there from the start on. */
static uint64_t look_up(uint64_t key)
{
    uint64_t found = 0;

    pthread_rwlock_rdlock(&lock);
    for (const struct node *node = root; node != NULL && found == 0;) {
        found = node->key == key ? node->priority : 0;
        node = key < node->key ? node->left : node->right;
    }
    pthread_rwlock_unlock(&lock);
    return found;
}

static void add(uint64_t key)
{
    pthread_rwlock_wrlock(&lock);
    root = insert(root, key);
    pthread_rwlock_unlock(&lock);
}

static void *use(void *argument)
{
    struct part *part = argument;
    uint64_t state = part->index + 1;

    for (size_t i = 0; i < part->size; i++) {
        uint64_t key = next_random(&state) % KEYS;
        if (i % 32 == 0) {
            add(key | 1);
        } else {
            part->sum += look_up(key & ~UINT64_C(1));
        }
    }
    return NULL;
}

static uint64_t sum_of(const struct node *node)
{
    return node == NULL ? 0 : mix(sum_of(node->left) + 3 * sum_of(node->right) + node->key);
}

int main(int argc, char **argv)
{
    size_t size = size_argument(argc, argv, 300000);

    for (uint64_t key = 0; key < KEYS; key += 2) {
        add(key);
    }
    uint64_t sum = run_parts(use, size);
    return print_sum(sum + sum_of(root));
}
