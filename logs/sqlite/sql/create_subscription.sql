-- ?1 name, ?2 filter, ?3 order, ?4 start, ?5 where it begins, ?6 now. In one transaction with its first lines.
insert into "{prefix}_subscriptions" (name, filter, event_order, start, started_after, created_at)
values (?1, ?2, ?3, ?4, ?5, ?6);
