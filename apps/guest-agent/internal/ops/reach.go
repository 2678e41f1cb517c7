package ops

import (
	"errors"
	"net"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// probePort is the discard service (RFC 863), on which nothing listens: a system that is there refuses at once.
	probePort = "9"
	// probeTimeout bounds one try. The kernel gives up on a silent address after 3 s and would then refuse for a while.
	probeTimeout  = 2 * time.Second
	probeInterval = 100 * time.Millisecond
	maxReachMs    = 60_000
)

type reachRequest struct {
	Address   string `json:"address"`
	TimeoutMs int    `json:"timeoutMs"`
}

// reachPeer waits until the system with an address answers over the guest's network. That a connection is refused is an
// answer, too: it went there and came back.
func reachPeer(request reachRequest) (any, error) {
	address, err := netip.ParseAddr(request.Address)
	switch {
	case err != nil || !address.Is4():
		return nil, failf(codeRequestInvalid, "address must be an IPv4 address")
	case request.TimeoutMs < 1 || request.TimeoutMs > maxReachMs:
		return nil, failf(codeRequestInvalid, "timeoutMs must be 1 to %d", maxReachMs)
	}
	for end := time.Now().Add(time.Duration(request.TimeoutMs) * time.Millisecond); ; time.Sleep(probeInterval) {
		err := probe(address.String())
		if err == nil {
			return okMessage, nil
		}
		if time.Now().After(end) {
			return nil, failf(codePeerUnreachable, "%s does not answer: %v", address, err)
		}
	}
}

func probe(address string) error {
	connection, err := net.DialTimeout("tcp4", net.JoinHostPort(address, probePort), probeTimeout)
	if errors.Is(err, unix.ECONNREFUSED) {
		return nil
	}
	if err != nil {
		return err
	}
	return connection.Close()
}
