/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A vector made from a collection: the first example of Wang and Stoller's paper on runtime
 * analysis of atomicity (IEEE Transactions on Software Engineering, 2006).
 *
 * The constructor asks the collection for its size, makes room for so many elements, and has
 * them copied. Both methods lock the collection; the constructor does not. If another thread
 * empties the collection in between, the new vector has elements that were never copied.
 */
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

class Collection
{
  public:
    std::size_t size()
    {
        std::lock_guard<std::mutex> hold(lock);
        return elements.size();
    }

    void copy_to(std::vector<int> &to)
    {
        std::lock_guard<std::mutex> hold(lock);
        for (std::size_t i = 0; i < elements.size() && i < to.size(); i++) {
            to[i] = elements[i];
        }
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
    explicit Vector(Collection &from) : elements(from.size())
    {
        from.copy_to(elements);
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
