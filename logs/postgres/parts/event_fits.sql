-- $4 type, $5 topic, $6 key, $7 and $8 type and id of the aggregate, $9 tenant, $10 written since, $11 written before (each or null).
($4::text is null or o.event_type = $4)
  and ($5::text is null or o.topic = $5)
  and ($6::text is null or o.key = $6)
  and ($7::text is null or o.aggregate_type = $7)
  and ($8::text is null or o.aggregate_id = $8)
  and ($9::text is null or o.tenant_id = $9)
  and ($10::timestamptz is null or o.created_at >= $10)
  and ($11::timestamptz is null or o.created_at < $11)
