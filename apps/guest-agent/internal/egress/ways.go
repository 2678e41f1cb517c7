// Package egress is the guest's end of the ways out of the machine: loopback ports behind each of which a port of the
// host is. The host decides what may pass; nothing is read or decided here. docs/guest-protocol.md defines the ports.
package egress

import (
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
)

const (
	// proxyPort is that of the host's proxy, in the guest and on the link.
	proxyPort = 3128
	// localModelPort is that of the host's local model, in the guest and on the link.
	localModelPort = 11434

	// The kernel arguments by which the host offers its ends. The value of an offer is offered.
	proxyArgument      = "inquest.egress"
	localModelArgument = "inquest.local_model"
	offered            = "1"

	loopback = "127.0.0.1"
	// notProxied is what clients shall not ask the proxy for, in the form of NO_PROXY.
	notProxied = "localhost,127.0.0.1,::1"
)

// Stream is one byte stream to the host.
type Stream io.ReadWriteCloser

// Dial opens a stream to a port of the host, within a time of its own. The error says why the host does not take it.
type Dial func(port uint32) (Stream, error)

// Offer says of which ways out the host has its end.
type Offer struct {
	Proxy      bool
	LocalModel bool
}

// OfferAtBoot is what the kernel arguments offer.
func OfferAtBoot(arguments map[string]string) Offer {
	return Offer{
		Proxy:      arguments[proxyArgument] == offered,
		LocalModel: arguments[localModelArgument] == offered,
	}
}

// Ways are the ways out of the machine.
type Ways struct {
	dial  Dial
	mutex sync.Mutex
	open  map[uint32]*forwarder
}

// NewWays returns ways out none of which is open.
func NewWays(dial Dial) *Ways { return &Ways{dial: dial, open: make(map[uint32]*forwarder)} }

// Open opens those ways of an offer that are not open. The error names those that could not be opened; the others are.
func (w *Ways) Open(offer Offer) error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	var failures []string
	for port, isOffered := range map[uint32]bool{proxyPort: offer.Proxy, localModelPort: offer.LocalModel} {
		if !isOffered || w.open[port] != nil {
			continue
		}
		if err := w.openPort(port); err != nil {
			failures = append(failures, err.Error())
		}
	}
	if len(failures) > 0 {
		return fmt.Errorf("open the ways out: %s", strings.Join(failures, "; "))
	}
	return nil
}

// ProxyUp reports whether both ends of the way to the internet are up: the guest's listens, and the host takes a stream
// for its own now.
func (w *Ways) ProxyUp() bool {
	if !w.isOpen(proxyPort) {
		return false
	}
	stream, err := w.dial(proxyPort)
	if err != nil {
		return false
	}
	// Nothing is asked on it, so the host has nothing to decide.
	_ = stream.Close()
	return true
}

// Environment is what programs have to know to use the proxy; it is empty without one.
func (w *Ways) Environment() map[string]string {
	if !w.isOpen(proxyPort) {
		return nil
	}
	proxy := "http://" + address(proxyPort)
	// Programs differ in which spelling they read.
	return map[string]string{
		"HTTPS_PROXY": proxy,
		"https_proxy": proxy,
		"NO_PROXY":    notProxied,
		"no_proxy":    notProxied,
	}
}

func (w *Ways) isOpen(port uint32) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.open[port] != nil
}

// openPort is called with the mutex held.
func (w *Ways) openPort(port uint32) error {
	listener, err := net.Listen("tcp4", address(port))
	if err != nil {
		return err
	}
	w.open[port] = newForwarder(listener.(*net.TCPListener), func() (Stream, error) { return w.dial(port) })
	go w.open[port].run()
	return nil
}

func address(port uint32) string {
	return net.JoinHostPort(loopback, strconv.FormatUint(uint64(port), 10))
}
