#![no_std]
#![no_main]

use core::panic::PanicInfo;

#[derive(Clone, Copy)]
struct Point {
    x: i32,
    y: i32,
}

trait Length {
    fn length(&self) -> i32;
}

impl Point {
    #[inline(always)]
    fn square(&self) -> i32 {
        self.x.wrapping_mul(self.x).wrapping_add(self.y)
    }
}

impl Length for Point {
    #[inline(never)]
    fn length(&self) -> i32 {
        self.square().max(3)
    }
}

#[inline(never)]
fn total(points: &[Point]) -> i32 {
    points.iter().map(|p| p.length()).fold(0, i32::wrapping_add)
}

#[unsafe(no_mangle)]
pub extern "C" fn _start() -> ! {
    let points = [Point { x: 1, y: 2 }, Point { x: 3, y: 4 }];
    let mut n = total(&points);
    loop {
        n = core::hint::black_box(n);
    }
}

#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    loop {}
}
