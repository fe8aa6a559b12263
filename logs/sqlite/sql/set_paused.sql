-- ?1 name, ?2 whether.
update "{prefix}_subscriptions"
set paused = ?2
where name = ?1
  and paused <> ?2;
