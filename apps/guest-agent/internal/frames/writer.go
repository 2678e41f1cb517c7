package frames

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// Writer encodes frames to a byte stream. It may be used by several goroutines at once: frames never interleave, and
// the frames of one goroutine keep their order. A write that the sink refuses is a *StreamError.
type Writer struct {
	mutex sync.Mutex
	sink  io.Writer
	// buffer lets a frame leave in ONE write: a frame whose head and data travel apart costs two packets on a port.
	buffer []byte
}

// NewWriter returns a Writer to sink.
func NewWriter(sink io.Writer) *Writer { return &Writer{sink: sink} }

// WriteControl writes message, which must marshal to a JSON object of at most MaxControlBytes, as a control frame.
func (w *Writer) WriteControl(message any) error {
	payload, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("encode a control frame: %w", err)
	}
	if len(payload) > MaxControlBytes || payload[0] != byte(KindControl) {
		return fmt.Errorf("a control frame must be a JSON object of at most %d bytes, not %d bytes of other JSON", MaxControlBytes, len(payload))
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.writeFrame(payload, nil)
}

// WriteData writes data as one or more frames of kind, none above MaxBinaryBytes. It returns when the sink has taken
// all of it: a slow peer slows the caller. Empty data writes nothing.
func (w *Writer) WriteData(kind Kind, data []byte) error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for len(data) > 0 {
		part := data
		if len(part) > MaxDataBytes {
			part = part[:MaxDataBytes]
		}
		if err := w.writeFrame([]byte{byte(kind)}, part); err != nil {
			return err
		}
		data = data[len(part):]
	}
	return nil
}

// WriteEnd writes the frame that says that no more data follows.
func (w *Writer) WriteEnd() error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.writeFrame([]byte{byte(KindEnd)}, nil)
}

func (w *Writer) writeFrame(head, tail []byte) error {
	length := len(head) + len(tail)
	w.buffer = binary.BigEndian.AppendUint32(w.buffer[:0], uint32(length))
	w.buffer = append(w.buffer, head...)
	w.buffer = append(w.buffer, tail...)
	if _, err := w.sink.Write(w.buffer); err != nil {
		return &StreamError{Cause: err}
	}
	return nil
}
