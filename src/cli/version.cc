#include "admin/documents.h"
#include "cli/context.h"
#include "cli/drivers.h"
#include "cli/table.h"
#include "cli/verbs.h"

namespace outrider::cli {
namespace {

#ifdef __clang__
constexpr const char* kCompiler = __VERSION__;
#else
constexpr const char* kCompiler = "GCC " __VERSION__;
#endif

}  // namespace

int print_version(const CommonArguments& common) {
    const admin::BuildFacts facts{
        .version = OUTRIDER_VERSION,
        .compiler = kCompiler,
        .stores = store_schemes(),
        .brokers = broker_schemes()};
    if (common.json) {
        print(admin::version_document(facts));
        return kFine;
    }
    print("outrider " + facts.version);
    print("compiler " + facts.compiler);
    print("stores   " + joined(facts.stores));
    print("brokers  " + joined(facts.brokers));
    return kFine;
}

}  // namespace outrider::cli
