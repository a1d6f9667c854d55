#include "simulation/fibre.h"

#include <utility>
#include <vector>

#include "core/assert.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace outrider::simulation {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kStackBytes = 512U << 10U;

void announce_switch(void** fake_stack, const void* base, std::size_t size) {
    __sanitizer_start_switch_fiber(fake_stack, base, size);
}

void finish_switch(void* fake_stack, const void** base, std::size_t* size) {
    __sanitizer_finish_switch_fiber(fake_stack, base, size);
}

// Who ran on this stack before has never returned from its outermost frames.
void forget_frames(const void* base) {
    __asan_unpoison_memory_region(base, kStackBytes);
}
#else
constexpr std::size_t kStackBytes = 128U << 10U;

void announce_switch(void** /*fake_stack*/, const void* /*base*/, std::size_t /*size*/) {
}

void finish_switch(void* /*fake_stack*/, const void** /*base*/, std::size_t* /*size*/) {
}

void forget_frames(const void* /*base*/) {
}
#endif

std::vector<std::unique_ptr<std::byte[]>>& pool() {
    static std::vector<std::unique_ptr<std::byte[]>> stacks;
    return stacks;
}

// makecontext() hands over nothing but integers, so the newcomer is named here.
Fibre* newcomer = nullptr;

}  // namespace

Stack::Stack() {
    if (pool().empty()) {
        bytes_ = std::make_unique_for_overwrite<std::byte[]>(kStackBytes);
    } else {
        bytes_ = std::move(pool().back());
        pool().pop_back();
        forget_frames(bytes_.get());
    }
}

Stack::~Stack() {
    if (bytes_) pool().push_back(std::move(bytes_));
}

std::size_t Stack::size() {
    return kStackBytes;
}

Fibre::Fibre(std::function<void()> body) : body_(std::move(body)) {
    getcontext(&own_);
    own_.uc_stack.ss_sp = stack_.base();
    own_.uc_stack.ss_size = Stack::size();
    own_.uc_link = nullptr;
    makecontext(&own_, &Fibre::enter, 0);
    // Else AddressSanitizer maps the shadow of the whole stack anew with every switch.
    own_.uc_stack.ss_size = 0;
}

Fibre::~Fibre() {
    OUTRIDER_ASSERT(ended_);
}

void Fibre::resume() {
    OUTRIDER_ASSERT(!ended_);
    newcomer = this;
    announce_switch(&caller_fake_stack_, stack_.base(), Stack::size());
    swapcontext(&caller_, &own_);
    finish_switch(caller_fake_stack_, nullptr, nullptr);
}

void Fibre::suspend() {
    announce_switch(&own_fake_stack_, caller_base_, caller_size_);
    swapcontext(&own_, &caller_);
    finish_switch(own_fake_stack_, &caller_base_, &caller_size_);
}

void Fibre::enter() {
    newcomer->run();
}

void Fibre::run() {
    finish_switch(nullptr, &caller_base_, &caller_size_);
    body_();
    body_ = nullptr;
    ended_ = true;
    announce_switch(nullptr, caller_base_, caller_size_);  // null: this stack is not coming back
    swapcontext(&own_, &caller_);
}

}  // namespace outrider::simulation
