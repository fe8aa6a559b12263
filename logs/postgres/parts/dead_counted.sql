-- $1 dead_id, $2 subscription, $3 reason, $4 type, $5 topic, $6 key, $7 error, $8 its beginning, $9 died since, $10 died before (each or null). As
-- dead_fits.sql, from the index of groups alone.
($1::bigint is null or d.dead_id = $1)
  and ($2::text is null or d.subscription = $2)
  and ($3::text is null or d.reason = $3)
  and ($4::text is null or d.type_hash = hashtextextended($4, 0))
  and ($5::text is null or d.topic_hash = hashtextextended($5, 0))
  and ($6::text is null or d.key_hash = hashtextextended($6, 0))
  and ($7::text is null or d.error_line = $7)
  and ($8::text is null or starts_with(d.error_line, $8))
  and ($9::timestamptz is null or d.moved_at >= $9)
  and ($10::timestamptz is null or d.moved_at < $10)
