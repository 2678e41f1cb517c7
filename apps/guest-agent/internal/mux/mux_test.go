package mux

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/yamux"
	"golang.org/x/sys/unix"
)

const testTimeout = 30 * time.Second

// portPair returns a Port whose other end is the host.
func portPair(t *testing.T) (*Port, net.Conn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	hostFile := os.NewFile(uintptr(fds[0]), "host")
	host, err := net.FileConn(hostFile)
	if err != nil {
		t.Fatal(err)
	}
	hostFile.Close()
	presence, err := watchPresence(fds[1])
	if err != nil {
		t.Fatal(err)
	}
	file := os.NewFile(uintptr(fds[1]), "guest")
	port := &Port{file: file, presence: presence, inbound: inbound{source: file}}
	t.Cleanup(func() {
		host.Close()
		file.Close()
		unix.Close(presence)
	})
	if err := host.SetDeadline(time.Now().Add(testTimeout)); err != nil {
		t.Fatal(err)
	}
	return port, host
}

func nonce(digit string) string { return strings.Repeat(digit, nonceLength) }

func preamble(digit string) string { return "\nSYNC " + nonce(digit) + "\n" }

func send(t *testing.T, to io.Writer, data string) {
	t.Helper()
	if _, err := io.WriteString(to, data); err != nil {
		t.Fatal(err)
	}
}

func expect(t *testing.T, from io.Reader, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(from, got); err != nil || string(got) != want {
		t.Fatalf("want %q, got %q (%v)", want, got, err)
	}
}

// serveEcho serves port 9001 with an echo, until the port is closed.
func serveEcho(t *testing.T, port *Port) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		done <- Serve(port, Handlers{9001: func(stream net.Conn) { _, _ = io.Copy(stream, stream) }})
	}()
	t.Cleanup(func() {
		port.file.Close()
		select {
		case <-done:
		case <-time.After(testTimeout):
			t.Error("Serve did not return after its port was closed")
		}
	})
}

// echoOverSession opens a session on a synchronised port and lets one stream echo.
func echoOverSession(t *testing.T, host net.Conn) *yamux.Session {
	t.Helper()
	config := yamux.DefaultConfig()
	config.EnableKeepAlive = false
	config.LogOutput = io.Discard
	session, err := yamux.Client(host, config)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := session.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.SetDeadline(time.Now().Add(testTimeout)); err != nil {
		t.Fatal(err)
	}
	send(t, stream, "CONNECT 9001\nhello")
	expect(t, stream, "OK 9001\nhello")
	return session
}

func TestAPreambleIsEchoedAndASessionFollowsWhateverCameBefore(t *testing.T) {
	port, host := portPair(t)
	serveEcho(t, port)
	send(t, host, "stale\x00bytes SYNC "+nonce("a")+" and SYNC short\nSYNC "+nonce("Z")+"\n"+strings.Repeat("x", 10_000)+preamble("b"))
	expect(t, host, "SYNC "+nonce("b")+"\n")
	echoOverSession(t, host)
}

func TestOfSeveralPreamblesInARowTheLastIsServed(t *testing.T) {
	port, host := portPair(t)
	send(t, host, preamble("1")+preamble("2")+preamble("3"))
	serveEcho(t, port)
	expect(t, host, "SYNC "+nonce("3")+"\n")
	echoOverSession(t, host)
}

func TestAHostThatAsksAgainBeforeTheSessionIsServedAgain(t *testing.T) {
	port, host := portPair(t)
	serveEcho(t, port)
	send(t, host, preamble("1"))
	expect(t, host, "SYNC "+nonce("1")+"\n")
	send(t, host, preamble("2"))
	expect(t, host, "SYNC "+nonce("2")+"\n")
	echoOverSession(t, host)
}

func TestANewHostIsServedOnTheFirstPreambleWhenTheOldSessionWasIdle(t *testing.T) {
	port, host := portPair(t)
	serveEcho(t, port)
	send(t, host, preamble("1"))
	expect(t, host, "SYNC "+nonce("1")+"\n")
	sendHeader(t, host, 1)
	expectYamux(t, host)
	send(t, host, preamble("2"))
	awaitText(t, host, "SYNC "+nonce("2")+"\n")
	echoOverSession(t, host)
}

func TestANewHostIsServedWhenTheOldOneLeftInTheMiddleOfAFrame(t *testing.T) {
	port, host := portPair(t)
	serveEcho(t, port)
	send(t, host, preamble("1"))
	expect(t, host, "SYNC "+nonce("1")+"\n")
	sendHeader(t, host, 1)
	expectYamux(t, host)
	// A frame that announces 200 000 bytes, of which 5 come.
	send(t, host, "\x00\x00\x00\x00\x00\x00\x00\x01\x00\x03\x0d\x40"+"CONNE")
	settle(t, port)
	send(t, host, preamble("2"))
	settle(t, port)
	send(t, host, preamble("3"))
	awaitText(t, host, "SYNC "+nonce("3")+"\n")
	echoOverSession(t, host)
}

// sendHeader opens the stream id.
func sendHeader(t *testing.T, host net.Conn, id byte) {
	t.Helper()
	send(t, host, "\x00\x01\x00\x01\x00\x00\x00"+string([]byte{id})+"\x00\x00\x00\x00")
}

// expectYamux reads the header that accepts a stream.
func expectYamux(t *testing.T, host net.Conn) {
	t.Helper()
	if _, err := io.ReadFull(host, make([]byte, 12)); err != nil {
		t.Fatal(err)
	}
}

// settle waits until the guest has read everything that was sent, so that what is sent next is a chunk of its own.
func settle(t *testing.T, port *Port) {
	t.Helper()
	raw, err := port.file.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(testTimeout); time.Now().Before(end); time.Sleep(time.Millisecond) {
		left := -1
		if err := raw.Control(func(fd uintptr) { left, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) }); err != nil {
			t.Fatal(err)
		}
		if left == 0 {
			return
		}
	}
	t.Fatal("the guest does not read")
}

func awaitText(t *testing.T, from io.Reader, want string) {
	t.Helper()
	var got []byte
	for !bytes.HasSuffix(got, []byte(want)) {
		next := make([]byte, 1)
		if _, err := io.ReadFull(from, next); err != nil {
			t.Fatalf("got %q: %v", got, err)
		}
		got = append(got, next...)
	}
}

func TestAStreamThatNamesNoServedPortIsRefusedAndTheSessionGoesOn(t *testing.T) {
	port, host := portPair(t)
	serveEcho(t, port)
	send(t, host, preamble("1"))
	expect(t, host, "SYNC "+nonce("1")+"\n")
	session := echoOverSession(t, host)
	refusals := map[string]string{
		"CONNECT 7\n":            "ERR nothing listens on port 7\n",
		"CONNECT 99999999999\n":  "ERR the port of the CONNECT line is no 32-bit number\n",
		"CONNECT -1\n":           "ERR the port of the CONNECT line is no 32-bit number\n",
		"GET / HTTP/1.1\n":       "ERR the stream does not begin with CONNECT\n",
		strings.Repeat("x", 100): fmt.Sprintf("ERR the CONNECT line is longer than %d bytes\n", connectLineBytes),
	}
	for line, want := range refusals {
		stream, err := session.Open()
		if err != nil {
			t.Fatal(err)
		}
		send(t, stream, line)
		answer, err := io.ReadAll(stream)
		if err != nil || string(answer) != want {
			t.Fatalf("%q: want %q, got %q (%v)", line, want, answer, err)
		}
	}
	if session.IsClosed() {
		t.Fatal("a refused stream ended the session")
	}
}

func TestOneStalledStreamDoesNotStallAnother(t *testing.T) {
	port, host := portPair(t)
	serveEcho(t, port)
	send(t, host, preamble("1"))
	expect(t, host, "SYNC "+nonce("1")+"\n")
	session := echoOverSession(t, host)
	stalled, err := session.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := stalled.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	// Nobody reads the echo, so both windows fill up and the write runs into its deadline.
	send(t, stalled, "CONNECT 9001\n")
	if _, err := stalled.Write(make([]byte, 4<<20)); err == nil {
		t.Fatal("a stream took 4 MiB that nobody read")
	}
	other, err := session.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.SetDeadline(time.Now().Add(testTimeout)); err != nil {
		t.Fatal(err)
	}
	send(t, other, "CONNECT 9001\nhello")
	expect(t, other, "OK 9001\nhello")
}

func FuzzLastNonceAcceptsOnlyWholePreambles(f *testing.F) {
	f.Add([]byte(preamble("a")))
	f.Add([]byte(preamble("a") + preamble("b")))
	f.Add([]byte("\nSYNC " + nonce("g") + "\n"))
	f.Fuzz(func(t *testing.T, chunk []byte) {
		found := lastNonce(chunk)
		if found == "" {
			return
		}
		if !bytes.HasSuffix(chunk, []byte("\nSYNC "+found+"\n")) || len(found) != nonceLength {
			t.Fatalf("%q has no nonce %q at its end", chunk, found)
		}
	})
}
