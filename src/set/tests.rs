use super::*;

#[test]
fn values_are_sorted_and_unique() {
    let set: SortedSet<i32> = [3, 1, 3, 2, 1].into_iter().collect();
    assert_eq!(set.iter().copied().collect::<Vec<_>>(), [1, 2, 3]);
    assert!(set.contains(&2) && !set.contains(&4) && !set.is_empty());
}

#[test]
fn a_map_finds_what_was_put_in_first() {
    let mut map = SortedMap::default();
    for (key, value) in [("b", 1), ("a", 2), ("b", 3)] {
        map.insert(key.to_owned(), value);
    }
    assert_eq!(
        (map.get("a"), map.get("b"), map.get("c")),
        (Some(&2), Some(&1), None)
    );
}
