//! The children of a cursor of libclang.
//!
//! libclang calls back for each of them. A callback in Python is no place to be interrupted in:
//! ctypes drops what is raised there, and Ctrl-C with it.

use std::ffi::{c_int, c_uint, c_void};

use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// `CXCursor` (clang-c/Index.h).
#[repr(C)]
#[derive(Clone, Copy)]
struct Cursor {
    kind: c_int,
    extra: c_int,
    data: [*const c_void; 3],
}

type Visitor = extern "C" fn(Cursor, Cursor, *mut c_void) -> c_int;
type VisitChildren = unsafe extern "C" fn(Cursor, Visitor, *mut c_void) -> c_uint;

const CONTINUE: c_int = 1; // CXChildVisit_Continue

extern "C" fn collect(child: Cursor, _parent: Cursor, found: *mut c_void) -> c_int {
    // SAFETY: `child_cursors` gives it its own vector, and waits.
    unsafe { (*found.cast::<Vec<Cursor>>()).push(child) };
    CONTINUE
}

/// The cursors below a cursor, one after the other, as libclang has them.
///
/// `visit` is the address of `clang_visitChildren` in the library that the binding has loaded,
/// `cursor` that of a cursor of it.
#[pyfunction]
pub fn child_cursors(py: Python<'_>, visit: usize, cursor: usize) -> Bound<'_, PyBytes> {
    let mut found: Vec<Cursor> = Vec::new();
    // SAFETY: both addresses are libclang's, see above.
    unsafe {
        let visit: VisitChildren = std::mem::transmute(visit);
        visit(*(cursor as *const Cursor), collect, (&raw mut found).cast());
        let bytes = std::slice::from_raw_parts(found.as_ptr().cast(), size_of_val(&found[..]));
        PyBytes::new(py, bytes)
    }
}
