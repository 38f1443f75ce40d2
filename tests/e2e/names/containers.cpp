/* SPDX-License-Identifier: Apache-2.0 */
/* What C++ adds: objects made by new and by the standard library, bases, lambdas. */
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace bank {

struct base {
    virtual ~base() = default;
    long id = 1;
};

class account : public base {
public:
    explicit account(int start) : balance(start) {}
    void deposit(int amount)
    {
        std::lock_guard<std::mutex> guard(lock);
        balance += amount;
        id++;
    }

private:
    std::mutex lock;
    int balance;
};

template <typename T> struct node {
    T value;
    node *next;
};

struct holder {
    holder() : items(new node<long>[3]()) {}
    node<long> *items;
};

} // namespace bank

namespace {
struct pair {
    int first, second;
};
pair hidden;
} // namespace

bank::account global(3);
std::atomic<int> counter;
std::vector<bank::account *> pointers;
std::vector<pair> pairs;
std::unique_ptr<bank::account> unique;
std::shared_ptr<bank::account> shared;
std::map<int, pair> map;
bank::node<int> *head;
bank::holder *holder;

static bank::node<int> *make_node()
{
    return new bank::node<int>{1, nullptr};
}

static void work()
{
    for (int i = 0; i < 2; i++) {
        pointers[0]->deposit(1);
        unique->deposit(2);
        shared->deposit(3);
        global.deposit(4);
        counter++;
        static std::mutex mutex;
        std::lock_guard<std::mutex> guard(mutex);
        pairs[1].second++;
        map[7].first++;
        head->value++;
        holder->items[2].value++;
        hidden.second++;
    }
}

int main()
{
    pointers.push_back(new bank::account(1));
    pairs.resize(3);
    unique = std::make_unique<bank::account>(2);
    shared = std::make_shared<bank::account>(3);
    map[7].first = 4;
    head = make_node();
    holder = new bank::holder;
    std::thread first([] { work(); }), second(work);
    first.join();
    second.join();
}
