package frames

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"testing/iotest"
)

const goldenDirectory = "../../../../libs/domain/frame-protocol/golden"

type goldenFrame struct {
	Kind      string          `json:"kind"`
	JSON      json.RawMessage `json:"json"`
	SizeBytes int             `json:"sizeBytes"`
	SHA256    string          `json:"sha256"`
}

type goldenVector struct {
	Name   string        `json:"name"`
	File   string        `json:"file"`
	Frames []goldenFrame `json:"frames"`
	Error  *string       `json:"error"`
}

func readGolden(t *testing.T) []goldenVector {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(goldenDirectory, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var index struct {
		Vectors []goldenVector `json:"vectors"`
	}
	if err := json.Unmarshal(content, &index); err != nil {
		t.Fatal(err)
	}
	if len(index.Vectors) == 0 {
		t.Fatal("the index has no vectors")
	}
	return index.Vectors
}

var goldenKinds = map[string]Kind{
	"control":         KindControl,
	"data-to-guest":   KindDataToGuest,
	"stdout":          KindStdout,
	"stderr":          KindStderr,
	"data-from-guest": KindDataFromGuest,
	"end":             KindEnd,
}

func TestReaderAgreesWithTheHostOnEveryGoldenVector(t *testing.T) {
	splits := map[string]func(io.Reader) io.Reader{
		"whole":        func(source io.Reader) io.Reader { return source },
		"half by half": iotest.HalfReader,
		"byte by byte": iotest.OneByteReader,
	}
	for _, vector := range readGolden(t) {
		content, err := os.ReadFile(filepath.Join(goldenDirectory, vector.File))
		if err != nil {
			t.Fatal(err)
		}
		for split, reader := range splits {
			t.Run(vector.Name+"/"+split, func(t *testing.T) {
				checkVector(t, vector, NewReader(reader(bytes.NewReader(content))))
			})
		}
	}
}

func checkVector(t *testing.T, vector goldenVector, reader *Reader) {
	t.Helper()
	for index, want := range vector.Frames {
		frame, err := reader.ReadFrame()
		if err != nil {
			t.Fatalf("frame %d: %v", index, err)
		}
		checkFrame(t, want, frame)
	}
	_, err := reader.ReadFrame()
	if vector.Error == nil {
		if err != io.EOF {
			t.Fatalf("want the end of the stream, got %v", err)
		}
		return
	}
	var violation *ProtocolError
	if !errors.As(err, &violation) || violation.Code != *vector.Error {
		t.Fatalf("want %s, got %v", *vector.Error, err)
	}
}

func checkFrame(t *testing.T, want goldenFrame, got Frame) {
	t.Helper()
	kind, known := goldenKinds[want.Kind]
	if !known {
		t.Fatalf("the vector has the unknown kind %q", want.Kind)
	}
	if got.Kind != kind {
		t.Fatalf("want the kind %s, got 0x%02x", want.Kind, byte(got.Kind))
	}
	switch kind {
	case KindControl:
		if !reflect.DeepEqual(parse(t, want.JSON), parse(t, got.Payload)) {
			t.Fatalf("want %s, got %s", want.JSON, got.Payload)
		}
	case KindEnd:
		if len(got.Payload) != 0 {
			t.Fatalf("the end carries %d bytes", len(got.Payload))
		}
	default:
		digest := sha256.Sum256(got.Payload)
		if len(got.Payload) != want.SizeBytes || hex.EncodeToString(digest[:]) != want.SHA256 {
			t.Fatalf("want %d bytes with %s, got %d with %x", want.SizeBytes, want.SHA256, len(got.Payload), digest)
		}
	}
}

func parse(t *testing.T, text []byte) any {
	t.Helper()
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	return value
}
