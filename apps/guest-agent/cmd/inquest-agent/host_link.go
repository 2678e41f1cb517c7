package main

import (
	"errors"
	"sync/atomic"
	"time"

	"inquest.dev/guest-agent/internal/egress"
	"inquest.dev/guest-agent/internal/mux"
	"inquest.dev/guest-agent/internal/vsock"
)

// dialTimeout is how long the host may take to accept a stream.
const dialTimeout = time.Second

// hostLink opens streams to the host over the link that the machine has.
type hostLink struct {
	// port is nil until the virtio-serial port is open, and for ever on a machine without one.
	port atomic.Pointer[mux.Port]
}

func (l *hostLink) dial(port uint32) (egress.Stream, error) {
	if serial := l.port.Load(); serial != nil {
		stream, err := serial.Dial(port, dialTimeout)
		if !errors.Is(err, mux.ErrNoSession) {
			return stream, err
		}
	}
	return vsock.Dial(port)
}
