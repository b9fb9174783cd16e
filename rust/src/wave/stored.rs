//! FST and GHW, by the crate wellen. It may panic, hang or ask for all memory on a damaged file:
//! whoever calls this does so in a process that can be stopped.

use super::{bit, Changes};
use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use wellen::stream::{self, Filter, StreamError};
use wellen::{
    viewers, BitVecRef, FileFormat, Hierarchy, LoadOptions, ScopeRef, ScopeType, SignalEncoding,
    SignalRef, SignalValueRef, Time,
};

const OPTIONS: LoadOptions =
    LoadOptions { multi_thread: false, remove_scopes_with_empty_name: false };

/// A declared variable: its scope by place, its name, its kind, its bits, the signal that it
/// shows, the enumeration by place that names its values.
pub type Variable = (usize, String, &'static str, u32, usize, Option<usize>);

/// What a file declares.
pub struct Declared {
    /// A unit of time: so many of 10^exponent seconds.
    pub unit: Option<(u32, i8)>,
    /// The names of the scopes around and of the scope itself.
    pub scopes: Vec<Vec<String>>,
    pub variables: Vec<Variable>,
    /// Bits of a value and its name.
    pub enumerations: Vec<Vec<(String, String)>>,
}

fn open(path: &Path) -> wellen::Result<viewers::HeaderResult<BufReader<File>>> {
    viewers::read_header_from_file(path, &OPTIONS)
}

/// Read what is declared; fails beyond so many variables.
pub fn declared(path: &Path, limit: usize) -> Result<Declared, String> {
    let hierarchy = open(path).map_err(|error| told(&error))?.hierarchy;
    let unit = hierarchy.timescale().and_then(|t| Some((t.factor, t.unit.to_exponent()?)));
    let mut all = Declared { unit, scopes: vec![vec![]], variables: vec![], enumerations: vec![] };
    let mut enumerations = HashMap::new();
    let mut waiting: Vec<(ScopeRef, Vec<String>)> = vec![];
    let mut scope: Option<ScopeRef> = None;
    let mut names: Vec<String> = vec![];
    loop {
        let variables: Vec<_> = match scope {
            Some(scope) => hierarchy[scope].vars(&hierarchy).collect(),
            None => hierarchy.vars().collect(),
        };
        let inner: Vec<_> = match scope {
            Some(scope) => hierarchy[scope].scopes(&hierarchy).collect(),
            None => hierarchy.scopes().collect(),
        };
        let place = all.scopes.len();
        all.scopes.push(names.clone());
        // An element of an array is named after it, as in the source: wellen makes it a scope.
        let array = scope.is_some_and(|s| hierarchy[s].scope_type() == ScopeType::VhdlArray);
        let mut outside = None;
        for variable in variables {
            let variable = &hierarchy[variable];
            let (mut own, mut name) = (place, variable.name(&hierarchy).to_string());
            if array && name.starts_with('[') {
                let mut around = names.clone();
                while name.starts_with('[') {
                    let Some(last) = around.pop() else { break };
                    name.insert_str(0, &last);
                }
                // A range is no place in an array, but that of the characters of a string.
                if let Some((plain, range)) = name.rsplit_once('[') {
                    if range.contains(':') {
                        name = plain.to_string();
                    }
                }
                own = *outside.get_or_insert_with(|| {
                    all.scopes.push(around);
                    all.scopes.len() - 1
                });
            }
            let (kind, width) = match variable.signal_encoding(&hierarchy) {
                SignalEncoding::String => ("string", 0),
                SignalEncoding::Real => ("real", 64),
                SignalEncoding::BitVector(0) => ("event", 0),
                SignalEncoding::BitVector(width) => ("bits", width),
            };
            let enumeration = variable.enum_type(&hierarchy).map(|(name, values)| {
                *enumerations.entry((name.to_string(), values.len())).or_insert_with(|| {
                    let owned = |(a, b): &(&str, &str)| (a.to_string(), b.to_string());
                    all.enumerations.push(values.iter().map(owned).collect());
                    all.enumerations.len() - 1
                })
            });
            let signal = variable.signal_ref().index();
            all.variables.push((own, name, kind, width, signal, enumeration));
            if all.variables.len() > limit {
                return Err(format!("it declares more than {limit} variables"));
            }
        }
        for scope in inner.into_iter().rev() {
            let mut below = names.clone();
            below.push(hierarchy[scope].name(&hierarchy).to_string());
            waiting.push((scope, below));
        }
        match waiting.pop() {
            Some((next, below)) => (scope, names) = (Some(next), below),
            None => return Ok(all),
        }
    }
}

/// The changes of some signals; fails beyond so many changes or texts.
pub fn changes(
    path: &Path,
    wanted: &[usize],
    limit: usize,
    texts: usize,
) -> Result<Changes, String> {
    let head = open(path).map_err(|error| told(&error))?;
    let mut refs = vec![];
    let mut place = HashMap::new();
    for (number, index) in wanted.iter().enumerate() {
        let signal = SignalRef::from_index(*index).ok_or("a signal has no number")?;
        refs.push(signal);
        place.insert(signal, number as i32);
    }
    let mut taker = Taker { changes: Changes::default(), place, limit, texts };
    if head.file_format == FileFormat::Ghw {
        loaded(head, &refs, &mut taker)?;
    } else if !refs.is_empty() {
        let mut wave = stream::StreamingWaveform::from(head);
        let take = |time, signal, value: SignalValueRef| taker.take(time, signal, value);
        wave.stream_changes(Filter::include_signals(&refs), take).map_err(|error| match error {
            StreamError::Wellen(error) => told(&error),
            StreamError::Callback(why) => why,
        })?;
    }
    Ok(taker.changes)
}

/// wellen does not stream GHW: the wanted signals as a whole, then by time.
fn loaded(
    head: viewers::HeaderResult<BufReader<File>>,
    refs: &[SignalRef],
    taker: &mut Taker,
) -> Result<(), String> {
    let hierarchy: Hierarchy = head.hierarchy;
    let body = viewers::read_body(head.body, &hierarchy, None).map_err(|error| told(&error))?;
    let mut source = body.source;
    let signals = source.load_signals(refs, &hierarchy, false);
    let mut heads: Vec<_> =
        signals.iter().map(|s| (s.signal_ref(), s.iter_changes().peekable())).collect();
    // The signals' next changes, soonest first.
    let mut next = std::collections::BinaryHeap::new();
    for (number, (_, changes)) in heads.iter_mut().enumerate() {
        next.extend(changes.peek().map(|(time, _)| std::cmp::Reverse((*time, number))));
    }
    while let Some(std::cmp::Reverse((time, number))) = next.pop() {
        let (signal, changes) = &mut heads[number];
        if let Some((_, value)) = changes.next() {
            taker.take(body.time_table[time as usize], *signal, value)?;
        }
        next.extend(changes.peek().map(|(time, _)| std::cmp::Reverse((*time, number))));
    }
    // The run goes on after the last change of what is wanted.
    let last = body.time_table.last().and_then(|time| i64::try_from(*time).ok());
    if last > taker.changes.times.last().copied() {
        taker.changes.times.extend(last);
    }
    Ok(())
}

struct Taker {
    changes: Changes,
    place: HashMap<SignalRef, i32>,
    limit: usize,
    texts: usize,
}

impl Taker {
    fn take(
        &mut self,
        time: Time,
        signal: SignalRef,
        value: SignalValueRef<'_>,
    ) -> Result<(), String> {
        let time = i64::try_from(time).map_err(|_| "a time has more than 63 bits")?;
        let changes = &mut self.changes;
        if changes.times.last() != Some(&time) {
            changes.times.push(time);
        }
        if changes.value.len() >= self.limit {
            return Err(format!("more than {} changes", self.limit));
        }
        let value = match value {
            SignalValueRef::Event => return Ok(()),
            SignalValueRef::BitVec(bits) => vector(changes, bits),
            SignalValueRef::String(text) => changes.text(text.to_string()),
            SignalValueRef::Real(number) => changes.real(number),
        };
        if changes.texts.len() > self.texts {
            return Err(format!("more than {} values that are not small numbers", self.texts));
        }
        if let Some(place) = self.place.get(&signal) {
            changes.add(*place, value);
        }
        Ok(())
    }
}

fn vector(changes: &mut Changes, bits: BitVecRef<'_>) -> i64 {
    let width = bits.width();
    if let (Some(bytes), true) = (bits.be_bytes(), width as usize <= super::NUMBER_BITS) {
        let number = bytes.iter().fold(0, |all: u64, byte| all << 8 | u64::from(*byte));
        return (number & ((1 << width) - 1)) as i64;
    }
    let letter = |place| bit(bits.get_bit(width - 1 - place).as_ascii() as u8).flatten();
    changes.vector((0..width).map(letter))
}

/// What wellen says, on one line.
fn told(error: &wellen::WellenError) -> String {
    error.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}
