/// Doubles a number.
///
/// ```
/// assert_eq!(app::double(1), 2);
/// ```
pub fn double(x: i32) -> i32 {
    x * 2
}

/// Returns the greater of two values.
///
/// ```
/// assert_eq!(app::greater("a", "b"), "b");
/// ```
pub fn greater<T: PartialOrd>(a: T, b: T) -> T {
    if a > b { a } else { b }
}
