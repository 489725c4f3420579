//! Enums that stand for a closed list of words, and texts of one form, each
//! written down once: name, word, reading and writing cannot drift apart.

/// An enum whose variants are the words of a contract. Reading from a
/// config (`Deserialize`) and from a document (`Read`) refuse other words
/// and name the right ones.
macro_rules! words {
    (
        $(#[$about:meta])*
        $name:ident {
            $( $(#[$meaning:meta])* $variant:ident = $word:literal, )+
        }
    ) => {
        $(#[$about])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord,
        )]
        pub enum $name {
            $( $(#[$meaning])* $variant, )+
        }

        impl $name {
            /// Every one, in the contract's order.
            pub const ALL: &'static [Self] = &[ $( Self::$variant, )+ ];

            /// The contract's own words, in the same order.
            pub const WORDS: &'static [&'static str] = &[ $( $word, )+ ];

            /// The contract's own word.
            pub fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $word, )+ }
            }

            /// The one of that word; `None` for any other text.
            pub fn from_name(word: &str) -> Option<Self> {
                match word {
                    $( $word => Some(Self::$variant), )+
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(
                &self,
                f: &mut std::fmt::Formatter<'_>,
            ) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(
                &self,
                to: S,
            ) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(
                from: D,
            ) -> Result<Self, D::Error> {
                let word = <String as serde::Deserialize>::deserialize(from)?;
                Self::from_name(&word).ok_or_else(|| {
                    serde::de::Error::unknown_variant(&word, Self::WORDS)
                })
            }
        }

        impl $crate::contract::read::Read for $name {
            fn read(at: $crate::contract::read::At<'_>) -> Option<Self> {
                at.word(Self::WORDS, Self::from_name)
            }
        }
    };
}

/// A text of one form, checked where it is made.
macro_rules! form {
    (
        $(#[$about:meta])*
        $name:ident: $check:path, $wanted:literal
    ) => {
        $(#[$about])*
        #[derive(
            Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord,
            serde::Serialize, serde::Deserialize,
        )]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = $crate::contract::BadId;
            fn try_from(raw: String) -> Result<Self, Self::Error> {
                if $check(&raw) {
                    Ok(Self(raw))
                } else {
                    Err($crate::contract::BadId { raw, wanted: $wanted })
                }
            }
        }

        impl From<$name> for String {
            fn from(text: $name) -> Self {
                text.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(
                &self,
                f: &mut std::fmt::Formatter<'_>,
            ) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl $crate::contract::read::Read for $name {
            fn read(at: $crate::contract::read::At<'_>) -> Option<Self> {
                let wanted = $wanted;
                at.form($check, wanted).map(Self)
            }
        }
    };
}

pub(super) use {form, words};
