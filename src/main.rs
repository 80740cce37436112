fn main() {
    println!("mountmark");
}
