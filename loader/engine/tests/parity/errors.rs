use super::sampler_ctor;
use super::verdict::{Case, Verdict};

pub fn check(case: &Case<'_>) -> Verdict {
    if case.op == "sampler_ctor" {
        return sampler_ctor::check(case);
    }
    Verdict::fail("a check of this case", case.op)
}
