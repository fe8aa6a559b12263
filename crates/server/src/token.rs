//! Tokens: who may log in, and what he may do. Only hashes are kept, and none of them tells by its time how much of a guess was right.

use std::fmt;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use posthaste::{Error, ErrorKind, Result};
use sha2::{Digest, Sha256};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

/// What somebody may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Look at everything.
    Viewer,
    /// Also change things.
    Operator,
}

impl Role {
    /// Both, by their names.
    pub const ALL: [(&'static str, Role); 2] = [("viewer", Role::Viewer), ("operator", Role::Operator)];

    /// The role as it is written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Role::Viewer => "viewer",
            Role::Operator => "operator",
        }
    }
}

/// Somebody who may log in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Whose token it is: what the journal names for each act.
    pub name: String,
    /// What he may do.
    pub role: Role,
    /// The SHA-256 of the token.
    pub hash: Hash,
}

/// The SHA-256 of a token. Enough for tokens, which unlike passwords cannot be guessed: they have 256 random bits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Hash([u8; 32]);

impl Hash {
    /// The hash of a token.
    #[must_use]
    pub fn of(token: &str) -> Self {
        Self(Sha256::digest(token.as_bytes()).into())
    }

    /// The hash that is written as 64 hexadecimal digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits: Vec<u8> = text
            .chars()
            .map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
            .collect::<Option<_>>()?;
        let bytes: Vec<u8> = digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect();
        (text.len() == 64).then_some(())?;
        Some(Self(bytes.try_into().ok()?))
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What every token begins with, so that one that got into a repository or a log is recognised.
const PREFIX: &str = "posthaste_";

/// A new token, with its hash. The token is shown once, and kept nowhere.
pub fn generate() -> Result<(String, Hash)> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| {
        Error::new(ErrorKind::Unavailable, "the system has no random numbers for a token").with_source(error)
    })?;
    let token = format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes));
    let hash = Hash::of(&token);
    Ok((token, hash))
}

/// Finds whose token it is. All are compared, whole, whichever fits: neither the time nor the order says anything about them.
pub(crate) fn find<'t>(tokens: &'t [Token], given: &str) -> Option<&'t Token> {
    let given = Hash::of(given);
    let (mut found, mut any) = (0_u64, Choice::from(0));
    for (index, token) in (0..).zip(tokens) {
        let fits = token.hash.0.ct_eq(&given.0);
        found.conditional_assign(&index, fits);
        any |= fits;
    }
    if bool::from(any) { tokens.get(usize::try_from(found).ok()?) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(name: &str, secret: &str) -> Token {
        Token { name: name.to_owned(), role: Role::Viewer, hash: Hash::of(secret) }
    }

    #[test]
    fn finds_whose_token_it_is() {
        let tokens = [token("ada", "a"), token("grace", "b")];

        assert_eq!(find(&tokens, "b").map(|token| token.name.as_str()), Some("grace"));
        assert_eq!(find(&tokens, "a").map(|token| token.name.as_str()), Some("ada"));
        for wrong in ["", "c", "ab", &Hash::of("a").to_string()] {
            assert_eq!(find(&tokens, wrong), None, "{wrong}");
        }
        assert_eq!(find(&[], "a"), None);
    }

    #[test]
    fn every_byte_of_a_hash_counts() {
        for byte in 0..32 {
            let mut near = token("ada", "a");
            near.hash.0[byte] ^= 1;
            assert_eq!(find(&[near], "a"), None, "{byte}");
        }
    }

    #[test]
    fn a_new_token_is_random_and_its_hash_is_its_own() {
        let ((one, hash), (other, _)) = (generate().unwrap(), generate().unwrap());

        assert!(one.starts_with(PREFIX) && one.len() == PREFIX.len() + 43 && one != other);
        assert_eq!(hash, Hash::of(&one));
        assert_eq!(Hash::parse(&hash.to_string()), Some(hash));
    }

    #[test]
    fn only_64_hexadecimal_digits_are_a_hash() {
        let good = Hash::of("a").to_string();
        // As `printf a | sha256sum` says.
        assert_eq!(good, "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb");
        assert_eq!(Hash::parse(&good.to_uppercase()), Some(Hash::of("a")));
        for bad in [
            "",
            "ca97",
            &good[1..],
            &format!("{good}0"),
            &good.replace('c', "x"),
            &format!("é{}", &good[2..]),
        ] {
            assert_eq!(Hash::parse(bad), None, "{bad}");
        }
    }
}
