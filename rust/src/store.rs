//! Writes the tables of a profile file.
//!
//! A table is one row group; its schema says no more than what the columns hold, and nothing in
//! it depends on when or where it was written, so equal tables give equal bytes.

use crate::tables::least_size;
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use std::fmt::Write;
use std::sync::Arc;

/// Level, file, line, column.
pub type Place = (String, String, i64, i64);

/// The values of a column.
pub enum Column {
    /// Integers, in the narrowest unsigned type that can hold them; signed ones if one is negative.
    Narrow(Vec<i64>),
    Whole(Vec<i64>),
    /// Integers of which -1 stands for a missing one.
    Optional(Vec<i64>),
    Text(Vec<String>),
    Truth(Vec<bool>),
    WholeLists(Vec<Vec<i64>>),
    PlaceLists(Vec<Vec<Place>>),
}

/// The values of one leaf of a schema and, where they may be missing or repeat, their levels.
struct Leaf {
    values: Values,
    present: Option<Vec<i16>>,
    repeated: Option<Vec<i16>>,
}

enum Values {
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Text(Vec<ByteArray>),
    Truth(Vec<bool>),
}

impl From<Values> for Leaf {
    fn from(values: Values) -> Self {
        Leaf { values, present: None, repeated: None }
    }
}

/// The table as a Parquet file.
pub fn table(columns: Vec<(String, Column)>) -> Result<Vec<u8>> {
    let rows = columns.first().map_or(0, |(_, column)| column.len());
    let mut schema = String::from("message table {\n");
    let mut leaves = Vec::new();
    for (name, column) in columns {
        if column.len() != rows {
            return Err(ParquetError::General(format!("column {name} has another length")));
        }
        column.take_apart(&name, &mut schema, &mut leaves);
    }
    schema.push('}');
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(9)?))
        .set_data_page_row_count_limit(usize::MAX)
        .set_max_row_group_row_count(None)
        .build();
    let schema = Arc::new(parse_message_type(&schema)?);
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
    if rows > 0 {
        let mut group = file.next_row_group()?;
        for leaf in &leaves {
            let Some(mut column) = group.next_column()? else {
                return Err(ParquetError::General("more columns than the schema".to_string()));
            };
            leaf.write(&mut column)?;
            column.close()?;
        }
        group.close()?;
    }
    // Regular rows pack to nothing; whoever reads them again takes a small file of many for a trap.
    let missing = least_size(rows as u64).saturating_sub(file.bytes_written() as u64);
    if missing > 0 {
        let filling = " ".repeat(missing as usize);
        file.append_key_value_metadata(KeyValue::new("filling".to_string(), filling));
    }
    file.into_inner()
}

impl Column {
    fn len(&self) -> usize {
        match self {
            Column::Narrow(values) | Column::Whole(values) | Column::Optional(values) => {
                values.len()
            }
            Column::Text(values) => values.len(),
            Column::Truth(values) => values.len(),
            Column::WholeLists(lists) => lists.len(),
            Column::PlaceLists(lists) => lists.len(),
        }
    }

    /// Add the column to a schema, and its leaves in that one's order.
    fn take_apart(self, name: &str, schema: &mut String, leaves: &mut Vec<Leaf>) {
        let kind = match &self {
            Column::Narrow(values) => return narrow(name, values, schema, leaves),
            Column::Whole(_) => format!("required int64 {name};"),
            Column::Optional(_) => format!("optional int64 {name};"),
            Column::Text(_) => format!("required binary {name} (STRING);"),
            Column::Truth(_) => format!("required boolean {name};"),
            Column::WholeLists(_) => list_of(name, "required int64 element;"),
            Column::PlaceLists(_) => list_of(
                name,
                "required group element { required binary level (STRING); \
                 required binary file (STRING); required int64 line; required int64 column; }",
            ),
        };
        schema.push_str(&kind);
        match self {
            Column::Narrow(_) => {}
            Column::Whole(values) => leaves.push(Values::Int64(values).into()),
            Column::Optional(values) => {
                let present = values.iter().map(|value| i16::from(*value != -1)).collect();
                let values = values.into_iter().filter(|value| *value != -1).collect();
                let values = Values::Int64(values);
                leaves.push(Leaf { values, present: Some(present), repeated: None });
            }
            Column::Text(values) => leaves.push(texts(values).into()),
            Column::Truth(values) => leaves.push(Values::Truth(values).into()),
            Column::WholeLists(lists) => {
                let levels = levels(&lists);
                leaves.push(levels.leaf(Values::Int64(lists.into_iter().flatten().collect())));
            }
            Column::PlaceLists(lists) => {
                let levels = levels(&lists);
                let places: Vec<Place> = lists.into_iter().flatten().collect();
                let lines = places.iter().map(|place| place.2).collect();
                let columns = places.iter().map(|place| place.3).collect();
                let (names, files) = places.into_iter().map(|place| (place.0, place.1)).unzip();
                leaves.push(levels.leaf(texts(names)));
                leaves.push(levels.leaf(texts(files)));
                leaves.push(levels.leaf(Values::Int64(lines)));
                leaves.push(levels.leaf(Values::Int64(columns)));
            }
        }
    }
}

fn narrow(name: &str, values: &[i64], schema: &mut String, leaves: &mut Vec<Leaf>) {
    let (least, most) = values.iter().fold((0, 0), |(l, m), v| (l.min(*v), m.max(*v)));
    let bits = [8, 16, 32].into_iter().find(|bits| least == 0 && most >> bits == 0);
    let (kind, values) = match bits {
        // Unsigned 32-bit integers are kept in the bits of signed ones.
        Some(_) => ("int32", Values::Int32(values.iter().map(|v| *v as u32 as i32).collect())),
        None => ("int64", Values::Int64(values.to_vec())),
    };
    let form = match bits {
        Some(bits) => format!(" (INTEGER({bits},false))"),
        None => String::new(),
    };
    let _ = write!(schema, "required {kind} {name}{form};");
    leaves.push(values.into());
}

fn list_of(name: &str, element: &str) -> String {
    format!("required group {name} (LIST) {{ repeated group list {{ {element} }} }}")
}

fn texts(values: Vec<String>) -> Values {
    Values::Text(values.into_iter().map(|text| ByteArray::from(text.into_bytes())).collect())
}

struct Levels {
    present: Vec<i16>,
    repeated: Vec<i16>,
}

/// An empty list is one entry without a value.
fn levels<T>(lists: &[Vec<T>]) -> Levels {
    let mut levels = Levels { present: Vec::new(), repeated: Vec::new() };
    for list in lists {
        for place in 0..list.len().max(1) {
            levels.present.push(i16::from(!list.is_empty()));
            levels.repeated.push(i16::from(place > 0));
        }
    }
    levels
}

impl Levels {
    fn leaf(&self, values: Values) -> Leaf {
        let (present, repeated) = (Some(self.present.clone()), Some(self.repeated.clone()));
        Leaf { values, present, repeated }
    }
}

impl Leaf {
    fn write(&self, column: &mut SerializedColumnWriter<'_>) -> Result<()> {
        match &self.values {
            Values::Int32(values) => self.write_as::<Int32Type>(column, values),
            Values::Int64(values) => self.write_as::<Int64Type>(column, values),
            Values::Text(values) => self.write_as::<ByteArrayType>(column, values),
            Values::Truth(values) => self.write_as::<BoolType>(column, values),
        }
    }

    fn write_as<T: DataType>(
        &self,
        column: &mut SerializedColumnWriter<'_>,
        values: &[T::T],
    ) -> Result<()> {
        let (present, repeated) = (self.present.as_deref(), self.repeated.as_deref());
        column.typed::<T>().write_batch(values, present, repeated).map(|_| ())
    }
}
