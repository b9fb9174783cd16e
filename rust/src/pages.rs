//! What the pages of a Parquet file announce, before any of them is unpacked.
//!
//! Parquet's crate allocates and unpacks what a page's header announces, up to 2 GB for a few bytes.
//! The headers (`PageHeader` of parquet.thrift, in Thrift's compact protocol) are read here first:
//! their sizes and counts, nothing else.

use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ParquetMetaData;

/// Nothing is refused that takes less memory than this: bytes of a column in a group of rows.
const LEAST: u64 = 16 << 20;
/// Values of one: elements of lists, entries of dictionaries.
const LEAST_VALUES: u64 = 1 << 19;
/// What equal texts and numbers pack to at best, as we write them.
const PER_BYTE: u64 = 1000;
/// An integer of 64 bits and its level.
const PER_ROW: u64 = 9;

/// Refuse a table whose pages would unpack to far more than it is large.
pub fn measure(metadata: &ParquetMetaData, data: &[u8]) -> Result<()> {
    for group in metadata.row_groups() {
        let rows = whole(group.num_rows())?;
        for column in group.columns() {
            let first = column.dictionary_page_offset().filter(|at| *at > 0);
            let start = whole(first.unwrap_or(column.data_page_offset()))?;
            let size = whole(column.compressed_size())?;
            let end = start.checked_add(size).filter(|end| *end <= data.len() as u64);
            let Some(end) = end else { return wrong("a column lies outside its file") };
            let mut pages = Thrift { data: &data[..end as usize], at: start as usize };
            let lists = column.column_descr().max_rep_level() > 0;
            let (mut bytes, mut values, mut known) = (0, 0, 0);
            while pages.at < pages.data.len() {
                let page = pages.page()?;
                bytes += page.unpacked;
                if page.is_dictionary {
                    known += page.values;
                } else {
                    values += page.values;
                }
            }
            let loose = LEAST_VALUES.max(PER_BYTE * size);
            if bytes > LEAST.max(PER_BYTE * size).max(PER_ROW * rows) {
                return wrong(&format!("{bytes} bytes packed in {size}"));
            }
            if known > loose || values > if lists { loose } else { rows } {
                return wrong(&format!("{} values of {rows} rows in {size} bytes", known + values));
            }
        }
    }
    Ok(())
}

fn wrong<T>(what: &str) -> Result<T> {
    Err(ParquetError::General(what.to_string()))
}

fn whole(number: i64) -> Result<u64> {
    u64::try_from(number).map_err(|_| ParquetError::General("a size below 0".to_string()))
}

/// What one page's header says.
#[derive(Default)]
struct Page {
    unpacked: u64,
    packed: u64,
    values: u64,
    is_dictionary: bool,
}

/// A reader of Thrift's compact protocol.
struct Thrift<'a> {
    data: &'a [u8],
    at: usize,
}

const STRUCT: u8 = 12;
const DEEPEST: usize = 16;

impl Thrift<'_> {
    /// Read a page's header and step over the page.
    fn page(&mut self) -> Result<Page> {
        let mut page = Page::default();
        let mut last = 0;
        while let Some((field, kind)) = self.field(&mut last)? {
            match (field, kind) {
                (2, 5) => page.unpacked = self.size()?,
                (3, 5) => page.packed = self.size()?,
                // data_page_header, dictionary_page_header, data_page_header_v2: first the count.
                (5 | 7 | 8, STRUCT) => {
                    page.is_dictionary |= field == 7;
                    let mut inner = 0;
                    while let Some((part, kind)) = self.field(&mut inner)? {
                        if (part, kind) == (1, 5) {
                            page.values += self.size()?;
                        } else {
                            self.skip(kind, 1)?;
                        }
                    }
                }
                _ => self.skip(kind, 0)?,
            }
        }
        self.step(page.packed)?;
        Ok(page)
    }

    /// A field's number and type; None at the end of the structure.
    fn field(&mut self, last: &mut i64) -> Result<Option<(i64, u8)>> {
        let head = self.byte()?;
        if head == 0 {
            return Ok(None);
        }
        *last = match head >> 4 {
            0 => self.integer()?,
            more => last.saturating_add(i64::from(more)),
        };
        Ok(Some((*last, head & 15)))
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Result<()> {
        if depth > DEEPEST {
            return wrong("a page's header is nested too deeply");
        }
        match kind {
            1 | 2 => Ok(()), // true and false are types
            3 => self.step(1),
            4..=6 => self.integer().map(|_| ()),
            7 => self.step(8),
            8 => {
                let length = self.number()?;
                self.step(length)
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = if head >> 4 == 15 { self.number()? } else { u64::from(head >> 4) };
                for _ in 0..count {
                    self.element(head & 15, depth)?;
                }
                Ok(())
            }
            11 => {
                let count = self.number()?;
                let kinds = if count > 0 { self.byte()? } else { 0 };
                for _ in 0..count {
                    self.element(kinds >> 4, depth)?;
                    self.element(kinds & 15, depth)?;
                }
                Ok(())
            }
            STRUCT => {
                let mut last = 0;
                while let Some((_, kind)) = self.field(&mut last)? {
                    self.skip(kind, depth + 1)?;
                }
                Ok(())
            }
            _ => wrong("a page's header is damaged"),
        }
    }

    /// In lists and maps, truths take a byte.
    fn element(&mut self, kind: u8, depth: usize) -> Result<()> {
        if matches!(kind, 1 | 2) {
            return self.step(1);
        }
        self.skip(kind, depth + 1)
    }

    fn size(&mut self) -> Result<u64> {
        match self.integer()? {
            size @ 0..=0x7fff_ffff => Ok(size as u64),
            _ => wrong("a page's header announces what none can hold"),
        }
    }

    fn integer(&mut self) -> Result<i64> {
        let packed = self.number()?;
        Ok((packed >> 1) as i64 ^ -((packed & 1) as i64))
    }

    fn number(&mut self) -> Result<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(number);
            }
        }
        wrong("a number in a page's header is too long")
    }

    fn byte(&mut self) -> Result<u8> {
        let found = self.data.get(self.at).copied();
        self.at += 1;
        found.ok_or_else(|| ParquetError::General("a page's header is cut short".to_string()))
    }

    fn step(&mut self, count: u64) -> Result<()> {
        match (self.at as u64).checked_add(count) {
            Some(end) if end <= self.data.len() as u64 => {
                self.at = end as usize;
                Ok(())
            }
            _ => wrong("a page is cut short"),
        }
    }
}
