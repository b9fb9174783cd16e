//! Waveforms: the values of a VCD, streamed; FST and GHW, read by wellen.
//!
//! Both give changes in the same form: a value is a number, `UNKNOWN`, or a text.

pub mod stored;
pub mod vcd;

use std::collections::HashMap;

/// What stands for x, z and the like.
pub const UNKNOWN: i64 = -1;
/// Values up to so many bits are numbers; wider ones are texts.
pub const NUMBER_BITS: usize = 62;
/// Value of the first text; the next one is one less, and so on.
const FIRST_TEXT: i64 = -2;

/// Value changes in the order of the file. `step` counts the times, -1 before the first.
#[derive(Default)]
pub struct Changes {
    pub times: Vec<i64>,
    pub step: Vec<i32>,
    pub signal: Vec<i32>,
    pub value: Vec<i64>,
    /// What values below `UNKNOWN` mean: -2 the first, -3 the second.
    pub texts: Vec<String>,
    known: HashMap<String, i64>,
}

impl Changes {
    fn add(&mut self, signal: i32, value: i64) {
        self.step.push(self.times.len() as i32 - 1);
        self.signal.push(signal);
        self.value.push(value);
    }

    /// The value that stands for a text.
    fn text(&mut self, text: String) -> i64 {
        if let Some(value) = self.known.get(&text) {
            return *value;
        }
        let value = FIRST_TEXT - self.texts.len() as i64;
        self.texts.push(text.clone());
        self.known.insert(text, value);
        value
    }

    /// The value of a vector, most significant bit first; None is a bit that is not known.
    fn vector(&mut self, bits: impl ExactSizeIterator<Item = Option<bool>> + Clone) -> i64 {
        if bits.len() <= NUMBER_BITS {
            let number = bits.into_iter().try_fold(0, |all, bit| Some(all << 1 | i64::from(bit?)));
            return number.unwrap_or(UNKNOWN);
        }
        let mut digits = String::from("0x");
        let (mut digit, mut left) = (0, bits.len());
        for bit in bits {
            let Some(bit) = bit else { return UNKNOWN };
            digit = digit << 1 | u32::from(bit);
            left -= 1;
            if left % 4 == 0 {
                if digit != 0 || digits.len() > 2 || left == 0 {
                    digits.push(char::from_digit(digit, 16).unwrap_or('0'));
                }
                digit = 0;
            }
        }
        self.text(digits)
    }

    fn real(&mut self, value: f64) -> i64 {
        self.text(format!("{value:?}"))
    }
}

/// A bit by its letter in IEEE 1164: weak values count as values. Outer None: it is no such letter.
fn bit(letter: u8) -> Option<Option<bool>> {
    match letter {
        b'0' | b'l' | b'L' => Some(Some(false)),
        b'1' | b'h' | b'H' => Some(Some(true)),
        b'x' | b'X' | b'z' | b'Z' | b'u' | b'U' | b'w' | b'W' | b'-' => Some(None),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_vectors_are_hexadecimal() {
        let mut changes = Changes::default();
        let bits = |text: &'static str| text.bytes().map(|byte| bit(byte).unwrap());
        let wide = "1".to_owned() + &"0".repeat(63) + "101";
        let text = changes.vector(bits(Box::leak(wide.into_boxed_str())));
        assert_eq!((text, changes.texts[0].as_str()), (-2, "0x40000000000000005"));
        assert_eq!(changes.vector(bits("0H1L")), 6);
        assert_eq!(changes.vector(bits("01z1")), UNKNOWN);
    }
}
