// Package vsock carries streams to and from the host over AF_VSOCK, where the machine has such a device.
package vsock

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// backlog is the number of streams that may wait to be accepted.
	backlog = 256
	// retryInterval is the pause after an accept that failed for want of descriptors or memory, which others may free.
	retryInterval = 100 * time.Millisecond
)

// Listener accepts streams from the host on one port.
type Listener struct {
	socket *os.File
	port   uint32
}

// NewListener listens on port of any of the guest's context ids. The error comes at once when the kernel has no
// AF_VSOCK.
func NewListener(port uint32) (*Listener, error) {
	socket, err := bind(port)
	if err != nil {
		return nil, fmt.Errorf("listen on vsock port %d: %w", port, err)
	}
	return &Listener{socket: socket, port: port}, nil
}

// Listen is NewListener and Serve in one. It returns only with an error.
func Listen(port uint32, handler func(stream *os.File)) error {
	listener, err := NewListener(port)
	if err != nil {
		return err
	}
	defer listener.Close()
	return listener.Serve(handler)
}

// Serve gives each stream to handler, in a goroutine of its own; the stream is closed when the handler returns. It
// returns only with an error, os.ErrClosed after Close.
func (l *Listener) Serve(handler func(stream *os.File)) error {
	for {
		stream, err := accept(l.socket)
		if isShortage(err) {
			time.Sleep(retryInterval)
			continue
		}
		if err != nil {
			return fmt.Errorf("accept on vsock port %d: %w", l.port, err)
		}
		go func() {
			defer stream.Close()
			handler(stream)
		}()
	}
}

// Close frees the port. Streams that were accepted stay open.
func (l *Listener) Close() error { return l.socket.Close() }

func isShortage(err error) bool {
	return err == unix.EMFILE || err == unix.ENFILE || err == unix.ENOMEM || err == unix.ENOBUFS
}

func bind(port uint32) (*os.File, error) {
	fd, err := unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.Bind(fd, &unix.SockaddrVM{CID: unix.VMADDR_CID_ANY, Port: port}); err != nil {
		unix.Close(fd)
		return nil, err
	}
	if err := unix.Listen(fd, backlog); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), "vsock-listener"), nil
}

func accept(listener *os.File) (*os.File, error) {
	raw, err := listener.SyscallConn()
	if err != nil {
		return nil, err
	}
	stream := -1
	var acceptErr error
	err = raw.Read(func(fd uintptr) bool {
		stream, _, acceptErr = unix.Accept4(int(fd), unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK)
		return acceptErr != unix.EAGAIN && acceptErr != unix.EINTR && acceptErr != unix.ECONNABORTED
	})
	if err != nil {
		return nil, err
	}
	if acceptErr != nil {
		return nil, acceptErr
	}
	return os.NewFile(uintptr(stream), "vsock-stream"), nil
}
