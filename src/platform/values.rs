//! Sets of the values that a label of nodes has.

use std::{fmt, marker::PhantomData};

/// A label whose values are known.
pub trait Known: Copy + Ord + fmt::Display {
    /// How many values there are.
    const COUNT: u8;
    /// The value with this number.
    fn numbered(number: u8) -> Self;
    /// Its number.
    fn number(self) -> u8;
    /// The value that a label has.
    fn of_label(value: &str) -> Option<Self>;
}

/// A set of the values of a label that nodes have: architectures or operating systems.
///
/// `others` are the values that no table knows: a Pod may name one, and a node may have it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Values<T> {
    bits: u32,
    others: bool,
    of: PhantomData<T>,
}

impl<T: Known> Values<T> {
    /// Every value there can be, known or not.
    pub fn all() -> Self {
        let known = 1_u32.checked_shl(T::COUNT.into()).unwrap_or_default();
        Self {
            bits: known.wrapping_sub(1),
            others: true,
            ..Self::none()
        }
    }

    /// No value.
    pub fn none() -> Self {
        Self {
            bits: 0,
            others: false,
            of: PhantomData,
        }
    }

    /// The values that are written as these labels.
    pub fn of_labels<'l>(labels: impl Iterator<Item = &'l str>) -> Self {
        let mut values = Self::none();
        for label in labels {
            match T::of_label(label) {
                Some(value) => values.insert(value),
                None => values.others = true,
            }
        }
        values
    }

    /// The values that aren't in this set. Those that no table knows stay possible: nobody can tell them apart.
    pub fn complement(self) -> Self {
        let all = Self::all();
        Self {
            bits: all.bits & !self.bits,
            ..all
        }
    }

    /// Adds a value.
    pub fn insert(&mut self, value: T) {
        self.bits |= 1 << value.number();
    }

    /// Whether `value` is in the set.
    pub fn contains(self, value: T) -> bool {
        self.bits >> value.number() & 1 == 1
    }

    /// The values that are in both sets.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            bits: self.bits & other.bits,
            others: self.others && other.others,
            ..self
        }
    }

    /// The values that are in one of the sets.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            bits: self.bits | other.bits,
            others: self.others || other.others,
            ..self
        }
    }

    /// The known values that aren't in `other`.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self {
            bits: self.bits & !other.bits,
            others: false,
            ..self
        }
    }

    /// Whether every value is in `other`.
    pub fn is_within(self, other: Self) -> bool {
        self.bits & !other.bits == 0 && (!self.others || other.others)
    }

    /// Whether no known value is in the set.
    pub fn is_empty(self) -> bool {
        self.bits == 0
    }

    /// The known values, sorted.
    pub fn iter(self) -> impl Iterator<Item = T> {
        (0..T::COUNT)
            .map(T::numbered)
            .filter(move |value| self.contains(*value))
    }
}

impl<T: Known> FromIterator<T> for Values<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut set = Self::none();
        for value in values {
            set.insert(value);
        }
        set
    }
}

impl<T: Known> fmt::Debug for Values<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for value in self.iter() {
            write!(formatter, "{value} ")?;
        }
        formatter.write_str(if self.others { "…" } else { "" })
    }
}
