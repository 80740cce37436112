//! Memory that direct I/O takes, filled with what does not compress.

const ALIGN: usize = 4096;

/// Bytes that begin at a multiple of 4 KiB.
pub(super) struct Aligned {
    memory: Vec<u8>,
    shift: usize,
    length: usize,
}

impl Aligned {
    pub fn new(length: usize) -> Self {
        let mut memory = vec![0; length + ALIGN];
        let shift = memory.as_ptr().align_offset(ALIGN);
        let mut state = 0x9E37_79B9_7F4A_7C15u64;
        for word in memory.chunks_exact_mut(8) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            word.copy_from_slice(&state.to_le_bytes());
        }
        Aligned {
            memory,
            shift,
            length,
        }
    }
}

impl std::ops::Deref for Aligned {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[self.shift..self.shift + self.length]
    }
}
