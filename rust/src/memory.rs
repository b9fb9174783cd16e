//! Where memory is short, this process ends with a line.
//!
//! Rust's libraries cannot be told that there is none: they abort, with words of their own.

use std::alloc::{GlobalAlloc, Layout, System};

struct OrEnd;

#[global_allocator]
static MEMORY: OrEnd = OrEnd;

const MESSAGE: &[u8] = b"cyclescope: out of memory; allow more (ulimit -v), or profile less\n";

fn or_end(block: *mut u8) -> *mut u8 {
    if block.is_null() {
        unsafe {
            libc::write(2, MESSAGE.as_ptr().cast(), MESSAGE.len());
            libc::_exit(1);
        }
    }
    block
}

// SAFETY: all of it is the system's.
unsafe impl GlobalAlloc for OrEnd {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        or_end(System.alloc(layout))
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        or_end(System.alloc_zeroed(layout))
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        or_end(System.realloc(block, layout, size))
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        System.dealloc(block, layout);
    }
}
