//! The members of an object, and the elements of an array.

use std::borrow::Cow;

use crate::{document::Node, string::unquoted, value::Json};

/// The members of an object, in order; those whose key has half a surrogate pair are left out.
#[derive(Debug)]
pub struct Members<'a>(pub(crate) Elements<'a>);

/// The elements of an array, in order.
#[derive(Debug)]
pub struct Elements<'a>(pub(crate) &'a [Node<'a>]);

impl<'a> Iterator for Members<'a> {
    type Item = (Cow<'a, str>, Json<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (key, value) = (self.0.next()?, self.0.next()?);
            if let Some(key) = unquoted(key.text()) {
                return Some((key, value));
            }
        }
    }
}

/// Keys and values of an object are elements like any.
impl<'a> Iterator for Elements<'a> {
    type Item = Json<'a>;

    fn next(&mut self) -> Option<Json<'a>> {
        let (element, rest) = self.0.split_at_checked(self.0.first()?.size)?;
        self.0 = rest;
        Some(Json(element))
    }
}
