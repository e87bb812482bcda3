#include "scores/bd_tables.hpp"

#include <map>

#include "counting/configurations.hpp"
#include "special/log_gamma.hpp"

namespace bestdag {

namespace {

// The child and its parents, as a key.
using Key = std::vector<std::int32_t>;

void write_key(const Family& family, Key& key) {
    key.assign(1, static_cast<std::int32_t>(family.child));
    key.insert(key.end(), family.parents.begin(), family.parents.end());
}

struct Tables {
    std::map<Key, std::size_t> places;  // in values, of each family's table
    std::vector<double> values;
};

class BdTables final : public EvaluatorOf<BdTables> {
public:
    explicit BdTables(std::shared_ptr<const Tables> tables) : tables_(std::move(tables)) {}

    template <class Count>
    double sum_rows(const CountRows<Count>& counts, const FamilyShape& shape) {
        const double* const table = find(shape.family);
        double score = 0.0;
        configurations_.visit(
            shape.table, shape.family, counts, [&](std::span<const Count> cells, auto codes) {
                std::size_t row = 0;  // j
                for (std::size_t i = 0; i < codes.size(); ++i) {
                    const auto parent = static_cast<std::size_t>(shape.family.parents[i]);
                    row = row * shape.table.arities[parent] + codes[i];
                }
                const double* const priors = table + row * cells.size();  // a_jk
                double row_prior = 0.0;                                   // a_j
                Count row_total{0};                                       // N_j
                for (std::size_t k = 0; k < cells.size(); ++k) {
                    row_prior += priors[k];
                    row_total += cells[k];
                    score += log_rising(priors[k], static_cast<double>(cells[k]));
                }
                score -= log_rising(row_prior, static_cast<double>(row_total));
            });
        return score;
    }

    double constant(const FamilyShape&) override { return 0.0; }

    bool is_capped_by_likelihood() const noexcept override { return true; }

    bool is_blind_to_single_states() const noexcept override { return false; }

private:
    const double* find(const Family& family) {
        write_key(family, key_);
        const auto place = tables_->places.find(key_);
        if (place == tables_->places.end()) throw RefusedFamily(family, 0.0);
        return tables_->values.data() + place->second;
    }

    std::shared_ptr<const Tables> tables_;
    Configurations configurations_;
    Key key_;
};

}  // namespace

Kernel make_bd_tables(const FamilyList& families, std::span<const std::int64_t> first_values,
                      std::span<const double> values) {
    const auto tables = std::make_shared<Tables>();
    tables->values.assign(values.begin(), values.end());
    Key key;
    for (std::size_t i = 0; i < families.size(); ++i) {
        write_key(families[i], key);
        tables->places[key] = static_cast<std::size_t>(first_values[i]);
    }
    return Kernel([tables](const TableShape&) { return std::make_unique<BdTables>(tables); },
                  {.nanoseconds_per_family = 0.0, .may_refuse = true});
}

}  // namespace bestdag
