package mux

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/yamux"
)

const (
	acceptedWord = "OK "
	// answerLineBytes bounds the answer of the host: a word, and a port or a reason.
	answerLineBytes = 64
)

// ErrNoSession says that the host is away.
var ErrNoSession = errors.New("the host has no session on the virtio-serial port")

// currentSession is the session that is served now, if any.
type currentSession struct {
	mutex   sync.Mutex
	session *yamux.Session
}

func (c *currentSession) set(session *yamux.Session) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.session = session
}

func (c *currentSession) get() *yamux.Session {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.session
}

// Dial opens a stream to a port of the host. The host has timeout to take it. The error is ErrNoSession when the host is
// away.
func (p *Port) Dial(port uint32, timeout time.Duration) (net.Conn, error) {
	session := p.current.get()
	if session == nil {
		return nil, ErrNoSession
	}
	stream, err := session.OpenStream()
	if err != nil {
		return nil, fmt.Errorf("open a stream to port %d of the host: %w", port, err)
	}
	if err := requestPort(stream, port, timeout); err != nil {
		stream.Close()
		return nil, fmt.Errorf("port %d of the host: %w", port, err)
	}
	return stream, nil
}

func requestPort(stream net.Conn, port uint32, timeout time.Duration) error {
	if err := stream.SetDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(stream, "%s%d\n", connectWord, port); err != nil {
		return err
	}
	answer, err := readLine(stream, answerLineBytes)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(answer, acceptedWord) {
		return fmt.Errorf("the host answers %q", answer)
	}
	return stream.SetDeadline(time.Time{})
}
