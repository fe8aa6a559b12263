-- Grows with every event that is published, and with whatever operators do: what a relay would want to know at once. The relay's
-- own lines change neither, so that it does not wake itself.
select coalesce(sum(seq), 0)
from sqlite_sequence
where name in ('{prefix}', '{prefix}_journal');
