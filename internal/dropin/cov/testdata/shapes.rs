use std::collections::HashMap;
use std::fmt;

macro_rules! check {
    ($x:expr) => {
        if $x > 3 && $x < 9 {
            1
        } else {
            0
        }
    };
}

trait Area {
    fn area(&self) -> u64;
    fn describe(&self) -> String {
        format!("area {}", self.area())
    }
}

struct Square(u64);
struct Circle {
    radius: u64,
}

impl Area for Square {
    fn area(&self) -> u64 {
        self.0 * self.0
    }
}

impl Area for Circle {
    fn area(&self) -> u64 {
        match self.radius {
            0 => 0,
            r if r > 100 => 100,
            r => 3 * r * r,
        }
    }
    fn describe(&self) -> String {
        String::from("circle")
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

fn largest<T: PartialOrd + Copy>(list: &[T]) -> Option<T> {
    let mut best = *list.first()?;
    for &x in list {
        if x > best {
            best = x;
        }
    }
    Some(best)
}

fn parse(s: &str) -> Result<u32, std::num::ParseIntError> {
    let n: u32 = s.parse()?;
    Ok(n + 1)
}

#[allow(dead_code)]
fn never(x: u32) -> u32 {
    if x > 1 { x } else { 0 }
}

fn main() {
    let shapes: Vec<Box<dyn Area>> = vec![Box::new(Square(3)), Box::new(Circle { radius: 2 })];
    let total: u64 = shapes.iter().map(|s| s.area()).filter(|&a| a > 5).sum();
    let mut counts = HashMap::new();
    for i in 0..1500u32 {
        *counts.entry(i % 7).or_insert(0) += check!(i % 11);
    }
    println!("{} {} {:?}", total, Square(4), largest(&[1, 5, 3]));
    println!("{:?} {}", largest(&[2.5, 1.0]), shapes[0].describe().len());
    if let (Ok(n), Err(_)) = (parse("4"), parse("x")) {
        println!("{}", n);
    }
}
