package ops

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"inquest.dev/guest-agent/internal/frames"
)

// maxNonceBytes bounds the nonce of a ping.
const maxNonceBytes = 64

type pingRequest struct {
	Nonce string `json:"nonce"`
}

type pongMessage struct {
	Type         string `json:"type"`
	Nonce        string `json:"nonce"`
	Protocol     int    `json:"protocol"`
	AgentVersion string `json:"agentVersion"`
	BootID       string `json:"bootId"`
	UptimeMs     int64  `json:"uptimeMs"`
	Kernel       string `json:"kernel"`
	Hostname     string `json:"hostname"`
	Egress       bool   `json:"egress"`
}

func (s *Server) ping(request pingRequest) (any, error) {
	if len(request.Nonce) > maxNonceBytes {
		return nil, failf(codeRequestInvalid, "the nonce has %d bytes; the limit is %d", len(request.Nonce), maxNonceBytes)
	}
	var system unix.Utsname
	if err := unix.Uname(&system); err != nil {
		return nil, failf(codeOpFailed, "uname: %v", err)
	}
	return pongMessage{
		Type:         "pong",
		Nonce:        request.Nonce,
		Protocol:     frames.ProtocolVersion,
		AgentVersion: s.version,
		BootID:       s.bootID,
		UptimeMs:     uptimeMs(),
		Kernel:       unix.ByteSliceToString(system.Release[:]),
		Hostname:     unix.ByteSliceToString(system.Nodename[:]),
		Egress:       s.ways.ProxyUp(),
	}, nil
}

// readLine returns the only line of a small file, or "" when it cannot be read.
func readLine(path string) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(content))
}

// uptimeMs is the time since boot, suspended time included, in milliseconds.
func uptimeMs() int64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		return 0
	}
	return now.Nano() / int64(time.Millisecond)
}
