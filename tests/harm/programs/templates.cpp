// SPDX-License-Identifier: Apache-2.0
/* Functions, variables and locks whose names have blanks in them. */
#include <map>
#include <mutex>
#include <string>
#include <thread>

template <typename Key, typename Value> struct Table {
    std::mutex lock;
    std::map<Key, Value> content;

    void add(const Key &key, Value by)
    {
        std::lock_guard<std::mutex> guard(lock);
        content[key] += by;
    }

    Table operator+(unsigned long) = delete;
};

static Table<std::string, unsigned long> table;

static void work(const std::string &key, unsigned long rounds)
{
    for (unsigned long i = 0; i < rounds; i++) {
        table.add(key, 1);
    }
}

int main()
{
    std::thread one(work, "one", 50), two(work, "two", 50);

    one.join();
    two.join();
    return table.content["one"] + table.content["two"] == 100 ? 0 : 1;
}
