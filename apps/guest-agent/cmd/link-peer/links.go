package main

import (
	"io"
	"net"
	"os"
	"time"

	"inquest.dev/guest-agent/internal/mux"
	"inquest.dev/guest-agent/internal/vsock"
)

// dialTimeout is how long the host may take to accept a stream.
const dialTimeout = 5 * time.Second

// stream is one byte stream of a link. Its end is that of both directions: a hybrid vsock has no half of a stream, and
// Go's yamux reads nothing more after its own end.
type stream = io.ReadWriteCloser

// link is the guest's end of a guest link. Only one goroutine listens and stops listening.
type link interface {
	dial(port uint32) (stream, error)
	listen(port uint32, accept func(stream)) error
	unlisten(port uint32)
}

type vsockLink struct{ listeners map[uint32]*vsock.Listener }

func newVsockLink() *vsockLink { return &vsockLink{listeners: make(map[uint32]*vsock.Listener)} }

func (l *vsockLink) dial(port uint32) (stream, error) {
	return vsock.Dial(port)
}

func (l *vsockLink) listen(port uint32, accept func(stream)) error {
	listener, err := vsock.NewListener(port)
	if err != nil {
		return err
	}
	l.listeners[port] = listener
	// It ends when it is closed.
	go func() { _ = listener.Serve(func(file *os.File) { accept(file) }) }()
	return nil
}

func (l *vsockLink) unlisten(port uint32) {
	if listener := l.listeners[port]; listener != nil {
		listener.Close()
	}
	delete(l.listeners, port)
}

// muxLink changes the handlers of a session that runs. That is no race because the host opens streams only after the
// change was confirmed to it.
type muxLink struct {
	port     *mux.Port
	handlers mux.Handlers
}

func newMuxLink(port *mux.Port) *muxLink { return &muxLink{port: port, handlers: make(mux.Handlers)} }

func (l *muxLink) dial(port uint32) (stream, error) {
	return l.port.Dial(port, dialTimeout)
}

func (l *muxLink) listen(port uint32, accept func(stream)) error {
	l.handlers[port] = func(conn net.Conn) { accept(conn) }
	return nil
}

func (l *muxLink) unlisten(port uint32) { delete(l.handlers, port) }
