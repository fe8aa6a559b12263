-- $1 dead_id, $2 new id, $3 payload as bytes, $4 headers, $5 topic (each or null). Behind the replay of the same dead letter. What a person
-- wrote is checked when it is read. JSON is kept as text, everything else as bytes.
update {parked} p
set
  id = $2,
  payload = case
    when $3::bytea is null then p.payload
    when p.content_type = 'application/json' then convert_from($3, 'UTF8')
    else ''
  end,
  payload_bytes = case
    when $3 is null then p.payload_bytes
    when p.content_type <> 'application/json' then $3
  end,
  headers = coalesce($4, p.headers),
  topic = coalesce($5, p.topic),
  checked = false
from {dead} d
where d.dead_id = $1
  and p.subscription = d.subscription
  and p.position = d.position;
