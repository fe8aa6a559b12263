-- ?11 how many at most; the rest: see parts/dead_fits.sql. The largest first. From the index alone.
select d.subscription, d.reason, d.event_type, d.error_line, count(*), min(d.moved_at), max(d.moved_at)
from "{prefix}_dead" d indexed by "{prefix}_dead_groups"
where d.resolution is null
  and {dead_fits}
group by d.subscription, d.reason, d.event_type, d.error_line
order by 5 desc, 7 desc
limit ?11;
