// Panics, traits and matches, driven by the first argument.
use std::collections::BTreeMap;
use std::panic;

trait Shape {
    fn area(&self) -> u64;
}
struct Square(u64);
struct Rect(u64, u64);
impl Shape for Square {
    #[inline(never)]
    fn area(&self) -> u64 {
        self.0 * self.0
    }
}
impl Shape for Rect {
    #[inline(never)]
    fn area(&self) -> u64 {
        if self.0 == 0 { 0 } else { self.0 * self.1 }
    }
}

#[inline(never)]
fn parse(s: &str) -> Result<u64, String> {
    let mut n = 0u64;
    for c in s.bytes() {
        match c {
            b'0'..=b'9' => n = n * 10 + (c - b'0') as u64,
            b'_' => continue,
            b'x' => return Err("hex".to_string()),
            _ => return Err(format!("bad {}", c as char)),
        }
    }
    Ok(n)
}

#[inline(never)]
fn index(v: &[u64], i: usize) -> u64 {
    v[i]
}

struct Noisy(&'static str);
impl Drop for Noisy {
    fn drop(&mut self) {
        println!("drop {}", self.0);
    }
}

fn main() {
    let n: u64 = parse(&std::env::args().nth(1).unwrap_or_default()).unwrap_or(0);
    panic::set_hook(Box::new(|_| ()));
    for s in ["12", "1_0", "0x1", "-"] {
        println!("{:?}", parse(s));
    }
    let shapes: Vec<Box<dyn Shape>> = vec![Box::new(Square(n)), Box::new(Rect(n, 3))];
    let mut m = BTreeMap::new();
    for s in &shapes {
        *m.entry(s.area() % 5).or_insert(0) += 1;
    }
    println!("{:?}", m);
    for i in 0..n as usize {
        let r = panic::catch_unwind(|| {
            let _a = Noisy("a");
            let v = [1, 2, 3];
            index(&v, i)
        });
        println!("{}", r.map_or("caught".to_string(), |x| x.to_string()));
    }
}
