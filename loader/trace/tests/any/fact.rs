//! Random facts.

use loadscope_trace::{Difference, Fact, Misfit, Sent, SentAttribute, StartMethod, ThreadPool};
use proptest::prelude::*;
use proptest::sample::select;

use super::value::{batch, number, text, time, worker};

fn sent() -> impl Strategy<Value = Fact> {
    let attribute = (text(), any::<u64>()).prop_map(|(name, bytes)| SentAttribute { name, bytes });
    let numbers = (number(), any::<u64>(), time(), time());
    let method = select(StartMethod::ALL.to_vec());
    (numbers, method, prop::option::of(attribute)).prop_map(
        |((workers, bytes, took, pickling), method, attribute)| {
            Fact::Sent(Sent {
                workers,
                method,
                bytes,
                took,
                pickling,
                attribute,
            })
        },
    )
}

pub(super) fn fact() -> impl Strategy<Value = Fact> {
    let by = select(vec![
        Difference::Shape,
        Difference::Length,
        Difference::Keys,
        Difference::Type,
    ]);
    let values = (text(), text(), text());
    let misfit = (batch(), 0..4u32, by, values, number());
    prop_oneof![
        any::<u32>().prop_map(|workers| Fact::EarlierWorkers { workers }),
        any::<u64>().prop_map(|batches| Fact::Length { batches }),
        worker().prop_map(|worker| Fact::UndividedStream { worker }),
        prop::collection::vec(text(), 0..3)
            .prop_map(|attributes| Fact::DatasetChanged { attributes }),
        prop::collection::vec(select(vec![ThreadPool::OpenMp, ThreadPool::OpenBlas]), 0..3)
            .prop_map(|libraries| Fact::ThreadPools { libraries }),
        (text(), text()).prop_map(|(file_system, folder)| Fact::Storage {
            file_system,
            folder
        }),
        (text(), text()).prop_map(|(file, text)| Fact::Source { file, text }),
        sent(),
        (text(), number(), prop::collection::vec(worker(), 0..3)).prop_map(
            |(file, descriptor, workers)| Fact::SharedFile {
                file,
                descriptor,
                workers
            }
        ),
        (text(), any::<u64>())
            .prop_map(|(attribute, objects)| Fact::Objects { attribute, objects }),
        (batch(), 0..4u32, text()).prop_map(|(of, position, file)| Fact::File {
            of,
            position,
            file
        }),
        misfit.prop_map(|(of, position, by, (field, got, usual), alike)| {
            Fact::Misfit(Misfit {
                of,
                position,
                field,
                by,
                got,
                usual,
                alike,
            })
        }),
    ]
}
