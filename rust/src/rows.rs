//! Rows of numbers and texts as lines: millions of them, for CSV, JSON lines and Paraver.

/// The values of a column, one a row.
pub enum Field {
    Number(Vec<i64>),
    /// Texts, and which of them each row has.
    Text(Vec<String>, Vec<i64>),
}

/// Each row's fields with the pieces of text between them: one piece before each field, one behind
/// the last.
pub fn lines(pieces: &[String], fields: &[Field]) -> Result<Vec<u8>, String> {
    if pieces.len() != fields.len() + 1 {
        return Err(format!("{} pieces for {} fields", pieces.len(), fields.len()));
    }
    let rows = fields.first().map_or(0, Field::len);
    for field in fields {
        field.check(rows)?;
    }
    let around: usize = pieces.iter().map(String::len).sum();
    let mut text = Vec::with_capacity(rows * (around + 8 * fields.len()));
    let mut number = itoa::Buffer::new();
    let (last, first) = pieces.split_last().expect("one more than fields");
    for row in 0..rows {
        for (piece, field) in first.iter().zip(fields) {
            text.extend_from_slice(piece.as_bytes());
            match field {
                Field::Number(values) => {
                    text.extend_from_slice(number.format(values[row]).as_bytes());
                }
                Field::Text(texts, which) => {
                    text.extend_from_slice(texts[which[row] as usize].as_bytes());
                }
            }
        }
        text.extend_from_slice(last.as_bytes());
    }
    Ok(text)
}

impl Field {
    fn len(&self) -> usize {
        match self {
            Field::Number(values) | Field::Text(_, values) => values.len(),
        }
    }

    fn check(&self, rows: usize) -> Result<(), String> {
        if self.len() != rows {
            return Err(format!("a field has {} rows, the first {rows}", self.len()));
        }
        let Field::Text(texts, which) = self else { return Ok(()) };
        if which.iter().any(|one| *one < 0 || *one as usize >= texts.len()) {
            return Err(format!("a text's number is not below {}", texts.len()));
        }
        Ok(())
    }
}
