//! Pekko-compatible actor paths, `no_std`: the address in every envelope.
//!
//! Immutable value objects, one type a file. Text becomes a path in [`ActorPathParser`] and in no
//! other place, names from outside enter through [`encode_segment`]. Nothing here panics, reads a
//! file, keeps state or repairs a wrong address: what is not canonical is refused by its reason.
#![doc = include_str!("deviations.md")]
#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing, clippy::string_slice, clippy::unreachable)]

extern crate alloc;

mod actor_name;
mod actor_path;
mod comparator;
mod display;
mod encode_segment;
mod error;
mod error_kind;
mod formatter;
mod guardian_segments;
mod parser;
mod path_authority;
mod path_parts;
mod path_segment;
mod path_segments;
mod scan;
mod scheme;
mod system_name;
mod uid;
mod validator;

pub use actor_name::ActorName;
pub use actor_path::ActorPath;
pub use comparator::ActorPathComparator;
pub use encode_segment::encode_segment;
pub use error::ActorPathError;
pub use error_kind::ActorPathErrorKind;
pub use formatter::ActorPathFormatter;
pub use guardian_segments::GuardianSegments;
pub use parser::ActorPathParser;
pub use path_authority::PathAuthority;
pub use path_parts::ActorPathParts;
pub use path_segment::PathSegment;
pub use path_segments::PathSegments;
pub use scheme::ActorPathScheme;
pub use system_name::SystemName;
pub use uid::ActorUid;
pub use validator::ActorPathValidator;
