//! Writes Parquet: the tables of a profile file, and those for other tools.
//!
//! A profile's table is one row group; its schema says no more than what the columns hold, and
//! nothing in it depends on when or where it was written, so equal tables give equal bytes.

use crate::tables::least_size;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type,
};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};
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
    /// Values that may be missing.
    SomeWhole(Vec<Option<i64>>),
    SomeText(Vec<Option<String>>),
    SomeTruth(Vec<Option<bool>>),
    SomeNumber(Vec<Option<f64>>),
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
    Number(Vec<f64>),
}

impl From<Values> for Leaf {
    fn from(values: Values) -> Self {
        Leaf { values, present: None, repeated: None }
    }
}

impl Values {
    /// Values that follow; those of a column are of one type.
    fn append(&mut self, other: Values) {
        match (self, other) {
            (Values::Int32(values), Values::Int32(more)) => values.extend(more),
            (Values::Int64(values), Values::Int64(more)) => values.extend(more),
            (Values::Text(values), Values::Text(more)) => values.extend(more),
            (Values::Truth(values), Values::Truth(more)) => values.extend(more),
            (Values::Number(values), Values::Number(more)) => values.extend(more),
            _ => unreachable!("equal schemas have equal types"),
        }
    }

    fn clear(&mut self) {
        match self {
            Values::Int32(values) => values.clear(),
            Values::Int64(values) => values.clear(),
            Values::Text(values) => values.clear(),
            Values::Truth(values) => values.clear(),
            Values::Number(values) => values.clear(),
        }
    }
}

/// The table as a Parquet file.
pub fn table(columns: Vec<(String, Column)>) -> Result<Vec<u8>> {
    let mut table = Table::of(columns, ZstdLevel::try_new(9)?)?;
    let rows = table.waiting_rows;
    table.write_group()?;
    // Regular rows pack to nothing; whoever reads them again takes a small file of many for a trap.
    let missing = least_size(rows as u64).saturating_sub(table.file.bytes_written() as u64);
    if missing > 0 {
        let filling = " ".repeat(missing as usize);
        table.file.append_key_value_metadata(KeyValue::new("filling".to_string(), filling));
    }
    table.finish()
}

/// Rows of a row group at least, but for the last one.
const GROUP: usize = 1 << 17;

/// A Parquet file that is written part by part.
pub struct Table {
    file: SerializedFileWriter<Vec<u8>>,
    schema: TypePtr,
    /// What no row group has yet.
    waiting: Vec<Leaf>,
    waiting_rows: usize,
}

impl Table {
    /// A table that begins with these columns; there may be no rows in them.
    pub fn of(columns: Vec<(String, Column)>, level: ZstdLevel) -> Result<Self> {
        let (schema, leaves, rows) = take_apart(columns)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(level))
            .set_data_page_row_count_limit(usize::MAX)
            .set_max_row_group_row_count(None)
            .build();
        let file = SerializedFileWriter::new(Vec::new(), schema.clone(), Arc::new(properties))?;
        Ok(Table { file, schema, waiting: leaves, waiting_rows: rows })
    }

    /// Rows that follow, with the same columns.
    pub fn add(&mut self, columns: Vec<(String, Column)>) -> Result<()> {
        let (schema, leaves, rows) = take_apart(columns)?;
        if schema != self.schema {
            return Err(ParquetError::General("a part has other columns".to_string()));
        }
        for (before, leaf) in self.waiting.iter_mut().zip(leaves) {
            before.append(leaf);
        }
        self.waiting_rows += rows;
        if self.waiting_rows >= GROUP {
            self.write_group()?;
        }
        Ok(())
    }

    fn write_group(&mut self) -> Result<()> {
        if self.waiting_rows == 0 {
            return Ok(());
        }
        let mut group = self.file.next_row_group()?;
        for leaf in &mut self.waiting {
            let Some(mut column) = group.next_column()? else {
                return Err(ParquetError::General("more columns than the schema".to_string()));
            };
            leaf.write(&mut column)?;
            column.close()?;
            leaf.clear();
        }
        group.close()?;
        self.waiting_rows = 0;
        Ok(())
    }

    /// The bytes since the last call.
    pub fn written(&mut self) -> Result<Vec<u8>> {
        self.file.flush()?;
        Ok(std::mem::take(self.file.inner_mut()))
    }

    /// The rest of the file.
    pub fn finish(mut self) -> Result<Vec<u8>> {
        self.write_group()?;
        self.file.into_inner()
    }
}

/// The schema, the leaves in its order, and how many rows there are.
fn take_apart(columns: Vec<(String, Column)>) -> Result<(TypePtr, Vec<Leaf>, usize)> {
    let rows = columns.first().map_or(0, |(_, column)| column.len());
    let (mut fields, mut leaves) = (Vec::new(), Vec::new());
    for (name, column) in columns {
        if column.len() != rows {
            return Err(ParquetError::General(format!("column {name} has another length")));
        }
        fields.push(Arc::new(column.schema(&name)?));
        column.take_apart(&mut leaves);
    }
    let schema = Type::group_type_builder("table").with_fields(fields).build()?;
    Ok((Arc::new(schema), leaves, rows))
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
            Column::SomeWhole(values) => values.len(),
            Column::SomeText(values) => values.len(),
            Column::SomeTruth(values) => values.len(),
            Column::SomeNumber(values) => values.len(),
        }
    }

    /// Its field of a schema.
    fn schema(&self, name: &str) -> Result<Type> {
        const OPTIONAL: Repetition = Repetition::OPTIONAL;
        const REQUIRED: Repetition = Repetition::REQUIRED;
        let text = Some(LogicalType::String);
        let whole = |name| primitive(name, REQUIRED, Physical::INT64, None);
        match self {
            Column::Narrow(values) => match narrow_bits(values) {
                // Unsigned 32-bit integers are kept in the bits of signed ones.
                Some(bits) => {
                    let kind = Some(LogicalType::integer(bits, false));
                    primitive(name, REQUIRED, Physical::INT32, kind)
                }
                None => whole(name),
            },
            Column::Whole(_) => whole(name),
            Column::Optional(_) | Column::SomeWhole(_) => {
                primitive(name, OPTIONAL, Physical::INT64, None)
            }
            Column::Text(_) => primitive(name, REQUIRED, Physical::BYTE_ARRAY, text),
            Column::SomeText(_) => primitive(name, OPTIONAL, Physical::BYTE_ARRAY, text),
            Column::Truth(_) => primitive(name, REQUIRED, Physical::BOOLEAN, None),
            Column::SomeTruth(_) => primitive(name, OPTIONAL, Physical::BOOLEAN, None),
            Column::SomeNumber(_) => primitive(name, OPTIONAL, Physical::DOUBLE, None),
            Column::WholeLists(_) => list_of(name, whole("element")?),
            Column::PlaceLists(_) => {
                let element = group(
                    "element",
                    REQUIRED,
                    None,
                    vec![
                        primitive("level", REQUIRED, Physical::BYTE_ARRAY, text.clone())?,
                        primitive("file", REQUIRED, Physical::BYTE_ARRAY, text)?,
                        whole("line")?,
                        whole("column")?,
                    ],
                )?;
                list_of(name, element)
            }
        }
    }

    /// Add its leaves, in the schema's order.
    fn take_apart(self, leaves: &mut Vec<Leaf>) {
        match self {
            Column::Narrow(values) => leaves.push(narrow(values)),
            Column::Whole(values) => leaves.push(Values::Int64(values).into()),
            Column::Optional(values) => {
                let present = values.iter().map(|value| i16::from(*value != -1)).collect();
                let values = values.into_iter().filter(|value| *value != -1).collect();
                let values = Values::Int64(values);
                leaves.push(Leaf { values, present: Some(present), repeated: None });
            }
            Column::SomeWhole(values) => leaves.push(some(values, Values::Int64)),
            Column::SomeText(values) => leaves.push(some(values, texts)),
            Column::SomeTruth(values) => leaves.push(some(values, Values::Truth)),
            Column::SomeNumber(values) => leaves.push(some(values, Values::Number)),
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

/// The bits of the narrowest unsigned type of these; none if a signed one of 64 bits is needed.
fn narrow_bits(values: &[i64]) -> Option<i8> {
    let (least, most) = values.iter().fold((0, 0), |(l, m), v| (l.min(*v), m.max(*v)));
    [8, 16, 32].into_iter().find(|bits| least == 0 && most >> bits == 0)
}

fn narrow(values: Vec<i64>) -> Leaf {
    match narrow_bits(&values) {
        Some(_) => Values::Int32(values.iter().map(|v| *v as u32 as i32).collect()).into(),
        None => Values::Int64(values).into(),
    }
}

fn primitive(
    name: &str,
    repetition: Repetition,
    physical: Physical,
    logical: Option<LogicalType>,
) -> Result<Type> {
    Type::primitive_type_builder(name, physical)
        .with_repetition(repetition)
        .with_logical_type(logical)
        .build()
}

fn group(
    name: &str,
    repetition: Repetition,
    logical: Option<LogicalType>,
    fields: Vec<Type>,
) -> Result<Type> {
    Type::group_type_builder(name)
        .with_repetition(repetition)
        .with_logical_type(logical)
        .with_fields(fields.into_iter().map(Arc::new).collect())
        .build()
}

fn list_of(name: &str, element: Type) -> Result<Type> {
    let list = group("list", Repetition::REPEATED, None, vec![element])?;
    group(name, Repetition::REQUIRED, Some(LogicalType::List), vec![list])
}

/// Values that may be missing, by what makes those that are there a leaf's.
fn some<T>(values: Vec<Option<T>>, of: impl FnOnce(Vec<T>) -> Values) -> Leaf {
    let present = values.iter().map(|value| i16::from(value.is_some())).collect();
    let values = of(values.into_iter().flatten().collect());
    Leaf { values, present: Some(present), repeated: None }
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
    fn append(&mut self, other: Leaf) {
        self.values.append(other.values);
        for (levels, more) in
            [(&mut self.present, other.present), (&mut self.repeated, other.repeated)]
        {
            if let (Some(levels), Some(more)) = (levels, more) {
                levels.extend(more);
            }
        }
    }

    fn clear(&mut self) {
        self.values.clear();
        for levels in [&mut self.present, &mut self.repeated].into_iter().flatten() {
            levels.clear();
        }
    }

    fn write(&self, column: &mut SerializedColumnWriter<'_>) -> Result<()> {
        match &self.values {
            Values::Int32(values) => self.write_as::<Int32Type>(column, values),
            Values::Int64(values) => self.write_as::<Int64Type>(column, values),
            Values::Text(values) => self.write_as::<ByteArrayType>(column, values),
            Values::Truth(values) => self.write_as::<BoolType>(column, values),
            Values::Number(values) => self.write_as::<DoubleType>(column, values),
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
