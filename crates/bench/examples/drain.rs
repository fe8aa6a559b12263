fn main() {
    let n: u64 = std::env::args().nth(1).and_then(|x| x.parse().ok()).unwrap_or(200000);
    let rt = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    rt.block_on(posthaste_bench::drain_only(n));
}
