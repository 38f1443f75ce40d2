/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Size and copy in two critical sections: the append of a string buffer.
 *
 * Every method of the buffer locks it, as those of java.lang.StringBuffer do. append() asks the
 * other buffer for its length, makes room, and copies that many characters: two calls, each safe
 * on its own. Between them another thread may shorten the other buffer. Then more characters are
 * copied than it has, among them remains of an earlier text. (In Java this was an unexpected
 * exception.)
 */
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>

class StringBuffer
{
  public:
    std::size_t length()
    {
        std::lock_guard<std::mutex> hold(lock);
        return used;
    }

    void get_chars(std::size_t count, char *to)
    {
        std::lock_guard<std::mutex> hold(lock);
        std::memcpy(to, text, count);
    }

    void assign(const char *from)
    {
        std::lock_guard<std::mutex> hold(lock);
        used = std::strlen(from);
        std::memcpy(text, from, used);
    }

    void append(StringBuffer &other)
    {
        std::lock_guard<std::mutex> hold(lock);
        std::size_t more = other.length();
        if (used + more > sizeof(text)) {
            used = 0;
        }
        other.get_chars(more, text + used);
        used += more;
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
