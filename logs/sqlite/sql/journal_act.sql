-- ?1 now, ?2 what, ?3 subscription or null, ?4 detail or null, ?5 by whom, ?6 how many it concerned.
insert into "{prefix}_journal" (at, what, subscription, detail, done_by, concerned)
values (?1, ?2, ?3, ?4, ?5, ?6);
