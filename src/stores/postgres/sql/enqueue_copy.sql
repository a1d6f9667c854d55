-- Messages, in their order. {occurred_at} is empty where the database shall say when: COPY knows no default for a null.
copy {schema}.message (id, topic, key, type, payload, content_type, headers, deliver_after{occurred_at})
from stdin (format binary)
