// rustc without the library of the target: what the language itself needs.
#![feature(no_core, lang_items)]
#![no_core]
#![allow(internal_features)]
#[lang = "pointee_sized"]
pub trait PointeeSized {}
#[lang = "meta_sized"]
pub trait MetaSized: PointeeSized {}
#[lang = "sized"]
pub trait Sized: MetaSized {}
#[lang = "copy"]
pub trait Copy: Sized {}
impl Copy for i32 {}
impl Copy for bool {}

fn pick(first: bool) -> i32 {
    if first {
        7
    } else {
        unused()
    }
}

fn unused() -> i32 {
    5
}

#[no_mangle]
pub extern "C" fn __main_argc_argv(_: i32, _: i32) -> i32 {
    pick(true);
    pick(true)
}
