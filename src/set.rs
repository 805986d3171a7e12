//! Sorted sets and maps in a vector: mostly a handful of values, for which a tree would be mostly code.

/// A set of values, sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortedSet<T>(Vec<T>);

impl<T> Default for SortedSet<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Ord> SortedSet<T> {
    /// Adds `value`, unless it is there.
    pub fn insert(&mut self, value: T) {
        if let Err(position) = self.0.binary_search(&value) {
            self.0.insert(position, value);
        }
    }

    /// Whether `value` is there.
    pub fn contains(&self, value: &T) -> bool {
        self.0.binary_search(value).is_ok()
    }

    /// Keeps the values for which `keep` holds.
    pub fn retain(&mut self, keep: impl FnMut(&T) -> bool) {
        self.0.retain(keep);
    }
}

impl<T> SortedSet<T> {
    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The values, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.0.iter()
    }
}

impl<T: Ord> FromIterator<T> for SortedSet<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut set = Self::default();
        for value in values {
            set.insert(value);
        }
        set
    }
}

impl<'s, T> IntoIterator for &'s SortedSet<T> {
    type Item = &'s T;
    type IntoIter = std::slice::Iter<'s, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Values by a text, sorted by it.
#[derive(Debug)]
pub struct SortedMap<V>(Vec<(String, V)>);

impl<V> Default for SortedMap<V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<V> SortedMap<V> {
    fn position(&self, key: &str) -> Result<usize, usize> {
        self.0
            .binary_search_by(|(known, _)| known.as_str().cmp(key))
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&V> {
        let position = self.position(key).ok()?;
        self.0.get(position).map(|(_, value)| value)
    }

    /// Sets the value of `key`, unless it has one.
    pub fn insert(&mut self, key: String, value: V) {
        if let Err(position) = self.position(&key) {
            self.0.insert(position, (key, value));
        }
    }
}

#[cfg(test)]
mod tests;
