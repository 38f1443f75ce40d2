/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The string buffer of buggy.cpp, fixed: append() holds both buffers, so that the length is
 * still right when the characters are copied. (Words are appended to sentences and never the
 * other way round: otherwise the locks would have to be acquired in a common order.)
 */
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>

class StringBuffer
{
  public:
    void assign(const char *from)
    {
        std::lock_guard<std::mutex> hold(lock);
        used = std::strlen(from);
        std::memcpy(text, from, used);
    }

    void append(StringBuffer &other)
    {
        std::lock_guard<std::mutex> hold(lock), hold_other(other.lock);
        if (used + other.used > sizeof(text)) {
            used = 0;
        }
        std::memcpy(text + used, other.text, other.used);
        used += other.used;
    }

    bool ends_with(const char *tail)
    {
        std::lock_guard<std::mutex> hold(lock);
        std::size_t length = std::strlen(tail);
        return used >= length && std::memcmp(text + used - length, tail, length) == 0;
    }

  private:
    std::mutex lock;
    std::size_t used = 0;
    char text[64] = {};
};

static const int rounds = 3000;
static const char *const words[] = {"short.", "rather longer."};
static StringBuffer word, sentence;
static int broken;

static void change_word()
{
    for (int i = 0; i < rounds; i++) {
        word.assign(words[i % 2]);
    }
}

static void collect_words()
{
    for (int i = 0; i < rounds; i++) {
        sentence.append(word);
        broken += !sentence.ends_with(words[0]) && !sentence.ends_with(words[1]);
    }
}

int main()
{
    word.assign(words[0]);
    std::thread changer(change_word), collector(collect_words);
    changer.join();
    collector.join();
    std::printf("%d of %d words were appended in part, or with part of another\n", broken, rounds);
    return 0;
}
