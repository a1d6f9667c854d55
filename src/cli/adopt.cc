#include "admin/documents.h"
#include "cli/context.h"
#include "cli/verbs.h"

namespace outrider::cli {

namespace {

std::string describe(const Adoption& adoption) {
    if (!adoption.has_log) return "there is nothing to adopt: an existing table has no log";
    std::string text = "the log belongs here already";
    if (adoption.was_foreign) {
        text = "adopted; " + std::to_string(adoption.carried_over) +
               " messages that no destination had handled wait to be delivered";
    }
    if (adoption.follows_promotions) text += "; later promotions need no adoption";
    return text;
}

}  // namespace

int adopt_log(const CommonArguments& common, const AdoptArguments& arguments) {
    const auto admin = open_ready_admin(load_for_store(common));
    const char* question = "Does nobody relay the original of this log any more?";
    if (!arguments.yes && !confirm(question)) throw Stop(kFailed, "nothing was changed");
    const Adoption adoption = value_of(admin->adopt(arguments.follow_promotions));
    print(common.json ? admin::adoption_document(adoption) : describe(adoption));
    return kFine;
}

}  // namespace outrider::cli
