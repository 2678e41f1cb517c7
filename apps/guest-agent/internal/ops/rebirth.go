package ops

import (
	"encoding/hex"
	"strings"
)

const (
	// Bounds of the entropy of a rebirth: at least the kernel's own seed, at most what one request of it takes with ease.
	minEntropyBytes = 32
	maxEntropyBytes = 256
)

const (
	hexDigits      = "0123456789abcdef"
	hostnameChars  = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-"
	maxHostname    = 63
	machineIDChars = 32
)

type rebirthRequest struct {
	Nonce     string `json:"nonce"`
	SetToMs   *int64 `json:"setToMs"`
	Hostname  string `json:"hostname"`
	MachineID string `json:"machineId"`
	Entropy   string `json:"entropy"`
}

// rebirth makes a clone a machine of its own: every clone of a template wakes up with the same random numbers, clock and
// names. A request that is refused as invalid has changed nothing.
func (s *Server) rebirth(request rebirthRequest) (any, error) {
	entropy, err := hex.DecodeString(request.Entropy)
	switch {
	case len(request.Nonce) > maxNonceBytes:
		return nil, failf(codeRequestInvalid, "the nonce has %d bytes; the limit is %d", len(request.Nonce), maxNonceBytes)
	case request.SetToMs == nil || *request.SetToMs < 0:
		return nil, failf(codeRequestInvalid, "setToMs must be a time in milliseconds since 1970")
	case err != nil || len(entropy) < minEntropyBytes || len(entropy) > maxEntropyBytes:
		return nil, failf(codeRequestInvalid, "entropy must be %d to %d bytes in hexadecimal digits", minEntropyBytes, maxEntropyBytes)
	case !validHostname(request.Hostname):
		return nil, failf(codeRequestInvalid, "hostname must be 1 to 63 letters, digits and inner dashes")
	case len(request.MachineID) != machineIDChars || strings.Trim(request.MachineID, hexDigits) != "":
		return nil, failf(codeRequestInvalid, "machineId must be 32 lower-case hexadecimal digits")
	}
	if err := s.life.Become(entropy, request.Hostname, request.MachineID); err != nil {
		return nil, failf(codeOpFailed, "%v", err)
	}
	if err := setWallClock(*request.SetToMs); err != nil {
		return nil, failf(codeOpFailed, "set the clock: %v", err)
	}
	return s.ping(pingRequest{Nonce: request.Nonce})
}

func validHostname(name string) bool {
	return len(name) >= 1 && len(name) <= maxHostname && strings.Trim(name, hostnameChars) == "" &&
		name[0] != '-' && name[len(name)-1] != '-'
}
