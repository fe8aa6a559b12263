//! Type-safe names: an enum of an application, or plain text, can name an event type and an aggregate type.

use std::borrow::Cow;

/// Names the type of an event. Implemented by text, and by enums through [`event_types!`](crate::event_types).
pub trait EventType {
    /// The name as it is stored and matched, such as `user.created`.
    fn name(&self) -> Cow<'static, str>;
}

/// Names the type of an aggregate. Implemented by text, and by enums through
/// [`aggregate_types!`](crate::aggregate_types).
pub trait AggregateType {
    /// The name as it is stored, such as `user`.
    fn name(&self) -> Cow<'static, str>;
}

macro_rules! text_is_a_name {
    ($($trait:ident),*) => {$(
        impl $trait for &'static str {
            fn name(&self) -> Cow<'static, str> {
                Cow::Borrowed(self)
            }
        }

        impl $trait for String {
            fn name(&self) -> Cow<'static, str> {
                Cow::Owned(self.clone())
            }
        }
    )*};
}

text_is_a_name!(EventType, AggregateType);

/// Declares an enum of event types. A variant without a text is stored under its own name.
///
/// ```
/// use posthaste_core::EventType;
///
/// posthaste_core::event_types! {
///     /// What happens to a user.
///     pub enum UserEvent { Created = "user.created", Deleted }
/// }
///
/// assert_eq!(UserEvent::Created.name(), "user.created");
/// assert_eq!(UserEvent::Deleted.name(), "Deleted");
/// ```
#[macro_export]
macro_rules! event_types {
    ($($body:tt)*) => { $crate::named_enum! { EventType $($body)* } };
}

/// Declares an enum of aggregate types. A variant without a text is stored under its own name.
///
/// ```
/// use posthaste_core::AggregateType;
///
/// posthaste_core::aggregate_types! { pub enum Aggregate { User, Order = "order" } }
///
/// assert_eq!(Aggregate::User.name(), "User");
/// assert_eq!(Aggregate::Order.name(), "order");
/// ```
#[macro_export]
macro_rules! aggregate_types {
    ($($body:tt)*) => { $crate::named_enum! { AggregateType $($body)* } };
}

/// What both macros above have in common; not to be called directly.
#[doc(hidden)]
#[macro_export]
macro_rules! named_enum {
    ($trait:ident $(#[$meta:meta])* $vis:vis enum $name:ident {
        $($(#[$variant_meta:meta])* $variant:ident $(= $text:literal)?),* $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        $vis enum $name { $(
            $(#[$variant_meta])*
            #[doc = concat!("Stored as `", $crate::named_enum!(@text $variant $($text)?), "`.")]
            $variant
        ),* }

        impl $crate::$trait for $name {
            fn name(&self) -> ::std::borrow::Cow<'static, str> {
                ::std::borrow::Cow::Borrowed(match self {
                    $(Self::$variant => $crate::named_enum!(@text $variant $($text)?)),*
                })
            }
        }
    };
    (@text $variant:ident) => { stringify!($variant) };
    (@text $variant:ident $text:literal) => { $text };
}
