package mux

import (
	"errors"
	"io"
)

// chunkBytes is the size of the kernel's buffers of a port (one page): no read of a port ever returns more.
const chunkBytes = 4096

// errSuperseded ends a session whose port a newer host has begun to synchronise.
var errSuperseded = errors.New("the host has begun a new session")

// inbound buffers what comes from the host, chunk by chunk, and watches for preambles where a session's bytes should
// be.
//
// The kernel does not tell the guest of a host that went away and came back at once. In the middle of a yamux frame
// the preambles of such a new host would be taken for its missing data, 39 bytes every 250 ms. But a live session
// never delivers two chunks in a row that are preambles and nothing else, because a yamux header comes between any
// two pieces of data.
type inbound struct {
	source io.Reader
	chunk  [chunkBytes]byte
	// pending is the part of chunk that nobody has taken yet.
	pending []byte
	// nonce is that of the last chunk if it was a preamble and nothing else, else "".
	nonce string
	// fresh is true until the first byte of a session has been taken.
	fresh bool
}

// beginSession makes the next byte the first one of a session.
func (b *inbound) beginSession() {
	b.fresh = true
	b.nonce = ""
}

// Read gives the bytes of the running session. It fails with errSuperseded when a newer host speaks instead.
func (b *inbound) Read(into []byte) (int, error) {
	if len(b.pending) == 0 {
		previous := b.nonce
		if err := b.fill(); err != nil {
			return 0, err
		}
		if b.nonce != "" && (b.fresh || previous != "") {
			return 0, errSuperseded
		}
	}
	b.fresh = false
	n := copy(into, b.pending)
	b.pending = b.pending[n:]
	return n, nil
}

// takeByte gives the next byte whatever it means.
func (b *inbound) takeByte() (byte, error) {
	if len(b.pending) == 0 {
		if err := b.fill(); err != nil {
			return 0, err
		}
	}
	first := b.pending[0]
	b.pending = b.pending[1:]
	return first, nil
}

// takeNonce gives the nonce of the last chunk, if that was a preamble and nothing else, and forgets it and the chunk.
func (b *inbound) takeNonce() string {
	nonce := b.nonce
	if nonce != "" {
		b.nonce, b.pending = "", nil
	}
	return nonce
}

func (b *inbound) fill() error {
	n, err := b.source.Read(b.chunk[:])
	if n == 0 {
		if err == nil {
			err = io.ErrNoProgress
		}
		return err
	}
	b.pending = b.chunk[:n]
	b.nonce = lastNonce(b.pending)
	return nil
}
