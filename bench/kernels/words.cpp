/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ as it is written: each thread counts the words of its lines in a map of its own and adds
 * that to a common one under a mutex. Strings, containers, a great many small functions.
 */
#include <map>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

#include "kernel.h"

namespace
{

using Counts = std::map<std::string, std::uint64_t>;

class Index
{
  public:
    void add(const Counts &counts)
    {
        std::lock_guard<std::mutex> guard(mutex);
        for (const auto &entry : counts) {
            all[entry.first] += entry.second;
        }
    }

    std::uint64_t sum() const
    {
        return std::accumulate(all.begin(), all.end(), std::uint64_t(0),
                               [](std::uint64_t sum, const auto &entry) {
                                   std::uint64_t letters = 0;
                                   for (char letter : entry.first) {
                                       letters = 31 * letters + static_cast<unsigned char>(letter);
                                   }
                                   return mix(sum + letters * entry.second);
                               });
    }

  private:
    std::mutex mutex;
    Counts all;
};

Index words;

std::string make_line(std::uint64_t &state)
{
    std::string line;

    for (int word = 0; word < 12; word++) {
        for (std::uint64_t rest = next_random(&state) % 3000 + 1; rest > 0; rest /= 26) {
            line += static_cast<char>('a' + rest % 26);
        }
        line += ' ';
    }
    return line;
}

std::vector<std::string> split(const std::string &line)
{
    std::vector<std::string> found;
    std::size_t start = 0;

    for (std::size_t end; (end = line.find(' ', start)) != std::string::npos; start = end + 1) {
        found.push_back(line.substr(start, end - start));
    }
    return found;
}

void *count(void *argument)
{
    const auto *part = static_cast<const struct part *>(argument);
    std::uint64_t state = part->index + 1;

    for (std::size_t done = 0; done < part->size;) {
        Counts counts;
        for (int i = 0; i < 100 && done < part->size; i++, done++) {
            for (const auto &word : split(make_line(state))) {
                counts[word]++;
            }
        }
        words.add(counts);
    }
    return nullptr;
}

} // namespace

int main(int argc, char **argv)
{
    run_parts(count, size_argument(argc, argv, 40000));
    return print_sum(words.sum());
}
