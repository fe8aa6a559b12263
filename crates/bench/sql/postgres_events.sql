-- $1 first and $2 last number, $3 how many there will be in the end. Events of the last five days, in their order, with ids that grow as the library's do.
-- One key is the first event's alone: who looks for it from the newest looks for long.
insert into outbox (
  id, created_at, occurred_at, topic, event_type, key, aggregate_type, aggregate_id, tenant_id, checked, payload)
select
  lpad(to_hex(n), 32, '0')::uuid,
  written.at,
  written.at,
  (array['orders', 'payments', 'mails', 'stock'])[1 + n / 11 % 4],
  'order.step-' || to_char(n / 7 % 20, 'fm00'),
  case n when 1 then 'rare' else 'customer-' || to_char(n % 100000, 'fm00000') end,
  'order',
  'order-' || n / 5,
  'tenant-' || n / 13 % 50,
  true,
  '{"order":' || n || ',"customer":"customer-' || to_char(n % 100000, 'fm00000') || '","amount":' || n % 9973
    || ',"currency":"EUR","note":"' || repeat('x', 32) || '"}'
from generate_series($1::bigint, $2::bigint) n
cross join lateral (select now() - ($3::bigint - n) * (interval '5 days' / $3::bigint) as at) written
order by n;
