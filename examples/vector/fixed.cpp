/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vector of buggy.cpp, fixed: the collection hands out size and elements together, in one
 * critical section.
 */
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

class Collection
{
  public:
    std::vector<int> copy()
    {
        std::lock_guard<std::mutex> hold(lock);
        return elements;
    }

    void fill(std::size_t count)
    {
        std::lock_guard<std::mutex> hold(lock);
        elements.assign(count, 1);
    }

    void remove_all()
    {
        std::lock_guard<std::mutex> hold(lock);
        elements.clear();
    }

  private:
    std::mutex lock;
    std::vector<int> elements;
};

class Vector
{
  public:
    explicit Vector(Collection &from) : elements(from.copy())
    {
    }

    bool whole() const
    {
        for (int element : elements) {
            if (element != 1) {
                return false;
            }
        }
        return true;
    }

  private:
    std::vector<int> elements;
};

static const int rounds = 3000;
static Collection numbers;
static int broken;

static void change_numbers()
{
    for (int i = 0; i < rounds; i++) {
        numbers.remove_all();
        numbers.fill(10);
    }
}

static void copy_numbers()
{
    for (int i = 0; i < rounds; i++) {
        Vector copy(numbers);
        broken += !copy.whole();
    }
}

int main()
{
    numbers.fill(10);
    std::thread changer(change_numbers), copier(copy_numbers);
    changer.join();
    copier.join();
    std::printf("%d of %d vectors have elements that were never copied\n", broken, rounds);
    return 0;
}
