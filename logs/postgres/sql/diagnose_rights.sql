-- The rights of a relay that the present role lacks, one a row; docs/postgres.md grants them all.
select format('%s on %s', r.wanted, r.name)
from (values
  ('{meta}', 'select'), ('{cursors}', 'select'), ('{ahead}', 'select'), ('{standing}', 'select'),
  ('{log}', 'select'), ('{log}', 'delete'),
  ('{lines}', 'select'), ('{lines}', 'insert'), ('{lines}', 'delete'),
  ('{snapshots}', 'select'), ('{snapshots}', 'insert'), ('{snapshots}', 'delete'),
  ('{incarnation}', 'select'), ('{incarnation}', 'insert'), ('{incarnation}', 'delete'),
  ('{subscriptions}', 'select'), ('{subscriptions}', 'insert'), ('{subscriptions}', 'update'), ('{subscriptions}', 'delete'),
  ('{relays}', 'select'), ('{relays}', 'insert'), ('{relays}', 'update'), ('{relays}', 'delete'),
  ('{parked}', 'select'), ('{parked}', 'insert'), ('{parked}', 'update'), ('{parked}', 'delete'),
  ('{dead}', 'select'), ('{dead}', 'insert'), ('{dead}', 'update'), ('{dead}', 'delete'),
  ('{journal}', 'select'), ('{journal}', 'insert'), ('{journal}', 'update'), ('{journal}', 'delete'),
  ('{jobs}', 'select'), ('{jobs}', 'insert'), ('{jobs}', 'update'), ('{jobs}', 'delete')
) as r (name, wanted)
where not has_table_privilege(r.name, r.wanted)
union all
select format('%s on %s', s.wanted, s.name)
from (values ('{positions}', 'select'), ('{snapshot_numbers}', 'usage')) as s (name, wanted)
where not has_sequence_privilege(s.name, s.wanted)
order by 1;
