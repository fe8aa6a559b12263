-- $11 how many at most; the rest: see parts/dead_fits.sql. The largest first.
select d.subscription, d.reason, d.event_type, d.error_line, count(*), min(d.moved_at), max(d.moved_at)
from {dead} d
where d.resolution is null
  and d.dead_id > 0
  and {dead_fits}
group by d.subscription, d.reason, d.event_type, d.error_line
order by 5 desc, 7 desc
limit $11;
