//! Values that PostgreSQL has and the driver is not asked to know: times and ids, as they go over the wire.
//!
//! (The driver's own support for them would bring every other database's driver into the lock files of those who use this crate.)

use posthaste_core::{EventId, Timestamp};
use sqlx::{
    Decode, Encode, Postgres, Type,
    encode::IsNull,
    error::BoxDynError,
    postgres::{PgArgumentBuffer, PgTypeInfo, PgValueRef, types::Oid},
};

/// A `timestamptz`: microseconds since 2000, where ours count from 1970.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Time(pub(crate) Timestamp);

const TIMESTAMPTZ: Oid = Oid(1184);
const UUID: Oid = Oid(2950);
const YEAR_2000: i64 = 946_684_800_000_000;

impl Type<Postgres> for Time {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(TIMESTAMPTZ)
    }
}

impl Encode<'_, Postgres> for Time {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        buffer.extend_from_slice(&self.0.0.saturating_sub(YEAR_2000).to_be_bytes());
        Ok(IsNull::No)
    }
}

impl<'r> Decode<'r, Postgres> for Time {
    fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
        let micros = i64::from_be_bytes(value.as_bytes()?.try_into()?);
        // The ends of the range are PostgreSQL's infinities.
        Ok(Self(Timestamp(micros.saturating_add(YEAR_2000))))
    }
}

/// A `uuid`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Id(pub(crate) EventId);

impl Type<Postgres> for Id {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(UUID)
    }
}

impl Encode<'_, Postgres> for Id {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        buffer.extend_from_slice(self.0.as_bytes());
        Ok(IsNull::No)
    }
}

impl<'r> Decode<'r, Postgres> for Id {
    fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
        Ok(Self(EventId::from_bytes(value.as_bytes()?.try_into()?)))
    }
}
