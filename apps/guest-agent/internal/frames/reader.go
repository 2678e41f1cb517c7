package frames

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"
)

// Reader decodes frames from a byte stream.
type Reader struct {
	source io.Reader
}

// NewReader returns a Reader of source. It reads no byte beyond the frame it was asked for.
func NewReader(source io.Reader) *Reader { return &Reader{source: source} }

// ReadFrame returns the next frame. The end of the stream between two frames is io.EOF, every violation of the
// protocol a *ProtocolError, every other failure a *StreamError. A length above the limit is refused before a byte of
// the data is read, so at most MaxControlBytes are ever held.
func (r *Reader) ReadFrame() (Frame, error) {
	var header [lengthBytes]byte
	if err := r.readFull(header[:], true); err != nil {
		return Frame{}, err
	}
	length := binary.BigEndian.Uint32(header[:])
	if length == 0 {
		return Frame{}, protocolErrorf(CodeEmpty, "a frame of length 0")
	}
	if length > MaxControlBytes {
		return Frame{}, protocolErrorf(CodeOversized, "a frame announces %d bytes; the limit is %d", length, MaxControlBytes)
	}
	var first [1]byte
	if err := r.readFull(first[:], false); err != nil {
		return Frame{}, err
	}
	kind := Kind(first[0])
	limit := maxPayloadBytes(kind)
	if limit == 0 {
		return Frame{}, protocolErrorf(CodeKindUnknown, "a frame of unknown kind 0x%02x", first[0])
	}
	if length > limit {
		return Frame{}, protocolErrorf(CodeOversized, "a frame of kind 0x%02x announces %d bytes; its limit is %d", first[0], length, limit)
	}
	payload := make([]byte, length)
	payload[0] = first[0]
	if err := r.readFull(payload[1:], false); err != nil {
		return Frame{}, err
	}
	if kind != KindControl {
		return Frame{Kind: kind, Payload: payload[1:]}, nil
	}
	if !isJSONObject(payload) {
		return Frame{}, protocolErrorf(CodeJSONInvalid, "a control frame of %d bytes is not a JSON object", length)
	}
	return Frame{Kind: kind, Payload: payload}, nil
}

func (r *Reader) readFull(into []byte, boundary bool) error {
	n, err := io.ReadFull(r.source, into)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF) && boundary && n == 0:
		return io.EOF
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return protocolErrorf(CodeTruncated, "the stream ended inside a frame")
	default:
		return &StreamError{Cause: err}
	}
}

func isJSONObject(payload []byte) bool {
	return bytes.HasPrefix(payload, []byte{'{'}) && utf8.Valid(payload) && json.Valid(payload)
}
