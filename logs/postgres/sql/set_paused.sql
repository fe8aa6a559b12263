-- $1 name, $2 whether.
update {subscriptions}
set paused = $2
where name = $1
  and paused <> $2;
