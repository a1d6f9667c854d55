-- What a row takes in memory, about: headers may be compressed, and small ones are not worth a look.
(octet_length(z.payload) + case when z.type is null and z.content_type is null and z.headers is null then 0
    else coalesce(octet_length(z.type), 0) + coalesce(octet_length(z.content_type), 0)
        + coalesce(case when pg_column_size(z.headers) > 1000 then octet_length(z.headers::text)
            else pg_column_size(z.headers) end, 0) end)
