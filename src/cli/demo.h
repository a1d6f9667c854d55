#pragma once

#include <string>

namespace outrider::cli {

struct DemoOptions {
    bool keep = false;    // go on until Ctrl-C
    double seconds = 20;  // how long the whole thing takes otherwise
    std::string
        folder;  // where its files go and stay; empty: a temporary folder, removed at the end
    bool json = false;   // the report as JSON
    bool plain = false;  // no colours, no redrawing
};

// A small order service writes orders and their messages, a relay in a process of its own delivers
// them, is killed in the middle and started again; then every order is compared with what arrived.
// Returns the exit code: 1 if anything was lost, invented or reordered, or repeated beyond what was
// in flight at the kill.
[[nodiscard]] int run_demo(const DemoOptions& options);

}  // namespace outrider::cli
