-- Where subscriptions began, as far as it means something here.
update {subscriptions}
set started_from = 0, started_to = 0
where started_to <> 0;
