package mux

import "strings"

const (
	preambleWord = "SYNC "
	// nonceLength is the number of hexadecimal digits of a nonce.
	nonceLength    = 32
	preambleLength = len(preambleWord) + nonceLength
	// preambleBytes is a preamble with the newline on each side of it, as the host writes it.
	preambleBytes = preambleLength + 2
)

// parsePreamble returns the nonce of a line without its newline, or "" for any other line.
func parsePreamble(line []byte) string {
	if len(line) != preambleLength || string(line[:len(preambleWord)]) != preambleWord {
		return ""
	}
	nonce := string(line[len(preambleWord):])
	if strings.Trim(nonce, "0123456789abcdef") != "" {
		return ""
	}
	return nonce
}

// lastNonce returns the nonce of the last preamble of a chunk that consists of whole preambles and nothing else, or "".
func lastNonce(chunk []byte) string {
	if len(chunk)%preambleBytes != 0 {
		return ""
	}
	nonce := ""
	for ; len(chunk) > 0; chunk = chunk[preambleBytes:] {
		preamble := chunk[:preambleBytes]
		if preamble[0] != '\n' || preamble[preambleBytes-1] != '\n' {
			return ""
		}
		if nonce = parsePreamble(preamble[1 : preambleBytes-1]); nonce == "" {
			return ""
		}
	}
	return nonce
}

// awaitNonce discards everything from the host up to and including a preamble, and returns its nonce. Of several that
// came together it takes the last: the host waits for the answer to that one only.
func (b *inbound) awaitNonce() (string, error) {
	if nonce := b.takeNonce(); nonce != "" {
		return nonce, nil
	}
	// One byte more than a preamble tells a longer line from it.
	line := make([]byte, 0, preambleLength+1)
	for {
		next, err := b.takeByte()
		if err != nil {
			return "", err
		}
		if nonce := b.takeNonce(); nonce != "" {
			return nonce, nil
		}
		if next == '\n' {
			if nonce := parsePreamble(line); nonce != "" {
				return nonce, nil
			}
			line = line[:0]
		} else if len(line) < cap(line) {
			line = append(line, next)
		}
	}
}
