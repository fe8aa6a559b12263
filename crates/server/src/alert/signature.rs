//! How a webhook is signed: as Standard Webhooks says, so that receivers need no code of ours.

use std::fmt;

use base64::{Engine, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// What a webhook is signed with. Never shown.
#[derive(Clone)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// What a secret begins with when it is written.
    const PREFIX: &'static str = "whsec_";

    /// A secret as Standard Webhooks writes it: `whsec_` and at least 24 bytes in base 64.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = STANDARD.decode(text.strip_prefix(Self::PREFIX)?).ok()?;
        (24..=64).contains(&bytes.len()).then_some(Self(bytes))
    }

    /// The signature of a message, as it is sent.
    pub(super) fn sign(&self, id: &str, timestamp: u64, body: &str) -> String {
        // Any length of key is good for HMAC; without a signature the receiver refuses the message.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.0) else { return String::new() };
        mac.update(format!("{id}.{timestamp}.{body}").as_bytes());
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_as_the_specification_says() {
        // The example of the specification's own libraries.
        let secret = Secret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signature = secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, r#"{"test": 2432232314}"#);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        assert_eq!(format!("{secret:?}"), "***");
    }

    #[test]
    fn what_is_short_or_no_base_64_is_no_secret() {
        for bad in ["", "whsec_", "whsec_c2hvcnQ=", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_!!!!"] {
            assert!(Secret::parse(bad).is_none(), "{bad}");
        }
    }
}
