//! Loading without workers: the main thread fetches, pins and trains in sequence.

use super::Player;

impl Player<'_> {
    pub(super) fn run_single(&mut self) {
        let way = self.way;
        self.cores.pass(way.begin);
        for (at, task) in self.load.tasks.iter().enumerate() {
            self.wait_began = self.cores.now;
            let pin = if way.pins && !task.fails {
                task.pin
            } else {
                0.0
            };
            let made = self.cores.now + way.pull + task.alone + pin + way.give;
            self.cores.pass(made);
            self.played.waited += made - self.wait_began;
            if task.fails {
                if way.stops_at_errors {
                    self.played.stopped = true;
                    return;
                }
                continue;
            }
            self.note_yielded(at, task.samples);
            self.cores.pass(self.cores.now + self.last_step().alone);
        }
        self.played.waited += way.finish;
        self.cores.pass(self.cores.now + way.finish);
    }
}
