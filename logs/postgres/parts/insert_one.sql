-- The insert of publish_one.sql and publish_one_and_ask.sql. Each parameter is a text, so that any driver can bind it.
insert into {log} ({event})
values (
  $1::text::uuid, $2::text, $3::text, $4::text, $5::text, $6::text, $7::text, $8::text::bigint, $9::text, $10::text, $11::text,
  $12::text, $13::text, timestamptz 'epoch' + $14::text::bigint * interval '1 microsecond', $15::text,
  timestamptz 'epoch' + $16::text::bigint * interval '1 microsecond', $17::text::boolean, $18::text, decode($19::text, 'base64'))
