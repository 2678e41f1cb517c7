// Package frames is the guest side of the frame protocol: a 4-byte big-endian length, then that many bytes, whose first
// one tells the kind of the frame. docs/guest-protocol.md defines it; the golden vectors of the host's codec test it.
package frames

import "fmt"

// Kind tells what a frame carries. It is the first byte of the payload.
type Kind byte

// The kinds of frames of protocol version 1.
const (
	// KindDataToGuest carries bytes to the guest: standard input, or the content of a put.
	KindDataToGuest Kind = 0x00
	// KindStdout carries bytes a command wrote to its standard output.
	KindStdout Kind = 0x01
	// KindStderr carries bytes a command wrote to its standard error.
	KindStderr Kind = 0x02
	// KindDataFromGuest carries the content of a get or a tail.
	KindDataFromGuest Kind = 0x03
	// KindEnd says that no more data follows in its direction.
	KindEnd Kind = 0x04
	// KindControl carries one JSON object; the byte is the object's opening brace.
	KindControl Kind = '{'
)

const (
	// ProtocolVersion is what pong answers as "protocol".
	ProtocolVersion = 1
	// MaxControlBytes bounds the payload of a control frame (1 MiB).
	MaxControlBytes = 1 << 20
	// MaxBinaryBytes bounds the payload of a data frame, its kind byte included (256 KiB).
	MaxBinaryBytes = 256 << 10
	// MaxDataBytes is the most data one data frame carries.
	MaxDataBytes = MaxBinaryBytes - 1

	lengthBytes = 4
	endBytes    = 1
)

// Frame is one decoded frame. Payload is the whole JSON text of a control frame, and the data after the kind byte of
// every other frame.
type Frame struct {
	Kind    Kind
	Payload []byte
}

// The codes of a ProtocolError; they are the host codec's codes for the same faults.
const (
	CodeEmpty        = "FRAME_EMPTY"
	CodeOversized    = "FRAME_OVERSIZED"
	CodeKindUnknown  = "FRAME_KIND_UNKNOWN"
	CodeJSONInvalid  = "FRAME_JSON_INVALID"
	CodeTruncated    = "FRAME_TRUNCATED"
	CodeOrderInvalid = "FRAME_ORDER_INVALID"
)

// ProtocolError says how the bytes of a stream break the protocol. The stream they came from is unusable after it.
type ProtocolError struct {
	Code    string
	Message string
}

func (e *ProtocolError) Error() string { return e.Code + ": " + e.Message }

// StreamError says that the stream itself failed: its other end is gone.
type StreamError struct {
	Cause error
}

func (e *StreamError) Error() string { return "stream: " + e.Cause.Error() }

// Unwrap gives the cause.
func (e *StreamError) Unwrap() error { return e.Cause }

func protocolErrorf(code, format string, args ...any) *ProtocolError {
	return &ProtocolError{Code: code, Message: fmt.Sprintf(format, args...)}
}

// maxPayloadBytes is the limit of the payload length for one kind, or 0 for a kind the protocol does not have.
func maxPayloadBytes(kind Kind) uint32 {
	switch kind {
	case KindControl:
		return MaxControlBytes
	case KindDataToGuest, KindStdout, KindStderr, KindDataFromGuest:
		return MaxBinaryBytes
	case KindEnd:
		return endBytes
	default:
		return 0
	}
}
