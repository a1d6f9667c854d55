#include "admin/documents.h"
#include "cli/context.h"
#include "cli/verbs.h"

namespace outrider::cli {

int adopt_log(const CommonArguments& common, const AdoptArguments& arguments) {
    const auto admin = open_ready_admin(load_for_store(common));
    const char* question = "Does nobody relay the original of this log any more?";
    if (!arguments.yes && !confirm(question)) throw Stop(kFailed, "nothing was changed");
    const Adoption adoption = value_of(admin->adopt(arguments.follow_promotions));
    if (common.json) {
        print(admin::adoption_document(adoption));
    } else if (!adoption.was_foreign) {
        print("the log belongs here already");
    } else {
        print(
            "adopted; " + std::to_string(adoption.carried_over) +
            " messages that no destination had handled wait to be delivered"
        );
    }
    return kFine;
}

}  // namespace outrider::cli
