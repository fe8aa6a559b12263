-- $1 the snapshot that the new lines stand on. Events whose transaction ids have not been handed out in this cluster would appear when they
-- are; 3 is an id that every snapshot sees.
update {log}
set xid = '3'
where not pg_visible_in_snapshot(xid, (select snapshot from {snapshots} where number = $1));
