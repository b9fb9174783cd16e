//! Reads the changes in a piece of VCD text in which each has a line of its own: the loop that
//! takes most of the time of reading a long waveform.

/// Times are integers of 64 bits.
const TIME_DIGITS: usize = 18;
/// What stands for x, z and the like.
const UNKNOWN: i64 = -1;
const LONGEST_KEY: usize = 8;
const NO_BITS: &str = "a wanted signal has values that are no bits";

/// The identifiers of the signals that are wanted.
pub struct Lines {
    /// Open addressing: (identifier as a little-endian number, 0 for none; its place).
    table: Vec<(u64, i32)>,
    widths: Vec<usize>,
}

/// Changes in a piece. `step` counts its own times, -1 before the first; `strange` are lines that
/// are no VCD.
#[derive(Default)]
pub struct Piece {
    pub times: Vec<i64>,
    pub step: Vec<i32>,
    pub signal: Vec<i32>,
    pub value: Vec<i64>,
    pub strange: usize,
}

/// Why a piece cannot be read.
pub enum Trouble {
    /// It is laid out in another way: it has to be read word by word.
    Layout,
    /// What is wrong, and at which byte.
    Damage(&'static str, usize),
}

impl Lines {
    /// For each identifier its bytes and the bits of its signal.
    pub fn new(keys: &[Vec<u8>], widths: Vec<usize>) -> Option<Self> {
        let size = (4 * keys.len().max(4)).next_power_of_two();
        let mut lines = Lines { table: vec![(0, -1); size], widths };
        for (place, key) in keys.iter().enumerate() {
            if key.is_empty() || key.len() > LONGEST_KEY || key.iter().any(|byte| *byte <= b' ') {
                return None;
            }
            let number = key.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
            let mut slot = lines.slot(number);
            while lines.table[slot].0 != 0 {
                slot = (slot + 1) & (size - 1);
            }
            lines.table[slot] = (number, i32::try_from(place).ok()?);
        }
        Some(lines)
    }

    fn slot(&self, number: u64) -> usize {
        let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> 32) as usize & (self.table.len() - 1)
    }

    /// The place of an identifier, -1 for one that nobody wants.
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

    /// Read text that ends with a newline.
    pub fn read(&self, text: &[u8]) -> Result<Piece, Trouble> {
        let mut piece = Piece::default();
        let mut at = 0;
        while at < text.len() {
            let start = at;
            at = match text[at] {
                b'\n' => at + 1,
                b'#' => {
                    let end = word(text, at + 1)?;
                    piece.times.push(time(&text[start + 1..end], start)?);
                    end + 1
                }
                first @ (b'b' | b'B' | b'r' | b'R' | b's' | b'S') => {
                    let space = at + length(&text[at..]);
                    if text.get(space) != Some(&b' ') {
                        return Err(Trouble::Layout);
                    }
                    let (place, end) = self.key(text, space + 1)?;
                    if place >= 0 {
                        if !matches!(first, b'b' | b'B') {
                            return Err(Trouble::Damage(NO_BITS, start));
                        }
                        let width = self.widths[place as usize];
                        let bits = bits(&text[start + 1..space], width);
                        piece.add(place, bits.map_err(|why| Trouble::Damage(why, start))?);
                    }
                    end + 1
                }
                b'$' => {
                    let end = word(text, at)?;
                    if &text[start..end] == b"$comment" {
                        return Err(Trouble::Layout);
                    }
                    end + 1
                }
                first if scalar(first) => {
                    let (place, end) = self.key(text, at + 1)?;
                    if place >= 0 {
                        piece.add(place, digit(first).unwrap_or(UNKNOWN));
                    }
                    end + 1
                }
                _ => {
                    piece.strange += 1;
                    word(text, at)? + 1
                }
            };
        }
        Ok(piece)
    }

    /// The place of the identifier that takes the rest of a line, and where that line ends.
    fn key(&self, text: &[u8], at: usize) -> Result<(i32, usize), Trouble> {
        let mut number = 0;
        let mut end = at;
        while end < text.len() && text[end] > b' ' {
            if end - at < LONGEST_KEY {
                number |= u64::from(text[end]) << (8 * (end - at));
            }
            end += 1;
        }
        if text.get(end) != Some(&b'\n') {
            return Err(Trouble::Layout);
        }
        let wanted = end > at && end - at <= LONGEST_KEY;
        Ok((if wanted { self.find(number) } else { -1 }, end))
    }
}

impl Piece {
    fn add(&mut self, place: i32, value: i64) {
        self.step.push(self.times.len() as i32 - 1);
        self.signal.push(place);
        self.value.push(value);
    }
}

/// How many bytes stand before the next blank.
fn length(text: &[u8]) -> usize {
    text.iter().position(|byte| *byte <= b' ').unwrap_or(text.len())
}

/// Where the line of one word ends whose rest begins here.
fn word(text: &[u8], at: usize) -> Result<usize, Trouble> {
    let end = at + length(&text[at..]);
    if text.get(end) == Some(&b'\n') {
        Ok(end)
    } else {
        Err(Trouble::Layout)
    }
}

fn time(digits: &[u8], at: usize) -> Result<i64, Trouble> {
    let good = (1..=TIME_DIGITS).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    if !good {
        return Err(Trouble::Damage("time", at));
    }
    Ok(digits.iter().fold(0, |time, digit| time * 10 + i64::from(digit - b'0')))
}

fn bits(digits: &[u8], width: usize) -> Result<i64, &'static str> {
    if digits.is_empty() {
        return Err("a value has no bits");
    }
    if digits.len() > width {
        return Err("a value has more bits than its signal was declared with");
    }
    if !digits.iter().all(|byte| scalar(*byte)) {
        return Err("a value has a foreign digit");
    }
    let value = digits.iter().try_fold(0, |value, byte| Some(value << 1 | digit(*byte)?));
    Ok(value.unwrap_or(UNKNOWN))
}

fn digit(byte: u8) -> Option<i64> {
    match byte {
        b'0' => Some(0),
        b'1' => Some(1),
        _ => None,
    }
}

fn scalar(byte: u8) -> bool {
    matches!(
        byte,
        b'0' | b'1'
            | b'x'
            | b'X'
            | b'z'
            | b'Z'
            | b'u'
            | b'U'
            | b'w'
            | b'W'
            | b'l'
            | b'L'
            | b'h'
            | b'H'
            | b'-'
    )
}
