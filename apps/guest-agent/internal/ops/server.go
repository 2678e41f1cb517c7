// Package ops answers the requests of the host: one stream, one request. docs/guest-protocol.md defines each op.
package ops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"runtime/debug"
	"time"

	"inquest.dev/guest-agent/internal/egress"
	"inquest.dev/guest-agent/internal/frames"
	"inquest.dev/guest-agent/internal/lifecycle"
	"inquest.dev/guest-agent/internal/process"
)

// Port is the guest port that serves frames.
const Port = 9001

const (
	// requestTimeout bounds the wait for the request of a stream that was opened.
	requestTimeout = 30 * time.Second
	// lingerTimeout bounds the wait for the end of data that is not wanted any more.
	lingerTimeout = 10 * time.Second
)

const bootIDFile = "/proc/sys/kernel/random/boot_id"

// Stream is one byte stream from the host.
type Stream interface {
	io.ReadWriteCloser
	SetReadDeadline(deadline time.Time) error
}

// Server answers the requests of all streams. Streams do not wait for each other.
type Server struct {
	version string
	// bootID is read once: the first answer of a clone is waited for, and each file of /proc costs it a millisecond.
	bootID  string
	reaper  *process.Reaper
	monitor *lifecycle.Monitor
	life    *lifecycle.Rebirth
	ways    *egress.Ways
	execs   *execTable
	ops     map[string]operation
}

// call is one request under way.
type call struct {
	request json.RawMessage
	in      *frames.Reader
	out     *frames.Writer
	// dataDue is true while the host may be sending data that belongs to the request.
	dataDue bool
}

// operation serves one request to the end. A *failure or a *frames.ProtocolError is reported to the host, any other
// error means that the stream is gone.
type operation func(ctx context.Context, call *call) error

// NewServer returns a Server for an agent of that version.
func NewServer(version string, reaper *process.Reaper, monitor *lifecycle.Monitor, ways *egress.Ways) *Server {
	server := &Server{version: version, bootID: readLine(bootIDFile), reaper: reaper, monitor: monitor, life: lifecycle.NewRebirth(), ways: ways, execs: newExecTable()}
	server.ops = map[string]operation{
		"ping":     unary(server.ping),
		"exec":     server.exec,
		"signal":   unary(server.signal),
		"resize":   unary(server.resize),
		"put":      server.put,
		"get":      server.get,
		"tail":     server.tail,
		"stat":     unary(statPath),
		"list":     unary(listDirectory),
		"remove":   unary(removePath),
		"metrics":  unary(server.metrics),
		"clock":    unary(setClock),
		"watch":    server.watch,
		"shutdown": unary(server.shutdown),
		"quiesce":  unary(server.quiesce),
		"rebirth":  unary(server.rebirth),
		"offer":    unary(server.offer),
		"mount":    unary(mountShare),
		"reach":    unary(reachPeer),
	}
	return server
}

// Serve answers the one request of stream. The caller closes the stream afterwards. A panic of an op is its failure
// only.
func (s *Server) Serve(stream Stream) {
	call := &call{in: frames.NewReader(stream), out: frames.NewWriter(stream)}
	defer func() {
		if reason := recover(); reason != nil {
			log.Printf("ops: panic: %v\n%s", reason, debug.Stack())
			call.report(failf(codeOpFailed, "the guest agent failed: %v", reason))
		}
	}()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	call.report(s.answer(ctx, stream, call))
	call.dropData(stream)
}

// dropData reads what the host still sends until it has seen the answer. A host whose write fails may never come to
// read why.
func (c *call) dropData(stream Stream) {
	if !c.dataDue || stream.SetReadDeadline(time.Now().Add(lingerTimeout)) != nil {
		return
	}
	for {
		frame, err := c.in.ReadFrame()
		if err != nil || frame.Kind == frames.KindEnd {
			return
		}
	}
}

func (s *Server) answer(ctx context.Context, stream Stream, call *call) error {
	if err := stream.SetReadDeadline(time.Now().Add(requestTimeout)); err != nil {
		return err
	}
	frame, err := call.in.ReadFrame()
	if err != nil {
		return err
	}
	if err := stream.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	if frame.Kind != frames.KindControl {
		return orderError(frame.Kind, "before the request")
	}
	call.request = frame.Payload
	var head struct {
		Op string `json:"op"`
	}
	if err := call.decode(&head); err != nil {
		return err
	}
	operation, known := s.ops[head.Op]
	if !known {
		return failf(codeOpUnknown, "the guest agent %s has no op %.64q", s.version, head.Op)
	}
	return operation(ctx, call)
}

// report tells the host of an error that it can make sense of. That the stream may be gone is no news to anyone.
func (c *call) report(err error) {
	var failed *failure
	var violation *frames.ProtocolError
	switch {
	case errors.As(err, &failed):
		_ = c.out.WriteControl(errorMessage{Type: "error", Code: failed.Code, Message: failed.Message})
	case errors.As(err, &violation):
		_ = c.out.WriteControl(errorMessage{Type: "error", Code: violation.Code, Message: violation.Message})
	}
}

type errorMessage struct {
	Type    string `json:"type"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// typeOnly is an answer without properties.
type typeOnly struct {
	Type string `json:"type"`
}

var okMessage = typeOnly{Type: "ok"}

// decode reads the properties of the request. Properties that the target does not have are ignored.
func (c *call) decode(target any) error {
	if err := json.Unmarshal(c.request, target); err != nil {
		var mismatch *json.UnmarshalTypeError
		if errors.As(err, &mismatch) {
			return failf(codeRequestInvalid, "the property %s must not be a JSON %s", mismatch.Field, mismatch.Value)
		}
		return failf(codeRequestInvalid, "the request cannot be read")
	}
	return nil
}

// unary makes an operation of a function with one request and one answer.
func unary[Request any](answer func(request Request) (any, error)) operation {
	return func(_ context.Context, call *call) error {
		var request Request
		if err := call.decode(&request); err != nil {
			return err
		}
		message, err := answer(request)
		if err != nil {
			return err
		}
		return call.out.WriteControl(message)
	}
}

// cancelOnClose returns a context that ends when the host closes the stream, or breaks the protocol on it. It reads
// the stream from then on, so no frame may be expected from the host any more.
func (c *call) cancelOnClose(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		// Whatever comes ends the op: the end of the stream, or a frame that has no place here.
		_, _ = c.in.ReadFrame()
	}()
	return ctx
}

func orderError(kind frames.Kind, where string) error {
	return &frames.ProtocolError{
		Code:    frames.CodeOrderInvalid,
		Message: fmt.Sprintf("a frame of kind 0x%02x has no place %s", byte(kind), where),
	}
}
