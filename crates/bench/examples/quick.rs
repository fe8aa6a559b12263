fn main() {
    let n: u64 = std::env::args().nth(1).and_then(|x| x.parse().ok()).unwrap_or(200000);
    let rt = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let plan = posthaste_bench::Plan {
        events: n,
        rounds: 3,
        rate: 500,
        duration: std::time::Duration::from_secs(5),
    };
    let r = rt.block_on(posthaste_bench::run(&plan, |s| eprintln!("{s}"))).unwrap();
    println!("{r}");
}
