//! Reads the changes in a piece of the text of a VCD: the loop that takes most of the time of
//! reading a long waveform. A piece begins and ends between two words.

use super::{bit, Changes, UNKNOWN};
use std::collections::HashMap;

/// Times are integers of 64 bits.
const TIME_DIGITS: usize = 18;
const LONGEST_SHORT_KEY: usize = 8;

/// The identifiers of the signals that are wanted.
pub struct Wanted {
    /// Open addressing: (identifier as a little-endian number, 0 for none; its place).
    table: Vec<(u64, i32)>,
    /// Those of more than eight bytes.
    long: HashMap<Vec<u8>, i32>,
    widths: Vec<usize>,
}

/// Changes in a piece, and how it ends.
#[derive(Default)]
pub struct Piece {
    pub changes: Changes,
    /// Digits after the point of the times: they count units of 10^-decimals.
    pub decimals: u32,
    /// Words that are no VCD.
    pub strange: usize,
    /// Whether a value comes before the first time.
    pub early: bool,
    /// Whether the piece ends inside a comment.
    pub comment: bool,
}

/// What cannot be read, and at which byte.
pub struct Damage(pub &'static str, pub usize);

impl Wanted {
    /// For each identifier its bytes and the bits of its signal.
    pub fn new(keys: &[Vec<u8>], widths: Vec<usize>) -> Option<Self> {
        let size = (4 * keys.len().max(4)).next_power_of_two();
        let mut wanted = Wanted { table: vec![(0, -1); size], long: HashMap::new(), widths };
        for (place, key) in keys.iter().enumerate() {
            if key.is_empty() || key.iter().any(|byte| *byte <= b' ') {
                return None;
            }
            let place = i32::try_from(place).ok()?;
            if key.len() > LONGEST_SHORT_KEY {
                wanted.long.insert(key.clone(), place);
                continue;
            }
            let number = key.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
            let mut slot = wanted.slot(number);
            while wanted.table[slot].0 != 0 {
                slot = (slot + 1) & (size - 1);
            }
            wanted.table[slot] = (number, place);
        }
        Some(wanted)
    }

    fn slot(&self, number: u64) -> usize {
        let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> 32) as usize & (self.table.len() - 1)
    }

    /// The place of an identifier of up to eight bytes, -1 for one that nobody wants.
    fn find(&self, number: u64) -> i32 {
        let mut slot = self.slot(number);
        loop {
            let (known, place) = self.table[slot];
            if known == number || known == 0 {
                return place;
            }
            slot = (slot + 1) & (self.table.len() - 1);
        }
    }

    /// The place of the identifier that begins here, and where it ends.
    fn key(&self, text: &[u8], at: usize) -> (i32, usize) {
        let mut number = 0;
        let mut end = at;
        while end < text.len() && text[end] > b' ' {
            if end - at < LONGEST_SHORT_KEY {
                number |= u64::from(text[end]) << (8 * (end - at));
            }
            end += 1;
        }
        let place = match end - at {
            0 => -1,
            1..=LONGEST_SHORT_KEY => self.find(number),
            _ => self.long.get(&text[at..end]).copied().unwrap_or(-1),
        };
        (place, end)
    }

    /// Take in a value of the signal whose identifier begins at `key`; gives where that ends.
    fn change(
        &self,
        piece: &mut Piece,
        text: &[u8],
        key: usize,
        value: impl FnOnce(&mut Piece, usize) -> Result<i64, &'static str>,
    ) -> Result<usize, &'static str> {
        let (place, end) = self.key(text, key);
        piece.early |= piece.changes.times.is_empty();
        if end == key {
            piece.strange += 1;
        } else if place >= 0 {
            let value = value(piece, self.widths[place as usize])?;
            piece.changes.add(place, value);
        }
        Ok(end)
    }

    /// Read a piece; `comment` says whether the one before it ended inside a comment.
    pub fn read(&self, text: &[u8], comment: bool) -> Result<Piece, Damage> {
        let mut piece = Piece { comment, ..Piece::default() };
        let mut at = 0;
        while at < text.len() {
            let start = at;
            let first = text[at];
            if first <= b' ' {
                at += 1;
                continue;
            }
            if piece.comment {
                at = word(text, at);
                piece.comment = &text[start..at] != b"$end";
                continue;
            }
            at = match first {
                b'#' => {
                    let end = word(text, at);
                    piece.time(&text[start + 1..end]).ok_or(Damage("time", start))?;
                    end
                }
                b'b' | b'B' | b'r' | b'R' | b's' | b'S' => {
                    let end = word(text, at);
                    let mut key = end;
                    while key < text.len() && text[key] <= b' ' {
                        key += 1;
                    }
                    let value =
                        |piece: &mut Piece, width| piece.value(first, &text[start + 1..end], width);
                    self.change(&mut piece, text, key, value).map_err(|why| Damage(why, start))?
                }
                b'$' => {
                    let end = word(text, at);
                    piece.comment = &text[start..end] == b"$comment";
                    end
                }
                _ => match bit(first) {
                    Some(value) => {
                        let mut key = at + 1;
                        // Some writers put blanks before the identifier.
                        while key < text.len() && matches!(text[key], b' ' | b'\t') {
                            key += 1;
                        }
                        let value = |_: &mut Piece, _| Ok(value.map_or(UNKNOWN, i64::from));
                        self.change(&mut piece, text, key, value)
                            .map_err(|why| Damage(why, start))?
                    }
                    None => {
                        piece.strange += 1;
                        word(text, at)
                    }
                },
            };
            // Most words have a line of their own.
            at += usize::from(text.get(at) == Some(&b'\n'));
        }
        Ok(piece)
    }
}

impl Piece {
    /// Take in a time: digits, and perhaps a point and more of them.
    fn time(&mut self, word: &[u8]) -> Option<()> {
        if self.decimals == 0 && (1..=TIME_DIGITS).contains(&word.len()) {
            let digits = |time: i64, byte: &u8| {
                byte.is_ascii_digit().then(|| time * 10 + i64::from(byte - b'0'))
            };
            if let Some(time) = word.iter().try_fold(0, digits) {
                self.changes.times.push(time);
                return Some(());
            }
        }
        let point = word.iter().position(|byte| *byte == b'.').unwrap_or(word.len());
        let fraction = word.get(point + 1..).unwrap_or_default();
        let kept = fraction.iter().rposition(|byte| *byte != b'0').map_or(0, |last| last + 1);
        let digits = word[..point].iter().chain(&fraction[..kept]);
        let all = word[..point].iter().chain(fraction);
        if point == 0 || point + kept > TIME_DIGITS || !all.clone().all(u8::is_ascii_digit) {
            return None;
        }
        let time = digits.fold(0, |time: i64, digit| time * 10 + i64::from(digit - b'0'));
        let decimals = kept as u32;
        if decimals > self.decimals {
            let factor = 10_i64.pow(decimals - self.decimals);
            for earlier in &mut self.changes.times {
                *earlier = earlier.checked_mul(factor)?;
            }
            self.decimals = decimals;
        }
        self.changes.times.push(time.checked_mul(10_i64.pow(self.decimals - decimals))?);
        Some(())
    }

    fn value(&mut self, kind: u8, word: &[u8], width: usize) -> Result<i64, &'static str> {
        match kind {
            b'r' | b'R' => {
                let number = std::str::from_utf8(word).ok().and_then(|text| text.parse().ok());
                Ok(self.changes.real(number.ok_or("a real value is no number")?))
            }
            b's' | b'S' => {
                let text = String::from_utf8_lossy(&unescaped(word)).into_owned();
                Ok(self.changes.text(text))
            }
            _ => self.bits(word, width),
        }
    }

    fn bits(&mut self, word: &[u8], width: usize) -> Result<i64, &'static str> {
        if word.is_empty() {
            // Some simulators record constants of no bits.
            return if width == 0 { Ok(0) } else { Err("a value has no bits") };
        }
        // One Python library writes `0b` once more.
        let word = word.strip_prefix(b"0b").unwrap_or(word);
        if !word.iter().all(|byte| bit(*byte).is_some()) {
            return Err("a value has a foreign digit");
        }
        let zeros = word.iter().take_while(|byte| **byte == b'0').count();
        if word.len() - zeros > width {
            return Err("a value has more bits than its signal was declared with");
        }
        let word = &word[word.len().saturating_sub(width)..];
        // What is left out on the left is 0, or the x or z that the value begins with.
        if width <= super::NUMBER_BITS {
            return Ok(self.changes.vector(word.iter().map(|byte| bit(*byte).flatten())));
        }
        let fill = if bit(word[0]).flatten().is_some() { b'0' } else { b'x' };
        let missing = width - word.len();
        let letter = |place: usize| if place < missing { fill } else { word[place - missing] };
        Ok(self.changes.vector((0..width).map(|place| bit(letter(place)).flatten())))
    }
}

/// Where the word ends that begins here.
fn word(text: &[u8], at: usize) -> usize {
    at + text[at..].iter().position(|byte| *byte <= b' ').unwrap_or(text.len() - at)
}

/// A string as writers mask it: `\\n` and the like, three octal digits, `x` and two others.
fn unescaped(word: &[u8]) -> Vec<u8> {
    let number = |digits: &[u8], base: u32| {
        let text = std::str::from_utf8(digits).ok()?;
        u8::from_str_radix(text, base).ok().filter(|_| digits[0] != b'+')
    };
    let mut plain = Vec::with_capacity(word.len());
    let mut at = 0;
    while at < word.len() {
        let rest = &word[at..];
        let (byte, length) = match rest {
            [b'\\', b'x', a, b, ..] if number(&[*a, *b], 16).is_some() => {
                (number(&[*a, *b], 16), 4)
            }
            [b'\\', a, b, c, ..] if number(&[*a, *b, *c], 8).is_some() => {
                (number(&[*a, *b, *c], 8), 4)
            }
            [b'\\', letter, ..] => match letter {
                b'n' => (Some(b'\n'), 2),
                b't' => (Some(b'\t'), 2),
                b'r' => (Some(b'\r'), 2),
                b'a' => (Some(7), 2),
                b'b' => (Some(8), 2),
                b'v' => (Some(11), 2),
                b'f' => (Some(12), 2),
                b'\\' | b'"' | b'\'' | b'?' => (Some(*letter), 2),
                _ => (None, 1),
            },
            _ => (None, 1),
        };
        plain.push(byte.unwrap_or(rest[0]));
        at += length;
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_unmasked() {
        assert_eq!(unescaped(br"a\040b\x41\n\\\q\"), b"a bA\n\\\\q\\");
    }
}
