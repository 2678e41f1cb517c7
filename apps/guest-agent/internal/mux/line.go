package mux

import (
	"errors"
	"io"
)

var errLineTooLong = errors.New("the line is too long")

// readLine reads one line of at most limit bytes, without its end, and nothing beyond it. The error is errLineTooLong
// when no end comes within the limit.
func readLine(stream io.Reader, limit int) (string, error) {
	line := make([]byte, 0, limit)
	for {
		var next [1]byte
		if _, err := io.ReadFull(stream, next[:]); err != nil {
			return "", err
		}
		if next[0] == '\n' {
			return string(line), nil
		}
		if len(line) == limit {
			return "", errLineTooLong
		}
		line = append(line, next[0])
	}
}
