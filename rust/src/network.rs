//! The timing of a process network in hardware: cycles and channels, without values.
//!
//! Depths are found by trying them, in thousands of runs. A firing is an event here, and a cycle in
//! which nothing moves costs nothing. The rules are those of the Verilog of a process and of a
//! channel; tests compare both.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::mem::take;

use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;

/// An array of integers as Python has it.
type Integers = PyBuffer<i64>;

/// A process.
struct Station {
    firings: usize,
    /// Cycles from the begin of a firing to that of the next, at least.
    interval: u64,
    /// Cycles from the begin of a firing to its write, if nothing is full.
    stages: u64,
    /// Of each operand the channel that each firing reads it from; negative: none.
    operands: Vec<Vec<i64>>,
    outputs: Vec<usize>,
}

/// A channel.
struct Channel {
    producer: usize,
    consumer: usize,
    reordered: bool,
    /// The token that each read takes.
    reads: Vec<usize>,
    /// How many tokens are given up after each read.
    given: Vec<usize>,
    /// The producer's firings that send one.
    sends: Vec<usize>,
}

/// A process in a run.
#[derive(Default)]
struct Process {
    begun: usize,
    written: usize,
    /// The cycle from which the next firing may begin.
    free: u64,
    /// The firings between begin and write: the cycle of the write, had the process never stopped.
    due: VecDeque<u64>,
    /// For how many cycles the process has stopped.
    stopped: u64,
    /// Since when it stops: a channel that it writes to is full.
    since: Option<u64>,
    /// The last cycle in which it was looked at.
    seen: Option<u64>,
}

/// A channel in a run.
#[derive(Clone, Default)]
struct Buffer {
    pushed: usize,
    read: usize,
    given: usize,
    /// The token that a reordering buffer's read unit has fetched.
    fetched: bool,
    most: usize,
    /// In this cycle.
    push: bool,
    pop: bool,
}

/// The processes and channels of a network.
#[pyclass(frozen)]
pub struct NetworkTiming {
    stations: Vec<Station>,
    channels: Vec<Channel>,
}

fn places(py: Python<'_>, array: &Integers) -> PyResult<Vec<usize>> {
    array.to_vec(py)?.into_iter().map(|place| Ok(usize::try_from(place)?)).collect()
}

#[pymethods]
impl NetworkTiming {
    /// Of stations (firings, interval, stages, channels of each operand's reads), of channels
    /// (producer, consumer, whether it is a reordering buffer, reads, given up, sends).
    #[new]
    #[allow(clippy::type_complexity)]
    fn new(
        py: Python<'_>,
        stations: Vec<(usize, u64, u64, Vec<Integers>)>,
        channels: Vec<(usize, usize, bool, Integers, Integers, Integers)>,
    ) -> PyResult<Self> {
        let mut stations = stations
            .into_iter()
            .map(|(firings, interval, stages, operands)| {
                let operands = operands.iter().map(|one| one.to_vec(py));
                let operands = operands.collect::<PyResult<Vec<_>>>()?;
                Ok(Station { firings, interval, stages, operands, outputs: Vec::new() })
            })
            .collect::<PyResult<Vec<_>>>()?;
        let channels = channels
            .iter()
            .map(|(producer, consumer, reordered, reads, given, sends)| {
                Ok(Channel {
                    producer: *producer,
                    consumer: *consumer,
                    reordered: *reordered,
                    reads: places(py, reads)?,
                    given: places(py, given)?,
                    sends: places(py, sends)?,
                })
            })
            .collect::<PyResult<Vec<_>>>()?;
        for (number, channel) in channels.iter().enumerate() {
            stations[channel.producer].outputs.push(number);
        }
        Ok(NetworkTiming { stations, channels })
    }

    /// Run with these depths: (cycles, None for a deadlock or more than `limit`; the most tokens
    /// that each channel had).
    #[pyo3(signature = (depths, limit))]
    fn run(
        &self,
        py: Python<'_>,
        depths: Vec<usize>,
        limit: Option<u64>,
    ) -> (Option<u64>, Vec<usize>) {
        py.detach(|| {
            let mut run = Run::new(self, &depths);
            let cycles = run.to_end(limit.unwrap_or(u64::MAX));
            (cycles, run.buffers.iter().map(|buffer| buffer.most).collect())
        })
    }
}

struct Run<'a> {
    network: &'a NetworkTiming,
    depths: &'a [usize],
    processes: Vec<Process>,
    buffers: Vec<Buffer>,
    /// When to look at which process.
    agenda: BinaryHeap<Reverse<(u64, usize)>>,
    /// The channels that something happens to in this cycle.
    moving: Vec<usize>,
}

impl<'a> Run<'a> {
    fn new(network: &'a NetworkTiming, depths: &'a [usize]) -> Self {
        Run {
            network,
            depths,
            processes: network.stations.iter().map(|_| Process::default()).collect(),
            buffers: vec![Buffer::default(); network.channels.len()],
            agenda: (0..network.stations.len()).map(|number| Reverse((0, number))).collect(),
            moving: Vec::new(),
        }
    }

    fn to_end(&mut self, limit: u64) -> Option<u64> {
        let mut left: usize = self.network.stations.iter().map(|station| station.firings).sum();
        let mut cycles = 0;
        while let Some(&Reverse((now, _))) = self.agenda.peek() {
            if now >= limit {
                return None;
            }
            while let Some(&Reverse((time, number))) = self.agenda.peek() {
                if time > now {
                    break;
                }
                self.agenda.pop();
                if self.processes[number].seen.replace(now) != Some(now) && self.step(number, now) {
                    left -= 1;
                    cycles = now + 1;
                }
            }
            self.channels(now);
        }
        (left == 0).then_some(cycles)
    }

    /// What a process does in a cycle, from what its channels had at its begin; whether it writes.
    fn step(&mut self, number: usize, now: u64) -> bool {
        let (network, station) = (self.network, &self.network.stations[number]);
        let process = &mut self.processes[number];
        let stopped = process.stopped + process.since.map_or(0, |since| now - since);
        let writes = process.due.front().is_some_and(|due| due + stopped <= now);
        if writes {
            let goes = |output: &&usize| {
                let sends = &network.channels[**output].sends;
                sends.get(self.buffers[**output].pushed) == Some(&process.written)
            };
            let is_full = |output: &usize| {
                let buffer = &self.buffers[*output];
                buffer.pushed - buffer.given >= self.depths[*output]
            };
            if station.outputs.iter().filter(goes).any(is_full) {
                process.since.get_or_insert(now);
                return false;
            }
            let before = self.moving.len();
            self.moving.extend(station.outputs.iter().filter(goes));
            for output in &self.moving[before..] {
                self.buffers[*output].push = true;
            }
            process.since = None;
            process.stopped = stopped;
            process.written += 1;
            process.due.pop_front();
            if let Some(due) = process.due.front() {
                self.agenda.push(Reverse((due + stopped, number)));
            }
        }
        let firing = process.begun;
        if firing == station.firings || now < process.free {
            return writes;
        }
        let read = |operand: &Vec<i64>| usize::try_from(operand[firing]).ok();
        let is_there = |input: usize| {
            let (channel, buffer) = (&network.channels[input], &self.buffers[input]);
            if channel.reordered {
                buffer.fetched
            } else {
                channel.reads[buffer.read] < buffer.pushed
            }
        };
        // What is pushed in this cycle is no token yet: `channels` counts it.
        if station.operands.iter().filter_map(read).all(is_there) {
            for input in station.operands.iter().filter_map(read) {
                self.buffers[input].pop = true;
                self.moving.push(input);
            }
            if process.due.is_empty() {
                self.agenda.push(Reverse((now + station.stages, number)));
            }
            process.due.push_back(now + station.stages - process.stopped);
            process.begun += 1;
            process.free = now + station.interval.max(1);
            if process.begun < station.firings {
                self.agenda.push(Reverse((process.free, number)));
            }
        }
        writes
    }

    /// The end of a cycle: what was pushed and taken.
    fn channels(&mut self, now: u64) {
        for number in take(&mut self.moving) {
            let (channel, buffer) = (&self.network.channels[number], &mut self.buffers[number]);
            let (push, pop) = (take(&mut buffer.push), take(&mut buffer.pop));
            if !push && !pop {
                continue; // It was in the list twice.
            }
            let given = buffer.given;
            let reads = if channel.reordered {
                // The token that the read unit waits for it takes as it comes.
                let there = buffer.pushed + usize::from(push);
                let next = channel.reads.get(buffer.read).is_some_and(|token| *token < there);
                let moves = next && (!buffer.fetched || pop);
                buffer.fetched = moves || (buffer.fetched && !pop);
                moves
            } else {
                pop
            };
            if reads {
                buffer.given = channel.given[buffer.read];
                buffer.read += 1;
            }
            buffer.pushed += usize::from(push);
            buffer.most = buffer.most.max(buffer.pushed - buffer.given);
            let (producer, consumer) =
                (&self.processes[channel.producer], &self.processes[channel.consumer]);
            if consumer.begun < self.network.stations[channel.consumer].firings
                && consumer.free <= now + 1
            {
                self.agenda.push(Reverse((now + 1, channel.consumer)));
            }
            if buffer.given > given && producer.since.is_some() {
                self.agenda.push(Reverse((now + 1, channel.producer)));
            }
        }
    }
}
