//! Publishing in a transaction of each driver that applications have; everything is in `tests/`.
