package mux

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

const (
	connectWord = "CONNECT "
	// connectLineBytes bounds the first line of a stream: the word, a 32-bit port number and some room.
	connectLineBytes = 32
	// connectTimeout bounds the wait for the first line of a stream.
	connectTimeout = 30 * time.Second
)

// Handler serves one stream. It returns when it has done with it; the stream is closed after that.
type Handler func(stream net.Conn)

// Handlers gives the handler for each guest port.
type Handlers map[uint32]Handler

// serve reads the line that names the port, answers it and runs the handler of that port.
func (h Handlers) serve(stream net.Conn) {
	defer stream.Close()
	if err := stream.SetDeadline(time.Now().Add(connectTimeout)); err != nil {
		return
	}
	port, err := readConnectLine(stream)
	if err != nil {
		// The host may be gone already; there is nobody else to tell.
		_, _ = fmt.Fprintf(stream, "ERR %v\n", err)
		return
	}
	handler, served := h[port]
	if !served {
		_, _ = fmt.Fprintf(stream, "ERR nothing listens on port %d\n", port)
		return
	}
	if _, err := fmt.Fprintf(stream, "OK %d\n", port); err != nil {
		return
	}
	if err := stream.SetDeadline(time.Time{}); err != nil {
		return
	}
	handler(stream)
}

// readConnectLine reads "CONNECT <port>\n" and nothing beyond it.
func readConnectLine(stream io.Reader) (uint32, error) {
	line, err := readLine(stream, connectLineBytes)
	switch {
	case errors.Is(err, errLineTooLong):
		return 0, fmt.Errorf("the CONNECT line is longer than %d bytes", connectLineBytes)
	case err != nil:
		return 0, fmt.Errorf("no whole CONNECT line came")
	case !strings.HasPrefix(line, connectWord):
		return 0, fmt.Errorf("the stream does not begin with CONNECT")
	}
	port, err := strconv.ParseUint(strings.TrimPrefix(line, connectWord), 10, 32)
	if err != nil {
		return 0, fmt.Errorf("the port of the CONNECT line is no 32-bit number")
	}
	return uint32(port), nil
}
