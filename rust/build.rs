//! Embeds Calyx's standard library: every file under `primitives/` of the calyx-stdlib crate,
//! found where cargo put it. The crate's own constants leave some of the files out.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn stdlib_root() -> PathBuf {
    let cargo = env::var("CARGO").expect("cargo sets CARGO");
    let manifest = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    // For this target alone: the crates of others are not on the disk.
    let target = env::var("TARGET").expect("cargo sets TARGET");
    let output = Command::new(cargo)
        .args(["metadata", "--format-version=1", "--locked", "--offline"])
        .args(["--filter-platform", &target])
        .current_dir(manifest)
        .output()
        .expect("cargo metadata runs");
    let text = String::from_utf8(output.stdout).expect("cargo metadata prints UTF-8");
    let metadata: serde_json::Value =
        serde_json::from_str(&text).expect("cargo metadata prints JSON");
    let package = metadata["packages"]
        .as_array()
        .and_then(|all| all.iter().find(|p| p["name"] == "calyx-stdlib"))
        .expect("calyx-stdlib is a dependency");
    let manifest = package["manifest_path"].as_str().expect("a path");
    Path::new(manifest).parent().expect("a folder").to_path_buf()
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() {
            collect(&path, found);
        } else {
            found.push(path);
        }
    }
}

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=Cargo.lock");
    let root = stdlib_root();
    let mut files = Vec::new();
    collect(&root.join("primitives"), &mut files);
    files.sort();
    let mut text = String::from("pub const STDLIB: &[(&str, &str)] = &[\n");
    for file in &files {
        let name = file.strip_prefix(&root).expect("a file below the root");
        text += &format!("    ({:?}, include_str!({:?})),\n", name, file);
    }
    text += "];\n";
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    fs::write(out.join("stdlib.rs"), text).expect("the output folder is writable");
}
