package mux

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/yamux"
)

// hostSession serves the port and gives the host's end of a session on it.
func hostSession(t *testing.T) (*Port, *yamux.Session) {
	t.Helper()
	port, host := portPair(t)
	serveEcho(t, port)
	send(t, host, preamble("1"))
	expect(t, host, "SYNC "+nonce("1")+"\n")
	return port, echoOverSession(t, host)
}

// answerNext accepts the next stream of the guest and answers its first line.
func answerNext(t *testing.T, session *yamux.Session, line, answer string) <-chan net.Conn {
	t.Helper()
	accepted := make(chan net.Conn, 1)
	go func() {
		stream, err := session.Accept()
		if err != nil {
			t.Error(err)
			return
		}
		got := make([]byte, len(line))
		if _, err := io.ReadFull(stream, got); err != nil || string(got) != line {
			t.Errorf("want %q, got %q (%v)", line, got, err)
		}
		if _, err := io.WriteString(stream, answer); err != nil {
			t.Error(err)
		}
		accepted <- stream
	}()
	return accepted
}

func TestDialOpensAStreamToAPortOfTheHost(t *testing.T) {
	port, session := hostSession(t)
	accepted := answerNext(t, session, "CONNECT 3128\n", "OK 3128\nhello")
	stream, err := port.Dial(3128, testTimeout)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, stream, "hello")
	send(t, stream, "and back")
	expect(t, <-accepted, "and back")
}

func TestDialSaysWhatTheHostAnswersToAPortThatItDoesNotServe(t *testing.T) {
	for _, answer := range []string{"ERR nobody listens on port 7\n", "HTTP/1.1 200 OK\n", strings.Repeat("x", 100)} {
		port, session := hostSession(t)
		accepted := answerNext(t, session, "CONNECT 7\n", answer)
		if stream, err := port.Dial(7, testTimeout); err == nil {
			t.Fatalf("%q gave the stream %v", answer, stream)
		}
		<-accepted
	}
}

func TestDialWaitsForTheHostNoLongerThanItsTime(t *testing.T) {
	port, session := hostSession(t)
	accepted := answerNext(t, session, "CONNECT 7\n", "")
	if _, err := port.Dial(7, 50*time.Millisecond); !errors.Is(err, yamux.ErrTimeout) {
		t.Fatalf("got %v", err)
	}
	<-accepted
}

func TestDialNeedsASession(t *testing.T) {
	port, host := portPair(t)
	if _, err := port.Dial(3128, testTimeout); !errors.Is(err, ErrNoSession) {
		t.Fatalf("got %v before the first session", err)
	}
	serveEcho(t, port)
	send(t, host, preamble("1"))
	expect(t, host, "SYNC "+nonce("1")+"\n")
	session := echoOverSession(t, host)
	accepted := answerNext(t, session, "CONNECT 3128\n", "OK 3128\n")
	if _, err := port.Dial(3128, testTimeout); err != nil {
		t.Fatal(err)
	}
	<-accepted
}
