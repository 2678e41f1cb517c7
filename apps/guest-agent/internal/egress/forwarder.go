package egress

import (
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"
)

const (
	// maxConnections is how many connections of one way are open at once, as many as the host takes; more wait in the
	// kernel to be accepted.
	maxConnections = 64
	// lingerTimeout is how long one direction may be silent once the other has ended. A stream to the host cannot be half
	// closed, so the host may not know that its peer is gone.
	lingerTimeout = 30 * time.Second
	// retryInterval is the pause after an accept that failed for want of descriptors or memory, which others may free.
	retryInterval = 100 * time.Millisecond
)

// forwarder joins each connection to its listener with a stream of its own to the host.
type forwarder struct {
	listener *net.TCPListener
	dial     func() (Stream, error)
	slots    chan struct{}
}

func newForwarder(listener *net.TCPListener, dial func() (Stream, error)) *forwarder {
	return &forwarder{listener: listener, dial: dial, slots: make(chan struct{}, maxConnections)}
}

// run returns when the listener is closed.
func (f *forwarder) run() {
	for {
		f.slots <- struct{}{}
		local, err := f.listener.AcceptTCP()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			<-f.slots
			time.Sleep(retryInterval)
			continue
		}
		go func() {
			defer func() { <-f.slots }()
			f.forward(local)
		}()
	}
}

func (f *forwarder) forward(local *net.TCPConn) {
	defer local.Close()
	remote, err := f.dial()
	if err != nil {
		// A reset, not an orderly end: nobody shall take this for an answer.
		_ = local.SetLinger(0)
		return
	}
	splice(local, remote)
}

// splice copies both ways until both directions have ended, one fails, or one is silent for lingerTimeout after the end
// of the other. It closes both.
func splice(local *net.TCPConn, remote Stream) {
	closeBoth := func() {
		_ = local.Close()
		_ = remote.Close()
	}
	defer closeBoth()
	fromLocal, fromRemote := &source{stream: local}, &source{stream: remote}
	up, down := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := io.Copy(onlyWriter{remote}, fromLocal)
		up <- err
	}()
	go func() {
		_, err := io.Copy(onlyWriter{local}, fromRemote)
		// The client is told at once that no more comes.
		_ = local.CloseWrite()
		down <- err
	}()
	var err error
	var other *source
	var otherEnded <-chan error
	select {
	case err = <-up:
		other, otherEnded = fromRemote, down
	case err = <-down:
		other, otherEnded = fromLocal, up
	}
	if err != nil {
		closeBoth()
	}
	defer other.endWhenSilent(closeBoth)()
	<-otherEnded
}

// source is the reading side of a stream.
type source struct {
	stream io.Reader
	// silence is nil while the stream may be silent for as long as it likes.
	silence atomic.Pointer[time.Timer]
}

func (s *source) Read(into []byte) (int, error) {
	n, err := s.stream.Read(into)
	if silence := s.silence.Load(); silence != nil {
		silence.Reset(lingerTimeout)
	}
	return n, err
}

// endWhenSilent calls end when the stream gives nothing for lingerTimeout, until the function that it returns is called.
func (s *source) endWhenSilent(end func()) (stop func() bool) {
	silence := time.AfterFunc(lingerTimeout, end)
	s.silence.Store(silence)
	return silence.Stop
}

// onlyWriter hides what else a connection can do from io.Copy, which would then not read through the source.
type onlyWriter struct{ io.Writer }
