#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include <ucontext.h>

namespace outrider::simulation {

// Memory to run on, reused from run to run, since fresh stacks would cost more than the runs.
class Stack {
public:
    Stack();
    ~Stack();  // back to the pool
    Stack(Stack&& other) noexcept = default;
    Stack& operator=(Stack&&) = delete;
    Stack(const Stack&) = delete;
    Stack& operator=(const Stack&) = delete;

    [[nodiscard]] void* base() const { return bytes_.get(); }
    [[nodiscard]] static std::size_t size();

private:
    std::unique_ptr<std::byte[]> bytes_;
};

// A function that can be left in the middle and entered again there, all on one thread. resume()
// is called from outside, suspend() from within. The body must have ended before the fibre dies.
class Fibre {
public:
    explicit Fibre(std::function<void()> body);
    ~Fibre();
    Fibre(const Fibre&) = delete;
    Fibre& operator=(const Fibre&) = delete;

    void resume();
    void suspend();
    [[nodiscard]] bool ended() const { return ended_; }

private:
    static void enter();
    void run();

    std::function<void()> body_;
    Stack stack_;
    ucontext_t own_{};
    ucontext_t caller_{};
    bool ended_ = false;

    // For AddressSanitizer, which must be told of every change of stacks.
    void* own_fake_stack_ = nullptr;
    void* caller_fake_stack_ = nullptr;
    const void* caller_base_ = nullptr;
    std::size_t caller_size_ = 0;
};

}  // namespace outrider::simulation
