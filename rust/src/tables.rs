//! Reads the tables of a profile file. Parquet's own crate does it in a tenth of the time that
//! the import of a data frame library takes, which is what most commands would otherwise wait for.

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

type Table = SerializedFileReader<bytes::Bytes>;

/// The most regular of runs pack without bound: so many rows a file may hold whatever its size.
const LEAST_ROWS: u64 = 16_000_000;
/// And so many for each of its bytes: what takes much memory is large on the disk.
const ROWS_PER_BYTE: u64 = 32;
/// Names repeat, but each row spells them out.
const TEXT_PER_BYTE: usize = 1000;
const LEAST: usize = 16 << 20;

fn open(data: &[u8]) -> Result<Table> {
    let table = SerializedFileReader::new(bytes::Bytes::copy_from_slice(data))?;
    // Before anything is allocated for them.
    let groups = table.metadata().row_groups().iter();
    let rows = groups.map(|group| u64::try_from(group.num_rows()).unwrap_or(u64::MAX));
    let rows = rows.fold(0, u64::saturating_add);
    if (data.len() as u64) < least_size(rows) {
        return Err(ParquetError::General(format!("{rows} rows in {} bytes", data.len())));
    }
    crate::pages::measure(table.metadata(), data)?;
    Ok(table)
}

/// How large a file with so many rows must be to be read again.
pub fn least_size(rows: u64) -> u64 {
    if rows > LEAST_ROWS {
        rows.div_ceil(ROWS_PER_BYTE)
    } else {
        0
    }
}

/// A flat column of integers of any width; a missing value is -1.
pub fn integers(data: &[u8], name: &str) -> Result<Vec<i64>> {
    let table = open(data)?;
    let schema = table.metadata().file_metadata().schema_descr_ptr();
    let index = (0..schema.num_columns())
        .find(|i| schema.column(*i).path().string() == name)
        .ok_or_else(|| ParquetError::General(format!("no column {name}")))?;
    let column = schema.column(index);
    let mut result = Vec::new();
    for group in 0..table.num_row_groups() {
        let group = table.get_row_group(group)?;
        let rows = group.metadata().num_rows() as usize;
        match group.get_column_reader(index)? {
            // Unsigned 32-bit integers are kept in the bits of signed ones.
            ColumnReader::Int32ColumnReader(reader) if unsigned(&column) => {
                append(reader, &column, rows, |v| i64::from(v as u32), &mut result)?;
            }
            ColumnReader::Int32ColumnReader(reader) => {
                append(reader, &column, rows, i64::from, &mut result)?;
            }
            ColumnReader::Int64ColumnReader(reader) => {
                append(reader, &column, rows, |v| v, &mut result)?;
            }
            _ => return Err(ParquetError::General(format!("column {name} is not of integers"))),
        }
    }
    Ok(result)
}

fn unsigned(column: &ColumnDescriptor) -> bool {
    use parquet::basic::LogicalType;
    matches!(column.logical_type_ref(), Some(LogicalType::Integer(kind)) if !kind.is_signed)
}

fn append<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    column: &ColumnDescriptor,
    rows: usize,
    wide: impl Fn(T::T) -> i64,
    result: &mut Vec<i64>,
) -> Result<()> {
    let present = column.max_def_level();
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let wanted = result.len() + rows;
    while result.len() < wanted {
        values.clear();
        levels.clear();
        let levels_wanted = (present > 0).then_some(&mut levels);
        let (records, _, _) = reader.read_records(1 << 16, levels_wanted, None, &mut values)?;
        if records == 0 {
            return Err(ParquetError::General("a column is cut short".to_string()));
        }
        let mut found = values.drain(..);
        if present == 0 {
            result.extend(found.map(&wide));
        } else {
            result.extend(levels.iter().map(|level| {
                if *level == present {
                    found.next().map_or(-1, &wide)
                } else {
                    -1
                }
            }));
        }
    }
    Ok(())
}

/// All rows as a JSON list of objects.
pub fn rows(data: &[u8]) -> Result<String> {
    let table = open(data)?;
    let most = LEAST.max(TEXT_PER_BYTE * data.len());
    let mut text = String::from("[");
    for row in table.get_row_iter(None)? {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(&row?.to_json_value().to_string());
        if text.len() > most {
            return Err(ParquetError::General(format!("more than {most} characters of text")));
        }
    }
    text.push(']');
    Ok(text)
}
