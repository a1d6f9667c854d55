#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "outrider/destination.h"

#include "stores/table/facts.h"
#include "stores/table/layout.h"

namespace outrider::table {

// Turns the statements of sql/ into those of one table: {placeholders} become quoted names and
// conditions. Everything that a user wrote was checked and is quoted here, once. Rows are called t.
class Wording {
public:
    Wording(Layout layout, Facts facts);

    // With every placeholder that does not depend on a destination.
    [[nodiscard]] std::string fill(std::string_view sql) const;

    // The same for a destination: {alive}, {buried}, {wanted}; and what the caller adds.
    using Parts = std::map<std::string, std::string, std::less<>>;
    [[nodiscard]] std::string fill(
        std::string_view sql,
        const Destination& destination,
        const Parts& more = {}
    ) const;

    // A row that was neither delivered nor given up on by its status. `row`: "t." or nothing.
    [[nodiscard]] std::string pending(std::string_view row = "t.") const;

    // The columns by which rows are ordered.
    [[nodiscard]] std::string order(std::string_view row = "t.") const;

    // At or before the row with $4 as its time and $5 as its id.
    [[nodiscard]] std::string bound() const;

    // SET and WHERE of a row that is delivered: a whole statement up to WHERE.
    [[nodiscard]] std::string settle() const;

    // How many refusals make a message dead here, as the column can hold it.
    [[nodiscard]] std::int64_t attempts_limit(const Destination& destination) const;

    // The number under which the keys of this table are locked: hashtextextended(key, seed).
    [[nodiscard]] std::int64_t seed() const;

    // The number that relays of a destination hold while they are there.
    [[nodiscard]] std::int64_t presence(std::string_view destination) const;

    [[nodiscard]] std::string table() const;

    [[nodiscard]] const Layout& layout() const { return layout_; }
    [[nodiscard]] const Facts& facts() const { return facts_; }

private:
    [[nodiscard]] Parts parts() const;
    [[nodiscard]] std::string column(const std::string& name) const;  // t."name"
    [[nodiscard]] std::string text(const std::string& name) const;    // as text, or null
    [[nodiscard]] std::string moment(const std::string& name) const;  // as timestamptz, or null
    [[nodiscard]] std::string message_id() const;
    [[nodiscard]] std::string payload() const;
    [[nodiscard]] std::string bytes() const;  // the payload as bytea
    [[nodiscard]] std::string stored() const;
    [[nodiscard]] std::string content_type() const;
    [[nodiscard]] std::string attempts() const;
    [[nodiscard]] std::string done() const;
    [[nodiscard]] std::string odd() const;  // neither pending nor delivered nor given up on
    [[nodiscard]] std::string fail() const;
    [[nodiscard]] std::string revive() const;
    // The conditions each of which makes a pending row a dead one.
    [[nodiscard]] std::vector<std::string> deaths(const Destination& destination) const;
    [[nodiscard]] std::string alive(const Destination& destination) const;
    [[nodiscard]] std::string buried(const Destination& destination) const;
    [[nodiscard]] std::string wanted(const Destination& destination) const;

    // The present moment as this column would hold it.
    [[nodiscard]] std::string now_for(const std::string& name) const;

    const Layout layout_;
    const Facts facts_;
};

}  // namespace outrider::table
