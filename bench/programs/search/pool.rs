//! Work for several threads.

use std::sync::{mpsc, Arc, Mutex};
use std::thread;

/// Applies f to each item, in some threads; the results are in the order of the
/// items. Panics if f does.
pub fn map<T, R, F>(threads: usize, items: Vec<T>, f: F) -> Vec<R>
where
    T: Send + 'static,
    R: Send + 'static,
    F: Fn(T) -> R + Send + Sync + 'static,
{
    let n = items.len();
    let queue = Arc::new(Mutex::new(items.into_iter().enumerate()));
    let f = Arc::new(f);
    let (send, receive) = mpsc::channel();
    let workers: Vec<_> = (0..threads)
        .map(|_| {
            let (queue, f, send) = (Arc::clone(&queue), Arc::clone(&f), send.clone());
            thread::spawn(move || loop {
                let Some((at, item)) = queue.lock().unwrap().next() else {
                    break;
                };
                if send.send((at, f(item))).is_err() {
                    break;
                }
            })
        })
        .collect();
    drop(send);
    let mut results: Vec<Option<R>> = (0..n).map(|_| None).collect();
    for (at, r) in receive {
        results[at] = Some(r);
    }
    for w in workers {
        w.join().expect("a worker panicked");
    }
    results
        .into_iter()
        .map(|r| r.expect("every item has a result"))
        .collect()
}
