-- ?1 subscription, before it is dropped. Its highest numbers, if no other that was dropped had higher ones.
insert into "{prefix}_meta" (name, value)
select 'dropped_line', cast(coalesce(max(n), 0) as text) from "{prefix}_lines" where subscription = ?1
union all
select 'dropped_generation', cast(generation as text) from "{prefix}_subscriptions" where name = ?1
on conflict (name) do update set value = excluded.value
where cast(excluded.value as integer) > cast(value as integer);
