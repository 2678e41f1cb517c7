package frames

import (
	"bytes"
	"errors"
	"io"
	"math/rand"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
)

func TestWriterSplitsDataAboveTheLimitIntoFramesThatReadBackAsTheSameBytes(t *testing.T) {
	data := make([]byte, 3*MaxDataBytes+17)
	rand.New(rand.NewSource(1)).Read(data)
	var stream bytes.Buffer
	writer := NewWriter(&stream)
	if err := writer.WriteData(KindStdout, data); err != nil {
		t.Fatal(err)
	}
	if err := writer.WriteEnd(); err != nil {
		t.Fatal(err)
	}
	reader := NewReader(&stream)
	var got []byte
	for count := 0; ; count++ {
		frame, err := reader.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if frame.Kind == KindEnd {
			if count != 4 {
				t.Fatalf("want 4 data frames, got %d", count)
			}
			break
		}
		got = append(got, frame.Payload...)
	}
	if !bytes.Equal(got, data) {
		t.Fatal("the data changed on its way")
	}
}

func TestWriterNeverInterleavesFramesOfSeveralGoroutines(t *testing.T) {
	var stream bytes.Buffer
	writer := NewWriter(&stream)
	var writers sync.WaitGroup
	const goroutines, each = 8, 50
	for number := 0; number < goroutines; number++ {
		writers.Add(1)
		go func(mark byte) {
			defer writers.Done()
			for count := 0; count < each; count++ {
				if err := writer.WriteData(KindStdout, bytes.Repeat([]byte{mark}, 1000)); err != nil {
					t.Error(err)
				}
			}
		}(byte(number))
	}
	writers.Wait()
	reader := NewReader(&stream)
	for count := 0; count < goroutines*each; count++ {
		frame, err := reader.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if want := bytes.Repeat(frame.Payload[:1], 1000); !bytes.Equal(frame.Payload, want) {
			t.Fatal("a frame mixes the data of two writers")
		}
	}
	if _, err := reader.ReadFrame(); err != io.EOF {
		t.Fatalf("want the end, got %v", err)
	}
}

func TestWriterRefusesAControlFrameThatIsNoObjectOrTooLarge(t *testing.T) {
	var stream bytes.Buffer
	writer := NewWriter(&stream)
	for _, message := range []any{[]string{"no object"}, map[string]string{"a": strings.Repeat("x", MaxControlBytes)}} {
		if err := writer.WriteControl(message); err == nil {
			t.Fatal("want an error")
		}
	}
	if stream.Len() != 0 {
		t.Fatalf("%d bytes were written all the same", stream.Len())
	}
}

func TestReaderTellsAFailedStreamFromABrokenProtocol(t *testing.T) {
	cause := errors.New("cut")
	_, err := NewReader(iotest.ErrReader(cause)).ReadFrame()
	var broken *StreamError
	if !errors.As(err, &broken) || !errors.Is(err, cause) {
		t.Fatalf("want a StreamError, got %v", err)
	}
}

func TestReaderRefusesAnOversizedFrameBeforeItReadsTheData(t *testing.T) {
	source := bytes.NewReader(append([]byte{0xff, 0xff, 0xff, 0xff, '{'}, make([]byte, 100)...))
	_, err := NewReader(source).ReadFrame()
	var violation *ProtocolError
	if !errors.As(err, &violation) || violation.Code != CodeOversized {
		t.Fatalf("want %s, got %v", CodeOversized, err)
	}
	if source.Len() != 101 {
		t.Fatalf("%d bytes behind the length were read", 101-source.Len())
	}
}

func FuzzReaderNeverPanicsAndWhatItAcceptsIsWithinTheLimits(f *testing.F) {
	f.Add([]byte{0, 0, 0, 2, '{', '}'})
	f.Add([]byte{0, 0, 0, 3, 1, 'a', 'b', 0, 0, 0, 1, 4})
	f.Add([]byte{0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, stream []byte) {
		reader := NewReader(iotest.HalfReader(bytes.NewReader(stream)))
		for {
			frame, err := reader.ReadFrame()
			if err != nil {
				var violation *ProtocolError
				if err != io.EOF && !errors.As(err, &violation) {
					t.Fatalf("an error of an unexpected type: %v", err)
				}
				return
			}
			limit := int(maxPayloadBytes(frame.Kind))
			if frame.Kind != KindControl {
				limit--
			}
			if limit < 0 || len(frame.Payload) > limit {
				t.Fatalf("a frame of kind 0x%02x with %d bytes was accepted", byte(frame.Kind), len(frame.Payload))
			}
		}
	})
}
