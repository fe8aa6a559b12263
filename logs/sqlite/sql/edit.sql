-- ?1 dead_id, ?2 new id, ?3 payload, ?4 headers, ?5 topic (each or null). Behind the replay of the same dead letter. What a
-- person wrote is checked when it is read.
update "{prefix}_parked"
set
  id = ?2,
  payload = case
    when ?3 is null then payload
    when content_type = 'application/json' then ?3
    else cast(?3 as blob)
  end,
  headers = coalesce(?4, headers),
  topic = coalesce(?5, topic),
  checked = 0
where (subscription, position) = (select d.subscription, d.position from "{prefix}_dead" d where d.dead_id = ?1);
