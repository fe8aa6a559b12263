-- Gives the server's incarnation a name, unless somebody has done so.
insert into {incarnation} (one)
values (true)
on conflict (one) do nothing;
