#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>

#include "core/descriptor.h"

namespace outrider::live {

// A port of 127.0.0.1 that leads to another one, and whatever may happen on the way. It begins
// open. Every method may be called from any thread, at any time; what it says holds from then on.
class Gate {
public:
    // `at`: the port it has itself; 0: any that is free.
    explicit Gate(std::uint16_t to, std::uint16_t at = 0);

    // To a server that has no port: `connect` makes a connection to it, or an empty one.
    using Connect = std::function<Descriptor()>;
    explicit Gate(Connect connect, std::uint16_t at = 0);
    ~Gate();
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;

    [[nodiscard]] std::uint16_t port() const { return port_; }

    // Everything passes. Connections that have lost bytes are reset: they could only lie.
    void open();

    // Every connection is reset, and new ones are closed at once.
    void cut();

    // Nothing moves any more, but nobody is told.
    void freeze();

    // What comes back from the server is thrown away, or what goes to it.
    void lose_answers();
    void lose_requests();

    // A few hundred bytes at a time.
    void slow();

    // After so many more bytes to the server every connection is reset, in the middle of whatever
    // it was saying; later ones pass.
    void reset_after(std::size_t bytes);

    // Bytes that have gone to the server so far, and resets by reset_after().
    [[nodiscard]] std::size_t sent() const { return sent_; }
    [[nodiscard]] std::size_t resets() const { return resets_; }

private:
    enum class Mode : std::uint8_t { open, cut, frozen, no_answers, no_requests, slow };

    // Bytes on their way from one end to the other.
    struct Lane {
        int from = -1;
        int to = -1;
        std::string bytes;
        bool is_over = false;  // nothing more comes
    };

    struct Pair {
        Descriptor client;
        Descriptor server;
        Lane up;
        Lane down;
        bool has_lost = false;  // bytes
        bool is_dead = false;
    };

    void set(Mode mode);
    void run();
    void wait();
    void serve();
    void accept();
    void move(Pair& pair);
    void pull(Pair& pair, Lane& lane, bool is_lost);
    void push(Pair& pair, Lane& lane);
    static void reset(Pair& pair);
    [[nodiscard]] bool moves() const { return mode_ != Mode::frozen && mode_ != Mode::cut; }
    [[nodiscard]] std::size_t portion() const;

    const Connect connect_;
    Descriptor listener_;
    Descriptor bell_;  // wakes the thread when something was said
    std::uint16_t port_ = 0;
    std::mutex mutex_;  // guards what follows, but for the numbers
    Mode mode_ = Mode::open;
    std::list<Pair> pairs_;
    std::size_t fuse_ = 0;  // bytes until a reset; 0: none is due
    bool is_over_ = false;
    std::atomic<std::size_t> sent_ = 0;
    std::atomic<std::size_t> resets_ = 0;
    std::thread thread_;
};

}  // namespace outrider::live
