-- ?1 now, ?2 what, ?3 subscription, ?4 detail or null, ?5 by whom.
insert into "{prefix}_journal" (at, what, subscription, detail, done_by)
values (?1, ?2, ?3, ?4, ?5);
