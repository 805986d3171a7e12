//! The images of a Pod: which ones take part, and what each runs on.

mod budget;
mod failure;
mod images;
mod lookup;
mod manifest;
mod reference;

pub use failure::LookupFailure;
pub use images::{Image, images_of};
pub use lookup::{ImageSupport, Lookups, PodTraits};
pub use reference::Reference;
