-- One event whose id was made for it: it cannot be in the log already, and nothing has to be looked up. Most events come so: it takes the
-- server half of what a list of events does.
{insert_one};
