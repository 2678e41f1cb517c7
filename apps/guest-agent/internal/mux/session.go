package mux

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/yamux"
)

const (
	// echoTimeout bounds the answer to a preamble: a host that does not take it is away again.
	echoTimeout = 5 * time.Second
	// writeTimeout is how long yamux lets one frame wait for the port. The end of file on the port, not this, tells
	// that the host is away; a busy host may well stop reading for minutes.
	writeTimeout = time.Hour
)

// Serve runs sessions over the port, one after the other, and gives each stream that asks for a port of handlers to
// its handler, in a goroutine of its own; the stream is closed when the handler returns. A lost host or a protocol
// error costs only the session; Serve returns only when the port itself fails, with that error.
func Serve(port *Port, handlers Handlers) error {
	for {
		err := serveSession(port, handlers)
		switch {
		case errors.Is(err, io.EOF):
			port.awaitChange()
		case err != nil:
			return fmt.Errorf("virtio-serial port: %w", err)
		}
	}
}

// serveSession waits for a preamble and serves the session after it. An error is that of the port before the session.
func serveSession(port *Port, handlers Handlers) error {
	nonce, err := port.inbound.awaitNonce()
	if err != nil {
		return err
	}
	if err := port.echo(nonce); err != nil {
		log.Printf("mux: answer a preamble: %v", err)
		return nil
	}
	conn := &sessionConn{port: port}
	session, err := yamux.Server(conn, yamuxConfig())
	if err != nil {
		return err
	}
	port.current.set(session)
	acceptStreams(session, handlers)
	port.current.set(nil)
	session.Close()
	conn.drain()
	return nil
}

func yamuxConfig() *yamux.Config {
	config := yamux.DefaultConfig()
	// A paused machine must not lose its session.
	config.EnableKeepAlive = false
	config.ConnectionWriteTimeout = writeTimeout
	config.LogOutput = io.Discard
	return config
}

// acceptStreams returns when the session has ended.
func acceptStreams(session *yamux.Session, handlers Handlers) {
	for {
		stream, err := session.Accept()
		if err != nil {
			return
		}
		go handlers.serve(stream)
	}
}

func (p *Port) echo(nonce string) error {
	p.inbound.beginSession()
	if err := p.file.SetWriteDeadline(time.Now().Add(echoTimeout)); err != nil {
		return err
	}
	if _, err := io.WriteString(p.file, preambleWord+nonce+"\n"); err != nil {
		return err
	}
	return p.file.SetDeadline(time.Time{})
}

// sessionConn is the port as one session sees it. Closing it ends the session's use of the port and leaves the port
// open.
type sessionConn struct {
	port    *Port
	mutex   sync.Mutex
	writing sync.Mutex
	closed  bool
}

func (c *sessionConn) Read(into []byte) (int, error) {
	if c.isClosed() {
		return 0, net.ErrClosed
	}
	return c.port.inbound.Read(into)
}

func (c *sessionConn) Write(data []byte) (int, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.isClosed() {
		return 0, net.ErrClosed
	}
	return c.port.file.Write(data)
}

// Close makes reads and writes of the session fail, those under way included.
func (c *sessionConn) Close() error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.closed = true
	return c.port.file.SetDeadline(time.Unix(1, 0))
}

func (c *sessionConn) isClosed() bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.closed
}

// drain waits until no write of the closed session is under way, which would else end up in the middle of the next
// session, and makes the port usable again.
func (c *sessionConn) drain() {
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.port.file.SetDeadline(time.Time{}); err != nil {
		log.Printf("mux: reset the deadline of the port: %v", err)
	}
}
