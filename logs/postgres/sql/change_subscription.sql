-- $1 name, $2 filter, $3 order. The cursors stay; relays that know the old filter must notice.
update {subscriptions}
set filter = $2, event_order = $3, generation = generation + 1
where name = $1
returning generation;
