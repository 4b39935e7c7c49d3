//! Unique names of columns.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Makes names unique like pandas: an empty name becomes `Unnamed: 3`, a second `a` becomes `a.1`. Given names have priority over
/// generated ones.
pub(super) fn unique(given: &[&str]) -> Vec<Arc<str>> {
    let mut names: Vec<String> = (given.iter().enumerate())
        .map(|(column, name)| match *name {
            "" => format!("Unnamed: {column}"),
            name => name.to_owned(),
        })
        .collect();
    let mut taken: HashSet<String> = names.iter().cloned().collect();
    let mut times: HashMap<String, usize> = HashMap::new();
    let is_given = |column: &usize| given.get(*column).is_some_and(|name| !name.is_empty());
    let (first, last): (Vec<usize>, Vec<usize>) = (0..names.len()).partition(is_given);
    for column in first.into_iter().chain(last) {
        let Some(place) = names.get_mut(column) else {
            continue;
        };
        let old = place.clone();
        let mut name = old.clone();
        let mut count = times.get(&old).copied().unwrap_or(0);
        while count > 0 {
            times.insert(old.clone(), count + 1);
            name = format!("{old}.{count}");
            count = if taken.contains(&name) {
                count + 1
            } else {
                times.get(&name).copied().unwrap_or(0)
            };
        }
        taken.insert(name.clone());
        times.insert(name.clone(), 1);
        *place = name;
    }
    names.into_iter().map(Arc::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn column_names_equal_those_of_pandas() {
        for (given, expected) in [
            ("a,a,a.1", "a,a.2,a.1"),
            ("a,,a,b,a.1,a", "a,Unnamed: 1,a.2,b,a.1,a.3"),
            ("a,a.1,a,a.1,a.1.1", "a,a.1,a.2,a.1.2,a.1.1"),
            (",Unnamed: 0", "Unnamed: 0.1,Unnamed: 0"),
        ] {
            let given: Vec<&str> = given.split(',').collect();
            assert_eq!(unique(&given).join(","), expected);
        }
    }
}
