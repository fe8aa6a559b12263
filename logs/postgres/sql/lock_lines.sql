-- Waits until nobody is adding lines and keeps everybody from it until the end of the transaction. A line that is being added while its
-- subscription goes would otherwise be found by the next one of that name.
lock table {lines} in share mode;
