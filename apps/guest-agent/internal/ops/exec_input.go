package ops

import (
	"io"
	"os"

	"inquest.dev/guest-agent/internal/frames"
	"inquest.dev/guest-agent/internal/process"
)

// inputQueueFrames bounds how much input waits for a command that does not read it: 4 frames are at most 1 MiB. A
// closed stream is noticed behind as much unread input, not behind more.
const inputQueueFrames = 4

// endOfFileKey ends the input of a program that reads lines from a terminal (CEOF of termios).
const endOfFileKey = 0x04

// input is where the host's data goes.
type input interface {
	io.Writer
	// end follows the last data of the host.
	end()
	// hangUp follows in its place when the stream ended without one.
	hangUp()
}

// pipeInput is the agent's end of a pipe to standard input.
type pipeInput struct{ *os.File }

func (p pipeInput) end() { p.Close() }

func (p pipeInput) hangUp() { p.Close() }

// terminalInput types on a terminal, which stays open: it shows what the command writes, too.
type terminalInput struct{ *process.Terminal }

func (t terminalInput) end() {
	// Nobody reads it when the command is gone.
	_, _ = t.Write([]byte{endOfFileKey})
}

func (t terminalInput) hangUp() {}

// readInput passes the host's frames to the input of a command, when it has one, and returns when the stream ends or
// breaks the protocol.
func readInput(in *frames.Reader, target input) {
	var queue chan []byte
	if target != nil {
		queue = make(chan []byte, inputQueueFrames)
		go writeInput(target, queue)
	}
	defer func() {
		if queue != nil {
			close(queue)
		}
	}()
	for {
		frame, err := in.ReadFrame()
		switch {
		case err != nil || queue == nil:
			return
		case frame.Kind == frames.KindDataToGuest:
			queue <- frame.Payload
		case frame.Kind == frames.KindEnd:
			queue <- nil
			close(queue)
			queue = nil
		default:
			return
		}
	}
}

// writeInput owns target. It takes all of queue, also after the command has stopped reading, so that the reader of the
// stream never waits for a command that is gone. A nil in the queue is the end that the host has sent.
func writeInput(target input, queue <-chan []byte) {
	open := true
	for data := range queue {
		switch {
		case !open:
		case data == nil:
			open = false
			target.end()
		default:
			if _, err := target.Write(data); err != nil {
				open = false
				target.hangUp()
			}
		}
	}
	if open {
		target.hangUp()
	}
}
