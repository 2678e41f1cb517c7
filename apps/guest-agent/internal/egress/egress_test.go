package egress

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const testTimeout = 30 * time.Second

var errAway = errors.New("the host is away")

// hostEnd is the host's end of one stream that the guest opened.
type hostEnd struct {
	port uint32
	conn *net.UnixConn
}

// host takes every stream and hands its ends to the test.
type host struct {
	t    *testing.T
	away bool
	// asked holds up each refusal until the test takes from it, if there is one.
	asked chan struct{}
	ends  chan hostEnd
}

func newHost(t *testing.T) *host { return &host{t: t, ends: make(chan hostEnd, 2*maxConnections)} }

func (h *host) dial(port uint32) (Stream, error) {
	if h.away {
		if h.asked != nil {
			h.asked <- struct{}{}
		}
		return nil, errAway
	}
	guest, host := pair(h.t)
	h.ends <- hostEnd{port: port, conn: host}
	return guest, nil
}

func pair(t *testing.T) (*net.UnixConn, *net.UnixConn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	return connOf(t, fds[0]), connOf(t, fds[1])
}

func connOf(t *testing.T, fd int) *net.UnixConn {
	t.Helper()
	file := os.NewFile(uintptr(fd), "stream")
	defer file.Close()
	conn, err := net.FileConn(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(testTimeout)); err != nil {
		t.Fatal(err)
	}
	return conn.(*net.UnixConn)
}

// startForwarder forwards a port of this machine to the host's port.
func startForwarder(t *testing.T, host *host, port uint32) *forwarder {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	forwarder := newForwarder(listener.(*net.TCPListener), func() (Stream, error) { return host.dial(port) })
	t.Cleanup(func() { listener.Close() })
	go forwarder.run()
	return forwarder
}

func connect(t *testing.T, forwarder *forwarder) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp4", forwarder.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(testTimeout)); err != nil {
		t.Fatal(err)
	}
	return conn.(*net.TCPConn)
}

func send(t *testing.T, to io.Writer, data []byte) {
	t.Helper()
	if _, err := to.Write(data); err != nil {
		t.Fatal(err)
	}
}

func receive(t *testing.T, from io.Reader, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(from, got); err != nil || string(got) != want {
		t.Fatalf("want %q, got %q (%v)", want, got, err)
	}
}

func TestAConnectionIsJoinedWithAStreamToThePortOfItsWay(t *testing.T) {
	host := newHost(t)
	client := connect(t, startForwarder(t, host, 3128))
	send(t, client, []byte("request"))
	end := <-host.ends
	if end.port != 3128 {
		t.Fatalf("the stream is to port %d", end.port)
	}
	receive(t, end.conn, "request")
	send(t, end.conn, []byte("answer"))
	receive(t, client, "answer")
}

func TestTheAnswerArrivesAlsoAfterTheClientHasSaidAll(t *testing.T) {
	host := newHost(t)
	client := connect(t, startForwarder(t, host, 3128))
	send(t, client, []byte("request"))
	if err := client.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	end := <-host.ends
	receive(t, end.conn, "request")
	send(t, end.conn, []byte("answer"))
	end.conn.Close()
	if answer, err := io.ReadAll(client); err != nil || string(answer) != "answer" {
		t.Fatalf("got %q (%v)", answer, err)
	}
}

func TestAllBytesArriveInBothDirections(t *testing.T) {
	host := newHost(t)
	client := connect(t, startForwarder(t, host, 3128))
	data := bytes.Repeat([]byte{0, 1, 2, 254, 255}, 1<<18)
	go func() { _, _ = client.Write(data) }()
	end := <-host.ends
	go func() { _, _ = io.Copy(end.conn, io.LimitReader(end.conn, int64(len(data)))) }()
	got := make([]byte, len(data))
	if _, err := io.ReadFull(client, got); err != nil || !bytes.Equal(got, data) {
		t.Fatalf("the bytes are not those that were sent (%v)", err)
	}
}

func TestAClientThatBreaksOffEndsItsStream(t *testing.T) {
	host := newHost(t)
	client := connect(t, startForwarder(t, host, 3128))
	send(t, client, []byte("request"))
	end := <-host.ends
	receive(t, end.conn, "request")
	if err := client.SetLinger(0); err != nil {
		t.Fatal(err)
	}
	client.Close()
	if rest, err := io.ReadAll(end.conn); err != nil || len(rest) != 0 {
		t.Fatalf("got %q (%v)", rest, err)
	}
}

func TestAHostThatTakesNoStreamIsAResetForTheClientAndNoAnswer(t *testing.T) {
	host := newHost(t)
	host.away = true
	host.asked = make(chan struct{})
	client := connect(t, startForwarder(t, host, 3128))
	<-host.asked
	if answer, err := io.ReadAll(client); !errors.Is(err, unix.ECONNRESET) || len(answer) != 0 {
		t.Fatalf("got %q (%v)", answer, err)
	}
}

func TestNoMoreConnectionsThanTheLimitReachTheHostAtOnce(t *testing.T) {
	host := newHost(t)
	forwarder := startForwarder(t, host, 3128)
	var clients []*net.TCPConn
	for len(clients) <= maxConnections {
		clients = append(clients, connect(t, forwarder))
	}
	ends := make([]hostEnd, maxConnections)
	for index := range ends {
		ends[index] = <-host.ends
	}
	select {
	case <-host.ends:
		t.Fatal("one connection too many reached the host")
	default:
	}
	for index, end := range ends {
		clients[index].Close()
		end.conn.Close()
	}
	<-host.ends
}

func TestWithoutAnOfferThereIsNoWayOut(t *testing.T) {
	for _, arguments := range []map[string]string{nil, {proxyArgument: "0"}, {proxyArgument: "yes"}} {
		host := newHost(t)
		ways := NewWays(host.dial)
		if err := ways.Open(OfferAtBoot(arguments)); err != nil {
			t.Fatal(err)
		}
		if ways.ProxyUp() || len(ways.Environment()) != 0 || len(host.ends) != 0 {
			t.Fatalf("%v opened a way out", arguments)
		}
	}
}

func TestTheKernelArgumentsOfferEachWayByItself(t *testing.T) {
	for argument, want := range map[string]Offer{proxyArgument: {Proxy: true}, localModelArgument: {LocalModel: true}} {
		if got := OfferAtBoot(map[string]string{argument: "1"}); got != want {
			t.Errorf("%s=1 offers %+v", argument, got)
		}
	}
}

func TestAnOfferOfWhatIsOpenChangesNothing(t *testing.T) {
	host := newHost(t)
	proxy := startForwarder(t, host, proxyPort)
	ways := &Ways{dial: host.dial, open: map[uint32]*forwarder{proxyPort: proxy}}
	if err := ways.Open(Offer{Proxy: true}); err != nil {
		t.Fatal(err)
	}
	if ways.open[proxyPort] != proxy {
		t.Fatal("the way was opened a second time")
	}
}

func TestTheProxyIsUpWhileTheHostTakesStreamsForIt(t *testing.T) {
	host := newHost(t)
	ways := &Ways{dial: host.dial, open: map[uint32]*forwarder{proxyPort: startForwarder(t, host, proxyPort)}}
	if !ways.ProxyUp() {
		t.Fatal("the proxy is not up")
	}
	end := <-host.ends
	if asked, err := io.ReadAll(end.conn); err != nil || len(asked) != 0 {
		t.Fatalf("the probe asked %q (%v)", asked, err)
	}
	host.away = true
	if ways.ProxyUp() {
		t.Fatal("the proxy is up without its host")
	}
}

func TestProgramsAreToldOfTheProxyAndOfWhatNotToAskItFor(t *testing.T) {
	host := newHost(t)
	ways := &Ways{dial: host.dial, open: map[uint32]*forwarder{proxyPort: startForwarder(t, host, proxyPort)}}
	for name, want := range map[string]string{
		"HTTPS_PROXY": "http://127.0.0.1:3128",
		"https_proxy": "http://127.0.0.1:3128",
		"NO_PROXY":    "localhost,127.0.0.1,::1",
		"no_proxy":    "localhost,127.0.0.1,::1",
	} {
		if got := ways.Environment()[name]; got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
}
