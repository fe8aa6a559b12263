-- $1 subscription, before it is dropped. Its highest numbers, if no other that was dropped had higher ones.
insert into {meta} as m (name, value)
select 'dropped_line', coalesce(max(n), 0)::text from {lines} where subscription = $1
union all
select 'dropped_generation', generation::text from {subscriptions} where name = $1
on conflict (name) do update set value = excluded.value
where excluded.value::bigint > m.value::bigint;
