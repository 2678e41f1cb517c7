package ops

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"inquest.dev/guest-agent/internal/egress"
	"inquest.dev/guest-agent/internal/frames"
	"inquest.dev/guest-agent/internal/lifecycle"
	"inquest.dev/guest-agent/internal/process"
)

const testTimeout = 60 * time.Second

var testServer *Server

func TestMain(m *testing.M) {
	reaper, err := process.StartReaper()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	testServer = NewServer("1.2.3", reaper, lifecycle.StartMonitor(), egress.NewWays(nil))
	os.Exit(m.Run())
}

// host is the host's end of one stream.
type host struct {
	t    *testing.T
	conn *net.UnixConn
	in   *frames.Reader
	out  *frames.Writer
	// served is closed once the agent has done with the stream.
	served chan struct{}
}

type message map[string]any

// dial opens a stream to the agent.
func dial(t *testing.T) *host {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ends := [2]*net.UnixConn{}
	for index, fd := range fds {
		file := os.NewFile(uintptr(fd), "stream")
		conn, err := net.FileConn(file)
		if err != nil {
			t.Fatal(err)
		}
		file.Close()
		ends[index] = conn.(*net.UnixConn)
	}
	client := &host{t: t, conn: ends[0], in: frames.NewReader(ends[0]), out: frames.NewWriter(ends[0]), served: make(chan struct{})}
	go func() {
		defer close(client.served)
		defer ends[1].Close()
		testServer.Serve(ends[1])
	}()
	t.Cleanup(client.close)
	if err := client.conn.SetDeadline(time.Now().Add(testTimeout)); err != nil {
		t.Fatal(err)
	}
	return client
}

// request opens a stream and sends a request on it.
func request(t *testing.T, properties message) *host {
	t.Helper()
	client := dial(t)
	client.send(properties)
	return client
}

func (h *host) send(properties message) {
	h.t.Helper()
	if err := h.out.WriteControl(properties); err != nil {
		h.t.Fatal(err)
	}
}

// data sends the content of a put or the input of a command, and its end.
func (h *host) data(content []byte) {
	h.t.Helper()
	if err := h.out.WriteData(frames.KindDataToGuest, content); err != nil {
		h.t.Fatal(err)
	}
	if err := h.out.WriteEnd(); err != nil {
		h.t.Fatal(err)
	}
}

func (h *host) frame() frames.Frame {
	h.t.Helper()
	frame, err := h.in.ReadFrame()
	if err != nil {
		h.t.Fatal(err)
	}
	return frame
}

// answer reads a control frame of that type.
func (h *host) answer(wanted string) message {
	h.t.Helper()
	return h.control(h.frame(), wanted)
}

func (h *host) control(frame frames.Frame, wanted string) message {
	h.t.Helper()
	var answer message
	if frame.Kind != frames.KindControl {
		h.t.Fatalf("want a %s, got a frame of kind 0x%02x with %d bytes", wanted, byte(frame.Kind), len(frame.Payload))
	}
	if err := json.Unmarshal(frame.Payload, &answer); err != nil {
		h.t.Fatal(err)
	}
	if answer["type"] != wanted {
		h.t.Fatalf("want a %s, got %s", wanted, frame.Payload)
	}
	return answer
}

// refused reads an error of that code, which must be the last frame of the stream, and returns its message.
func (h *host) refused(code string) string {
	h.t.Helper()
	answer := h.answer("error")
	if answer["code"] != code {
		h.t.Fatalf("want %s, got %v", code, answer)
	}
	// A host that has read an error sends no more.
	if err := h.conn.CloseWrite(); err != nil {
		h.t.Fatal(err)
	}
	if frame, err := h.in.ReadFrame(); err != io.EOF {
		h.t.Fatalf("want the end of the stream, got %s (%v)", frame.Payload, err)
	}
	h.awaitServed()
	return answer["message"].(string)
}

// awaitServed waits until the agent has done with the stream.
func (h *host) awaitServed() {
	h.t.Helper()
	select {
	case <-h.served:
	case <-time.After(testTimeout):
		h.t.Fatal("the agent does not end the stream")
	}
}

func (h *host) close() { h.conn.Close() }

// eventually waits until the condition holds.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(testTimeout); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it does not come true: %s", what)
		}
	}
}
