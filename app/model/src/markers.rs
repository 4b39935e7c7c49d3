//! Markers: instants of a run that the user wants to find again. They belong to one run and are set aside with it.

use loadscope_trace::Nanos;

/// An instant with a number and an optional name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// Permanent number, counted from 1.
    pub number: u32,
    /// Instant of the marker on the run's time axis.
    pub at: Nanos,
    /// Name. If it is empty, the number is shown.
    pub name: String,
}

impl Marker {
    /// Returns the name, or the number if there is no name.
    pub fn label(&self) -> String {
        match self.name.trim() {
            "" => self.number.to_string(),
            name => name.to_owned(),
        }
    }
}

/// A change to the markers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MarkerEdit {
    /// Add a marker at this instant.
    Add(Nanos),
    /// Move the marker with this number to this instant.
    Move(u32, Nanos),
    /// Rename the marker with this number.
    Rename(u32, String),
    /// Remove the marker with this number.
    Remove(u32),
    /// Remove all markers.
    Clear,
}

/// All markers of a run, ordered by time. No two have the same instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Markers {
    list: Vec<Marker>,
    /// Number of markers ever added.
    numbered: u32,
}

impl Markers {
    /// Returns all markers, ordered by time.
    pub fn all(&self) -> &[Marker] {
        &self.list
    }

    /// Returns the marker with this number.
    pub fn get(&self, number: u32) -> Option<&Marker> {
        self.list.iter().find(|m| m.number == number)
    }

    /// Returns the marker at exactly this instant.
    pub fn at(&self, at: Nanos) -> Option<&Marker> {
        let place = self.list.binary_search_by_key(&at, |m| m.at).ok()?;
        self.list.get(place)
    }

    /// Returns the first marker after `at`.
    pub fn after(&self, at: Nanos) -> Option<&Marker> {
        self.list.get(self.list.partition_point(|m| m.at <= at))
    }

    /// Returns the last marker before `at`.
    pub fn before(&self, at: Nanos) -> Option<&Marker> {
        let place = self.list.partition_point(|m| m.at < at);
        self.list.get(place.checked_sub(1)?)
    }

    /// Adds a marker at `at`, or removes the existing one.
    pub fn toggle(&mut self, at: Nanos) {
        let there = self.at(at).map(|m| m.number);
        self.apply(match there {
            Some(number) => MarkerEdit::Remove(number),
            None => MarkerEdit::Add(at),
        });
    }

    /// Applies a change.
    pub fn apply(&mut self, mark: MarkerEdit) {
        match mark {
            MarkerEdit::Add(at) => {
                if self.at(at).is_none() {
                    self.numbered += 1;
                    self.insert(Marker {
                        number: self.numbered,
                        at,
                        name: String::new(),
                    });
                }
            }
            MarkerEdit::Move(number, at) => {
                if self.at(at).is_none()
                    && let Some(marker) = self.take(number)
                {
                    self.insert(Marker { at, ..marker });
                }
            }
            MarkerEdit::Rename(number, name) => {
                if let Some(marker) = self.list.iter_mut().find(|m| m.number == number) {
                    // The name is not trimmed, because a space may precede the next word.
                    marker.name = name;
                }
            }
            MarkerEdit::Remove(number) => drop(self.take(number)),
            MarkerEdit::Clear => self.list.clear(),
        }
    }

    fn take(&mut self, number: u32) -> Option<Marker> {
        let place = self.list.iter().position(|m| m.number == number)?;
        Some(self.list.remove(place))
    }

    fn insert(&mut self, marker: Marker) {
        let place = self.list.partition_point(|m| m.at < marker.at);
        self.list.insert(place, marker);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_mark() -> impl Strategy<Value = MarkerEdit> {
        let at = || (-5..20i64).prop_map(Nanos);
        prop_oneof![
            at().prop_map(MarkerEdit::Add),
            (0..9u32, at()).prop_map(|(n, at)| MarkerEdit::Move(n, at)),
            (0..9u32, "[ a-c]{0,3}").prop_map(|(n, name)| MarkerEdit::Rename(n, name)),
            (0..9u32).prop_map(MarkerEdit::Remove),
            Just(MarkerEdit::Clear),
        ]
    }

    proptest! {
        #[test]
        fn markers_stay_sorted_at_distinct_times(marks in prop::collection::vec(any_mark(), 0..40)) {
            let mut markers = Markers::default();
            for mark in marks {
                markers.apply(mark);
                prop_assert!(markers.all().is_sorted_by(|a, b| a.at < b.at));
                for m in markers.all() {
                    prop_assert_eq!(markers.get(m.number), Some(m));
                    prop_assert_eq!(markers.at(m.at), Some(m));
                    prop_assert!(markers.after(m.at).is_none_or(|after| after.at > m.at));
                    prop_assert!(markers.before(m.at).is_none_or(|before| before.at < m.at));
                }
            }
        }
    }

    #[test]
    fn a_marker_label_is_its_name_or_its_number() {
        let mut markers = Markers::default();
        markers.toggle(Nanos(30));
        markers.toggle(Nanos(10));
        assert_eq!(
            markers.at(Nanos(10)).map(Marker::label).as_deref(),
            Some("2")
        );
        markers.apply(MarkerEdit::Rename(2, " slow disk ".to_owned()));
        assert_eq!(
            markers.get(2).map(Marker::label).as_deref(),
            Some("slow disk")
        );
        markers.toggle(Nanos(10));
        assert_eq!(markers.all().len(), 1);
        markers.apply(MarkerEdit::Add(Nanos(50)));
        assert_eq!(markers.after(Nanos(30)).map(|m| m.number), Some(3));
    }
}
