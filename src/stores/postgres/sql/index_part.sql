-- Whether a segment is empty, and whether its part of the log's index is of use; null: there is none.
select pg_relation_size('{schema}.message_{segment}') = 0, i.indisvalid
from (values (to_regclass('{schema}.message_{segment}_seq_idx'))) as p(part)
left join pg_index i on i.indexrelid = p.part
