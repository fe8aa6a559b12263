-- $1 the one that is needed. The others are of another cluster.
delete from {snapshots}
where number not in (0, $1);
