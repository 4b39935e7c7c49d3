//! Loading without workers: the main process fetches, pins and trains in sequence.

use super::EpochSimulation;

impl EpochSimulation<'_> {
    pub(super) fn run_single(&mut self) {
        let parameters = self.parameters;
        self.cores.pass(parameters.begin);
        for (at, task) in self.load.tasks.iter().enumerate() {
            self.wait_began = self.cores.now;
            let pin = if parameters.pins && !task.fails {
                task.pin
            } else {
                0.0
            };
            let made = self.cores.now + parameters.pull + task.alone + pin + parameters.give;
            self.cores.pass(made);
            self.result.waited += made - self.wait_began;
            if task.fails {
                if parameters.stops_at_errors {
                    self.result.stopped = true;
                    return;
                }
                continue;
            }
            self.note_yielded(at, task.samples);
            self.cores.pass(self.cores.now + self.last_step().alone);
        }
        self.result.waited += parameters.finish;
        self.cores.pass(self.cores.now + parameters.finish);
    }
}
