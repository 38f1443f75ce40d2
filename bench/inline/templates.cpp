// SPDX-License-Identifier: Apache-2.0
// As unkind as C++ gets: containers, iterators and algorithms of the standard library, whose every
// step is a function of its own when nothing is inlined, and a class with methods inside.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

class account
{
    int balance = 0;

public:
    int get() const { return balance; }
    void set(int to) { balance = to; }
    void deposit(int amount) { set(get() + amount); }
};

int main()
{
    std::vector<int> numbers;
    std::unordered_map<int, std::unique_ptr<account>> accounts;
    std::map<std::string, int> words;
    unsigned state = 1;
    long sum = 0;

    for (int i = 0; i < 1000000; i++) {
        state = state * 1664525u + 1013904223u;
        numbers.push_back(static_cast<int>(state >> 8));
    }
    std::sort(numbers.begin(), numbers.end());
    for (int i = 0; i < 1000000; i++) {
        auto &at = accounts[numbers[i] % 5000];
        if (!at) {
            at = std::make_unique<account>();
        }
        at->deposit(i);
    }
    for (int i = 0; i < 200000; i++) {
        words[std::to_string(numbers[i] % 3000)] += i;
    }
    for (const auto &word : words) {
        sum += word.second;
    }
    for (const auto &one : accounts) {
        sum += one.second->get();
    }
    std::printf("%ld\n", sum);
}
