use std::collections::HashMap;
macro_rules! mx { ($a:expr, $b:expr) => { if $a > $b { $a } else { $b } } }
trait T { fn v(&self) -> i32; fn w(&self) -> i32 { self.v() + 1 } }
struct A(i32); struct B;
impl T for A { fn v(&self) -> i32 { self.0 } }
impl T for B { fn v(&self) -> i32 { 3 } fn w(&self) -> i32 { 9 } }
fn g<X: T>(x: &X) -> i32 { x.w() }
fn q(s: &str) -> Result<i32, std::num::ParseIntError> { let n: i32 = s.parse()?; Ok(n + 1) }
fn m(x: Option<i32>) -> i32 { match x { Some(n) if n > 3 => n, Some(2) => 4, Some(_) => 0, None => -1 } }
fn main() { let mut h = HashMap::new(); for i in 0..10 { *h.entry(i % 3).or_insert(0) += mx!(i, 4); }
 let c = |x: i32| if x > 3 && x < 9 || x == 1 { 1 } else { 0 };
 println!("{} {} {} {:?} {:?} {}", h.len(), g(&A(2)) + g(&B), (0..20).map(c).sum::<i32>(), q("3"), q("x").is_err(), m(Some(5)) + m(None)); }
