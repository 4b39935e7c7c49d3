use super::verdict::{Case, Verdict};

pub fn check(case: &Case<'_>) -> Verdict {
    Verdict::fail("a check of this case", case.op)
}
