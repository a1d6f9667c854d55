#include "admin/documents.h"
#include "cli/context.h"
#include "cli/drivers.h"
#include "cli/verbs.h"

namespace outrider::cli {

int migrate_up(const CommonArguments& common) {
    const Config config = load_for_store(common);
    const auto admin = open_admin(config, StoreDriver::IfMissing::create);
    const SchemaVersion before = value_of(admin->schema_version());
    const SchemaVersion after = value_of(admin->migrate());
    if (common.json) {
        print(admin::schema_document(after));
    } else if (before.installed == after.installed) {
        print("version " + std::to_string(after.installed) + ": nothing to do");
    } else {
        print(
            "migrated from version " + std::to_string(before.installed) + " to " +
            std::to_string(after.installed)
        );
    }
    if (!common.json) {
        for (const std::string& remark : after.remarks) print("but " + remark);
    }
    require_schema(after);
    return kFine;
}

int migrate_status(const CommonArguments& common) {
    const Config config = load_for_store(common);
    const auto admin = open_admin(config, StoreDriver::IfMissing::fail);
    const SchemaVersion version = value_of(admin->schema_version());
    if (common.json) {
        print(admin::schema_document(version));
        return kFine;
    }
    std::string text =
        "version " + std::to_string(version.installed) + " of " + std::to_string(version.newest);
    if (version.installed < version.newest) text += ": run 'outrider migrate up'";
    print(text);
    return kFine;
}

int migrate_print(const CommonArguments& common) {
    const Config config = load_for_store(common);
    print(schema_text(config));
    return kFine;
}

}  // namespace outrider::cli
