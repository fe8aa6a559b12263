-- $1 behind this position, $2 before this position, $3 rows at most; the rest: see parts/event_fits.sql. In the order of the log.
select o.position
from {log} o
where o.position > $1
  and o.position < $2
  and {event_fits}
order by o.position
limit $3;
