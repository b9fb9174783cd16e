//! The released library with the primitives that Calyx has got since.

use std::borrow::Cow;

/// Files that the released library has not.
pub const ADDED: &[(&str, &str)] =
    &[("primitives/memories/dyn.futil", include_str!("library/dyn.futil"))];

/// A file of the released library as it has to be.
pub fn amended<'a>(name: &str, text: &'a str) -> Cow<'a, str> {
    match name {
        "primitives/core.futil" => {
            Cow::Owned(text.to_string() + include_str!("library/core.futil"))
        }
        "primitives/binary_operators.futil" => {
            Cow::Owned(text.to_string() + include_str!("library/binary_operators.futil"))
        }
        "primitives/memories/comb.futil" => Cow::Owned(with_reset(text)),
        _ => Cow::Borrowed(text),
    }
}

/// comb_mem_d4 has a reset port in Verilog that its declaration forgets, so that nothing drives it
/// (calyxir/calyx#2389).
fn with_reset(text: &str) -> String {
    let Some((before, declaration)) = text.split_once("primitive comb_mem_d4") else {
        return text.to_string();
    };
    let declaration =
        declaration.replacen("@clk clk: 1\n", "@clk clk: 1,\n    @reset reset: 1\n", 1);
    format!("{before}primitive comb_mem_d4{declaration}")
}
