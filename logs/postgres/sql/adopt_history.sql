-- $1 the snapshot that the new lines stand on. Older lines keep their positions, which is all that they mean here: they tell who delivered
-- what, and when.
update {lines}
set from_snapshot = 0, to_snapshot = 0
where to_snapshot not in (0, $1);
