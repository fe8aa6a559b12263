-- ?1 subscription.
delete from "{prefix}_lines"
where subscription = ?1;
