//! Sequences of runs in which what repeats is kept once.
//!
//! A program in a loop goes through the same runs again and again. Cut where an iteration begins, a
//! run of a hundred million cycles is a few dozen distinct segments and the order in which they
//! follow each other. Where to cut is found from the sequence alone: at each run of some states,
//! the anchors, chosen so that on a sample least is kept.

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

/// Runs of a segment at most: where nothing repeats, a window is found without looking at all.
const LONGEST: usize = 1 << 16;
/// States that may be anchors, and how many are tried one by one.
const MOST_ANCHORS: usize = 8;
const CANDIDATES: usize = 64;
const SECOND_ROUND: usize = 16;
/// An anchor is worth it if it saves a tenth of what is kept without it.
const WORTH: (usize, usize) = (9, 10);

/// Numbers the distinct (state, cycles): most runs last one cycle, which needs no table of pairs.
#[derive(Default)]
struct Symbols {
    pairs: Vec<(u32, u64)>,
    single: Vec<u32>,
    longer: HashMap<(u32, u64), u32>,
}

const NONE: u32 = u32::MAX;

impl Symbols {
    fn of(&mut self, state: u32, cycles: u64) -> u32 {
        if cycles != 1 {
            return *self.longer.entry((state, cycles)).or_insert_with(|| {
                self.pairs.push((state, cycles));
                self.pairs.len() as u32 - 1
            });
        }
        let at = state as usize;
        if at >= self.single.len() {
            self.single.resize(at + 1, NONE);
        }
        if self.single[at] == NONE {
            self.single[at] = self.pairs.len() as u32;
            self.pairs.push((state, cycles));
        }
        self.single[at]
    }
}

fn folded(hash: u64, symbol: u32) -> u64 {
    (hash ^ u64::from(symbol)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
}

/// Runs given as two arrays of 64-bit integers of one length.
fn runs(py: Python, state: &PyBuffer<i64>, cycles: &PyBuffer<i64>) -> PyResult<Vec<(u32, u64)>> {
    let (state, cycles) = (state.to_vec(py)?, cycles.to_vec(py)?);
    if state.len() != cycles.len() {
        return Err(PyValueError::new_err("a run has one length and one state"));
    }
    let pairs = state.into_iter().zip(cycles).map(|(state, cycles)| {
        // The last number stands for none.
        let known = u32::try_from(state).ok().filter(|state| *state < NONE >> 1);
        let long = u64::try_from(cycles).ok().filter(|cycles| *cycles > 0);
        known.zip(long)
    });
    pairs
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| PyValueError::new_err("states are numbers from 0 on, runs last a cycle"))
}

/// What would be kept of samples that are cut at the runs of some states: runs and segments.
fn cost(samples: &[Vec<(u32, u32)>], is_anchor: &[bool]) -> usize {
    let mut seen = HashSet::new();
    let mut kept = 0;
    for sample in samples {
        let mut begun: Option<(u64, usize)> = None;
        for (place, (state, symbol)) in sample.iter().enumerate() {
            if is_anchor[*state as usize] {
                match begun {
                    None => kept += place,
                    Some((hash, first)) => {
                        kept += 1 + if seen.insert(hash) { place - first } else { 0 };
                    }
                }
                begun = Some((0, place));
            }
            if let Some((hash, _)) = &mut begun {
                *hash = folded(*hash, *symbol);
            }
        }
        // What is cut off at a sample's end is a part of something unknown.
        kept += sample.len() - begun.map_or(0, |(_, first)| first);
    }
    kept
}

/// The states at whose runs sequences like these are cut best; none if nothing repeats.
#[pyfunction]
pub fn segment_anchors(
    py: Python,
    samples: Vec<(PyBuffer<i64>, PyBuffer<i64>)>,
) -> PyResult<Vec<u32>> {
    let mut symbols = Symbols::default();
    let mut numbered = Vec::new();
    for (state, cycles) in &samples {
        let sample = runs(py, state, cycles)?;
        let of = |(state, cycles)| (state, symbols.of(state, cycles));
        numbered.push(sample.into_iter().map(of).collect::<Vec<_>>());
    }
    Ok(py.detach(|| anchors(&numbered)))
}

fn anchors(samples: &[Vec<(u32, u32)>]) -> Vec<u32> {
    let rows: usize = samples.iter().map(Vec::len).sum();
    let states = samples.iter().flatten().map(|(state, _)| *state as usize + 1).max().unwrap_or(0);
    let mut count = vec![0usize; states];
    for (state, _) in samples.iter().flatten() {
        count[*state as usize] += 1;
    }
    // What occurs equally often most likely occurs together: two of these are enough.
    let mut by_count: HashMap<usize, Vec<u32>> = HashMap::new();
    for (state, times) in count.iter().enumerate() {
        if *times >= 4 && *times <= rows / 3 {
            let same = by_count.entry(*times).or_default();
            if same.len() < 2 {
                same.push(state as u32);
            }
        }
    }
    let mut found: Vec<u32> = by_count.into_values().flatten().collect();
    found.sort_unstable_by_key(|state| (count[*state as usize], *state));
    let step = found.len().div_ceil(CANDIDATES).max(1);
    let mut candidates: Vec<u32> = found.into_iter().step_by(step).collect();
    let mut is_anchor = vec![false; states];
    let mut chosen = Vec::new();
    let mut least = rows;
    while chosen.len() < MOST_ANCHORS {
        let mut tried: Vec<(usize, u32)> = Vec::new();
        for state in &candidates {
            is_anchor[*state as usize] = true;
            tried.push((cost(samples, &is_anchor), *state));
            is_anchor[*state as usize] = false;
        }
        tried.sort_unstable();
        let Some((kept, state)) = tried.first().copied() else { break };
        if kept * WORTH.1 > least * WORTH.0 {
            break;
        }
        least = kept;
        is_anchor[state as usize] = true;
        chosen.push(state);
        let rest = tried.iter().skip(1).take(SECOND_ROUND).map(|(_, state)| *state);
        candidates = rest.collect();
    }
    chosen.sort_unstable();
    chosen
}

/// Takes runs in their order; gives the distinct segments, and which follows which.
#[pyclass]
pub struct Segmenter {
    is_anchor: Vec<bool>,
    symbols: Symbols,
    pool: Vec<u32>,
    /// Where each distinct segment begins in the pool.
    offset: Vec<usize>,
    order: Vec<u32>,
    /// Segments by hash; those of equal hash are chained.
    by_hash: HashMap<u64, u32>,
    next: Vec<u32>,
    hash: u64,
    /// The last run, to which the next may belong.
    last: Option<(u32, u64)>,
}

#[pymethods]
impl Segmenter {
    #[new]
    fn new(anchors: Vec<u32>) -> Self {
        let states = anchors.iter().max().map_or(0, |last| *last as usize + 1);
        let mut is_anchor = vec![false; states];
        for state in anchors {
            is_anchor[state as usize] = true;
        }
        Segmenter {
            is_anchor,
            symbols: Symbols::default(),
            pool: Vec::new(),
            offset: vec![0],
            order: Vec::new(),
            by_hash: HashMap::new(),
            next: Vec::new(),
            hash: 0,
            last: None,
        }
    }

    /// Neighbours of one state are one run.
    fn add(&mut self, py: Python, state: PyBuffer<i64>, cycles: PyBuffer<i64>) -> PyResult<()> {
        let given = runs(py, &state, &cycles)?;
        py.detach(|| {
            for (state, cycles) in given {
                match &mut self.last {
                    Some((before, sum)) if *before == state => *sum += cycles,
                    _ => {
                        let run = self.last.replace((state, cycles));
                        self.push(run);
                    }
                }
            }
        });
        Ok(())
    }

    /// Columns (bytes of an integer, integers): order, offsets, cycles and states of all segments.
    fn finish<'py>(&mut self, py: Python<'py>) -> Vec<(usize, Bound<'py, PyBytes>)> {
        let run = self.last.take();
        self.push(run);
        if self.pool.len() > self.begin() {
            self.close();
        }
        let pairs = &self.symbols.pairs;
        let wide = |of: fn(&(u32, u64)) -> u64| width(pairs.iter().map(of).max().unwrap_or(0));
        let (cycles, state) = (wide(|pair| pair.1), wide(|pair| u64::from(pair.0)));
        let largest = self.offset.last().copied().unwrap_or(0) as u64;
        let segments = self.offset.len() as u64 - 1;
        let symbols = || self.pool.iter().map(|symbol| pairs[*symbol as usize]);
        vec![
            narrow(py, width(segments), self.order.iter().map(|n| u64::from(*n))),
            narrow(py, width(largest), self.offset.iter().map(|n| *n as u64)),
            narrow(py, cycles, symbols().map(|pair| pair.1)),
            narrow(py, state, symbols().map(|pair| u64::from(pair.0))),
        ]
    }
}

impl Segmenter {
    fn begin(&self) -> usize {
        self.offset[self.offset.len() - 1]
    }

    fn push(&mut self, run: Option<(u32, u64)>) {
        let Some((state, cycles)) = run else { return };
        let long = self.pool.len() - self.begin();
        let starts = self.is_anchor.get(state as usize).copied().unwrap_or(false);
        if long > 0 && (starts || long == LONGEST) {
            self.close();
        }
        let symbol = self.symbols.of(state, cycles);
        self.hash = folded(self.hash, symbol);
        self.pool.push(symbol);
    }

    /// The segment at the pool's end is whole: a new one, or one that is known.
    fn close(&mut self) {
        let begin = self.begin();
        let hash = std::mem::take(&mut self.hash);
        let number = self.offset.len() as u32 - 1;
        let known = match self.by_hash.entry(hash) {
            Entry::Vacant(free) => {
                free.insert(number);
                NONE
            }
            Entry::Occupied(first) => {
                let mut at = *first.get();
                let mut end = at;
                while at != NONE && !same(&self.pool, &self.offset, at as usize, begin) {
                    end = at;
                    at = self.next[at as usize];
                }
                if at == NONE {
                    self.next[end as usize] = number;
                }
                at
            }
        };
        if known == NONE {
            self.next.push(NONE);
            self.offset.push(self.pool.len());
            self.order.push(number);
        } else {
            self.pool.truncate(begin);
            self.order.push(known);
        }
    }
}

fn same(pool: &[u32], offset: &[usize], segment: usize, begin: usize) -> bool {
    pool[offset[segment]..offset[segment + 1]] == pool[begin..]
}

/// Bytes of the narrowest unsigned integer that can represent a number.
fn width(largest: u64) -> usize {
    match largest {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xffff_ffff => 4,
        _ => 8,
    }
}

fn narrow(
    py: Python<'_>,
    width: usize,
    values: impl ExactSizeIterator<Item = u64>,
) -> (usize, Bound<'_, PyBytes>) {
    let mut bytes = Vec::with_capacity(values.len() * width);
    for value in values {
        bytes.extend_from_slice(&value.to_le_bytes()[..width]);
    }
    (width, PyBytes::new(py, &bytes))
}
