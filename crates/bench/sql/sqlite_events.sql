-- ?1 first and ?2 last number, ?3 how many there will be in the end, ?4 now. Events of the last five days, in their order, with ids that grow as the library's
-- do. One key is the first event's alone: who looks for it from the newest looks for long.
with recursive numbers(n) as (
  values (?1)
  union all
  select n + 1 from numbers where n < ?2
)
insert into outbox (
  id, created_at, occurred_at, topic, event_type, key, aggregate_type, aggregate_id, tenant_id, checked, payload)
select
  cast(printf('%016d', n) as blob),
  ?4 - (?3 - n) * (432000000000 / ?3),
  ?4 - (?3 - n) * (432000000000 / ?3),
  case n / 11 % 4 when 0 then 'orders' when 1 then 'payments' when 2 then 'mails' else 'stock' end,
  printf('order.step-%02d', n / 7 % 20),
  case n when 1 then 'rare' else printf('customer-%05d', n % 100000) end,
  'order',
  'order-' || (n / 5),
  'tenant-' || (n / 13 % 50),
  1,
  printf('{"order":%d,"customer":"customer-%05d","amount":%d,"currency":"EUR","note":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}', n, n % 100000, n % 9973)
from numbers;
