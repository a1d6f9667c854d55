#pragma once

#include "cli/arguments.h"

// One function per verb of the command line. Each prints to standard output, returns the exit code,
// and throws Stop for what keeps it from its work.
namespace outrider::cli {

int migrate_up(const CommonArguments& common);
int migrate_status(const CommonArguments& common);
int migrate_print(const CommonArguments& common);

int enqueue_message(const CommonArguments& common, const EnqueueArguments& arguments);
int run_relay(const CommonArguments& common, const RelayArguments& arguments);
int show_status(const CommonArguments& common, const StatusArguments& arguments);

int dead_list(const CommonArguments& common, const DeadArguments& arguments);
int dead_show(const CommonArguments& common, const DeadArguments& arguments);
int dead_replay(const CommonArguments& common, const DeadArguments& arguments);
int dead_discard(const CommonArguments& common, const DeadArguments& arguments);

int replay_history(const CommonArguments& common, const ReplayArguments& arguments);

int run_doctor(const CommonArguments& common);
int adopt_log(const CommonArguments& common, const AdoptArguments& arguments);

int destination_list(const CommonArguments& common);
int destination_pause(const CommonArguments& common, const DestinationArguments& arguments);
int destination_resume(const CommonArguments& common, const DestinationArguments& arguments);
int destination_forget(const CommonArguments& common, const DestinationArguments& arguments);
int destination_test(const CommonArguments& common, const DestinationArguments& arguments);

int config_check(const CommonArguments& common);
int config_print(const CommonArguments& common);
int config_reference(const CommonArguments& common);

int import_rows(const CommonArguments& common, const ImportArguments& arguments);
int dispatch_rows(const CommonArguments& common, const DispatchArguments& arguments);

int print_version(const CommonArguments& common);

}  // namespace outrider::cli
