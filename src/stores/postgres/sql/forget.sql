-- A destination and all that is known of it. The caller has the locks of its lanes.
with a as (delete from {schema}.progress where destination = $1),
    b as (delete from {schema}.parked where destination = $1),
    c as (delete from {schema}.parked_key where destination = $1),
    d as (delete from {schema}.dead where destination = $1),
    e as (delete from {schema}.sample where destination = $1),
    f as (delete from {schema}.session where destination = $1),
    g as (delete from {schema}.mark where destination = $1)
delete from {schema}.destination where id = $1
