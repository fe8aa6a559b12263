-- The next reader names it anew.
delete from {incarnation};
