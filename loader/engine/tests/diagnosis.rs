//! The diagnosis of runs whose causes are known, because they were put there.

mod diagnosis {
    mod confusion;
    mod experiment;
    mod notes;
    mod proof;
    mod scenario;
    mod spoil;
}
